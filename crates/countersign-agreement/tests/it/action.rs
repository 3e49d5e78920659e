//! One action on its way: proposed and approved at the host, performed at the endpoint.

use countersign_canonical::{Object, Utf8, Value, digest};
use countersign_endpoint as endpoint;
use countersign_governed::{
    ActionBinding, ActionId, Catalog, Envelope, Epoch, ExecutionRequest, Intent, OwnerGate,
    Receipt, ShapeRegistry,
};

pub(crate) const ACTION_ID: &str = "8f8b2b83-022b-4320-a161-5022409a8a78";
pub(crate) const NOW: f64 = 1_784_000_000.0;

pub(crate) fn now() -> Epoch {
    Epoch::from_seconds(NOW).unwrap()
}

/// How an owner approved.
#[derive(Clone, Debug)]
pub(crate) struct Approval {
    pub(crate) decision_id: String,
    pub(crate) decided_at: Value,
    pub(crate) expires_at: Value,
    pub(crate) by_grant: bool,
}

impl Default for Approval {
    fn default() -> Self {
        Self {
            decision_id: "d-1".to_owned(),
            decided_at: 1_783_999_900_i64.into(),
            expires_at: 1_784_000_060_i64.into(),
            by_grant: false,
        }
    }
}

impl Approval {
    fn receipt(&self, action: &ActionBinding) -> Receipt {
        let mut evidence = Object::from([
            ("decision", "approved".into()),
            ("authority", "owner".into()),
            ("decision_id", self.decision_id.as_str().into()),
            ("approval_id", "APR-ABCDEF012345".into()),
            ("action_id", action.action_id.as_str().into()),
            ("action_digest", action.payload_sha256.to_string().into()),
            ("revision", 1_i64.into()),
            ("principal", "owner:1".into()),
            ("decided_at_epoch", self.decided_at.clone()),
            ("expires_at_epoch", self.expires_at.clone()),
        ]);
        let own: &[(&str, &str)] = if self.by_grant {
            &[
                ("bounded_grant_id", "g-1"),
                ("approval_source_request_id", "r-1"),
                ("bounded_grant_expires_at_epoch", "unlimited"),
                ("binding_method", "bounded_grant"),
            ]
        } else {
            &[
                ("channel", "sms"),
                ("thread_id", "t"),
                ("event_id", "e"),
                ("event_key", "k"),
                ("delivery_id", "d"),
                ("delivery_message_id", "m"),
                ("binding_method", "delivered_reply"),
            ]
        };
        for (name, text) in own {
            evidence.insert((*name).to_owned(), (*text).into());
        }
        let evidence = Value::Object(evidence);
        Receipt {
            receipt_key: "owner-gate".to_owned(),
            kind: "gate".to_owned(),
            status: "passed".to_owned(),
            external_id: Some("APR-ABCDEF012345".to_owned()),
            evidence_sha256: digest::<Utf8>(&evidence),
            evidence,
        }
    }
}

/// Takes a call all the way to a request; says what the host has against it.
pub(crate) fn request(
    (tool, arguments): &(String, Value),
    context: &Value,
    approval: &Approval,
) -> Result<ExecutionRequest, String> {
    let catalog = Catalog::colony();
    let told = |faults: countersign_governed::Faults| faults.to_string();
    let intent = Intent::build(catalog, tool, arguments, context).map_err(told)?;
    let envelope = Envelope::build(intent);
    let action = ActionBinding {
        action_id: ActionId::parse(ACTION_ID).unwrap(),
        payload_sha256: envelope.sha256(),
    };
    let receipts = [approval.receipt(&action)];
    let shapes = ShapeRegistry::default();
    let gate =
        OwnerGate::validate(&action, tool, &receipts, now(), catalog, &shapes).map_err(told)?;
    let gate = gate.assert_dispatchable(now()).map_err(told)?;
    ExecutionRequest::build(catalog, &envelope, gate).map_err(told)
}

/// A plain request, for tests that spoil it.
pub(crate) fn plain_request() -> ExecutionRequest {
    let arguments = Value::from([
        ("task_id", "t-1".into()),
        ("hours", 24_i64.into()),
        ("reason", "après 🍵".into()),
    ]);
    let call = ("colony_task_snooze".to_owned(), arguments);
    let fields = countersign_governed::contract::CONTEXT_FIELDS;
    let context = fields.map(|field| (field, Value::from("x")));
    request(&call, &context.into(), &Approval::default()).unwrap()
}

/// An endpoint that is given a request, and what its handler reported.
pub(crate) fn perform(
    request: &ExecutionRequest,
    outcome: endpoint::HandlerOutcome,
) -> Result<endpoint::ResultDocument, String> {
    countersign_agreement::perform(request.action_id().as_str(), &request.body(), outcome, NOW)
}
