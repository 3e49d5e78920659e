//! Documents: as which bytes they are stored, that they come back as they were, and that no changed byte does.

use std::time::Duration;

use countersign_contract::{ApproverId, ErrorCode, IntentDigest, UtcSecond};
use countersign_dispatch::ledger::{Error, Ledger};
use countersign_dispatch::{Intent, NotStarted, Reserved, Settlement, UnknownCause};
use countersign_ledger::{
    Attempt, AuditEntry, Backend, BootId, Condition, Conditions, Document, DurableLedger, Grant,
    GrantId, Grants, InstanceId, Lifetimes, MemoryBackend, Moment, Note, Proof, Record, Ruling,
    State, StateKind, Steady, SteadySpan,
};
use countersign_ledger_suite::SettableClock;
use proptest::prelude::*;

use crate::writes::{Write, json};

fn ledger() -> DurableLedger<MemoryBackend> {
    let backend = MemoryBackend::new(SettableClock::default());
    let instance = InstanceId::new("host-1").unwrap();
    DurableLedger::new(backend, instance, Lifetimes::default())
}

/// A write that succeeded.
fn succeeded(ledger: &DurableLedger<MemoryBackend>) -> Write {
    let write = Write::new("key-1", 1);
    let approval = write.evidence("approval-1", UtcSecond::MAX);
    let Reserved::Taken(lease) = ledger.reserve(&write.reservation(approval)).unwrap() else {
        panic!("it is free");
    };
    let settlement = Settlement::Succeeded(write.answer());
    ledger
        .settle(&write.scope(), lease.fence, &settlement)
        .unwrap();
    write
}

fn grant() -> Grant {
    let write = Write::new("key-1", 1);
    Grant {
        grant: GrantId::new("grant-1").unwrap(),
        tenant_id: write.principal.tenant_id.clone(),
        subject_id: write.principal.subject_id.clone(),
        tool: write.call.name.clone(),
        revisions: write.contract.revisions.clone(),
        conditions: conditions(),
        approver: ApproverId::new("dana").unwrap(),
        given_at: Moment::from_milliseconds(1).unwrap(),
        expires_at: Moment::MAX,
        uses: 4,
        uses_left: 3,
        is_revoked: false,
        signature: Some("by hand".to_owned()),
    }
}

fn conditions() -> Conditions {
    let conditions = [
        ("n", Condition::Is(json("7"))),
        ("path", Condition::BeginsWith("/tmp/".to_owned())),
        ("text", Condition::Any),
    ];
    let conditions = conditions.map(|(name, condition)| (name.to_owned(), condition));
    Conditions::new(conditions.into()).unwrap()
}

fn text(document: &Document) -> String {
    String::from_utf8(document.bytes().to_vec()).unwrap()
}

#[test]
fn operations_are_stored_like_this() {
    let texts =
        StateKind::ALL.map(|kind| text(&record(kind, &Numbers::default()).to_row().document));
    insta::assert_snapshot!(texts.join("\n\n"));
}

#[test]
fn everything_else_is_stored_like_this() {
    let ledger = ledger();
    let write = succeeded(&ledger);
    ledger.grant_add(&grant()).unwrap();
    let stored = ledger.backend().read("test", |rows| {
        let scope = write.scope();
        let mut documents = vec![
            rows.proposal(&scope)?.unwrap(),
            rows.receipt(&scope)?.unwrap(),
        ];
        documents.extend(
            rows.grants(None, None, 9)?
                .into_iter()
                .map(|row| row.document),
        );
        let entries = rows.audit(&write.principal.tenant_id, 0, 9)?;
        documents.extend(entries.into_iter().map(|row| row.document));
        Ok(documents)
    });
    let texts: Vec<_> = stored.unwrap().iter().map(text).collect();
    insta::assert_snapshot!(texts.join("\n\n"));
}

