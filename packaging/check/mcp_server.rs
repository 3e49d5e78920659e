//! A server of the Model Context Protocol in one static program, for a root directory in which nothing else is.
//!
//! It has a tool that reads and one that writes. `cargo xtask dist --check` compiles it and speaks to it through `countersign wrap`. It
//! reads no JSON, only what those two write: a request on each line, with a number or a plain string as its id.

use std::io::{BufRead as _, Write as _};

fn main() -> std::io::Result<()> {
    let mut output = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (Some(id), Some(method)) = (after(&line, "\"id\":"), after(&line, "\"method\":\"")) else {
            continue;
        };
        let id = id.split([',', '}']).next().unwrap_or("null");
        let result = if method.starts_with("initialize\"") {
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"static","version":"1"}}"#
        } else if method.starts_with("tools/list\"") {
            r#"{"tools":[{"name":"look","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"note","inputSchema":{"type":"object"}}]}"#
        } else if method.starts_with("tools/call\"") {
            r#"{"content":[{"type":"text","text":"seen"}]}"#
        } else {
            writeln!(output, r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"no"}}}}"#)?;
            output.flush()?;
            continue;
        };
        writeln!(output, r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)?;
        output.flush()?;
    }
    Ok(())
}

fn after<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    line.split_once(mark).map(|(_, rest)| rest.trim_start())
}
