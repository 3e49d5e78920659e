//! `countersign install` and `countersign uninstall`.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, anyhow, bail};
use countersign_contract::Inert;
use similar::TextDiff;

use crate::cli::{InstallArguments, PlaceArguments, UninstallArguments};
use crate::install::change::{Replacement, Unchanged, apply, unwrap, wrap};
use crate::install::document::Document;
use crate::install::entry::Entry;
use crate::install::file::ConfigurationFile;
use crate::install::masked::masked;
use crate::install::node::Member;
use crate::install::program::program;
use crate::output::{Verdict, complain, print_text};
use crate::prompt::Terminal;

/// Lines around a change that are shown with it.
const CONTEXT_LINES: usize = 3;

pub(crate) fn install(arguments: &InstallArguments) -> anyhow::Result<Verdict> {
    let place = &arguments.place;
    let program = program(arguments.program.as_deref())?;
    let (file, before) = open(place)?;
    let chosen = chosen_to_wrap(place, arguments.all, &before)?;
    let after = changed(&before, &chosen, |server| wrap(&before, server, &program))?;
    // INVARIANT: nothing is written that "uninstall" could not take back.
    let back = changed(&after, &names(&chosen, &after), |server| {
        unwrap(&after, &server.value)
    })?;
    if back.text() != before.text() {
        bail!(
            "the servers are written in a form that could not be put back as it was: wrap them by hand"
        );
    }
    let consent = if arguments.yes {
        Consent::Given
    } else {
        Consent::Asked("Wrap")
    };
    let verdict = settle(&file, &before, &after, arguments.dry_run, &consent)?;
    if keeps_data_elsewhere() {
        complain(
            "XDG_DATA_HOME is set here, and clients may start programs without it: set it in the servers' entries too, or their calls \
             wait in another ledger than the one you look at",
        );
    }
    let is_unusable = |server: &Member| {
        let entry = Entry::of(place.client, &server.value);
        matches!(entry, Entry::Unusable(_))
    };
    // Who asks for all must not take what was left out for protected.
    if arguments.all && before.servers().iter().any(is_unusable) {
        return Ok(Verdict::Bad);
    }
    Ok(verdict)
}

pub(crate) fn uninstall(arguments: &UninstallArguments) -> anyhow::Result<Verdict> {
    let place = &arguments.place;
    let (file, before) = open(place)?;
    let chosen = chosen_to_unwrap(place, &before)?;
    let after = changed(&before, &chosen, |server| unwrap(&before, &server.value))?;
    let consent = Consent::Asked("Take Countersign away from");
    settle(&file, &before, &after, arguments.dry_run, &consent)
}

/// Tells whether this user's ledger and keys are where a program without this environment does not look for them.
#[expect(
    clippy::disallowed_methods,
    reason = "the variable is what may be missing elsewhere"
)]
fn keeps_data_elsewhere() -> bool {
    let usual = std::env::home_dir().map(|home| home.join(".local/share"));
    let named = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    named.is_some_and(|named| named.is_absolute() && Some(named) != usual)
}

/// Who agrees to a change.
enum Consent {
    /// Given on the command line.
    Given,
    /// A person on the controlling terminal, who is asked whether to do this to the servers.
    Asked(&'static str),
}

fn open(place: &PlaceArguments) -> anyhow::Result<(ConfigurationFile, Document)> {
    let path = path(place)?;
    let client = place.client.name();
    let file = ConfigurationFile::read(&path)?.with_context(|| {
        format!("{client} has no configuration there: add a server in {client} first, or name a file with --config")
    })?;
    let document = Document::read(place.client, file.text()?)
        .with_context(|| format!("the configuration of {client} cannot be used"))?;
    Ok((file, document))
}

fn path(place: &PlaceArguments) -> anyhow::Result<PathBuf> {
    if let Some(named) = &place.config {
        return Ok(named.clone());
    }
    if !place.project {
        return place.client.user_file();
    }
    let here = std::env::current_dir().context("cannot tell which directory this is")?;
    let file = place.client.project_file(&here);
    file.ok_or_else(|| anyhow!("{} has no configuration of a project", place.client.name()))
}

/// The servers to wrap: those that are named, all, or the only one.
fn chosen_to_wrap<'d>(
    place: &PlaceArguments,
    all: bool,
    document: &'d Document,
) -> anyhow::Result<Vec<&'d Member>> {
    if !place.servers.is_empty() {
        let named = named(place, document)?;
        return Ok(without(named, place, true, "is wrapped already"));
    }
    let client = place.client;
    let mut open = Vec::new();
    for server in document.servers() {
        match Entry::of(client, &server.value) {
            Entry::Local { .. } | Entry::Remote { .. } => open.push(server),
            Entry::WrappedLocal { .. } | Entry::WrappedRemote { .. } | Entry::WrappedOtherwise => {}
            Entry::Unusable(why) => {
                complain(&format!(
                    "{} stays as it is: {why}",
                    Inert::new(&server.name)
                ));
            }
        }
    }
    if all || open.len() < 2 {
        return Ok(open);
    }
    let mut list = format!("{} has several servers; name those to wrap:", client.name());
    for server in open {
        // Writing to a string does not fail.
        let _ = write!(list, "\n  --server {}", Inert::new(&server.name));
    }
    bail!(
        "{list}\nor all of them: countersign install {} --all",
        client.name()
    )
}

