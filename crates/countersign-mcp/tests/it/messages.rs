//! What is a message, what is refused, and with which code.

use countersign_mcp::{Kind, Message, MessageError, RequestId};
use proptest::prelude::*;

fn refused(text: &[u8]) -> MessageError {
    Message::read(text)
        .err()
        .unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(text)))
}

#[test]
fn the_four_kinds_are_told_apart() {
    let id = RequestId::Integer("1".into());
    let method = "m".to_owned();
    for (text, kind) in [
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#,
            Kind::Request {
                id: id.clone(),
                method: method.clone(),
            },
        ),
        (
            r#"{"jsonrpc":"2.0","method":"m","params":{}}"#,
            Kind::Notification { method },
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            Kind::Response { id: id.clone() },
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x"}}"#,
            Kind::Error { id: Some(id) },
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"x"}}"#,
            Kind::Error { id: None },
        ),
        (
            r#"{"jsonrpc":"2.0","error":{"code":-1,"message":"x"}}"#,
            Kind::Error { id: None },
        ),
    ] {
        assert_eq!(
            Message::read(text.as_bytes()).unwrap().kind(),
            &kind,
            "{text}"
        );
    }
}

#[test]
fn whatever_is_not_a_message_is_refused_with_its_code() {
    let deep = |depth: usize| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"x","arguments":{}{}}}}}"#,
            "[".repeat(depth),
            "]".repeat(depth)
        )
    };
    assert!(Message::read(deep(128).as_bytes()).is_ok());
    assert_eq!(refused(deep(129).as_bytes()).code(), -32600);
    for (text, code) in [
        ("", -32700),
        ("{", -32700),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":NaN}}"#,
            -32700,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1,"a":1}}"#,
            -32700,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"\ud800":1}}"#,
            -32700,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1e999}}"#,
            -32700,
        ),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\u{0}\"}",
            -32700,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"m"}"#, -32700),
        ("7", -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#, -32600),
        (r#"{"id":1,"method":"m"}"#, -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1.0,"method":"m"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[]}"#,
            -32602,
        ),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","result":{}}"#,
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#,
            -32600,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"result":[]}"#, -32600),
        (r#"{"jsonrpc":"2.0","result":{}}"#, -32600),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1.0,"message":""}}"#,
            -32600,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"error":{}}"#, -32600),
        // To whoever reads names without regard to case: the call of a tool, each of them.
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","Method":"tools/call"}"#,
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{},"METHOD":"tools/call"}"#,
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{},"param\u017f":{}}"#,
            -32600,
        ),
        (r#"{"jsonrpc":"2.0","Id":1,"method":"m"}"#, -32600),
    ] {
        assert_eq!(refused(text.as_bytes()).code(), code, "{text}");
    }
}

#[test]
fn parts_are_the_bytes_that_came() {
    let text = r#"{"params" : { "name":"x","arguments":{ "n" : 18446744073709551616, "t":"\u0000\ud83d\ude00" } ,"_meta":{"progressToken":7}},"method":"tools/call","id":"\u0031","jsonrpc":"2.0"}"#;
    let message = Message::read(text.as_bytes()).unwrap();
    let params = message.params().unwrap();
    let arguments = params.member("arguments").unwrap();
    assert_eq!(
        arguments.text(),
        r#"{ "n" : 18446744073709551616, "t":"\u0000\ud83d\ude00" }"#
    );
    let token = params
        .member("_meta")
        .unwrap()
        .member("progressToken")
        .unwrap();
    assert_eq!((token.text(), message.text()), ("7", text));
    assert!(!format!("{message:?}").contains("18446744073709551616"));
}

#[test]
fn a_call_of_four_megabytes_passes_and_a_longer_one_does_not() {
    let call = |bytes: usize| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"x","arguments":{{"t":"{}"}}}}}}"#,
            "a".repeat(bytes)
        )
    };
    assert!(Message::read(call(4 << 20).as_bytes()).is_ok());
    assert_eq!(refused(call((4 << 20) + 65_536).as_bytes()).code(), -32600);
}

proptest! {
    #[test]
    fn no_bytes_make_a_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Message::read(&bytes);
        let _ = countersign_mcp::salvage(&bytes);
    }

    #[test]
    fn near_messages_neither(text in r#"\{("jsonrpc":"2.0"|"id":(1|"a"|null|1.5)|"method":"m"|"params":\{("a":[\[\]{}",:0-9]{0,6})?\}|"result":\{\}|[\[\]{}",:\\]{0,3}|,){0,9}\}?"#) {
        let _ = Message::read(text.as_bytes());
        let _ = countersign_mcp::salvage(text.as_bytes());
    }
}
