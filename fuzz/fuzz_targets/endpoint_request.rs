//! Bytes to execution requests, and requests through the endpoint's ledger form.
#![no_main]

use countersign_endpoint::{
    Action, Catalog, Credential, EpochSeconds, ExecutionRequest, Members, Owner, PutDecision,
    Stored, Value, WORKER_PRINCIPAL, WORKER_SCOPES, Worker, canonical_json_ascii,
    canonical_json_utf8, decide_put, parse, parse_respelled, sha256_json_ascii, sha256_json_utf8,
};
use libfuzzer_sys::fuzz_target;

const ACTION: &str = "11cbc288-4a50-42dc-982c-18c92f429ce5";

fuzz_target!(|input: &[u8]| {
    let catalog = Catalog::colony();
    let _ = ExecutionRequest::parse(ACTION, input, &catalog);
    let value = match parse(input) {
        Ok(value) => value,
        Err(error) => return assert!(error.offset() <= input.len()),
    };
    assert_fixed_point(&value);
    // Chance never finds a digest, so we put the right ones in.
    let Some((action_id, body)) = sign(&value) else {
        return;
    };
    if let Ok(request) = ExecutionRequest::parse(&action_id, body.as_bytes(), &catalog) {
        assert!(
            ExecutionRequest::parse(ACTION, body.as_bytes(), &catalog).is_err()
                || action_id == ACTION
        );
        assert_survives_storage(request);
    }
});

fn assert_fixed_point(value: &Value) {
    let ascii = canonical_json_ascii(value);
    let utf8 = canonical_json_utf8(value);
    assert!(ascii.bytes().all(|byte| matches!(byte, b' '..=b'~')));
    let again = parse_respelled(ascii.as_bytes()).expect("an encoding is strict JSON");
    assert_eq!(&again, value);
    assert_eq!(
        parse_respelled(utf8.as_bytes()).expect("an encoding is strict JSON"),
        again
    );
    assert_eq!(canonical_json_utf8(&again), utf8);
}

fn sign(value: &Value) -> Option<(String, String)> {
    let members = value.as_object()?;
    let action_id = members.get("action_id")?.as_text()?.to_owned();
    let mut signed = Members::new();
    let args_sha256 = sha256_json_ascii(members.get("args")?).to_string();
    signed.insert_new("args_sha256".to_owned(), args_sha256.as_str().into());
    for (key, value) in members.iter().filter(|(key, _)| *key != "execution_digest") {
        signed.insert_new(key.to_owned(), value.clone());
    }
    let execution_digest = sha256_json_utf8(&Value::Object(signed.clone())).to_string();
    signed.insert_new(
        "execution_digest".to_owned(),
        execution_digest.as_str().into(),
    );
    Some((action_id, canonical_json_utf8(&Value::Object(signed))))
}

fn assert_survives_storage(request: ExecutionRequest) {
    let owners = [Owner::parse("owner").expect("an owner")];
    let credential = Credential {
        principal: WORKER_PRINCIPAL,
        scopes: &WORKER_SCOPES,
        owners: &owners,
    };
    let worker = Worker::authorize(&credential, None).expect("a worker");
    // Between the two times, where there is a positive one.
    let now = request.approval().decided_at() / 2.0 + request.approval().expires_at() / 2.0;
    let Some(now) = EpochSeconds::from_f64(now) else {
        return;
    };
    if let PutDecision::Store { write, .. } =
        decide_put(Stored::default(), request.clone(), &worker, now)
    {
        let action = Action::from_row(write.row()).expect("a row of ours");
        assert_eq!(action.subject().request(), &request);
        parse(action.result().as_bytes()).expect("a result is strict JSON");
        let stored = Stored {
            action: Some(action),
            execution_digest_holder: Some(request.action_id().clone()),
        };
        assert!(matches!(
            decide_put(stored, request, &worker, now),
            PutDecision::Resume(_)
        ));
    }
}
