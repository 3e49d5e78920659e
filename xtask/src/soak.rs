//! Kills real processes for longer than the tests do.

use std::path::Path;

use anyhow::{Context as _, bail};

use crate::program::Program;

/// How the tests are told how often to kill.
const KILLS_VARIABLE: &str = "COUNTERSIGN_KILLS";
const DEFAULT_KILLS: u32 = 1000;

pub(crate) fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    let kills = kills(arguments)?.to_string();
    Program::cargo(root)
        .arguments([
            "test",
            "--locked",
            "--release",
            "--package",
            "countersign-runtime",
            "--test",
            "it",
            "--",
            "--exact",
            "kills::a_process_killed_at_random_moments_acts_once_and_forgets_nothing",
            "--nocapture",
        ])
        .environment(KILLS_VARIABLE, &kills)
        .run()
}

fn kills(arguments: &[String]) -> anyhow::Result<u32> {
    match arguments {
        [] => Ok(DEFAULT_KILLS),
        [name, number] if name == "--kills" => {
            let kills = number.parse().ok().filter(|kills| *kills > 0);
            kills
                .with_context(|| format!("`--kills` needs a number above zero, and got `{number}`"))
        }
        [first, ..] => bail!("`cargo xtask soak` takes `--kills N`, and got `{first}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_kills_is_read_or_refused() {
        let read = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            kills(&words).ok()
        };
        assert_eq!(read(&[]), Some(DEFAULT_KILLS));
        assert_eq!(read(&["--kills", "7"]), Some(7));
        for bad in [
            &["--kills"][..],
            &["--kills", "0"],
            &["--kills", "x"],
            &["7"],
        ] {
            assert_eq!(read(bad), None, "{bad:?}");
        }
    }
}
