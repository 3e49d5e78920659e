//! Requests whose digests are right, whatever else is wrong with them.

use countersign_canonical::{Ascii, Object, Utf8, Value, digest};

/// Makes a request for a call, with an approval that lived for a minute.
pub fn signed_request(action_id: &str, tool: &str, arguments: &Value) -> Value {
    let sha256 = |digits: &str| Value::from(digits.repeat(32));
    resign(&Value::from([
        ("schema", "ColonyGovernedActionExecutionV1".into()),
        ("version", 1_i64.into()),
        ("action_id", action_id.into()),
        ("action_digest", sha256("ab")),
        ("intent_id", format!("hti_{}", "c".repeat(32)).into()),
        ("intent_digest", sha256("de")),
        ("tool_name", tool.into()),
        ("args", arguments.clone()),
        ("args_sha256", Value::Null),
        (
            "approval",
            Value::from([
                ("schema", "ColonyOwnerApprovalExecutionBindingV1".into()),
                ("version", 1_i64.into()),
                ("approval_id", "APR-2F238499DA36".into()),
                ("decision_id", "dec:1/2".into()),
                ("revision", 1_i64.into()),
                ("authorization_receipt_sha256", sha256("0f")),
                ("decided_at", 1_784_000_000_i64.into()),
                ("expires_at", 1_784_000_060_i64.into()),
            ]),
        ),
    ]))
}

/// Recomputes the two digests that a request holds of itself, where it has anything to hash.
pub fn resign(request: &Value) -> Value {
    let Some(members) = request.as_object() else {
        return request.clone();
    };
    let mut members: Object = members.clone();
    if let Some(arguments) = members.get("args") {
        let sha256 = digest::<Ascii>(arguments).to_string();
        members.insert("args_sha256".to_owned(), sha256.into());
    }
    members.remove("execution_digest");
    let sha256 = digest::<Utf8>(&Value::Object(members.clone())).to_string();
    members.insert("execution_digest".to_owned(), sha256.into());
    members.into()
}
