//! The owner's approval gate: what may authorize an action, and the proofs of it.

use countersign_canonical::{Digest, Object, Utf8, Value, digest};

use crate::catalog::Catalog;
use crate::contract::{
    GATE_CLOCK_SKEW_SECONDS, GATE_RECEIPT_KIND, GATE_STRING_MAX_CHARS, UNLIMITED_GRANT_EXPIRY,
};
use crate::digests::{claimed, equal_in_constant_time, hex};
use crate::epoch::Epoch;
use crate::fault::{
    BindingReason, Faults, FieldReason, GateReason, Kind, Reason, Report, TimeReason, ValueReason,
};
use crate::grammar::Grammar;
use crate::names::ApprovalId;
use crate::place::Path;
use crate::provenance::{BINDING_METHOD, Coverage, EvidenceField, Shape, ShapeRegistry};
use crate::receipt::{ActionBinding, Receipt};
use crate::scalars::{Fields, bounded_text, is_one, literal};

/// A valid owner's approval of one action; it may have expired.
///
/// Only [`OwnerGate::validate`] makes one.
///
/// ```compile_fail
/// use countersign_governed::OwnerGate;
/// let forged = OwnerGate { granted: false };
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct OwnerGate {
    action: ActionBinding,
    tool: String,
    approval_id: ApprovalId,
    decision_id: String,
    principal: String,
    decided_at: Epoch,
    expires_at: Epoch,
    // INVARIANT: every expiry that the evidence carries, `expires_at` among them.
    expiries: Vec<Epoch>,
    evidence_sha256: Digest<Utf8>,
    receipt_key: String,
    shape: String,
    granted: bool,
}

/// A valid approval that had not expired when it was asked for; consumed by building a request.
///
/// Only [`OwnerGate::assert_dispatchable`] makes one, and it cannot be copied.
///
/// ```compile_fail
/// use countersign_governed::{DispatchableGate, OwnerGate};
/// fn skip_the_check(gate: OwnerGate) -> DispatchableGate {
///     DispatchableGate { gate }
/// }
/// ```
///
/// ```compile_fail
/// use countersign_governed::DispatchableGate;
/// fn twice(gate: DispatchableGate) -> (DispatchableGate, DispatchableGate) {
///     (gate.clone(), gate)
/// }
/// ```
#[derive(Debug)]
pub struct DispatchableGate {
    gate: OwnerGate,
}

impl OwnerGate {
    /// Validates the receipts of an action at a time: exactly one is a gate, its
    /// evidence is of one registered shape and bound to this action, and its
    /// times are in order.
    ///
    /// `tool` is the tool of the action's own intent. A standing grant is
    /// refused for a tool that is not grantable or not in the catalog.
    pub fn validate(
        action: &ActionBinding,
        tool: &str,
        receipts: &[Receipt],
        now: Epoch,
        catalog: &Catalog,
        shapes: &ShapeRegistry,
    ) -> Result<Self, Faults> {
        let mut report = Report::default();
        let path = Path::ROOT.member("receipts");
        let mut gates = receipts
            .iter()
            .enumerate()
            .filter(|(_, receipt)| receipt.kind == GATE_RECEIPT_KIND);
        let (Some((index, receipt)), None) = (gates.next(), gates.next()) else {
            let found = receipts
                .iter()
                .filter(|receipt| receipt.kind == GATE_RECEIPT_KIND)
                .count();
            report.add(&path, GateReason::NotExactlyOne { found });
            return report.finish(None);
        };
        let path = path.element(index);
        let gate = Self::check(
            action,
            tool,
            receipt,
            now,
            (catalog, shapes),
            &path,
            &mut report,
        );
        report.finish(gate)
    }

    /// Names the action and its payload.
    pub fn action(&self) -> &ActionBinding {
        &self.action
    }

    /// Names the tool that the gate was validated for.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Names the approval.
    pub fn approval_id(&self) -> &ApprovalId {
        &self.approval_id
    }

    /// Names the decision.
    pub fn decision_id(&self) -> &str {
        &self.decision_id
    }

    /// Names who decided.
    pub fn principal(&self) -> &str {
        &self.principal
    }

    /// Shows when it was decided.
    pub fn decided_at(&self) -> Epoch {
        self.decided_at
    }

