//! `countersign completions` and `countersign man`.

use anyhow::anyhow;
use clap::CommandFactory as _;

use crate::cli::{Cli, CompletionsArguments, ManArguments};
use crate::input::describe;
use crate::output::{Verdict, print_bytes};

pub(crate) fn completions(arguments: &CompletionsArguments) -> anyhow::Result<Verdict> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Cli::command(),
        "countersign",
        &mut script,
    );
    print_bytes(&script)?;
    Ok(Verdict::Good)
}

pub(crate) fn man(arguments: &ManArguments) -> anyhow::Result<Verdict> {
    if let Some(directory) = &arguments.directory {
        std::fs::create_dir_all(directory)
            .and_then(|()| clap_mangen::generate_to(Cli::command(), directory))
            .map_err(|error| anyhow!("cannot write the manual pages: {}", describe(&error)))?;
    } else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page)?;
        print_bytes(&page)?;
    }
    Ok(Verdict::Good)
}
