//! Lists of actions from seeds: single actions at random, and stories in which something usual happens with something unusual
//! in between.

use countersign_ledger_suite::LedgerFault;

use crate::action::{Action, Brings, Fate, Part};
use crate::random::Random;
use crate::tools::{Tool, Wish};
use crate::world::PROCESSES;

/// The shortest list, and how much longer it may be.
const LENGTH: (u64, u64) = (24, 72);
/// The steps of a call from its beginning to its reservation.
const TO_RESERVATION: u64 = 9;

/// The list that a seed stands for.
#[must_use]
pub fn actions(seed: u64) -> Vec<Action> {
    let mut teller = Teller {
        random: Random::new(seed),
        told: Vec::new(),
    };
    let length = LENGTH.0 + teller.random.below(LENGTH.1);
    while (teller.told.len() as u64) < length {
        match teller.random.below(20) {
            0 | 1 => teller.waits_and_is_performed(),
            2 => teller.is_signed_for(),
            3 => teller.is_abandoned(),
            4 => teller.wakes_late(),
            5 => teller.changes_meanwhile(),
            _ => teller.anything(),
        }
    }
    teller.told
}

struct Teller {
    random: Random,
    told: Vec<Action>,
}

impl Teller {
    fn tell(&mut self, action: Action) {
        self.told.push(action);
    }

    fn process(&mut self) -> u8 {
        self.random.small(PROCESSES)
    }

    fn wish(&mut self) -> Wish {
        let random = &mut self.random;
        Wish {
            subject: random.small(2),
            tool: random.pick(&Tool::ALL, Tool::Payment),
            order: random.small(2),
            key: random.percent(40).then(|| random.small(2)),
            id: random.small(4),
        }
    }

    fn fate(&mut self) -> Fate {
        let milliseconds = 100 * u16::from(self.random.small(20));
        let fates = [
            Fate::Acts,
            Fate::ActsUnheard,
            Fate::ActsUnheard,
            Fate::ActsAndFails,
            Fate::ActsBadly,
            Fate::ActsLate { milliseconds },
            Fate::GetsLost,
            Fate::GetsLost,
            Fate::Fails,
            Fate::IsRefused,
            Fate::IsUnreachable,
        ];
        self.random.pick(&fates, Fate::Acts)
    }

    fn signed(&mut self) -> Brings {
        Brings::Signed {
            approver: self.random.small(2),
            seconds: self.random.pick(&[5, 60, 600], 60),
        }
    }

    fn call(&mut self, wish: Wish, brings: Brings) {
        let process = self.process();
        self.tell(Action::Call {
            process,
            wish,
            brings,
        });
    }

    fn finish(&mut self) {
        self.tell(Action::Finish { job: 0 });
    }

    fn steps(&mut self, count: u64) {
        for _ in 0..count {
            self.tell(Action::Step { job: 0 });
        }
    }

    fn work(&mut self) {
        let process = self.process();
        self.tell(Action::Work { process });
    }

    fn approve(&mut self) {
        let approve = Action::Approve {
            process: self.process(),
            operation: self.random.small(4),
            approver: self.random.small(2),
            seconds: self.random.pick(&[3, 30, 120, 900], 120),
        };
        self.tell(approve);
    }

    fn rule(&mut self) {
        let rule = Action::Rule {
            process: self.process(),
            operation: self.random.small(4),
            with_answer: self.random.percent(70),
        };
        self.tell(rule);
    }

    /// Something else happens in between, now and then.
    fn meanwhile(&mut self, percent: u64) {
        if self.random.percent(percent) {
            self.anything();
        }
    }

    fn waits_and_is_performed(&mut self) {
        let wish = self.wish();
        self.call(wish, Brings::Nothing);
        self.finish();
        self.meanwhile(20);
        self.approve();
        self.meanwhile(40);
        if self.random.percent(50) {
            self.work();
        } else {
            let id = self.random.small(4);
            self.call(Wish { id, ..wish }, Brings::Nothing);
        }
        if self.random.percent(70) {
            self.finish();
        }
    }

    fn is_signed_for(&mut self) {
        let (wish, brings) = (self.wish(), self.signed());
        if self.random.percent(40) {
            let fate = self.fate();
            self.tell(Action::Line(fate));
        }
        self.call(wish, brings);
        let steps = self.random.below(TO_RESERVATION + 4);
        self.steps(steps);
        self.meanwhile(50);
        if self.random.percent(60) {
            self.finish();
        }
    }

    /// Whoever performs it dies; workers and people find out what became of it, and it is asked for again.
    fn is_abandoned(&mut self) {
        let (wish, brings) = (self.wish(), self.signed());
        let (process, fate) = (self.process(), self.fate());
        self.tell(Action::Line(fate));
        self.tell(Action::Call {
            process,
            wish,
            brings,
        });
        let steps = TO_RESERVATION + self.random.below(4);
        self.steps(steps);
        self.tell(Action::Crash { process });
        let milliseconds = 1000 * u32::from(self.random.small(60));
        self.tell(Action::Pass { milliseconds });
        self.work();
        self.finish();
        self.meanwhile(30);
        if self.random.percent(60) {
            self.rule();
        }
        let brings = self.random.pick(&[Brings::Kept, brings], Brings::Kept);
        self.call(wish, brings);
        self.finish();
    }

