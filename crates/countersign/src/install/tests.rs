use proptest::prelude::*;

use crate::install::change::{apply, unwrap, wrap};
use crate::install::client::Client;
use crate::install::document::Document;
use crate::install::entry::Entry;
use crate::install::masked::masked;

const PROGRAM: &str = "/opt/countersign/bin/countersign";
const SECRET: &str = "S3NTINEL";

/// Wraps every server and unwraps it again; gives back the text between.
fn there_and_back(client: Client, text: &str) -> String {
    let before = Document::read(client, text.to_owned()).unwrap();
    let changes = before.servers().iter();
    let changes = changes.flat_map(|server| wrap(&before, server, PROGRAM).unwrap());
    let wrapped = apply(text, changes.collect()).unwrap();
    let after = Document::read(client, wrapped.clone()).expect(&wrapped);
    for server in after.servers() {
        assert!(Entry::of(client, &server.value).is_wrapped(), "{wrapped}");
        assert!(wrap(&after, server, PROGRAM).is_err());
    }
    let changes = after.servers().iter();
    let changes = changes.flat_map(|server| unwrap(&after, &server.value).expect(&wrapped));
    let back = apply(&wrapped, changes.collect()).unwrap();
    assert_eq!(back, text, "{wrapped}");
    let shown = masked(&before) + &masked(&after);
    assert!(!shown.contains(SECRET), "{shown}");
    wrapped
}

/// How a configuration is laid out.
#[derive(Clone, Debug)]
struct Layout {
    end: &'static str,
    indent: &'static str,
    colon: &'static str,
    inner: &'static str,
    with_comments: bool,
}

fn layout() -> impl Strategy<Value = Layout> {
    (
        prop::sample::select(vec!["\n", "\r\n", "", " "]),
        prop::sample::select(vec!["  ", "\t", "    ", ""]),
        prop::sample::select(vec![": ", ":", " : "]),
        prop::sample::select(vec!["", " "]),
        any::<bool>(),
    )
        .prop_map(|(end, indent, colon, inner, with_comments)| Layout {
            end,
            indent,
            colon,
            inner,
            with_comments: with_comments && end.contains('\n'),
        })
}

fn word() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "\"npx\"",
        "\"-y\"",
        "\"--\"",
        "\"a b\"",
        "\"\\u00e9\\\"\"",
        "\"é\"",
        "\"--url\"",
        "\"wrap\"",
        "\"x\\\\y\"",
    ])
    .prop_map(str::to_owned)
}

/// The members of a server, in some order, without the commas.
fn server() -> impl Strategy<Value = (Vec<(String, String)>, bool)> {
    let args = prop::option::of((prop::collection::vec(word(), 0..4), 0..3_usize));
    let program = (word(), args).prop_map(|(command, args)| {
        let mut members = vec![("command".to_owned(), command)];
        if let Some((words, style)) = args {
            let list = match style {
                0 => format!("[{}]", words.join(", ")),
                1 => format!("[ {} ]", words.join(" , ")),
                _ => format!("[\n      {}\n    ]", words.join(",\n      ")),
            };
            members.push(("args".to_owned(), list));
        }
        members.push(("env".to_owned(), format!("{{ \"TOKEN\":\"{SECRET}\" }}")));
        members
    });
    let url = any::<(bool, bool)>().prop_map(|(has_type, has_headers)| {
        let url = format!("\"https://u:{SECRET}@example.com/mcp?k={SECRET}\"");
        let mut members = vec![("url".to_owned(), url)];
        if has_type {
            members.push(("type".to_owned(), "\"http\"".to_owned()));
        }
        if has_headers {
            let headers =
                format!("{{\"Authorization\": \"Bearer {SECRET}\", \"X-Team\": \"{SECRET}\"}}");
            members.push(("headers".to_owned(), headers));
        }
        members
    });
    let extra = Just(vec![("timeout".to_owned(), "5".to_owned())]);
    (prop_oneof![program, url], extra, any::<bool>()).prop_flat_map(
        |(mut members, extra, comma)| {
            members.extend(extra);
            (Just(members).prop_shuffle(), Just(comma))
        },
    )
}

fn render(layout: &Layout, servers: &[(Vec<(String, String)>, bool)]) -> String {
    let Layout {
        end,
        indent,
        colon,
        inner,
        with_comments,
    } = layout;
    let comment = if *with_comments {
        format!(" // {SECRET}")
    } else {
        String::new()
    };
    let mut text =
        format!("{{{end}\"other\"{colon}[1e3,\"{SECRET}\"],{end}{indent}\"mcpServers\"{colon}{{");
    for (index, (members, has_comma)) in servers.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        push(
            &mut text,
            format_args!("{comma}{end}{indent}{indent}\"s{index}\"{colon}{{{inner}"),
        );
        for (at, (name, value)) in members.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            push(
                &mut text,
                format_args!(
                    "{comma}{comment}{end}{indent}{indent}{indent}\"{name}\"{colon}{value}"
                ),
            );
        }
        let last = if *has_comma && *with_comments {
            ","
        } else {
            ""
        };
        push(&mut text, format_args!("{last}{end}{inner}}}"));
    }
    text + &format!("{end}}}{end}}}{end}")
}

