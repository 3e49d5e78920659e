//! What is replaced in a configuration's text to wrap a server, and to unwrap it.
//!
//! Wrapping keeps the server's own command, arguments, URL and headers as the text had them, in other places; so unwrapping
//! puts back the same bytes.

use std::fmt::Write as _;

use countersign_mcp::ServerName;

use crate::install::client::Syntax;
use crate::install::document::Document;
use crate::install::entry::{
    Entry, HEADER_OPTION, HEADER_VARIABLE, SEPARATOR, SERVER_OPTION, URL_OPTION, Unusable, WRAP,
};
use crate::install::node::{Item, Member, Span, member};

/// A piece of the text and what stands there instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Replacement {
    span: Span,
    text: String,
}

/// Why a server's entry is not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unchanged {
    #[error("it is wrapped already")]
    Already,
    #[error("it is not wrapped")]
    NotWrapped,
    #[error("it was wrapped by hand: change it by hand")]
    ByHand,
    #[error("{0}")]
    Unusable(#[from] Unusable),
    #[error("it is written in a form that could not be put back as it was")]
    Form,
}

/// Wraps a server with a program.
pub(crate) fn wrap(
    document: &Document,
    server: &Member,
    program: &str,
) -> Result<Vec<Replacement>, Unchanged> {
    let place = Place::new(document, &server.value);
    let ours = our_words(&server.name);
    match Entry::of(document.client(), &server.value) {
        Entry::Local { command, args } => wrap_local(&place, command, args, ours, program),
        Entry::Remote {
            url,
            transport,
            headers,
        } => wrap_remote(&place, url, transport, headers, ours, program),
        Entry::WrappedLocal { .. } | Entry::WrappedRemote { .. } | Entry::WrappedOtherwise => {
            Err(Unchanged::Already)
        }
        Entry::Unusable(why) => Err(why.into()),
    }
}

/// Puts back what a wrapped server was.
pub(crate) fn unwrap(document: &Document, server: &Item) -> Result<Vec<Replacement>, Unchanged> {
    let place = Place::new(document, server);
    match Entry::of(document.client(), server) {
        Entry::WrappedLocal {
            command,
            args,
            inner,
        } => unwrap_local(&place, command, args, inner),
        Entry::WrappedRemote {
            command,
            args,
            inner,
        } => unwrap_remote(&place, server, command, args, inner),
        Entry::WrappedOtherwise => Err(Unchanged::ByHand),
        Entry::Local { .. } | Entry::Remote { .. } => Err(Unchanged::NotWrapped),
        Entry::Unusable(why) => Err(why.into()),
    }
}

/// The text with the replacements made.
pub(crate) fn apply(text: &str, mut replacements: Vec<Replacement>) -> Option<String> {
    replacements.sort_by_key(|replacement| (replacement.span.start, replacement.span.end));
    let mut made = String::with_capacity(text.len());
    let mut done = 0;
    for Replacement {
        span,
        text: instead,
    } in &replacements
    {
        made.push_str(text.get(done..span.start)?);
        made.push_str(instead);
        done = span.end;
    }
    made.push_str(text.get(done..)?);
    Some(made)
}

/// A string as both JSON and TOML write it.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(character);
            }
            control if control.is_control() => {
                // Writing to a string does not fail.
                let _ = write!(quoted, "\\u{:04x}", u32::from(control));
            }
            plain => quoted.push(plain),
        }
    }
    quoted.push('"');
    quoted
}

/// Where members of one entry stand.
struct Place<'d> {
    document: &'d Document,
    /// A table of its own in TOML: a member a line, without commas.
    has_lines: bool,
}

impl<'d> Place<'d> {
    fn new(document: &'d Document, server: &Item) -> Self {
        let is_toml = document.client().syntax() == Syntax::Toml;
        Self {
            document,
            has_lines: is_toml && !document.piece(&server.span).starts_with('{'),
        }
    }

