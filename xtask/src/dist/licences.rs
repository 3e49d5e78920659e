//! The licences of everything that a static binary carries: whoever hands it out hands them out too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::program::Program;

/// How the files begin, in lower case, that state a licence or whose work it is.
const FILE_NAMES: [&str; 6] = [
    "licence",
    "license",
    "copying",
    "copyright",
    "notice",
    "unlicense",
];
/// What is in the binary and no crate, by its text in `packaging/licences`.
const OTHER_PARTS: [(&str, &str); 3] = [
    ("LLVM libunwind", "llvm-libunwind.txt"),
    ("musl", "musl.txt"),
    ("SQLite", "sqlite.txt"),
];
const HEAD: &str = "\
The program in this package is Countersign, under the Apache License 2.0 (LICENSE), together with code of the packages named below.
Each text stands once, under the names and versions of all packages that come under it; where a package offers several licences,
all are here. What the Rust standard library demands stands in RUST-STANDARD-LIBRARY.html.
";
const RULE: &str = "------------------------------------------------------------------------------";

/// One crate whose code may be in the binary.
#[derive(Debug)]
struct Crate {
    label: String,
    folder: PathBuf,
    licence: String,
    authors: Vec<String>,
    repository: String,
}

/// The document with the licences of all outside code that `package` uses on `target`.
///
/// Macros that run while compiling are included, though little of them stays in the binary.
pub(super) fn of_dependencies(root: &Path, package: &str, target: &str) -> anyhow::Result<String> {
    let used = used_crates(root, package, target)?;
    let mut texts = Texts::default();
    for outside in outside_crates(root, target, &used)? {
        texts.add_crate(&outside)?;
    }
    for (name, file) in OTHER_PARTS {
        let path = root.join("packaging").join("licences").join(file);
        texts.add(name, read(&path)?);
    }
    Ok(texts.document())
}

/// What the toolchain says about the standard library.
pub(super) fn of_standard_library(root: &Path) -> anyhow::Result<PathBuf> {
    let sysroot = Program::new("rustc", root)
        .arguments(["--print", "sysroot"])
        .output()?;
    let file = Path::new(sysroot.trim()).join("share/doc/rust/COPYRIGHT-library.html");
    if !file.is_file() {
        bail!(
            "the Rust toolchain lacks {}: install it with rustup",
            file.display()
        );
    }
    Ok(file)
}

/// Names and versions, as `cargo tree` writes them: `name v1.2.3`.
fn used_crates(root: &Path, package: &str, target: &str) -> anyhow::Result<BTreeSet<String>> {
    let tree = Program::cargo(root)
        .arguments(["tree", "--locked", "--package", package, "--target", target])
        .arguments(["--edges", "normal", "--prefix", "none", "--format", "{p}"])
        .arguments(["--color", "never"])
        .output()?;
    Ok(tree.lines().filter_map(label_of_line).collect())
}

fn label_of_line(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    Some(format!("{} {}", words.next()?, words.next()?))
}

fn outside_crates(
    root: &Path,
    target: &str,
    used: &BTreeSet<String>,
) -> anyhow::Result<Vec<Crate>> {
    let text = Program::cargo(root)
        .arguments(["metadata", "--locked", "--format-version", "1"])
        .arguments(["--filter-platform", target])
        .output()?;
    let document: Value = serde_json::from_str(&text).context("cargo's metadata is not JSON")?;
    let packages = document
        .get("packages")
        .and_then(Value::as_array)
        .context("cargo's metadata names no packages")?;
    packages
        .iter()
        .filter(|package| package.get("source").is_some_and(Value::is_string))
        .map(parse_crate)
        .filter(|parsed| {
            parsed
                .as_ref()
                .map_or(true, |outside| used.contains(&outside.label))
        })
        .collect()
}

fn parse_crate(package: &Value) -> anyhow::Result<Crate> {
    let text = |key: &str| package.get(key).and_then(Value::as_str);
    let (name, version, manifest) = text("name")
        .zip(text("version"))
        .zip(text("manifest_path"))
        .map(|((name, version), manifest)| (name, version, manifest))
        .context("cargo's metadata has a package without name, version or manifest")?;
    let authors = package
        .get("authors")
        .and_then(Value::as_array)
        .map(|authors| authors.iter().filter_map(Value::as_str))
        .into_iter()
        .flatten();
    Ok(Crate {
        label: format!("{name} v{version}"),
        folder: Path::new(manifest)
            .parent()
            .context("a manifest lies in no folder")?
            .to_path_buf(),
        licence: text("license").unwrap_or_default().to_owned(),
        authors: authors.map(str::to_owned).collect(),
        repository: text("repository").unwrap_or_default().to_owned(),
    })
}

/// Texts, each once, with whom it concerns.
#[derive(Debug, Default)]
struct Texts {
    /// By the text without its line breaks and indentation, which differ between copies of one licence.
    by_words: BTreeMap<String, Entry>,
}