fn push(text: &mut String, more: std::fmt::Arguments<'_>) {
    std::fmt::Write::write_fmt(text, more).unwrap();
}

proptest! {
    #[test]
    fn what_is_wrapped_and_unwrapped_is_as_it_was(
        layout in layout(),
        servers in prop::collection::vec(server(), 0..4),
    ) {
        let text = render(&layout, &servers);
        there_and_back(Client::Cursor, &text);
    }

    #[test]
    fn no_text_makes_it_panic(text in "[{}\\[\\]\"a-z:, =\n#/*.]{0,80}") {
        for client in Client::ALL {
            if let Ok(document) = Document::read(client, text.clone()) {
                masked(&document);
                for server in document.servers() {
                    let _ = wrap(&document, server, PROGRAM);
                    let _ = unwrap(&document, &server.value);
                }
            }
        }
    }
}

#[test]
fn toml_keeps_its_tables_comments_and_line_ends() {
    let text = "model = \"S3NTINEL\" # S3NTINEL\n\n[mcp_servers.files] # S3NTINEL\ncommand = 'npx' # first\nargs = [\n  \"-y\", # yes\n  \"server\",\n]\n\n\
                [mcp_servers.files.env]\nTOKEN = \"S3NTINEL\"\n\n[mcp_servers.\"bare one\"]\n  command = \"uvx\" # no arguments\n\n\
                [mcp_servers]\ninline = { command = \"node\", args = [\"x.js\"], env = { A = \"S3NTINEL\" } }\nsmall = {command=\"node\"}\n\n\
                [mcp_servers.remote]\nurl = \"https://example.com/mcp\"\nhttp_headers = { X-Key = \"S3NTINEL\", \"A\" = \"S3NTINEL\" }\n\n\
                [mcp_servers.far]\nurl = \"https://example.com/mcp\"\n[mcp_servers.far.http_headers]\nAuthorization = \"S3NTINEL\"\n";
    insta::assert_snapshot!("toml", there_and_back(Client::Codex, text));
    let crlf = text.replace('\n', "\r\n");
    assert!(
        !there_and_back(Client::Codex, &crlf)
            .replace("\r\n", "")
            .contains('\n')
    );
}

#[test]
fn a_dotted_name_is_left_alone() {
    let text = "[mcp_servers]\nfiles.command = \"npx\"\n";
    let document = Document::read(Client::Codex, text.to_owned()).unwrap();
    assert!(wrap(&document, &document.servers()[0], PROGRAM).is_err());
}

#[test]
fn gemini_s_own_name_of_a_url_comes_back() {
    for text in [
        "{\"mcpServers\": {\"a\": {\"httpUrl\": \"https://example.com/mcp\"}}}",
        "{\"mcpServers\": {\"a\": {\"url\": \"https://example.com/mcp\", \"type\": \"http\"}}}",
    ] {
        there_and_back(Client::Gemini, text);
    }
}

#[test]
fn what_cannot_be_wrapped_says_why() {
    let reasons: Vec<String> = [
        "1",
        "{}",
        "{\"command\": 1}",
        "{\"command\": \"\"}",
        "{\"command\": \"npx\", \"args\": [1]}",
        "{\"command\": \"npx\", \"url\": \"https://example.com\"}",
        "{\"url\": \"https://example.com\", \"type\": \"sse\"}",
        "{\"url\": \"https://example.com\", \"headers\": {\"a b\": \"x\"}}",
        "{\"url\": \"https://example.com\", \"headers\": {\"a\": \"x\"}, \"env\": {}}",
        "{\"url\": \"https://example.com\", \"oauth\": {}}",
        "{\"command\": \"uvx\", \"args\": [\"countersign\", \"wrap\", \"--\", \"npx\"]}",
    ]
    .iter()
    .map(|server| {
        let text = format!("{{\"mcpServers\": {{\"a\": {server}}}}}");
        let document = Document::read(Client::ClaudeCode, text).unwrap();
        let refused = wrap(&document, &document.servers()[0], PROGRAM).unwrap_err();
        format!("{server}\n  {refused}")
    })
    .collect();
    insta::assert_snapshot!("unusable", reasons.join("\n"));
}

#[test]
fn options_that_were_added_since_are_removed_too() {
    let text = "{\"mcpServers\": {\"a\": {\"command\": \"/x/countersign\", \"args\": [\"wrap\", \"--read\", \"a*\", \"--\", \"npx\", \"--\", \"b\"]}}}";
    let document = Document::read(Client::ClaudeCode, text.to_owned()).unwrap();
    let changes = unwrap(&document, &document.servers()[0].value).unwrap();
    assert_eq!(
        apply(text, changes).unwrap(),
        "{\"mcpServers\": {\"a\": {\"command\": \"npx\", \"args\": [\"--\", \"b\"]}}}"
    );
}