/// The document with one bit of each byte changed, one at a time, and with its digest changed.
fn changed(document: &Document) -> impl Iterator<Item = Document> + '_ {
    let bytes = (0..document.bytes().len()).map(|at| {
        let mut bytes = document.bytes().to_vec();
        bytes[at] ^= 1;
        Document::from_parts(bytes, *document.digest())
    });
    let digests = (0..32).map(|at| {
        let mut digest = *document.digest();
        digest[at] ^= 1;
        Document::from_parts(document.bytes().to_vec(), digest)
    });
    bytes.chain(digests)
}

fn is_damaged<T>(read: &Result<T, Error>) -> bool {
    matches!(read, Err(Error::Damaged(_)))
}

#[test]
fn every_changed_byte_is_damage() {
    for kind in StateKind::ALL {
        let row = record(kind, &Numbers::default()).to_row();
        for document in changed(&row.document) {
            let mut row = row.clone();
            row.document = document;
            assert!(is_damaged(&Record::from_row(&row)), "{kind:?}");
        }
    }
    let row = grant().to_row();
    for document in changed(&row.document) {
        let mut row = row.clone();
        row.document = document;
        assert!(is_damaged(&Grant::from_row(&row)));
    }
    let ledger = ledger();
    let write = succeeded(&ledger);
    let tenant = &write.principal.tenant_id;
    let rows = ledger
        .backend()
        .read("test", |rows| rows.audit(tenant, 0, 9));
    for row in rows.unwrap() {
        for document in changed(&row.document) {
            let mut row = row.clone();
            row.document = document;
            assert!(is_damaged(&AuditEntry::from_row(&row)));
        }
    }
}

#[test]
fn what_is_not_canonical_is_damage() {
    for bytes in [
        "",
        "{}",
        " {}",
        "{\"b\":1,\"a\":1}",
        "nul",
        "\u{feff}{}",
        "1.0e1",
    ] {
        let value = Document::of(&json("1"));
        let document = Document::from_parts(bytes.into(), *value.digest());
        assert!(is_damaged(&document.read("it")), "{bytes}");
    }
}

/// A row says the same as its document, or it is damage: one that was put beside another row's document is.
#[test]
fn columns_that_disagree_are_damage() {
    let rows = StateKind::ALL.map(|kind| record(kind, &Numbers::default()).to_row());
    for (number, row) in rows.iter().enumerate() {
        for (other_number, other) in rows.iter().enumerate() {
            let mut mixed = row.clone();
            mixed.document = other.document.clone();
            assert_eq!(
                is_damaged(&Record::from_row(&mixed)),
                number != other_number
            );
        }
        let mut wrong = row.clone();
        wrong.scope = Write::new("key-2", 1).scope();
        assert!(is_damaged(&Record::from_row(&wrong)));
        let mut wrong = row.clone();
        wrong.status_ref = Write::new("key-1", 2).status_ref();
        assert!(is_damaged(&Record::from_row(&wrong)));
        let earlier = Moment::from_milliseconds(5).unwrap();
        let changes: [fn(&mut countersign_ledger::OperationRow, Moment); 6] = [
            |row, at| row.opened_at = at,
            |row, at| row.changed_at = at,
            |row, at| row.due_at = Some(at),
            |row, at| row.expires_at = Some(at),
            |row, _| row.is_dead_letter ^= true,
            |row, _| row.holder = Some(InstanceId::new("other").unwrap()),
        ];
        for change in changes {
            let mut wrong = row.clone();
            change(&mut wrong, earlier);
            assert!(is_damaged(&Record::from_row(&wrong)));
        }
    }
}

/// What varies in a record.
#[derive(Clone, Debug)]
struct Numbers {
    moments: [u64; 6],
    counts: [u64; 4],
    is: [bool; 4],
    note: String,
}

impl Default for Numbers {
    fn default() -> Self {
        Self {
            moments: [1, 2, 3, 4, 5, 6].map(|number| 1_784_419_200_000 + number),
            counts: [7, 8, 9, 10],
            is: [true, false, true, false],
            note: "seen in the shop's books".to_owned(),
        }
    }
}