    /// Whoever performs it sleeps, and wakes when it is somebody else's.
    fn wakes_late(&mut self) {
        let (wish, brings) = (self.wish(), self.signed());
        self.call(wish, brings);
        let steps = TO_RESERVATION + self.random.below(3);
        self.steps(steps);
        let milliseconds = 20_000 + 1000 * u32::from(self.random.small(60));
        self.tell(Action::Pass { milliseconds });
        self.work();
        self.finish();
        if self.random.percent(70) {
            self.rule();
        } else {
            self.work();
        }
        let brings = self.signed();
        self.call(wish, brings);
        let steps = TO_RESERVATION + self.random.below(2);
        self.steps(steps);
        for _ in 0..self.random.below(5) {
            self.tell(Action::Step { job: 1 });
        }
        self.meanwhile(30);
        self.finish();
    }

    /// Rights or contracts change between approval and execution.
    fn changes_meanwhile(&mut self) {
        let wish = self.wish();
        self.call(wish, Brings::Nothing);
        self.finish();
        self.approve();
        let (change, back) = self.lapse(wish);
        self.tell(change);
        self.work();
        self.finish();
        self.meanwhile(60);
        self.tell(back);
        self.call(wish, Brings::Kept);
        self.finish();
    }

    /// Something without which a wish is not performed, and what gives it back.
    fn lapse(&mut self, wish: Wish) -> (Action, Action) {
        let Wish { subject, tool, .. } = wish;
        let approver = self.random.small(2);
        let set_role = |holds| Action::SetRole { subject, holds };
        let set_approver = |is_one| Action::SetApprover { approver, is_one };
        let set_business = |allows| Action::SetBusiness { allows };
        let part = self.part();
        match self.random.below(4) {
            0 => (set_role(false), set_role(true)),
            1 => (set_approver(false), set_approver(true)),
            2 => (set_business(false), set_business(true)),
            _ => (Action::Revise { tool, part }, set_role(true)),
        }
    }

    fn part(&mut self) -> Part {
        let parts = [Part::Policy, Part::Handler, Part::Effect];
        self.random.pick(&parts, Part::Policy)
    }

    fn change(&mut self) -> Action {
        let part = self.part();
        let random = &mut self.random;
        match random.below(8) {
            0..=2 => Action::SetRole {
                subject: random.small(2),
                holds: random.percent(60),
            },
            3 | 4 => Action::SetApprover {
                approver: random.small(2),
                is_one: random.percent(60),
            },
            5 => Action::SetBusiness {
                allows: random.percent(60),
            },
            6 => Action::Revise {
                tool: random.pick(&Tool::ALL, Tool::Letter),
                part,
            },
            _ => Action::SetReceipts {
                shown: random.percent(60),
            },
        }
    }

    fn anything(&mut self) {
        let action = match self.random.below(100) {
            0..=34 => Action::Step {
                job: self.random.small(4),
            },
            35..=44 => Action::Finish {
                job: self.random.small(4),
            },
            45..=52 => {
                let (process, wish) = (self.process(), self.wish());
                let signed = self.signed();
                let brings = [Brings::Nothing, Brings::Nothing, Brings::Kept, signed];
                Action::Call {
                    process,
                    wish,
                    brings: self.random.pick(&brings, Brings::Nothing),
                }
            }
            53..=57 => return self.approve(),
            58..=62 => return self.work(),
            63..=67 => Action::Pass {
                milliseconds: self
                    .random
                    .pick(&[100, 1_000, 8_000, 40_000, 700_000], 1_000),
            },
            68..=72 => {
                let fate = self.fate();
                Action::Line(fate)
            }
            73..=76 => Action::Crash {
                process: self.process(),
            },
            77..=80 => {
                let faults = [
                    LedgerFault::Fails,
                    LedgerFault::WritesUnconfirmed,
                    LedgerFault::FailsUnconfirmed,
                ];
                Action::Ledger(self.random.pick(&faults, LedgerFault::Fails))
            }
            81..=83 => return self.rule(),
            84..=86 => Action::Query {
                process: self.process(),
                wish: self.wish(),
            },
            87 => Action::Deny {
                process: self.process(),
                operation: self.random.small(4),
                approver: self.random.small(2),
            },
            88 | 89 => Action::Acknowledge {
                process: self.process(),
                operation: self.random.small(4),
            },
            90 | 91 => Action::Heartbeat {
                process: self.process(),
            },
            92 => Action::SetLedgerClock {
                milliseconds: self.random.pick(
                    &[-3_600_000, -60_000, -8_000, 0, 8_000, 60_000, 3_600_000],
                    0,
                ),
            },
            93 | 94 => Action::SetProcessClock {
                process: self.process(),
                seconds: self.random.pick(&[-3_600, -60, -5, 0, 5, 60, 3_600], 0),
            },
            _ => self.change(),
        };
        self.tell(action);
    }
}
