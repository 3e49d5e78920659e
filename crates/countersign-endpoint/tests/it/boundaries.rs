//! Requests just inside and just outside each rule.

use countersign_endpoint::{ParseErrorKind, REQUEST_MAX_BYTES, RequestError};
use serde_json::{Value as Json, json};

use crate::sample::{ACTION, OTHER_ACTION, read, sign, unsigned};

fn faults(body: &[u8]) -> Vec<String> {
    match read(body) {
        Ok(_) => Vec::new(),
        Err(RequestError::Document(error)) => vec![error.to_string()],
        Err(RequestError::Contract(faults)) => {
            faults.as_slice().iter().map(ToString::to_string).collect()
        }
    }
}

/// Sets one member by its path, signs what came of it, and reads it.
fn with(path: &str, value: Json) -> Vec<String> {
    let mut request = unsigned(ACTION);
    *request.pointer_mut(path).expect("a member") = value;
    faults(&sign(request))
}

#[test]
fn the_sample_passes() {
    assert_eq!(faults(&sign(unsigned(ACTION))), Vec::<String>::new());
}

#[test]
fn one_may_be_written_as_a_float_but_as_nothing_else() {
    for path in ["/version", "/approval/version", "/approval/revision"] {
        let place = path.trim_start_matches('/').replace('/', ".");
        assert!(with(path, json!(1.0)).is_empty(), "{path}");
        for bad in [
            json!(true),
            json!("1"),
            json!(2),
            json!(0),
            json!(null),
            json!([1]),
            json!(1.5),
            json!(-1),
        ] {
            assert_eq!(
                with(path, bad.clone()),
                [format!("{place}: must be the number 1")],
                "{path} {bad}"
            );
        }
    }
}

#[test]
fn digests_hash_what_was_written() {
    let body = String::from_utf8(sign(unsigned(ACTION))).expect("UTF-8");
    let rewritten = body.replace("\"version\":1", "\"version\":1.0");
    assert_eq!(
        faults(rewritten.as_bytes()),
        ["execution_digest: is not the digest of what was sent"]
    );
    // Spelling is not content.
    let respelled = body
        .replace("è", "\\u00e8")
        .replace(',', " ,\n")
        .replace("\"hours\":24", "\"ho\\u0075rs\" : 24");
    assert_eq!(faults(respelled.as_bytes()), Vec::<String>::new());
    let exponent = body.replace("1784000000.0", "1.784E9");
    assert_eq!(faults(exponent.as_bytes()), Vec::<String>::new());
}

#[test]
fn identifiers_and_digests_are_exact() {
    let upper = "AB".repeat(32);
    let newline = format!("{}\n", "ab".repeat(32));
    let long = "d".repeat(129);
    for (path, bad) in [
        ("/action_digest", upper.as_str()),
        ("/action_digest", newline.as_str()),
        ("/intent_digest", upper.as_str()),
        ("/approval/authorization_receipt_sha256", upper.as_str()),
        ("/intent_id", "hti_0"),
        ("/approval/approval_id", "apr-2F238499DA36"),
        ("/approval/approval_id", "APR-2f238499da36"),
        ("/approval/approval_id", "APR-2F238499DA36\n"),
        ("/approval/decision_id", "dec 1"),
        ("/approval/decision_id", "dec-1\n"),
        ("/approval/decision_id", long.as_str()),
        ("/action_id", OTHER_ACTION),
        ("/action_id", "11cbc288-4a50-12dc-982c-18c92f429ce5"),
        ("/tool_name", "colony_unknown"),
        ("/schema", "colonygovernedactionexecutionv1"),
        ("/approval/schema", "ColonyGovernedActionExecutionV1"),
    ] {
        assert_eq!(with(path, json!(bad)).len(), 1, "{path} {bad:?}");
        assert_eq!(with(path, json!({})).len(), 1, "{path} {{}}");
    }
    assert!(with("/approval/decision_id", json!("d".repeat(128))).is_empty());
    assert!(with("/action_digest", json!("ef".repeat(32))).is_empty());
}

#[test]
fn approval_times_are_numbers_with_a_lifetime() {
    for (decided_at, expires_at, good) in [
        (json!(1_784_000_000), json!(1_784_086_400), true),
        (json!(1_784_000_000.0), json!(1_784_086_400.0), true),
        (json!(1_784_000_000), json!(1_784_086_401), false),
        (json!(1_784_000_000), json!(1_784_000_000), false),
        (json!(1_784_000_000.0), json!(1_784_000_000), false),
        (json!(1_784_000_001), json!(1_784_000_000), false),
        (json!("1784000000"), json!(1_784_000_600), false),
        (json!(1_784_000_000), json!(true), false),
        (json!(null), json!(1_784_000_600), false),
    ] {
        let mut request = unsigned(ACTION);
        request["approval"]["decided_at"] = decided_at.clone();
        request["approval"]["expires_at"] = expires_at.clone();
        assert_eq!(
            faults(&sign(request)).is_empty(),
            good,
            "{decided_at} {expires_at}"
        );
    }
}

