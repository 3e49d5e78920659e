//! Gates: exactly one receipt, of exactly one shape, bound to exactly one action.

use countersign_canonical::{Utf8, digest};
use countersign_governed::{
    Catalog, Epoch, EvidenceField, OwnerGate, Receipt, Shape, ShapeRegistry,
};
use serde_json::json;

use crate::fixtures::{
    NOW, action, delivery_evidence, envelope, grant_evidence, now, receipt, spoiled, validate,
};

#[test]
fn a_delivered_approval_authorizes_and_expires() {
    let action = action(&envelope());
    let gate = validate(
        &action,
        "colony_autonomy_enable",
        &[receipt(&delivery_evidence(&action))],
    )
    .unwrap();
    assert!(!gate.is_granted());
    assert_eq!(gate.shape(), "message_delivery");
    let last = Epoch::from_seconds(NOW + 59.9).unwrap();
    let first_after = Epoch::from_seconds(NOW + 60.0).unwrap();
    assert!(gate.clone().assert_dispatchable(last).is_ok());
    let refusal = gate.assert_dispatchable(first_after).unwrap_err();
    assert_eq!(refusal.to_string(), "the document: has expired");
}

#[test]
fn a_grant_ends_with_itself_and_never_covers_some_tools() {
    let action = action(&envelope());
    let mut evidence = grant_evidence(&action);
    let gate = validate(&action, "colony_research", &[receipt(&evidence)]).unwrap();
    assert!(gate.is_granted() && !gate.is_expired(now()));
    for (expiry, ended) in [(NOW, true), (NOW + 0.5, false), (1.0, true)] {
        evidence["bounded_grant_expires_at_epoch"] = json!(expiry);
        let gate = validate(&action, "colony_research", &[receipt(&evidence)]).unwrap();
        assert_eq!(gate.is_expired(now()), ended, "{expiry}");
        assert_eq!(gate.assert_dispatchable(now()).is_err(), ended, "{expiry}");
    }
    for tool in [
        "colony_autonomy_enable",
        "colony_autonomy_disable",
        "colony_unknown",
        "",
    ] {
        let refusal = validate(&action, tool, &[receipt(&evidence)]).unwrap_err();
        assert!(refusal.to_string().contains("standing grant"), "{refusal}");
    }
}

#[test]
fn every_single_field_mutation_is_refused() {
    let action = action(&envelope());
    for evidence in [delivery_evidence(&action), grant_evidence(&action)] {
        assert!(validate(&action, "colony_research", &[receipt(&evidence)]).is_ok());
        let mut accepted = Vec::new();
        for (field, original) in evidence.as_object().unwrap() {
            for replacement in spoiled(original) {
                let mut spoiled = evidence.clone();
                spoiled[field] = replacement.clone();
                if validate(&action, "colony_research", &[receipt(&spoiled)]).is_ok() {
                    accepted.push((field.clone(), replacement));
                }
            }
            let mut shorter = evidence.clone();
            shorter.as_object_mut().unwrap().remove(field);
            assert!(
                validate(&action, "colony_research", &[receipt(&shorter)]).is_err(),
                "no {field}"
            );
        }
        // What is left are free texts, times of another value, and 1 written as 1.0.
        for (field, replacement) in accepted {
            let free = replacement
                .as_str()
                .is_some_and(|text| !text.is_empty() && !text.contains('\0'))
                && ![
                    "decision",
                    "authority",
                    "approval_id",
                    "action_id",
                    "action_digest",
                ]
                .contains(&field.as_str())
                && !field.ends_with("_epoch");
            let time = field.ends_with("_epoch")
                && replacement.is_number()
                && replacement.as_f64() > Some(0.0);
            let one = field == "revision" && replacement == json!(1.0);
            assert!(free || time || one, "{field} = {replacement}");
        }
    }
}

