//! Packages that a turn keeps, and their verification.

use std::fs;

use serde_json::{Value, json};

use crate::program::countersign;
use crate::provider::{Provider, note};
use crate::workplace::{Workplace, mode_of, texts};

/// Runs a turn that keeps packages; gives the operations in no order.
fn kept(place: &Workplace) -> Vec<String> {
    place.edit_tools("approval = \"person\"", "approval = \"policy\"");
    let response = Provider::Responses.response(&[
        note("x"),
        ("read_file", json!({"path": "today.md"})),
        ("no_such_tool", json!({})),
    ]);
    let directory = place.at("kept/packages");
    let arguments = place.turn(&response, &["--approve", "none", "--packages", &directory]);
    let finished = countersign(&texts(&arguments));
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    let names = fs::read_dir(place.path("kept/packages")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let operations = names.filter_map(|name| Some(name.strip_suffix(".package.json")?.to_owned()));
    operations.collect()
}

#[test]
fn packages_are_the_owner_s_alone_and_belong_to_their_calls() {
    let place = Workplace::new();
    let operations = kept(&place);
    assert_eq!(operations.len(), 3);
    assert_eq!(place.mode("kept/packages"), 0o700);
    let files = fs::read_dir(place.path("kept/packages")).unwrap();
    let files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 6);
    for file in files {
        assert_eq!(mode_of(&file), 0o600, "{file:?}");
    }
    let mut said = Vec::new();
    for operation in &operations {
        let finished = verify(&place, operation, operation);
        assert_eq!((finished.0, finished.2.as_str()), (0, ""));
        said.push(finished.1);
    }
    said.sort();
    assert_eq!(
        said,
        [
            "The package belongs to the call: failed.\n",
            "The package belongs to the call: succeeded.\n",
            "The package belongs to the call: succeeded.\n",
        ]
    );
    let (code, stdout, _) = verify(&place, &operations[0], &operations[1]);
    assert_eq!(code, 1);
    assert!(
        stdout.contains("is not bound to the current operation"),
        "{stdout}"
    );
}

fn verify(place: &Workplace, package: &str, call: &str) -> (i32, String, String) {
    let package = place.at(&format!("kept/packages/{package}.package.json"));
    let call = place.at(&format!("kept/packages/{call}.call.json"));
    let finished = countersign(&["verify", &package, "--call", &call]);
    (finished.code, finished.stdout, finished.stderr)
}

#[test]
fn a_changed_package_is_refused_with_the_reasons() {
    let place = Workplace::new();
    let operations = kept(&place);
    for operation in &operations {
        let name = format!("kept/packages/{operation}.package.json");
        let whole = place.read(&name);
        for (was, is) in [
            ("Water", "Woter"),
            ("local", "locol"),
            ("UNKNOWN_TOOL", "NOT_FOUND"),
            ("\"noted\": true", "\"noted\": false"),
            ("untrusted_data", "trusted_data"),
        ] {
            if !whole.contains(was) {
                continue;
            }
            place.write(&name, &whole.replacen(was, is, 1));
            let (code, stdout, stderr) = verify(&place, operation, operation);
            assert_eq!((code, stderr.as_str()), (1, ""), "{was}");
            let reasons = stdout.strip_prefix("The package does not belong to the call:\n");
            assert!(!reasons.unwrap().trim().is_empty());
        }
        place.write(&name, &whole);
    }
}

#[test]
fn a_file_that_cannot_be_used_is_no_verdict() {
    let place = Workplace::new();
    let operation = kept(&place).remove(0);
    let package = place.at(&format!("kept/packages/{operation}.package.json"));
    let call = place.at(&format!("kept/packages/{operation}.call.json"));
    let mut document: Value =
        serde_json::from_str(&place.read(&format!("kept/packages/{operation}.call.json"))).unwrap();
    document["principal"]["roles"] = json!("writer");
    document["call"]["call_id"] = json!(7);
    document["contract"] = json!({"name": "x"});
    place.write("faulty.json", &document.to_string());
    place.write("no.json", "{\"a\": 1,}");
    let mut report = String::new();
    for (package, call) in [
        (&place.at("missing.json"), &call),
        (&package, &place.at("missing.json")),
        (&place.at("no.json"), &call),
        (&package, &place.at("faulty.json")),
        (&package, &package),
        (&place.at("root"), &call),
    ] {
        let finished = countersign(&["verify", package, "--call", call]);
        assert_eq!((finished.code, finished.stdout.as_str()), (2, ""));
        report.push_str(&finished.stderr);
        report.push('\n');
    }
    insta::assert_snapshot!(report);
}

#[test]
fn a_link_in_the_directory_leads_nowhere_and_old_permissions_do_not_stay() {
    let place = Workplace::new();
    let operation = kept(&place).remove(0);
    place.write("elsewhere", "mine");
    let name = format!("kept/packages/{operation}.package.json");
    for name in [name.clone(), format!("{name}.new")] {
        let path = place.path(&name);
        let _ = fs::remove_file(&path);
        std::os::unix::fs::symlink(place.path("elsewhere"), path).unwrap();
    }
    place.set_mode(&format!("kept/packages/{operation}.call.json"), 0o644);
    let arguments = [
        "turn",
        "--tools",
        &place.at("tools.toml"),
        "--ledger",
        &place.ledger(),
        "--approve",
        "none",
        "--packages",
        &place.at("kept/packages"),
        &place.at("response.json"),
    ];
    assert_eq!(countersign(&arguments).code, 0);
    assert_eq!(place.read("elsewhere"), "mine");
    assert!(!place.path(&name).is_symlink());
    assert_eq!(
        place.mode(&format!("kept/packages/{operation}.call.json")),
        0o600
    );
    assert_eq!(verify(&place, &operation, &operation).0, 0);
}

#[test]
fn a_directory_that_cannot_be_made_is_found_before_anything_runs() {
    let place = Workplace::new();
    place.edit_tools("approval = \"person\"", "approval = \"policy\"");
    let file = place.at("tools.toml");
    let response = Provider::Responses.response(&[note("x")]);
    let finished = countersign(&texts(&place.turn(&response, &["--packages", &file])));
    assert_eq!(finished.code, 2);
    assert_eq!(
        finished.stderr,
        "countersign: cannot make the package directory: entity already exists\n"
    );
    assert!(place.notes().is_empty());
}
