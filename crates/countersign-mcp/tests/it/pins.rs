//! What a server may change of its tools, and what comes of it.

use countersign_canonical::{Limits, parse};
use countersign_mcp::pin::{Class, Pin, PinError, Standing};
use countersign_mcp::tools::ToolDefinition;
use countersign_mcp::{Launch, Patterns, ServerName};

fn tool(text: &str) -> ToolDefinition {
    let value = parse(text.as_bytes(), &Limits::passthrough()).unwrap();
    ToolDefinition::read(&value).unwrap()
}

fn launch() -> Launch {
    Launch::new(vec!["server".to_owned()], "/".to_owned())
}

fn pin(tools: &[ToolDefinition], reads: &str) -> Pin {
    let mut pin = Pin::new(ServerName::new("s").unwrap(), &launch());
    pin.adopt(tools, &Patterns::parse(reads).unwrap());
    pin
}

fn class(pin: &Pin, name: &str) -> Option<Class> {
    pin.tool(name).map(|tool| tool.class)
}

const LOOK: &str = r#"{"name":"look","description":"Looks.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#;
const ACT: &str = r#"{"name":"act","description":"Acts.","inputSchema":{"type":"object"}}"#;

#[test]
fn a_hint_counts_at_first_sight_only() {
    let mut pin = pin(&[tool(LOOK), tool(ACT)], "");
    assert_eq!(class(&pin, "look"), Some(Class::Read));
    assert_eq!(class(&pin, "act"), Some(Class::Write));
    // A tool that comes later does not say of itself what it is.
    let later = tool(&LOOK.replace("look", "peek"));
    let named = tool(&LOOK.replace("look", "glance"));
    pin.adopt(&[later, named], &Patterns::parse("glance").unwrap());
    assert_eq!(class(&pin, "peek"), Some(Class::Write));
    assert_eq!(class(&pin, "glance"), Some(Class::Read));
    // Nor does one that gets a hint: it is out of service, and accepted it still writes.
    let hinted = tool(&ACT.replace("}}", "},\"annotations\":{\"readOnlyHint\":true}}"));
    assert!(matches!(
        pin.compare(std::slice::from_ref(&hinted)).standing("act"),
        Some(Standing::Changed(_))
    ));
    assert!(pin.accept(&hinted));
    assert_eq!(class(&pin, "act"), Some(Class::Write));
    assert_eq!(pin.tool("act").unwrap().revision, 2);
    // One that loses its hint writes from its acceptance on.
    let bare = tool(&LOOK.replace("true", "false"));
    assert!(pin.accept(&bare));
    assert_eq!(class(&pin, "look"), Some(Class::Write));
}

#[test]
fn names_given_by_a_person_are_reads() {
    let pin = pin(&[tool(LOOK), tool(ACT)], "a*");
    assert_eq!(class(&pin, "act"), Some(Class::Read));
}

#[test]
fn whatever_changes_is_told_place_by_place() {
    let before = tool(
        r#"{"name":"act","description":"Acts.","inputSchema":{"type":"object","properties":{"a":{"type":"string"}}}}"#,
    );
    let after = tool(
        "{\"name\":\"act\",\"description\":\"Acts.\\u001b[2J\\u202e\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"number\"},\"b\":{}}},\"outputSchema\":{}}",
    );
    let pin = pin(&[before], "");
    let comparison = pin.compare(&[after]);
    let Some(Standing::Changed(differences)) = comparison.standing("act") else {
        panic!("changed");
    };
    let told: Vec<_> = differences.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            r#"text /description: was "Acts.", is "Acts.\u001b[2J\u{202e}""#,
            r#"input schema /properties/a/type: was "string", is "number""#,
            "input schema /properties/b: is new: {}",
            "output schema: is new: {}",
        ]
    );
}

#[test]
fn many_differences_are_bounded() {
    let schema = |value: i32| {
        let members: Vec<_> = (0..100)
            .map(|index| format!("\"m{index}\":{value}"))
            .collect();
        tool(&format!(
            "{{\"name\":\"act\",\"inputSchema\":{{{}}}}}",
            members.join(",")
        ))
    };
    let pin = pin(&[schema(1)], "");
    let comparison = pin.compare(&[schema(2)]);
    let Some(Standing::Changed(differences)) = comparison.standing("act") else {
        panic!("changed");
    };
    assert_eq!(differences.len(), countersign_mcp::pin::MAX_DIFFERENCES + 1);
}

#[test]
fn names_that_a_client_takes_for_one_are_out_of_service() {
    let named = |name: &str| tool(&ACT.replace("act", name));
    let two = [named("foo.bar"), named("foo_bar")];
    let empty = pin(&[], "");
    let comparison = empty.compare(&two);
    assert_eq!(
        comparison.standing("foo.bar"),
        Some(&Standing::Collides("foo_bar".to_owned()))
    );
    assert_eq!(
        comparison.standing("foo_bar"),
        Some(&Standing::Collides("foo.bar".to_owned()))
    );
    // What is in service stays, and the newcomer is out.
    let one = pin(&[named("foo.bar")], "");
    let comparison = one.compare(&two);
    assert_eq!(comparison.standing("foo.bar"), Some(&Standing::Unchanged));
    assert_eq!(
        comparison.standing("foo_bar"),
        Some(&Standing::Collides("foo.bar".to_owned()))
    );
    // The same name twice is two tools under one name.
    let comparison = one.compare(&[named("foo.bar"), named("foo.bar")]);
    assert_eq!(
        comparison.standing("foo.bar"),
        Some(&Standing::Collides("foo.bar".to_owned()))
    );
    assert_eq!(one.compare(&[]).standing("foo.bar"), Some(&Standing::Gone));
}

#[test]
fn a_pin_survives_its_file_and_nothing_else_does() {
    let big = tool(
        r#"{"name":"act","inputSchema":{"maximum":123456789012345678901234567890,"minimum":-0.0}}"#,
    );
    let pin = pin(&[tool(LOOK), big], "");
    let bytes = pin.to_bytes();
    assert_eq!(Pin::read(&bytes).unwrap(), pin);
    assert!(pin.is_of(&launch()));
    let text = String::from_utf8(bytes).unwrap();
    let changed = text.replace("Looks.", "Looks!");
    assert_eq!(Pin::read(changed.as_bytes()), Err(PinError::Digest));
    for (before, after) in [
        ("countersign-pin-v1", "v2"),
        ("\"read\"", "\"both\""),
        ("\"server\"", "\"sever\""),
    ] {
        assert_eq!(
            Pin::read(text.replace(before, after).as_bytes()),
            Err(PinError::Form),
            "{after}"
        );
    }
    assert!(matches!(Pin::read(b"{"), Err(PinError::Json(_))));
}