#[derive(Debug)]
struct Entry {
    labels: BTreeSet<String>,
    text: String,
}

impl Texts {
    fn add_crate(&mut self, outside: &Crate) -> anyhow::Result<()> {
        let files = licence_files(&outside.folder)?;
        if files.is_empty() {
            self.add(&outside.label, text_for_one_without(outside)?);
        }
        for file in files {
            self.add(&outside.label, read(&file)?);
        }
        Ok(())
    }

    fn add(&mut self, label: &str, text: String) {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if words.is_empty() {
            return;
        }
        self.by_words
            .entry(words)
            .or_insert_with(|| Entry {
                labels: BTreeSet::new(),
                text,
            })
            .labels
            .insert(label.to_owned());
    }

    /// In the order of the first name under each text, so that the same crates give the same document.
    fn document(&self) -> String {
        let mut entries: Vec<_> = self.by_words.values().collect();
        entries.sort_by(|one, other| (&one.labels, &one.text).cmp(&(&other.labels, &other.text)));
        entries.iter().fold(HEAD.to_owned(), |document, entry| {
            let labels: Vec<_> = entry.labels.iter().map(String::as_str).collect();
            let text = entry.text.trim_end().replace('\r', "");
            let labels = labels.join("\n");
            format!("{document}\n{RULE}\n{labels}\n\n{text}\n")
        })
    }
}

/// Also of code that a crate carries in folders of its own, in order.
fn licence_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries =
            fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot list {}", folder.display()))?;
            let kind = entry.file_type();
            if kind.as_ref().is_ok_and(fs::FileType::is_dir) {
                folders.push(entry.path());
            } else if kind.is_ok_and(|kind| kind.is_file())
                && states_licence(&entry.file_name().to_string_lossy())
            {
                files.push(entry.path());
            }
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// By its name; source code that is called so states none.
fn states_licence(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let source = [".rs", ".c", ".h", ".go", ".py", ".toml"];
    FILE_NAMES.iter().any(|start| name.starts_with(start))
        && !source.iter().any(|end| name.ends_with(end))
}

/// A few crates under the MIT licence leave its text out of what they publish.
fn text_for_one_without(outside: &Crate) -> anyhow::Result<String> {
    let Crate {
        label,
        licence,
        repository,
        ..
    } = outside;
    let names: Vec<_> = licence.split([' ', '/', '(', ')']).collect();
    if !names.contains(&"MIT") || names.contains(&"AND") {
        bail!(
            "{label} carries no text of its licence, {licence}: find it and add it to `packaging/licences`"
        );
    }
    let authors = match outside.authors.as_slice() {
        [] => "its authors".to_owned(),
        authors => authors.join(", "),
    };
    Ok(format!("Copyright (c) {authors} ({repository})\n\n{MIT}"))
}

const MIT: &str = "\
Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files
(the \"Software\"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge,
publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do
so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE
FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
";

fn read(file: &Path) -> anyhow::Result<String> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outside(licence: &str) -> Crate {
        Crate {
            label: "tiny v1.0.0".to_owned(),
            folder: PathBuf::from("/nowhere"),
            licence: licence.to_owned(),
            authors: vec!["A. Person".to_owned()],
            repository: "https://example.com/tiny".to_owned(),
        }
    }

    #[test]
    fn one_text_stands_once_under_all_that_come_under_it() {
        let mut texts = Texts::default();
        texts.add("b v1", "The text.\nTwo lines.\n".to_owned());
        texts.add("a v2", "The  text. Two\r\nlines.".to_owned());
        texts.add("c v3", "Another.".to_owned());
        texts.add("d v4", " \n".to_owned());
        assert_eq!(
            texts.document(),
            format!(
                "{HEAD}\n{RULE}\na v2\nb v1\n\nThe text.\nTwo lines.\n\n{RULE}\nc v3\n\nAnother.\n"
            )
        );
    }

    #[test]
    fn a_licence_is_known_by_its_files_name() {
        for (name, expected) in [
            ("LICENSE-MIT", true),
            ("Licence.txt", true),
            ("COPYING", true),
            ("NOTICE.md", true),
            ("UNLICENSE", true),
            ("license.rs", false),
            ("README.md", false),
        ] {
            assert_eq!(states_licence(name), expected, "{name}");
        }
    }

    #[test]
    fn only_the_mit_licence_is_written_for_a_crate_without_one() {
        for licence in ["MIT", "Apache-2.0/MIT", "MIT OR Apache-2.0"] {
            let text = text_for_one_without(&outside(licence)).unwrap();
            assert!(text.starts_with("Copyright (c) A. Person (https://example.com/tiny)"));
        }
        for licence in ["", "MIT-0", "Apache-2.0", "(MIT OR Apache-2.0) AND Zlib"] {
            let error = text_for_one_without(&outside(licence)).unwrap_err();
            assert!(error.to_string().starts_with("tiny v1.0.0"), "{error}");
        }
    }
}