    /// Shows when the approval of this action ends; a grant behind it may end earlier.
    pub fn expires_at(&self) -> Epoch {
        self.expires_at
    }

    /// Shows the digest of the evidence.
    pub fn evidence_sha256(&self) -> Digest<Utf8> {
        self.evidence_sha256
    }

    /// Names the shape of the evidence.
    pub fn shape(&self) -> &str {
        &self.shape
    }

    /// Tells whether a standing grant authorized the action.
    pub fn is_granted(&self) -> bool {
        self.granted
    }

    /// Tells whether the approval, or the grant behind it, has ended.
    pub fn is_expired(&self, now: Epoch) -> bool {
        self.expiries.iter().any(|expiry| *expiry <= now)
    }

    /// Proves that nothing which the gate carries has ended; asked again at the point of use.
    pub fn assert_dispatchable(self, now: Epoch) -> Result<DispatchableGate, Faults> {
        let mut report = Report::default();
        report.require(&Path::ROOT, !self.is_expired(now), GateReason::Expired);
        report.finish(Some(DispatchableGate { gate: self }))
    }

    /// Shows the gate as a JSON object, for people and for comparison with other implementations.
    pub fn projection(&self, now: Epoch) -> Value {
        Value::Object(Object::from_iter([
            (
                "approval_id".to_owned(),
                Value::from(self.approval_id.as_str()),
            ),
            ("decided_at".to_owned(), self.decided_at.to_value()),
            (
                "decision_id".to_owned(),
                Value::from(self.decision_id.as_str()),
            ),
            (
                "evidence_sha256".to_owned(),
                Value::from(hex(&self.evidence_sha256)),
            ),
            ("expired".to_owned(), Value::Bool(self.is_expired(now))),
            ("expires_at".to_owned(), self.expires_at.to_value()),
            ("granted".to_owned(), Value::Bool(self.granted)),
            (
                "receipt_key".to_owned(),
                Value::from(self.receipt_key.as_str()),
            ),
            ("revision".to_owned(), Value::from(1_i64)),
            ("shape".to_owned(), Value::from(self.shape.as_str())),
        ]))
    }

    fn check(
        action: &ActionBinding,
        tool: &str,
        receipt: &Receipt,
        now: Epoch,
        (catalog, shapes): (&Catalog, &ShapeRegistry),
        path: &Path<'_>,
        report: &mut Report,
    ) -> Option<Self> {
        report.require(
            &path.member("status"),
            receipt.status == "passed",
            FieldReason::MustBeLiteral("passed"),
        );
        let evidence_path = path.member("evidence");
        let Some(evidence) = receipt.evidence.as_object() else {
            report.add(&evidence_path, FieldReason::MustBe(Kind::Object));
            return None;
        };
        let sha256 = digest::<Utf8>(&receipt.evidence);
        report.require(
            &path.member("evidence_sha256"),
            equal_in_constant_time(&sha256, &receipt.evidence_sha256),
            BindingReason::DigestMismatch { of: "evidence" },
        );
        let names: Vec<&str> = evidence.keys().collect();
        let Some(shape) = shapes.find(&names) else {
            report.add(
                &evidence_path,
                GateReason::UnknownShape {
                    nearest: shapes.nearest(&names),
                },
            );
            return None;
        };
        let fields = Fields::of(evidence);
        let path = &evidence_path;
        let approval_id = check_common(&fields, action, receipt, path, report);
        let expiries = check_own(&fields, shape, shapes, path, report);
        let (decided_at, expires_at) = check_times(&fields, now, path, report)?;
        let granted = match shape.coverage() {
            Coverage::OneAction => false,
            Coverage::StandingGrant => {
                check_grantable(catalog, tool, report);
                true
            }
        };
        Some(Self {
            action: action.clone(),
            tool: tool.to_owned(),
            approval_id: approval_id?,
            decision_id: fields.find("decision_id")?.as_str()?.to_owned(),
            principal: fields.find("principal")?.as_str()?.to_owned(),
            decided_at,
            expires_at,
            expiries: expiries.into_iter().chain([expires_at]).collect(),
            evidence_sha256: sha256,
            receipt_key: receipt.receipt_key.clone(),
            shape: shape.name().to_owned(),
            granted,
        })
    }
}

impl DispatchableGate {
    /// Shows the approval.
    pub fn gate(&self) -> &OwnerGate {
        &self.gate
    }

