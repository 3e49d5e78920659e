//! Which clients are configured here, and which of their servers go past Countersign.

use std::path::Path;

use crate::commands::doctor::finding::Finding;
use crate::install::client::Client;
use crate::install::document::Document;
use crate::install::entry::Entry;
use crate::install::file::ConfigurationFile;
use crate::install::node::{Item, Member};
use crate::install::program::{found_on_path, is_program};

/// The user's configurations, and those of the project in this directory.
pub(crate) fn findings() -> Vec<Finding> {
    let here = std::env::current_dir().ok();
    let mut findings = Vec::new();
    for client in Client::ALL {
        if let Ok(file) = client.user_file() {
            findings.extend(configuration(client, &file, ""));
        }
        let project = here.as_deref().and_then(|here| client.project_file(here));
        if let Some(file) = project.filter(|file| Some(file) != client.user_file().ok().as_ref()) {
            findings.extend(configuration(client, &file, " --project"));
        }
    }
    if findings.is_empty() {
        findings.push(Finding::ok("clients", "none has a configuration here"));
    }
    findings
}

/// Nothing where the client is not configured.
fn configuration(client: Client, file: &Path, option: &str) -> Vec<Finding> {
    let about = client.name();
    let command = format!("countersign install {about}{option}");
    let read = match ConfigurationFile::read(file) {
        Ok(Some(read)) => read.text(),
        Ok(None) => return Vec::new(),
        Err(error) => Err(error),
    };
    let document = read.and_then(|text| Ok(Document::read(client, text)?));
    let document = match document {
        Ok(document) => document,
        Err(error) => {
            let said = format!("its configuration cannot be used: {error:#}");
            return vec![Finding::warning(
                about,
                said,
                "mend the file; the client may not read it either",
            )];
        }
    };
    if document.servers().is_empty() {
        return vec![Finding::ok(about, format!("it has no servers{option}"))];
    }
    let servers = document.servers().iter();
    servers
        .map(|server| of_server(client, server, &command))
        .collect()
}

fn of_server(client: Client, server: &Member, install: &str) -> Finding {
    let (about, name) = (client.name(), &server.name);
    match Entry::of(client, &server.value) {
        Entry::Local { .. } | Entry::Remote { .. } => Finding::warning(
            about,
            format!("{name} is not wrapped: what it does is neither asked about nor recorded"),
            format!("{install} --server {name}"),
        ),
        Entry::Unusable(why) => Finding::warning(
            about,
            format!("{name} is not wrapped, and cannot be: {why}"),
            "take it out, or put \"countersign wrap\" in front of it by hand",
        ),
        Entry::WrappedOtherwise => Finding::ok(about, format!("{name} is wrapped by hand")),
        Entry::WrappedRemote { command, .. } => wrapped(about, name, &[&command.value]),
        Entry::WrappedLocal {
            command,
            args,
            inner,
        } => {
            let own = args.value.list().and_then(|items| items.get(inner));
            let programs: Vec<&Item> = own.into_iter().chain([&command.value]).collect();
            wrapped(about, name, &programs)
        }
    }
}

/// A wrapped server, whose programs should be there.
fn wrapped(about: &'static str, name: &str, programs: &[&Item]) -> Finding {
    for program in programs.iter().filter_map(|program| program.text()) {
        // The client puts something in the place of a variable, and nobody else knows what.
        if !program.contains('$') && !is_there(program) {
            return Finding::problem(
                about,
                format!("{name} is wrapped, but the program {program} is not there"),
                "install it, or name it by its path",
            );
        }
    }
    Finding::ok(about, format!("{name} is wrapped"))
}

fn is_there(program: &str) -> bool {
    if program.contains('/') {
        // One that is named from the client's own directory cannot be looked for.
        return !Path::new(program).is_absolute() || is_program(Path::new(program));
    }
    found_on_path(program).is_some()
}