fn chosen_to_unwrap<'d>(
    place: &PlaceArguments,
    document: &'d Document,
) -> anyhow::Result<Vec<&'d Member>> {
    if !place.servers.is_empty() {
        let named = named(place, document)?;
        return Ok(without(named, place, false, "is not wrapped"));
    }
    let servers = document.servers().iter();
    Ok(servers
        .filter(|server| Entry::of(place.client, &server.value).is_wrapped())
        .collect())
}

fn named<'d>(place: &PlaceArguments, document: &'d Document) -> anyhow::Result<Vec<&'d Member>> {
    let servers = document.servers();
    let mut named: Vec<&Member> = Vec::new();
    for name in &place.servers {
        let server = servers.iter().find(|server| server.name == *name);
        let server = server.with_context(|| {
            let known: Vec<String> = servers
                .iter()
                .map(|server| Inert::new(&server.name).to_string())
                .collect();
            let (name, known) = (Inert::new(name), known.join(", "));
            format!("there is no server {name}; there are: {known}")
        })?;
        if !named.iter().any(|other| other.name == server.name) {
            named.push(server);
        }
    }
    Ok(named)
}

/// Leaves out, and says so, the servers that are as they should be.
fn without<'d>(
    servers: Vec<&'d Member>,
    place: &PlaceArguments,
    is_wrapped: bool,
    said: &str,
) -> Vec<&'d Member> {
    let (done, open): (Vec<_>, Vec<_>) = servers
        .into_iter()
        .partition(|server| Entry::of(place.client, &server.value).is_wrapped() == is_wrapped);
    for server in done {
        complain(&format!("{} {said}", Inert::new(&server.name)));
    }
    open
}

/// The same servers in another document.
fn names<'d>(chosen: &[&Member], document: &'d Document) -> Vec<&'d Member> {
    let servers = document.servers().iter();
    servers
        .filter(|server| chosen.iter().any(|other| other.name == server.name))
        .collect()
}

/// The document with the servers changed, read anew.
fn changed(
    document: &Document,
    servers: &[&Member],
    change: impl Fn(&Member) -> Result<Vec<Replacement>, Unchanged>,
) -> anyhow::Result<Document> {
    let mut replacements = Vec::new();
    for server in servers {
        let name = Inert::new(&server.name);
        let made = change(server).with_context(|| format!("{name} cannot be changed"))?;
        replacements.extend(made);
    }
    let text = apply(document.text(), replacements);
    let text = text.context("the changes do not fit together; nothing was written")?;
    Document::read(document.client(), text)
        .context("the changed configuration could not be read again; nothing was written")
}

fn settle(
    file: &ConfigurationFile,
    before: &Document,
    after: &Document,
    is_dry_run: bool,
    consent: &Consent,
) -> anyhow::Result<Verdict> {
    if before.text() == after.text() {
        complain("there is nothing to change");
        return Ok(Verdict::Good);
    }
    let difference = difference(before, after);
    print_text(&difference)?;
    if is_dry_run {
        complain("nothing was written");
        return Ok(Verdict::Good);
    }
    if let Consent::Asked(deed) = consent {
        let client = before.client().name();
        let Some(terminal) = Terminal::open() else {
            complain("nothing was written: there is no terminal to ask on");
            return Ok(Verdict::Bad);
        };
        let question = format!("{difference}{deed} these servers of {client}? Type yes: ");
        if !terminal.confirms(&question) {
            complain("nothing was written");
            return Ok(Verdict::Bad);
        }
    }
    let backup = file.replace(after.text())?;
    complain(&format!(
        "written; what was there is in {} beside it. Restart the client",
        Inert::new(&backup)
    ));
    Ok(Verdict::Good)
}

/// What changes, without secrets, and with nothing in it that a terminal would act on.
fn difference(before: &Document, after: &Document) -> String {
    let (old, new) = (masked(before), masked(after));
    let difference = TextDiff::from_lines(&old, &new);
    let mut unified = difference.unified_diff();
    unified
        .context_radius(CONTEXT_LINES)
        .header("before", "after");
    let mut text = String::new();
    for line in unified.to_string().lines() {
        let line = line.trim_end_matches('\r').replace('\t', "    ");
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}", Inert::new(&line));
    }
    text
}