fn record(kind: StateKind, numbers: &Numbers) -> Record {
    let write = Write::new("key-1", 1);
    let moments = numbers
        .moments
        .map(|number| Moment::from_milliseconds(number).unwrap());
    let [fence, generation, duration, visits] = numbers.counts;
    let [first, second, third, fourth] = numbers.is;
    let approver = || ApproverId::new("dana").unwrap();
    let note = || Note::new(&numbers.note).unwrap();
    let steady = |passed: u64| Steady {
        boot: BootId::new("start-1").unwrap(),
        passed: Duration::from_millis(passed),
    };
    let approval = || write.evidence("approval-1", moments[0].second());
    let attempt = || Attempt {
        approval: approval(),
        holder: InstanceId::new("host-1").unwrap(),
        first_sent: moments[1],
        over_at: moments[2],
        steady: first.then(|| SteadySpan {
            first_sent: steady(fence),
            over_at: steady(duration),
        }),
    };
    let ruling = || Ruling {
        by: approver(),
        note: note(),
        at: moments[1],
    };
    let until = moments[2];
    let state = match kind {
        StateKind::AwaitingApproval => State::AwaitingApproval { until },
        StateKind::Denied => State::Denied {
            by: approver(),
            reason: first.then(note),
            until,
        },
        StateKind::Expired => State::Expired { until },
        StateKind::Reserved => State::Reserved {
            approval: approval(),
            until,
        },
        StateKind::Executing => State::Executing(attempt()),
        StateKind::Blocked => State::Blocked {
            cause: ErrorCode::NotFound,
        },
        StateKind::Failed => State::Failed {
            cause: NotStarted::Unreachable,
        },
        StateKind::Unknown => State::Unknown {
            attempt: attempt(),
            cause: UnknownCause::HolderLost,
        },
        StateKind::Succeeded => State::Succeeded {
            proof: if first { Proof::Answer } else { Proof::Receipt },
            is_acknowledged: second,
        },
        StateKind::ResolvedCommitted => State::ResolvedCommitted {
            ruling: ruling(),
            has_answer: second,
        },
        StateKind::ResolvedNotExecuted => State::ResolvedNotExecuted { ruling: ruling() },
    };
    Record {
        scope: write.scope(),
        terms: write.terms(),
        state,
        fence,
        was_unknown: first,
        intent: third.then(|| Intent {
            digest: IntentDigest::of(&write.principal, &write.call),
            generation,
        }),
        downstream_memory: second.then(|| Duration::from_millis(duration)),
        timeout: Duration::from_millis(duration),
        opened_at: moments[3],
        changed_at: moments[4],
        due_at: third.then_some(moments[5]),
        visits: u32::try_from(visits % u64::from(u32::MAX)).unwrap(),
        is_dead_letter: fourth,
    }
}

fn numbers() -> impl Strategy<Value = Numbers> {
    let moment = prop_oneof![
        0..=Moment::MAX.as_milliseconds(),
        Just(Moment::MAX.as_milliseconds())
    ];
    let count = prop_oneof![any::<u64>(), Just(u64::MAX), 0..10_u64];
    let note = "[^\\s]\\PC{0,40}";
    (
        prop::array::uniform6(moment),
        prop::array::uniform4(count),
        any::<[bool; 4]>(),
        note,
    )
        .prop_filter("a note says something", |(_, _, _, note)| {
            Note::new(note).is_some()
        })
        .prop_map(|(moments, counts, is, note)| Numbers {
            moments,
            counts,
            is,
            note,
        })
}

proptest! {
    #[test]
    fn a_record_comes_back_as_it_was(numbers in numbers()) {
        for kind in StateKind::ALL {
            let record = record(kind, &numbers);
            prop_assert_eq!(Record::from_row(&record.to_row()), Ok(record));
        }
    }

    #[test]
    fn a_grant_comes_back_as_it_was(uses in any::<u64>(), at in 0..=Moment::MAX.as_milliseconds(), is_revoked: bool) {
        let grant = Grant {
            uses_left: uses,
            expires_at: Moment::from_milliseconds(at).unwrap(),
            is_revoked,
            ..grant()
        };
        prop_assert_eq!(Grant::from_row(&grant.to_row()), Ok(grant));
    }
}
