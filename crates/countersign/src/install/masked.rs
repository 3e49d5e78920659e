//! A configuration as it may be shown: without secrets.
//!
//! Values of environments and headers are never shown, nor is any text outside the servers, what a comment says, what follows
//! a `?` in a URL or stands before its `@`, and arguments that are called as secrets are.

use crate::install::document::Document;
use crate::install::node::{Item, Member, Node, Span};

/// What stands for what is not shown.
const MASK: &str = "***";
/// Members whose texts are secrets, whatever they are called inside.
const SECRET_MEMBERS: [&str; 3] = ["env", "headers", "http_headers"];
/// What the name of an argument or a member has in it where its value is a secret.
const SECRET_WORDS: [&str; 8] = [
    "key",
    "token",
    "secret",
    "password",
    "passwd",
    "auth",
    "header",
    "credential",
];

/// The text with every secret masked.
pub(crate) fn masked(document: &Document) -> String {
    let mut tokens = Tokens { found: Vec::new() };
    let servers = document.client().servers_member();
    for member in document.root().table().unwrap_or_default() {
        tokens.keep(&member.name_span);
        if member.name == servers {
            for server in member.value.table().unwrap_or_default() {
                tokens.keep(&server.name_span);
                tokens.server(&server.value);
            }
        } else {
            tokens.hide(&member.value);
        }
    }
    let mut found = tokens.found;
    found.sort_by_key(|token| (token.span.start, token.span.end));
    render(document.text(), &found)
}

/// A piece that is no comment, and what is shown instead where it is not shown itself.
struct Token {
    span: Span,
    shown: Option<String>,
}

struct Tokens {
    found: Vec<Token>,
}

impl Tokens {
    fn keep(&mut self, span: &Span) {
        let span = span.clone();
        self.found.push(Token { span, shown: None });
    }

    fn mask(&mut self, span: &Span, shown: String) {
        let span = span.clone();
        let shown = Some(shown);
        self.found.push(Token { span, shown });
    }

    fn hide(&mut self, item: &Item) {
        match &item.node {
            Node::Text(_) => self.mask(&item.span, format!("\"{MASK}\"")),
            Node::List(items) => items.iter().for_each(|item| self.hide(item)),
            Node::Table(members) => {
                for member in members {
                    self.keep(&member.name_span);
                    self.hide(&member.value);
                }
            }
            Node::Other => {}
        }
    }

    fn server(&mut self, server: &Item) {
        match &server.node {
            Node::Table(members) => members.iter().for_each(|member| self.member(member)),
            Node::Text(_) | Node::List(_) | Node::Other => self.hide(server),
        }
    }

    fn member(&mut self, member: &Member) {
        self.keep(&member.name_span);
        if SECRET_MEMBERS.contains(&member.name.as_str()) {
            return self.hide(&member.value);
        }
        match &member.value.node {
            Node::Text(text) => self.text(&member.value.span, text, is_secret(&member.name)),
            Node::List(items) => self.list(items),
            Node::Table(members) => members.iter().for_each(|member| self.member(member)),
            Node::Other => {}
        }
    }

    fn list(&mut self, items: &[Item]) {
        let mut follows_secret_name = false;
        for item in items {
            match &item.node {
                Node::Text(text) => {
                    self.text(&item.span, text, follows_secret_name);
                    // Ours name a variable, and that is not secret.
                    let is_ours = text == crate::install::entry::HEADER_OPTION;
                    follows_secret_name =
                        text.starts_with('-') && !text.contains('=') && is_secret(text) && !is_ours;
                }
                Node::List(_) | Node::Table(_) | Node::Other => self.hide(item),
            }
        }
    }

    fn text(&mut self, span: &Span, text: &str, is_secret_value: bool) {
        if let Some(shown) = shown(text, is_secret_value) {
            self.mask(span, crate::install::change::quoted(&shown));
        } else {
            self.keep(span);
        }
    }
}

/// What is shown of a text, where that is not all of it.
fn shown(text: &str, is_secret_value: bool) -> Option<String> {
    if is_secret_value {
        return Some(MASK.to_owned());
    }
    if let Some((name, value)) = text.split_once('=') {
        let is_variable = value.starts_with(crate::install::entry::HEADER_VARIABLE);
        if is_secret(name) && !name.contains("://") && !is_variable {
            return Some(format!("{name}={MASK}"));
        }
    }
    let (scheme, rest) = text.split_once("://")?;
    let (address, query) = match rest.split_once(['?', '#']) {
        Some((address, _)) => (address, format!("?{MASK}")),
        None => (rest, String::new()),
    };
    let (host, path) = address.split_once('/').unwrap_or((address, ""));
    let shown_host = match host.rsplit_once('@') {
        Some((_, host)) => format!("{MASK}@{host}"),
        None => host.to_owned(),
    };
    if query.is_empty() && shown_host == host {
        return None;
    }
    let slash = if address.contains('/') { "/" } else { "" };
    Some(format!("{scheme}://{shown_host}{slash}{path}{query}"))
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

/// The tokens as they are shown, and what stands between them without what comments say.
fn render(text: &str, tokens: &[Token]) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut done = 0;
    for token in tokens {
        // The name of a table that is written in pieces is met more than once.
        if token.span.start < done {
            continue;
        }
        push_between(
            &mut shown,
            text.get(done..token.span.start).unwrap_or_default(),
        );
        let own = text.get(token.span.clone()).unwrap_or_default();
        shown.push_str(token.shown.as_deref().unwrap_or(own));
        done = token.span.end;
    }
    push_between(&mut shown, text.get(done..).unwrap_or_default());
    shown
}

fn push_between(shown: &mut String, between: &str) {
    let mut rest = between;
    while let Some(start) = ["//", "/*", "#"]
        .iter()
        .filter_map(|mark| rest.find(mark))
        .min()
    {
        let (before, comment) = rest.split_at_checked(start).unwrap_or((rest, ""));
        shown.push_str(before);
        let (mark, end) = if comment.starts_with("/*") {
            ("/*", comment.find("*/").unwrap_or(comment.len()))
        } else {
            let end = comment.find(['\r', '\n']).unwrap_or(comment.len());
            (if comment.starts_with('#') { "#" } else { "//" }, end)
        };
        shown.push_str(mark);
        let said = comment.get(mark.len()..end).unwrap_or_default();
        if !said.trim().is_empty() {
            // As many lines as before, so that the difference keeps its places.
            shown.push(' ');
            shown.push('…');
            shown.push_str(&"\n".repeat(said.matches('\n').count()));
        }
        rest = comment.get(end.max(mark.len())..).unwrap_or_default();
    }
    shown.push_str(rest);
}
