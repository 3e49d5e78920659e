//! Arguments and answers that are passed on as they came: stored, verified, and given back byte for byte.

use std::cell::RefCell;

use countersign_canonical::{Limits, Value, parse};
use countersign_contract::{
    ApproverId, Arguments, Attachment, HandlerAnswer, RequestDigest, Scope, StatusRef,
    ToolContract, UtcSecond,
};
use countersign_dispatch::{DispatchRequest, Execution, ExecutionOrder, Executor};
use countersign_ledger::{DurableLedger, Inspection, InstanceId, Lifetimes, MemoryBackend, Moment};
use countersign_policy::{AccessRequest, Approval, RuleBook};
use countersign_runtime::{DispatchPorts, dispatch};

use crate::attack::stage::{Attempt, NOW, SettableClock, said};

const ARGUMENTS: &str =
    "{ \"id\": 123456789012345678901234567890,\n\"deep\": [[[[]]]], \"text\": \"\\u0000\" }";
const ANSWER: &str = "{\"content\":[{\"type\":\"new\", \"n\":18446744073709551616}]}";

const CONTRACT: &str = r#"{
    "name": "server/write", "risk": "write", "source_label": "server",
    "revisions": {
        "input_schema": "i1", "output_schema": "o1", "effect": "e1",
        "handler": "h1", "producer": "p1", "policy": "r1"
    },
    "arguments": {"bytes": {"type": "integer"}, "content_sha256": {"type": "string"}},
    "output": {
        "bytes": {"type": "integer"}, "content_sha256": {"type": "string"},
        "is_error": {"type": "boolean"}
    },
    "limits": {"output_bytes": 512, "output_depth": 1}, "timeout_ms": 500
}"#;

/// Answers with one text, and says in its data that it was another where that is wanted.
struct Upstream {
    stands_for: &'static str,
    heard: RefCell<Vec<String>>,
}

impl Executor for Upstream {
    fn execute(&self, order: &ExecutionOrder<'_>) -> Execution {
        let arguments = order.call().arguments.attachment().unwrap();
        self.heard.borrow_mut().push(arguments.text().to_owned());
        let attachment = Attachment::read(ANSWER).unwrap();
        let [bytes, sha256] = Attachment::read(self.stands_for)
            .unwrap()
            .content()
            .members();
        let answer = HandlerAnswer {
            data: Value::from([bytes, sha256, ("is_error", false.into())]),
            producer_revision: "p1".to_owned(),
            resource_revision: None,
            observed_at: "2026-07-19T00:00:00Z".to_owned(),
            downstream_request_id: None,
            receipt_id: None,
        };
        Execution::AnsweredWith(answer, attachment)
    }
}

fn json(text: &str) -> Value {
    parse(text.as_bytes(), &Limits::tool_result()).unwrap()
}

#[test]
fn what_is_attached_is_stored_and_given_back_as_it_came() {
    for (stands_for, due) in [(ANSWER, "fresh"), ("{}", "OUTPUT_CONTRACT_VIOLATION")] {
        let clock = SettableClock::at(Moment::from_milliseconds(NOW * 1000).unwrap());
        let instance = InstanceId::new("host").unwrap();
        let ledger = DurableLedger::new(MemoryBackend::new(clock), instance, Lifetimes::default());
        let contract = ToolContract::from_value(&json(CONTRACT)).unwrap();
        let mut attempt = Attempt::refund();
        attempt.call.name = contract.name.clone();
        attempt.call.arguments = Arguments::attached(Attachment::read(ARGUMENTS).unwrap());
        let rules = RuleBook::from_value(&json(
            r#"{"rules": [{"effect": "permit", "tools": ["server/*"]}], "approvers": ["dana"]}"#,
        ))
        .unwrap();
        let (principal, call) = (&attempt.principal, &attempt.call);
        let request = RequestDigest::of(principal, call, Some(&contract));
        let access = AccessRequest {
            principal,
            call,
            contract: &contract,
        };
        let approval = Approval::of(
            &access,
            &request,
            "approval".to_owned(),
            &ApproverId::new("dana").unwrap(),
            UtcSecond::MAX,
        );
        let upstream = Upstream {
            stands_for,
            heard: RefCell::default(),
        };
        let ports = DispatchPorts {
            ledger: &ledger,
            authorizer: &rules,
            approvers: &rules,
            state: &AlwaysAllows,
            executor: &upstream,
        };
        let dispatched = DispatchRequest {
            principal,
            call,
            contract: Some(&contract),
            approvals: &[approval],
            intent: None,
            downstream_memory: None,
            now: UtcSecond::new(NOW).unwrap(),
        };
        assert_eq!(said(&dispatch(&ports, &dispatched).unwrap()), due);
        assert_eq!(*upstream.heard.borrow(), [ARGUMENTS]);
        let scope = Scope::of(principal, call).unwrap();
        let found = ledger.operation(&StatusRef::of(&scope, &request)).unwrap();
        let found = found.unwrap();
        let stored = found.proposal.call.arguments.attachment().unwrap();
        assert_eq!(stored.text(), ARGUMENTS);
        let answer = found
            .answer
            .as_ref()
            .map(|answer| answer.attachment().unwrap().text());
        assert_eq!(answer, (due == "fresh").then_some(ANSWER));
    }
}

struct AlwaysAllows;

impl countersign_dispatch::BusinessState for AlwaysAllows {
    fn verdict(
        &self,
        _: &countersign_policy::Authorized<'_>,
    ) -> countersign_dispatch::StateVerdict {
        countersign_dispatch::StateVerdict::Allows
    }
}
