//! The suite as tests of a back-end, one for each case.

/// Makes a test of each case for a type of builders that the calling module has: `suite!(Memory)`.
///
/// A failing case is named like `suite::races::one_decision_counts`.
#[macro_export]
macro_rules! suite {
    ($build:ident) => {
        $crate::cases! { $build
            calls($crate::rows::calls) {
                a_call_is_bound_once
                calls_are_told_apart_by_each_part
                calls_last_as_long_as_their_operation
                an_intent_names_its_latest_effect
                an_intent_keeps_its_operation
            }
            consumed($crate::rows::consumed) {
                an_answer_is_kept_once
                an_approval_is_consumed_once
                an_instance_is_alive_until_a_time
            }
            counts($crate::rows::counts) {
                who_waits_is_counted_by_subject
                what_is_open_is_counted
            }
            operations($crate::rows::operations) {
                an_operation_is_given_back_as_it_was
                an_operation_changes_whole
                what_is_not_there_cannot_change
                a_handle_names_one_operation
                a_scope_is_opened_again
                an_operation_is_removed_whole
            }
            paging($crate::rows::paging) {
                a_filter_lets_through_what_fits_all_of_it
                pages_follow_each_other_while_rows_are_written
            }
            queues($crate::rows::queues) {
                what_is_due_comes_longest_due_first
                what_ends_comes_in_the_order_of_its_end
                orphans_have_no_living_holder
            }
            standing($crate::rows::standing) {
                grants_of_a_subject_come_oldest_first
                dead_grants_hide_no_usable_one
                all_grants_come_by_name
            }
            trail($crate::rows::trail) {
                the_trail_has_no_gap
                the_trail_is_read_in_order
            }
            transactions($crate::transactions) {
                a_failing_body_leaves_nothing
                a_panicking_body_leaves_nothing
                a_read_sees_what_was_answered
                a_failing_neighbour_harms_nobody
                the_time_is_the_ledgers
                a_write_wakes_whoever_waits
                a_wait_is_bounded
            }
            pipeline($crate::ports::pipeline) {
                a_write_goes_from_proposal_to_answer
                a_call_identity_means_one_use
                a_taken_key_is_occupied
                only_the_last_attempt_settles
                an_approval_begins_one_write
                an_approval_ends_by_the_ledgers_clock
                what_was_approved_begins_under_that_approval
                another_request_supersedes_one_that_waits
                a_denial_cools_down
                a_subject_cannot_flood
                a_receipt_reconciles
            }
            approvals($crate::ports::approvals) {
                the_first_decision_counts
                an_approval_is_of_the_first_call
                nobody_decides_after_the_time_is_over
                an_unusable_approval_decides_nothing
                each_write_has_its_own_decision
                a_decision_is_about_what_was_shown
            }
            grants($crate::ports::grants) {
                a_grant_is_used_as_often_as_it_says
                adding_again_gives_no_use_back
                a_dead_grant_is_not_used
                any_number_of_uses_is_kept
                a_grant_covers_one_contract_and_its_conditions
                a_denial_stands_before_a_grant
                what_is_taken_back_never_begins
                a_subject_has_so_many_usable_grants
                a_host_begins_only_what_it_believes
            }
            inspection($crate::ports::inspection) {
                an_operation_is_shown_whole
                pages_end_where_there_is_no_more
                a_trail_is_of_one_tenant
            }
            intents($crate::ports::intents) {
                the_same_joins_what_is_open
                an_acknowledged_answer_is_over
                an_answer_serves_for_a_window
            }
            rulings($crate::ports::rulings) {
                the_first_ruling_counts
                a_ruling_without_an_answer_stays_unknown_to_the_model
                not_executed_waits_until_the_attempt_is_over
                time_ends_nothing_that_is_unknown
            }
            work($crate::ports::work) {
                what_is_due_is_handed_out_to_one
                a_busy_tool_starves_no_other
                a_silent_host_loses_what_it_performs
                a_host_that_leaves_is_recovered_at_once
                time_runs_out
                a_task_that_has_moved_on_is_left_alone
                a_dead_letter_stays_one
                only_work_is_put_off
                drift_blocks_what_was_approved
                what_a_downstream_remembers_is_sent_again
                a_clock_that_is_set_sends_nothing_again
                the_longest_durations_are_kept
            }
            races($crate::races) {
                one_of_many_takes_a_key
                one_of_many_requests_takes_a_key
                workers_share_what_is_due
                a_stale_holder_is_first_or_writes_nothing
                one_decision_counts
                one_approval_has_one_consumer
                one_approval_serves_one_key
                joiners_hear_the_one_result
                the_last_use_is_taken_once
            }
            tampering($crate::tampering) {
                a_changed_operation_is_damage
                a_changed_proposal_is_damage
                a_changed_receipt_is_damage
                a_changed_intent_is_damage
                a_changed_grant_is_damage
                a_changed_audit_entry_is_damage
            }
        }
    };
}