#[test]
fn refusals_name_their_place() {
    let action = action(&envelope());
    let delivery = delivery_evidence(&action);
    let with = |changes: serde_json::Value| {
        let mut evidence = delivery.clone();
        for (field, value) in changes.as_object().unwrap() {
            evidence[field] = value.clone();
        }
        receipt(&evidence)
    };
    let cases: Vec<(Vec<Receipt>, &str)> = vec![
        (
            vec![],
            "/receipts: must hold exactly one gate receipt, and holds 0",
        ),
        (
            vec![with(json!({})), with(json!({}))],
            "/receipts: must hold exactly one gate receipt, and holds 2",
        ),
        (
            vec![with(json!({"binding_method": "bounded_grant"}))],
            "/receipts/0/evidence/binding_method: is a binding method of another provenance shape",
        ),
        (
            vec![with(json!({"bounded_grant_id": "g"}))],
            "/receipts/0/evidence: has exactly the fields of no registered provenance shape; nearest is message_delivery, with 0 missing and 1 foreign",
        ),
        (
            vec![with(
                json!({"decided_at_epoch": NOW + 30.5, "expires_at_epoch": NOW + 31.0}),
            )],
            "/receipts/0/evidence/decided_at_epoch: lies more than 30 seconds in the future",
        ),
        (
            vec![with(json!({"expires_at_epoch": "unlimited"}))],
            "/receipts/0/evidence/expires_at_epoch: must be a positive, finite number of seconds since 1970",
        ),
        (
            vec![Receipt {
                evidence_sha256: digest::<Utf8>(&true.into()),
                ..with(json!({}))
            }],
            "/receipts/0/evidence_sha256: is not the digest of evidence",
        ),
        (
            vec![Receipt {
                external_id: None,
                ..with(json!({}))
            }],
            "/receipts/0/evidence/approval_id: differs from the receipt's external_id",
        ),
        (
            vec![Receipt {
                status: "failed".to_owned(),
                ..with(json!({}))
            }],
            "/receipts/0/status: must be \"passed\"",
        ),
    ];
    for (receipts, message) in cases {
        let refusal = validate(&action, "colony_research", &receipts).unwrap_err();
        assert_eq!(refusal.to_string(), message);
    }
    let boundary = with(json!({"decided_at_epoch": NOW + 30.0, "expires_at_epoch": NOW + 31.0}));
    assert!(validate(&action, "colony_research", &[boundary]).is_ok());
}

#[test]
fn a_registered_shape_counts_with_its_own_expiry() {
    let mut shapes = ShapeRegistry::default();
    let fields = [
        ("console_session_id", EvidenceField::Text),
        ("session_expires_at_epoch", EvidenceField::Expiry),
    ];
    shapes
        .register(Shape::new("console", &fields, Some("console")).unwrap())
        .unwrap();
    let action = action(&envelope());
    let mut evidence = delivery_evidence(&action);
    for field in [
        "channel",
        "thread_id",
        "event_id",
        "event_key",
        "delivery_id",
        "delivery_message_id",
    ] {
        evidence.as_object_mut().unwrap().remove(field);
    }
    evidence["binding_method"] = json!("console");
    evidence["console_session_id"] = json!("session-1");
    evidence["session_expires_at_epoch"] = json!(NOW + 1.0);
    let check = |evidence: &serde_json::Value, shapes: &ShapeRegistry| {
        OwnerGate::validate(
            &action,
            "colony_research",
            &[receipt(evidence)],
            now(),
            Catalog::colony(),
            shapes,
        )
    };
    let gate = check(&evidence, &shapes).unwrap();
    assert_eq!(gate.shape(), "console");
    assert!(gate.clone().assert_dispatchable(now()).is_ok());
    assert!(gate.is_expired(Epoch::from_seconds(NOW + 1.0).unwrap()));
    assert!(check(&evidence, &ShapeRegistry::default()).is_err());
    evidence["binding_method"] = json!("other");
    assert!(check(&evidence, &shapes).is_err());
    let mut delivered = delivery_evidence(&action);
    delivered["binding_method"] = json!("console");
    assert!(check(&delivered, &shapes).is_err());
    assert!(check(&delivered, &ShapeRegistry::default()).is_ok());
}