    pub(crate) fn into_gate(self) -> OwnerGate {
        self.gate
    }
}

fn check_common(
    fields: &Fields<'_>,
    action: &ActionBinding,
    receipt: &Receipt,
    path: &Path<'_>,
    report: &mut Report,
) -> Option<ApprovalId> {
    fields.read("decision", path, report, |value| literal(value, "approved"));
    fields.read("authority", path, report, |value| literal(value, "owner"));
    fields.read("decision_id", path, report, gate_text);
    fields.read("principal", path, report, gate_text);
    fields.require("revision", path, report, is_one, FieldReason::MustBeOne);
    fields.require(
        "action_id",
        path,
        report,
        |value| value.as_str() == Some(action.action_id.as_str()),
        BindingReason::Differs {
            from: "the action's id",
        },
    );
    if let Some(bound) = fields.read("action_digest", path, report, claimed::<Utf8>) {
        report.require(
            &path.member("action_digest"),
            equal_in_constant_time(&bound, &action.payload_sha256),
            BindingReason::Differs {
                from: "the action's payload_sha256",
            },
        );
    }
    let approval_id = fields.read("approval_id", path, report, |value| {
        let text = value.as_str().ok_or(FieldReason::MustBe(Kind::Text))?;
        ApprovalId::parse(text)
            .map_err(|_| Reason::from(ValueReason::NotOfGrammar(Grammar::ApprovalId)))
    })?;
    report.require(
        &path.member("approval_id"),
        receipt.external_id.as_deref() == Some(approval_id.as_str()),
        BindingReason::Differs {
            from: "the receipt's external_id",
        },
    );
    Some(approval_id)
}

/// Checks the fields of the shape beside the common ones, and collects their expiries.
fn check_own(
    fields: &Fields<'_>,
    shape: &Shape,
    shapes: &ShapeRegistry,
    path: &Path<'_>,
    report: &mut Report,
) -> Vec<Epoch> {
    let mut expiries = Vec::new();
    for (field, content) in shape.fields() {
        match content {
            EvidenceField::Text => {
                let text = fields.read(field, path, report, gate_text);
                if let Some(method) = text.filter(|_| field == BINDING_METHOD) {
                    let may_carry = shapes.may_carry(shape, method);
                    report.require(
                        &path.member(field),
                        may_carry,
                        GateReason::ForeignBindingMethod,
                    );
                }
            }
            EvidenceField::Expiry => expiries.extend(fields.read(field, path, report, epoch)),
            EvidenceField::ExpiryOrUnlimited => {
                let expiry = fields.read(field, path, report, |value| {
                    if value.as_str() == Some(UNLIMITED_GRANT_EXPIRY) {
                        Ok(None)
                    } else {
                        epoch(value).map(Some)
                    }
                });
                expiries.extend(expiry.flatten());
            }
        }
    }
    expiries
}

fn check_times(
    fields: &Fields<'_>,
    now: Epoch,
    path: &Path<'_>,
    report: &mut Report,
) -> Option<(Epoch, Epoch)> {
    let decided_at = fields.read("decided_at_epoch", path, report, epoch);
    let expires_at = fields.read("expires_at_epoch", path, report, epoch);
    let (decided_at, expires_at) = (decided_at?, expires_at?);
    report.require(
        &path.member("decided_at_epoch"),
        !decided_at.is_ahead_of(now, GATE_CLOCK_SKEW_SECONDS),
        TimeReason::InFuture,
    );
    report.require(
        &path.member("expires_at_epoch"),
        expires_at > decided_at,
        TimeReason::NotAfter("decided_at_epoch"),
    );
    Some((decided_at, expires_at))
}

fn check_grantable(catalog: &Catalog, tool: &str, report: &mut Report) {
    let path = Path::ROOT.member("tool");
    match catalog.tool(tool) {
        Some(tool) => report.require(&path, tool.is_grantable(), GateReason::NotGrantable),
        None => report.add(&path, GateReason::GrantForUnknownTool),
    }
}

fn gate_text(value: &Value) -> Result<&str, Reason> {
    bounded_text(value, GATE_STRING_MAX_CHARS, false)
}

fn epoch(value: &Value) -> Result<Epoch, Reason> {
    Epoch::from_value(value).ok_or_else(|| FieldReason::MustBe(Kind::Epoch).into())
}
