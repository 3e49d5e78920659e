//! The guide: every digest on it is recomputed, and its tables are those of the code.

use countersign_canonical::{Ascii, Limits, Utf8, Value, digest, parse};
use countersign_governed::{
    BEYOND_SCHEMA, Catalog, Envelope, ExecutionRequest, Intent, ShapeRegistry, check_gate_document,
    check_result_document, contract,
};

const GUIDE: &str = include_str!("../../../../docs/guides/governed-contract.md");

fn blocks(language: &str) -> Vec<(&'static str, &'static str)> {
    let fence = format!("```{language}\n");
    GUIDE
        .split(&fence)
        .skip(1)
        .map(|rest| rest.split_once("\n```").unwrap())
        .collect()
}

fn stated(after: &str, name: &str) -> String {
    let (_, rest) = after.split_once(&format!("- {name}: `")).unwrap();
    rest.split_once('`').unwrap().0.to_owned()
}

fn read(text: &str) -> Value {
    parse(text.as_bytes(), &Limits::passthrough()).unwrap()
}

#[test]
fn worked_digests_are_right() {
    let worked = blocks("json");
    assert!(worked.len() >= 4);
    for (text, after) in worked {
        let value = read(text);
        assert_eq!(
            digest::<Ascii>(&value).to_string(),
            stated(after, "ASCII"),
            "{text}"
        );
        assert_eq!(
            digest::<Utf8>(&value).to_string(),
            stated(after, "UTF-8"),
            "{text}"
        );
    }
}

#[test]
fn worked_documents_are_accepted() {
    let catalog = Catalog::colony();
    let [(text, after)] = blocks("json intent")[..] else {
        panic!("one intent")
    };
    let intent = Intent::parse(catalog, text.as_bytes()).unwrap();
    assert_eq!(
        Envelope::build(intent).sha256().to_string(),
        stated(after, "envelope")
    );
    let [(text, _)] = blocks("json gate")[..] else {
        panic!("one gate")
    };
    let answer =
        check_gate_document(catalog, &ShapeRegistry::default(), &read(text), None).unwrap();
    assert!(answer.gate.assert_dispatchable(answer.now).is_ok());
    let [(text, _)] = blocks("json request")[..] else {
        panic!("one request")
    };
    ExecutionRequest::check(catalog, None, text.as_bytes()).unwrap();
    let [(text, after)] = blocks("json result")[..] else {
        panic!("one result")
    };
    let result = check_result_document(&read(text), None).unwrap();
    assert_eq!(result.sha256().to_string(), stated(after, "kept"));
}

#[test]
fn tables_are_those_of_the_code() {
    for rule in BEYOND_SCHEMA {
        assert!(
            GUIDE.contains(&format!("| `{}` | {} |", rule.code, rule.rule)),
            "{}",
            rule.code
        );
    }
    let field_sets: [&[&str]; 5] = [
        &contract::INTENT_FIELDS,
        &contract::CONTEXT_FIELDS,
        &contract::EXECUTION_REQUEST_FIELDS,
        &contract::APPROVAL_BINDING_FIELDS,
        &contract::EXECUTION_RESULT_FIELDS,
    ];
    for fields in field_sets {
        assert!(fields.is_sorted());
        let listed = fields
            .iter()
            .map(|field| format!("`{field}`"))
            .collect::<Vec<_>>()
            .join(", ");
        assert!(GUIDE.contains(&listed), "{listed}");
    }
}