/// Makes a test of each race between six processes, and of tables that outlast their connections, for a type of builders.
#[macro_export]
macro_rules! suite_across_processes {
    ($build:ident) => {
        mod processes {
            use super::*;

            /// What the other processes run; among the tests of this one it does nothing.
            #[test]
            fn child() {
                $crate::processes::play::<$build>();
            }

            #[test]
            fn what_was_answered_outlasts_its_connections() {
                $crate::transactions::what_was_answered_outlasts_its_connections(&$build::default());
            }

            fn race(name: &str) {
                let path = concat!(module_path!(), "::child");
                let (_, child) = path.split_once("::").unwrap();
                $crate::processes::run(&$build::default(), name, child);
            }

            $crate::races_across_processes! {
                one_key = "one-key",
                one_key_for_many_requests = "one-key-for-many-requests",
                claims = "claims",
                stale_holder = "stale-holder",
                decisions = "decisions",
                one_approval = "one-approval",
                one_approval_for_many_keys = "one-approval-for-many-keys",
                joiners = "joiners",
                last_use = "last-use",
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! races_across_processes {
    ($($case:ident = $name:literal,)*) => {$(
        #[test]
        fn $case() {
            race($name);
        }
    )*};
}

#[doc(hidden)]
#[macro_export]
macro_rules! cases {
    ($build:ident $($module:ident($($path:tt)*) { $($case:ident)* })*) => {$(
        $crate::cases_of! { $build $module ($($path)*) $($case)* }
    )*};
}

#[doc(hidden)]
#[macro_export]
macro_rules! cases_of {
    ($build:ident $module:ident $path:tt $($case:ident)*) => {
        mod $module {
            $($crate::case! { $build $path $case })*
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! case {
    ($build:ident ($($path:tt)*) $case:ident) => {
        #[test]
        fn $case() {
            $($path)*::$case(&super::$build::default());
        }
    };
}

#[cfg(test)]
mod tests {
    /// A case that is not in the list would be a test that nobody runs.
    #[test]
    fn every_case_is_in_the_list() {
        let sources = [
            ("rows::calls", include_str!("rows/calls.rs")),
            ("rows::consumed", include_str!("rows/consumed.rs")),
            ("rows::counts", include_str!("rows/counts.rs")),
            ("rows::operations", include_str!("rows/operations.rs")),
            ("rows::paging", include_str!("rows/paging.rs")),
            ("rows::queues", include_str!("rows/queues.rs")),
            ("rows::standing", include_str!("rows/standing.rs")),
            ("rows::trail", include_str!("rows/trail.rs")),
            ("transactions", include_str!("transactions.rs")),
            ("ports::pipeline", include_str!("ports/pipeline.rs")),
            ("ports::approvals", include_str!("ports/approvals.rs")),
            ("ports::grants", include_str!("ports/grants.rs")),
            ("ports::inspection", include_str!("ports/inspection.rs")),
            ("ports::intents", include_str!("ports/intents.rs")),
            ("ports::rulings", include_str!("ports/rulings.rs")),
            ("ports::work", include_str!("ports/work.rs")),
            ("races", include_str!("races.rs")),
            ("tampering", include_str!("tampering.rs")),
        ];
        let list = include_str!("suite.rs");
        for (module, source) in sources {
            assert!(list.contains(&format!("($crate::{module}) {{")), "{module}");
            let cases = source.lines().filter_map(|line| {
                let name = line.strip_prefix("pub fn ")?;
                name.split_once("<B: Build>(").map(|(name, _)| name)
            });
            for case in cases {
                let is_listed = list.lines().any(|line| line.trim() == case);
                assert!(is_listed, "{module}: {case}");
            }
        }
    }
}