    fn piece(&self, span: &Span) -> &'d str {
        self.document.piece(span)
    }

    /// What stands between a member and the next one that is put before it.
    fn gap_before(&self, member: &Member) -> Result<String, Unchanged> {
        let before = self.piece(&(0..member.name_span.start));
        let line = before.rsplit('\n').next().unwrap_or_default();
        let starts_line = line.len() < before.len() && line.trim().is_empty();
        match (starts_line, self.has_lines) {
            (true, has_lines) => {
                let is_crlf = before.trim_end_matches(line).ends_with("\r\n");
                let comma = if has_lines { "" } else { "," };
                let end = if is_crlf { "\r\n" } else { "\n" };
                Ok(format!("{comma}{end}{line}"))
            }
            (false, false) => Ok(", ".to_owned()),
            // A dotted name, such as `server.command`.
            (false, true) => Err(Unchanged::Form),
        }
    }

    /// What stands between a member's name and its value.
    fn joint(&self, member: &Member) -> &'d str {
        self.piece(&(member.name_span.end..member.value.span.start))
    }

    /// A name as it is written where nothing makes it special.
    fn name(&self, name: &str) -> String {
        match self.document.client().syntax() {
            Syntax::Json | Syntax::JsonWithComments => quoted(name),
            Syntax::Toml => name.to_owned(),
        }
    }

    /// Renames a member whose name is written plainly, so that the way back is known.
    fn rename(&self, span: &Span, from: &str, to: &str) -> Result<Replacement, Unchanged> {
        if self.piece(span) != self.name(from) {
            return Err(Unchanged::Form);
        }
        Ok(replacement(span.clone(), self.name(to)))
    }
}

/// What follows the program's name: the command, and what the server is called in its pin and in the ledger. Without that, all
/// servers that one program starts would share a pin.
fn our_words(name: &str) -> Vec<String> {
    let name = ServerName::new(name).or_else(|| ServerName::of_program(name));
    let mut words = vec![quoted(WRAP)];
    if let Some(name) = name {
        words.extend([quoted(SERVER_OPTION), quoted(name.as_str())]);
    }
    words
}

fn replacement(span: Span, text: String) -> Replacement {
    Replacement { span, text }
}

fn wrap_local(
    place: &Place<'_>,
    command: &Member,
    args: Option<&Member>,
    ours: Vec<String>,
    program: &str,
) -> Result<Vec<Replacement>, Unchanged> {
    let own = place.piece(&command.value.span);
    let mut words = ours;
    words.extend([quoted(SEPARATOR), own.to_owned()]);
    let gap = place.gap_before(command);
    let program = replacement(command.value.span.clone(), quoted(program));
    let Some(args) = args else {
        let (name, joint) = (place.name("args"), place.joint(command));
        let text = format!("{name}{joint}[{}]{}", words.join(", "), gap?);
        let start = command.name_span.start;
        return Ok(vec![replacement(start..start, text), program]);
    };
    let items = args.value.list().unwrap_or_default();
    let inside = args.value.span.start + 1;
    let added = match items.first() {
        Some(first) => {
            let before = place.piece(&(inside..first.span.start));
            let indent = before.rfind('\n').and_then(|end| before.get(end..));
            let is_crlf = before.contains("\r\n");
            let joint = match indent {
                Some(indent) if is_crlf => format!(",\r{indent}"),
                Some(indent) => format!(",{indent}"),
                None => ", ".to_owned(),
            };
            let text: String = words.into_iter().map(|word| word + &joint).collect();
            replacement(first.span.start..first.span.start, text)
        }
        // The blanks tell it from arguments that were not there at all.
        None => replacement(inside..inside, format!(" {} ", words.join(", "))),
    };
    Ok(vec![added, program])
}

fn unwrap_local(
    place: &Place<'_>,
    command: &Member,
    args: &Member,
    inner: usize,
) -> Result<Vec<Replacement>, Unchanged> {
    let items = args.value.list().unwrap_or_default();
    let (Some(first), Some(own)) = (items.first(), items.get(inner)) else {
        return Err(Unchanged::Form);
    };
    let command_text = place.piece(&own.span).to_owned();
    let program = replacement(command.value.span.clone(), command_text);
    if let Some(next) = items.get(inner + 1) {
        let removed = replacement(first.span.start..next.span.start, String::new());
        return Ok(vec![removed, program]);
    }
    let inside = args.value.span.start + 1;
    let is_ours_alone = first.span.start == inside && args.name_span.end <= command.name_span.start;
    let between = args.value.span.end..command.name_span.start;
    if is_ours_alone && is_blank(place.piece(&between)) {
        let removed = replacement(args.name_span.start..between.end, String::new());
        return Ok(vec![removed, program]);
    }
    let rest = place.piece(&(own.span.end..args.value.span.end));
    // A comma that an editor put after the last one, or the blank that was put there with it.
    let tail = match rest.find(',') {
        Some(comma) => comma + 1,
        None => usize::from(rest.starts_with(' ')),
    };
    let removed = replacement(inside..own.span.end + tail, String::new());
    Ok(vec![removed, program])
}

