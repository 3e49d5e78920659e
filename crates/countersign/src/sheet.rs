//! What a person is shown about a call: labels on the left, texts on the right, each row within the terminal.
//!
//! Texts of others come in as they are and are written so that nothing of them can act on the terminal, nor pass for ours.

use anstyle::Style;
use countersign_canonical::{Value, indented};
use countersign_contract::Inert;

/// The fewest columns that a row gets, however narrow the terminal.
const MIN_COLUMNS: usize = 16;
/// What stands to the left of a text.
const INDENT_COLUMNS: usize = 13;

/// Lines for a terminal of so many columns.
pub(crate) struct Sheet {
    columns: usize,
    lines: Vec<String>,
}

impl Sheet {
    pub(crate) fn new(columns: usize) -> Self {
        Self {
            columns,
            lines: Vec::new(),
        }
    }

    /// Adds a line of our own words, which are short.
    pub(crate) fn line(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    /// Adds a text under a label.
    pub(crate) fn tell(&mut self, label: &str, text: &str) {
        self.tell_in(label, Style::new(), text);
    }

    /// Adds a text under a label, in a style.
    pub(crate) fn tell_in(&mut self, label: &str, style: Style, text: &str) {
        let text = Inert::new(text).to_string();
        let rows = rows(&text, self.columns.saturating_sub(INDENT_COLUMNS));
        for (index, row) in rows.iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            self.lines
                .push(format!("  {label:<10} {style}{row}{style:#}"));
        }
    }

    /// Adds a value under a label, with a bar before each of its rows.
    pub(crate) fn block(&mut self, label: &str, value: &Value) {
        self.lines.push(format!("  {label}"));
        for line in String::from_utf8_lossy(&indented(value)).lines() {
            let line = Inert::new(line).to_string();
            let rows = rows(&line, self.columns.saturating_sub(6));
            self.lines
                .extend(rows.iter().map(|row| format!("    | {row}")));
        }
    }

    /// All lines, without a newline at the end.
    pub(crate) fn into_text(self) -> String {
        self.lines.join("\n")
    }
}

/// Breaks a text into rows that fit, so that the terminal breaks none: a row at its edge could pass for a line of ours.
fn rows(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(MIN_COLUMNS);
    let (mut rows, mut row, mut used) = (Vec::new(), String::new(), 0);
    for character in text.chars() {
        // Without a table of widths, whatever is not ASCII counts as wide.
        let width = if character.is_ascii() { 1 } else { 2 };
        if used + width > columns {
            rows.push(std::mem::take(&mut row));
            used = 0;
        }
        row.push(character);
        used += width;
    }
    rows.push(row);
    rows
}