#[test]
fn approval_times_are_positive_and_compared_exactly_between_integers() {
    const EXACT: i64 = 1 << 53;
    let not_positive = ["approval.decided_at: must be above zero"].as_slice();
    let no_lifetime =
        ["approval.expires_at: must be later than decided_at by at most 86400 seconds"].as_slice();
    for (decided_at, expires_at, told) in [
        (json!(1), json!(60), [].as_slice()),
        (json!(5e-324), json!(60), &[]),
        (json!(0), json!(60), not_positive),
        (json!(-5), json!(60), not_positive),
        (json!(0.0), json!(60.0), not_positive),
        (json!(-0.0), json!(60.0), not_positive),
        (json!(-0.5), json!(60), not_positive),
        (json!(EXACT), json!(EXACT + 1), &[]),
        (json!(EXACT + 1), json!(EXACT + 1), no_lifetime),
        (json!(EXACT + 1), json!(EXACT), no_lifetime),
        (json!(EXACT + 3), json!(EXACT + 3 + 86_400), &[]),
        (json!(EXACT + 3), json!(EXACT + 3 + 86_401), no_lifetime),
        (json!(i64::MAX - 1), json!(i64::MAX), &[]),
        (json!(1), json!(i64::MAX), no_lifetime),
        // One float, and both are doubles: 2^53 + 1 is 2^53, and 2^53 + 3 is 2^53 + 4.
        (
            json!(9_007_199_254_740_992.0),
            json!(EXACT + 1),
            no_lifetime,
        ),
        (json!(EXACT + 1), json!(9_007_199_254_740_994.0), &[]),
        (json!(9_007_199_254_740_996.0), json!(EXACT + 86_404), &[]),
        (json!(EXACT + 3), json!(9_007_199_254_827_396.0), &[]),
        (
            json!(EXACT + 3),
            json!(9_007_199_254_827_398.0),
            no_lifetime,
        ),
    ] {
        let mut request = unsigned(ACTION);
        request["approval"]["decided_at"] = decided_at.clone();
        request["approval"]["expires_at"] = expires_at.clone();
        assert_eq!(faults(&sign(request)), told, "{decided_at} {expires_at}");
    }
    assert_eq!(
        with("/approval/expires_at", json!(-1)),
        ["approval.expires_at: must be above zero"]
    );
}

#[test]
fn field_sets_are_exact_and_every_fault_is_told() {
    for field in [
        "schema",
        "version",
        "action_id",
        "action_digest",
        "intent_id",
        "intent_digest",
        "tool_name",
        "args",
        "approval",
    ] {
        let mut request = unsigned(ACTION);
        request.as_object_mut().expect("an object").remove(field);
        let told = faults(&sign(request));
        assert!(
            told.contains(&format!("{field}: is required")),
            "{field}: {told:?}"
        );
    }
    let mut request = unsigned(ACTION);
    request["secret-field"] = json!("secret");
    request["approval"]["secret-field"] = json!("secret");
    request["approval"]["revision"] = json!("secret");
    request["tool_name"] = json!("secret");
    request["intent_id"] = json!(7);
    let mut signed: Json = serde_json::from_slice(&sign(request)).expect("JSON");
    signed["execution_digest"] = json!("00".repeat(32));
    let told = faults(signed.to_string().as_bytes());
    insta::assert_snapshot!(told.join("\n"));
    assert!(!told.concat().contains("secret"));
}

#[test]
fn bodies_end_at_32_kibibytes() {
    let padded = |length: usize| {
        let mut body = sign(unsigned(ACTION));
        body.resize(length, b' ');
        body
    };
    assert!(read(&padded(REQUEST_MAX_BYTES)).is_ok());
    let Err(RequestError::Document(error)) = read(&padded(REQUEST_MAX_BYTES + 1)) else {
        panic!("too long");
    };
    assert_eq!(error.kind(), ParseErrorKind::TooManyBytes);
}

#[test]
fn a_duplicate_key_is_refused_even_with_equal_values() {
    let body = String::from_utf8(sign(unsigned(ACTION))).expect("UTF-8");
    let doubled = body.replacen('{', "{\"ver\\u0073ion\":1,", 1);
    assert_eq!(faults(doubled.as_bytes()).len(), 1);
    let doubled = body.replacen("\"hours\":24", "\"hours\":24,\"hours\":24", 1);
    assert!(faults(doubled.as_bytes())[0].contains("twice"));
}

#[test]
fn documents_that_are_no_objects_are_refused() {
    for body in ["null", "[]", "1", "\"x\"", "true", "{}", ""] {
        assert!(!faults(body.as_bytes()).is_empty(), "{body}");
    }
}
