//! The benchmarks, one at a time: a plain `cargo bench` also starts test binaries, which know no benchmark options.

use std::path::Path;

use anyhow::bail;

use crate::metadata::Workspace;
use crate::node;
use crate::program::Program;

pub(crate) fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    let (names, options) = match arguments.iter().position(|argument| argument == "--") {
        None => (arguments, &[][..]),
        Some(separator) => {
            let (names, rest) = arguments
                .split_at_checked(separator)
                .unwrap_or((arguments, &[]));
            (names, rest.get(1..).unwrap_or(&[]))
        }
    };
    let wanted = match names {
        [] => None,
        [name] => Some(name),
        [_, second, ..] => bail!("`cargo xtask bench` takes one name, and got `{second}` too"),
    };
    let workspace = Workspace::load(root)?;
    let benchmarks: Vec<(&str, &str)> = workspace
        .packages
        .iter()
        .flat_map(|package| {
            package
                .bench_targets
                .iter()
                .map(|bench| (package.name.as_str(), bench.as_str()))
        })
        .collect();
    let chosen: Vec<_> = benchmarks
        .iter()
        .filter(|(_, bench)| wanted.is_none_or(|name| name == bench))
        .collect();
    if chosen.is_empty() {
        bail!("there is no such benchmark{}", list(&benchmarks));
    }
    // One of them compares with a server on Node.
    let node = if chosen.iter().any(|(_, bench)| *bench == "wrap") {
        Some(node::ensure(root)?)
    } else {
        None
    };
    for (package, bench) in chosen {
        let mut program = Program::cargo(root);
        if let Some(node) = &node {
            program = program
                .environment(node::RUNTIME_VARIABLE, &node.runtime)
                .environment(node::MODULES_VARIABLE, &node.modules);
        }
        program
            .arguments([
                "bench",
                "--locked",
                "--package",
                package,
                "--bench",
                bench,
                "--",
            ])
            .arguments(options)
            .run()?;
    }
    Ok(())
}

fn list(benchmarks: &[(&str, &str)]) -> String {
    match benchmarks {
        [] => " yet".to_owned(),
        some => format!(
            ": there are {}",
            some.iter()
                .map(|(_, bench)| *bench)
                .collect::<Vec<_>>()
                .join(", ")
        ),
    }
}
