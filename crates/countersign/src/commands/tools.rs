//! `countersign tools`.

use std::fmt::Write as _;

use anyhow::{anyhow, bail};
use countersign_contract::Inert;
use countersign_mcp::ServerName;
use countersign_mcp::pin::{Class, Pin, Standing};
use countersign_mcp::tools::ToolDefinition;

use super::wrap::open_pins;
use super::wrap::pin_store::{PinStore, Which};
use crate::cli::{AcceptArguments, ClassArgument, ClassifyArguments, ToolsArguments, ToolsCommand};
use crate::output::{Verdict, complain, print_text};
use crate::prompt::Terminal;

/// How much of a name is shown.
const SHOWN_CHARS: usize = 128;

pub(crate) fn run(arguments: &ToolsArguments) -> anyhow::Result<Verdict> {
    match &arguments.command {
        ToolsCommand::List { server, pins } => list(&open_pins(pins)?, server),
        ToolsCommand::Classify(arguments) => classify(arguments),
        ToolsCommand::Accept(arguments) => accept(arguments),
    }
}

fn list(store: &PinStore, server: &ServerName) -> anyhow::Result<Verdict> {
    let pin = frozen(store, server)?;
    let seen = seen(store, server)?;
    let comparison = pin.compare(&seen);
    let mut text = String::new();
    for (name, standing) in comparison.iter() {
        let class = pin.tool(name).map_or("-", |tool| tool.class.as_str());
        let standing = match standing {
            Standing::Unchanged => "in service".to_owned(),
            Standing::New => "new".to_owned(),
            Standing::Gone => "gone".to_owned(),
            Standing::Collides(other) => {
                format!(
                    "out of service: can be taken for {}",
                    Inert::beginning(other, SHOWN_CHARS)
                )
            }
            Standing::Changed(differences) => {
                let mut told = "out of service: changed".to_owned();
                for difference in differences {
                    let _ = write!(told, "\n      {difference}");
                }
                told
            }
        };
        let name = Inert::beginning(name, SHOWN_CHARS);
        let _ = writeln!(text, "{class:5} {name}: {standing}");
    }
    print_text(&text)?;
    Ok(Verdict::Good)
}

fn classify(arguments: &ClassifyArguments) -> anyhow::Result<Verdict> {
    let store = open_pins(&arguments.pins)?;
    let server = &arguments.server;
    let class = match arguments.class {
        ClassArgument::Read => Class::Read,
        ClassArgument::Write => Class::Write,
    };
    let shown = Inert::beginning(&arguments.tool, SHOWN_CHARS).to_string();
    if frozen(&store, server)?.tool(&arguments.tool).is_none() {
        bail!("the server \"{server}\" has no pinned tool {shown}");
    }
    let consequence = match class {
        Class::Read => "its calls will pass at once, without approval",
        Class::Write => "its calls will wait for approval",
    };
    let question = format!(
        "\n{server}: {shown} is to count as a {}: {consequence}. Type yes: ",
        class.as_str()
    );
    if !is_confirmed(&question)? {
        return Ok(Verdict::Bad);
    }
    let _lock = store.lock(server)?;
    let mut pin = frozen(&store, server)?;
    pin.classify(&arguments.tool, class);
    store.write(&pin, Which::Frozen)?;
    Ok(Verdict::Good)
}

fn accept(arguments: &AcceptArguments) -> anyhow::Result<Verdict> {
    let store = open_pins(&arguments.pins)?;
    let server = &arguments.server;
    if arguments.command {
        frozen(&store, server)?;
        let question = format!(
            "\nThe server \"{server}\" and all of its tools are to be forgotten, and seen anew at its next start, whatever \
             command that is. Type yes: "
        );
        if !is_confirmed(&question)? {
            return Ok(Verdict::Bad);
        }
        let _lock = store.lock(server)?;
        store.forget(server)?;
        return Ok(Verdict::Good);
    }
    let seen = seen(&store, server)?;
    let pin = frozen(&store, server)?;
    let comparison = pin.compare(&seen);
    let mut question = "\n".to_owned();
    let mut accepted = Vec::new();
    for tool in &seen {
        let Some(Standing::Changed(differences)) = comparison.standing(tool.name()) else {
            continue;
        };
        if !arguments.tools.is_empty() && !arguments.tools.iter().any(|name| name == tool.name()) {
            continue;
        }
        let name = Inert::beginning(tool.name(), SHOWN_CHARS);
        for difference in differences {
            let _ = writeln!(question, "{name}: {difference}");
        }
        accepted.push(tool);
    }
    if accepted.is_empty() {
        complain("nothing that was named has changed");
        return Ok(Verdict::Good);
    }
    let _ = write!(question, "Accept these changes of \"{server}\"? Type yes: ");
    if !is_confirmed(&question)? {
        return Ok(Verdict::Bad);
    }
    let _lock = store.lock(server)?;
    let mut pin = frozen(&store, server)?;
    for tool in accepted {
        pin.accept(tool);
    }
    store.write(&pin, Which::Frozen)?;
    Ok(Verdict::Good)
}

fn is_confirmed(question: &str) -> anyhow::Result<bool> {
    let terminal = Terminal::open();
    let terminal = terminal.ok_or_else(|| {
        anyhow!("this is decided on a terminal, and there is none: nothing was changed")
    })?;
    Ok(terminal.confirms(question))
}

fn frozen(store: &PinStore, server: &ServerName) -> anyhow::Result<Pin> {
    let pin = store.read(server, Which::Frozen)?;
    pin.ok_or_else(|| anyhow!("the server \"{server}\" has not been seen: wrap it first"))
}

fn seen(store: &PinStore, server: &ServerName) -> anyhow::Result<Vec<ToolDefinition>> {
    let seen = store.read(server, Which::Seen)?;
    Ok(seen.map(|pin| pin.definitions()).unwrap_or_default())
}