fn wrap_remote(
    place: &Place<'_>,
    url: &Member,
    transport: Option<&Member>,
    headers: Option<&Member>,
    mut words: Vec<String>,
    program: &str,
) -> Result<Vec<Replacement>, Unchanged> {
    if place.piece(&url.name_span) != place.name(&url.name) {
        return Err(Unchanged::Form);
    }
    let mut replacements = Vec::new();
    if let Some(headers) = headers {
        let from = place.document.client().headers_member();
        replacements.push(place.rename(&headers.name_span, from, "env")?);
        for (index, header) in headers.value.table().unwrap_or_default().iter().enumerate() {
            let variable = format!("{HEADER_VARIABLE}{}", index + 1);
            words.push(quoted(HEADER_OPTION));
            // As it is written: in TOML a name may be quoted or bare.
            let written = place.piece(&header.name_span);
            let is_bare = written == header.name;
            if !is_bare && written != quoted(&header.name) {
                return Err(Unchanged::Form);
            }
            words.push(quoted(&format!("{}={variable}", header.name)));
            let variable = if is_bare { variable } else { quoted(&variable) };
            replacements.push(replacement(header.name_span.clone(), variable));
        }
    }
    if let Some(transport) = transport {
        if place.piece(&transport.value.span) != quoted("http") {
            return Err(Unchanged::Form);
        }
        replacements.push(replacement(transport.value.span.clone(), quoted("stdio")));
    }
    words.push(quoted(URL_OPTION));
    words.push(place.piece(&url.value.span).to_owned());
    let joint = place.joint(url);
    let text = format!(
        "{}{joint}[{}]{}{}{joint}{}",
        place.name("args"),
        words.join(", "),
        place.gap_before(url)?,
        place.name("command"),
        quoted(program),
    );
    replacements.push(replacement(url.name_span.start..url.value.span.end, text));
    Ok(replacements)
}

fn unwrap_remote(
    place: &Place<'_>,
    server: &Item,
    command: &Member,
    args: &Member,
    inner: usize,
) -> Result<Vec<Replacement>, Unchanged> {
    let items = args.value.list().unwrap_or_default();
    let url = items.get(inner).ok_or(Unchanged::Form)?;
    let (first, last) = if args.name_span.start < command.name_span.start {
        (args, command)
    } else {
        (command, args)
    };
    if !is_blank(place.piece(&(first.value.span.end..last.name_span.start))) {
        return Err(Unchanged::Form);
    }
    let members = server.table().unwrap_or_default();
    let mut replacements = Vec::new();
    let transport = member(members, "type");
    if let Some(transport) = transport {
        replacements.push(replacement(transport.value.span.clone(), quoted("http")));
    }
    let names = header_names(items);
    if let Some(environment) = member(members, "env").filter(|_| !names.is_empty()) {
        let to = place.document.client().headers_member();
        replacements.push(place.rename(&environment.name_span, "env", to)?);
        for variable in environment.value.table().unwrap_or_default() {
            let name = names.iter().find(|(_, holder)| *holder == variable.name);
            let (name, _) = name.ok_or(Unchanged::Form)?;
            let is_bare = place.piece(&variable.name_span) == variable.name;
            let text = if is_bare {
                (*name).to_owned()
            } else {
                quoted(name)
            };
            replacements.push(replacement(variable.name_span.clone(), text));
        }
    }
    let name = place.document.client().url_member(transport.is_some());
    let text = format!(
        "{}{}{}",
        place.name(name),
        place.joint(args),
        place.piece(&url.span)
    );
    let span = first.name_span.start..last.value.span.end;
    replacements.push(replacement(span, text));
    Ok(replacements)
}

/// The headers of a wrapped server: each name, and the variable that holds its value.
fn header_names(items: &[Item]) -> Vec<(&str, &str)> {
    let options = items.iter().zip(items.iter().skip(1));
    options
        .filter(|(option, _)| option.text() == Some(HEADER_OPTION))
        .filter_map(|(_, value)| value.text()?.split_once('='))
        .collect()
}

/// Nothing but a comma and blanks, so that nothing is lost with it.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c == ',' || c.is_whitespace())
}
