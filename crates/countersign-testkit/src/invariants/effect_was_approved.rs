//! Every effect was sent under an approval that a person gave, for this very call under this very contract, in time; and
//! approver, subject and contract stood so when the attempt was checked.

use countersign_ledger::Moment;

use super::View;
use crate::downstream::Effect;

pub(super) fn check(view: &View<'_>) -> Result<(), String> {
    view.effects.iter().try_for_each(|effect| {
        let lack = lack(effect);
        match lack {
            Some(lack) => Err(format!("{:?} acted {lack}", effect.scope.key)),
            None => Ok(()),
        }
    })
}

fn lack(effect: &Effect) -> Option<&'static str> {
    let warrant = &effect.warrant;
    let Some(approval) = &warrant.approval else {
        return Some("without an approval");
    };
    let is_late = warrant
        .consumed_at
        .is_some_and(|at| Moment::of_second(approval.expires_at) <= at);
    let lacks = [
        (!warrant.is_given, "under an approval that nobody gave"),
        (!warrant.is_exact, "under an approval of something else"),
        (is_late, "under an approval that was dead"),
        (
            !warrant.was_entitled,
            "by the word of somebody who may not approve",
        ),
        (!warrant.was_authorized, "for somebody who may not act"),
        (
            !warrant.was_registered,
            "under a contract that was not registered",
        ),
    ];
    lacks
        .into_iter()
        .find_map(|(lacks, what)| lacks.then_some(what))
}
