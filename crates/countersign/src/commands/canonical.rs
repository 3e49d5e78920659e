//! `countersign canonical`.

use anyhow::Context as _;
use countersign_canonical::{Ascii, InDomain, Limits, Utf8, digest, encode, parse};

use crate::cli::{CanonicalArguments, CanonicalForm};
use crate::input;
use crate::output::{Verdict, print_bytes};

/// The most bytes of a document.
const MAX_DOCUMENT_BYTES: usize = 256 << 20;

pub(crate) fn run(arguments: &CanonicalArguments) -> anyhow::Result<Verdict> {
    let limits = Limits {
        nodes: usize::MAX,
        ..Limits::tool_result()
    }
    .with_bytes(MAX_DOCUMENT_BYTES);
    let bytes = input::read("document", arguments.file.as_deref(), limits.bytes)?;
    let value = parse(&bytes, &limits).context("the document is not strict JSON")?;
    let mut line = match (arguments.form, arguments.digest) {
        (CanonicalForm::ToolResult, as_digest) => {
            let checked = InDomain::check(&value)
                .context("the document has no tool-result form; --form utf8 has no such bounds")?;
            if as_digest {
                checked.digest().to_string().into_bytes()
            } else {
                checked.encode()
            }
        }
        (CanonicalForm::Ascii, false) => encode::<Ascii>(&value),
        (CanonicalForm::Ascii, true) => digest::<Ascii>(&value).to_string().into_bytes(),
        (CanonicalForm::Utf8, false) => encode::<Utf8>(&value),
        (CanonicalForm::Utf8, true) => digest::<Utf8>(&value).to_string().into_bytes(),
    };
    line.push(b'\n');
    print_bytes(&line)?;
    Ok(Verdict::Good)
}
