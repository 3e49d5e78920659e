//! Reads a catalog document: strictly, with every fault at its place.

use std::collections::BTreeMap;

use countersign_canonical::{Object, Value};

use crate::catalog::Catalog;
use crate::catalog::rule::ArgumentRule;
use crate::catalog::template::Template;
use crate::catalog::tool::{Argument, DisplayTemplates, Presence, Tool};
use crate::contract::{
    BOUNDED_JSON_INTEGER_MAX, EXECUTION_REQUEST_STRING_MAX_CHARS, IDENTIFIER_MAX_CHARS,
};
use crate::fault::{DefinitionReason, FieldReason, Kind, Reason, Report};
use crate::grammar::Grammar;
use crate::names::ToolName;
use crate::place::Path;
use crate::scalars::{
    Fields, bounded_integer, bounded_number, bounded_text, enum_text, grammar_text, is_one, literal,
};

/// Schema of a catalog document.
pub const CATALOG_SCHEMA: &str = "CountersignToolCatalogV1";
/// Most tools in a catalog.
pub const MAXIMUM_TOOLS: usize = 256;
/// Most arguments of a tool.
pub const MAXIMUM_ARGUMENTS: usize = 64;

const CATALOG_FIELDS: [&str; 4] = ["name", "schema", "tools", "version"];
const TOOL_FIELDS: [&str; 4] = ["arguments", "description", "display", "grantable"];
const DISPLAY_FIELDS: [&str; 3] = ["risk", "summary", "target"];
const KINDS: [&str; 8] = [
    "boolean",
    "choice",
    "identifier",
    "integer",
    "list",
    "number",
    "object",
    "text",
];
const MAXIMUM_DESCRIPTION_CHARS: usize = 4096;
const MAXIMUM_TEMPLATE_CHARS: usize = 1024;
const MAXIMUM_CHOICES: usize = 256;
const MAXIMUM_LIST_ELEMENTS: usize = 256;
/// Beyond this magnitude an integer is not exact in a double.
const MAXIMUM_NUMBER_BOUND: f64 = 9_007_199_254_740_992.0;

pub(crate) fn catalog(document: &Value, report: &mut Report) -> Option<Catalog> {
    let path = Path::ROOT;
    let fields = Fields::exact(document, &CATALOG_FIELDS, &path, report)?;
    fields.read("schema", &path, report, |value| {
        literal(value, CATALOG_SCHEMA)
    });
    fields.require("version", &path, report, is_one, FieldReason::MustBeOne);
    let name = fields.read("name", &path, report, |value| {
        grammar_text(value, Grammar::ToolName)
    });
    let tools_path = path.member("tools");
    let entries = members(
        fields.find("tools")?,
        (1, MAXIMUM_TOOLS),
        &tools_path,
        report,
    )?;
    let mut tools = BTreeMap::new();
    for (name, entry) in entries.iter() {
        if let Some(tool) = tool(name, entry, &tools_path.member(name), report) {
            tools.insert(name.to_owned(), tool);
        }
    }
    Some(Catalog {
        name: name?.to_owned(),
        tools,
    })
}

fn tool(name: &str, entry: &Value, path: &Path<'_>, report: &mut Report) -> Option<Tool> {
    let name = report.keep(path, name_of(name, Grammar::ToolName, ToolName::parse));
    let fields = Fields::exact(entry, &TOOL_FIELDS, path, report)?;
    let description = fields.read("description", path, report, |value| {
        bounded_text(value, MAXIMUM_DESCRIPTION_CHARS, false)
    });
    let grantable = fields.read("grantable", path, report, boolean);
    let arguments = arguments(fields.find("arguments")?, &path.member("arguments"), report);
    // Placeholders are judged against arguments that are well defined only.
    let display = display(
        fields.find("display")?,
        arguments.as_deref(),
        &path.member("display"),
        report,
    );
    Some(Tool {
        name: name?,
        description: description?.to_owned(),
        arguments: arguments?,
        display: display?,
        grantable: grantable?,
    })
}

fn arguments(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<Vec<Argument>> {
    let entries = members(value, (0, MAXIMUM_ARGUMENTS), path, report)?;
    let read: Vec<_> = entries
        .iter()
        .map(|(name, entry)| argument(name, entry, &path.member(name), report))
        .collect();
    read.into_iter().collect()
}

fn argument(name: &str, entry: &Value, path: &Path<'_>, report: &mut Report) -> Option<Argument> {
    let name = report.keep(
        path,
        name_of(name, Grammar::ArgumentName, |name| {
            Ok::<_, ()>(name.to_owned())
        }),
    );
    let rule = rule(
        entry,
        &["default", "description", "required"],
        true,
        path,
        report,
    );
    let fields = Fields::of(entry.as_object()?);
    let description = match fields.find("description") {
        None => Some(None),
        Some(_) => fields
            .read("description", path, report, |value| {
                bounded_text(value, MAXIMUM_DESCRIPTION_CHARS, false)
            })
            .map(|text| Some(text.to_owned())),
    };
    if fields.find("required").is_none() {
        report.add(&path.member("required"), FieldReason::Missing);
    }
    let required = fields.read("required", path, report, boolean)?;
    let default = fields.find("default");
    let rule = rule?;
    let presence = match (required, default) {
        (true, None) => Presence::Required,
        (true, Some(_)) => {
            report.add(&path.member("default"), DefinitionReason::DefaultOfRequired);
            return None;
        }
        (false, default) => {
            if let Some(default) = default {
                check_default(&rule, default, &path.member("default"), report)?;
            }
            Presence::Optional {
                default: default.cloned(),
            }
        }
    };
    Some(Argument {
        name: name?,
        description: description?,
        rule,
        presence,
    })
}

fn check_default(
    rule: &ArgumentRule,
    default: &Value,
    path: &Path<'_>,
    report: &mut Report,
) -> Option<()> {
    let mut own = Report::default();
    rule.check(default, &Path::ROOT, &mut own);
    if own.finish(Some(())).is_ok() {
        return Some(());
    }
    report.add(path, DefinitionReason::BadDefault(rule.describe()));
    None
}

fn rule(
    entry: &Value,
    beside: &[&str],
    lists: bool,
    path: &Path<'_>,
    report: &mut Report,
) -> Option<ArgumentRule> {
    let Some(object) = entry.as_object() else {
        report.add(path, FieldReason::MustBe(Kind::Object));
        return None;
    };
    let Some(kind) = object.get("kind") else {
        report.add(&path.member("kind"), FieldReason::Missing);
        return None;
    };
    let allowed = KINDS
        .into_iter()
        .filter(|kind| lists || !matches!(*kind, "list" | "object"))
        .collect::<Vec<_>>();
    let kind = report.keep(&path.member("kind"), enum_text(kind, &allowed))?;
    let own: &[&str] = match kind {
        "text" => &["allow_empty", "maximum_chars"],
        "integer" | "number" => &["maximum", "minimum"],
        "choice" => &["values"],
        "list" => &["element", "maximum_elements"],
        _ => &[],
    };
    let known: Vec<&str> = own.iter().chain(beside).chain(&["kind"]).copied().collect();
    let fields = Fields::within(entry, &known, path, report)?;
    for field in own {
        if fields.find(field).is_none() {
            report.add(&path.member(field), FieldReason::Missing);
        }
    }
    match kind {
        "text" => text_rule(&fields, path, report),
        "identifier" => Some(ArgumentRule::Identifier),
        "integer" => integer_rule(&fields, path, report),
        "number" => number_rule(&fields, path, report),
        "choice" => choice_rule(&fields, path, report),
        "boolean" => Some(ArgumentRule::Boolean),
        "list" => list_rule(&fields, path, report),
        "object" => Some(ArgumentRule::Object),
        _ => None,
    }
}

fn text_rule(fields: &Fields<'_>, path: &Path<'_>, report: &mut Report) -> Option<ArgumentRule> {
    let maximum = i64::try_from(EXECUTION_REQUEST_STRING_MAX_CHARS).unwrap_or(i64::MAX);
    let maximum_chars = fields.read("maximum_chars", path, report, |value| {
        bounded_integer(value, 1, maximum)
    });
    let allow_empty = fields.read("allow_empty", path, report, boolean);
    Some(ArgumentRule::Text {
        maximum_chars: usize::try_from(maximum_chars?).ok()?,
        allow_empty: allow_empty?,
    })
}

fn integer_rule(fields: &Fields<'_>, path: &Path<'_>, report: &mut Report) -> Option<ArgumentRule> {
    let read = |value| bounded_integer(value, -BOUNDED_JSON_INTEGER_MAX, BOUNDED_JSON_INTEGER_MAX);
    let minimum = fields.read("minimum", path, report, read);
    let maximum = fields.read("maximum", path, report, read);
    let (minimum, maximum) = (minimum?, maximum?);
    report.require(
        &path.member("maximum"),
        minimum <= maximum,
        DefinitionReason::EmptyRange,
    );
    Some(ArgumentRule::Integer { minimum, maximum })
}

fn number_rule(fields: &Fields<'_>, path: &Path<'_>, report: &mut Report) -> Option<ArgumentRule> {
    let read = |value| bounded_number(value, -MAXIMUM_NUMBER_BOUND, MAXIMUM_NUMBER_BOUND);
    let minimum = fields.read("minimum", path, report, read);
    let maximum = fields.read("maximum", path, report, read);
    let (minimum, maximum) = (minimum?, maximum?);
    report.require(
        &path.member("maximum"),
        minimum <= maximum,
        DefinitionReason::EmptyRange,
    );
    Some(ArgumentRule::Number { minimum, maximum })
}

fn choice_rule(fields: &Fields<'_>, path: &Path<'_>, report: &mut Report) -> Option<ArgumentRule> {
    let listed = fields.find("values")?;
    let path = path.member("values");
    let Some(listed) = listed.as_array() else {
        report.add(&path, FieldReason::MustBe(Kind::Array));
        return None;
    };
    if listed.is_empty() || listed.len() > MAXIMUM_CHOICES {
        report.add(
            &path,
            DefinitionReason::Count {
                minimum: 1,
                maximum: MAXIMUM_CHOICES,
            },
        );
        return None;
    }
    let mut values: Vec<String> = Vec::new();
    for (index, value) in listed.iter().enumerate() {
        // A choice is shown to owners without quotes, so it is an identifier.
        let path = path.element(index);
        let value = report.keep(&path, grammar_text(value, Grammar::Identifier))?;
        report.require(
            &path,
            !values.iter().any(|other| other == value),
            DefinitionReason::Repeated,
        );
        values.push(value.to_owned());
    }
    Some(ArgumentRule::Choice { values })
}

fn list_rule(fields: &Fields<'_>, path: &Path<'_>, report: &mut Report) -> Option<ArgumentRule> {
    let maximum = i64::try_from(MAXIMUM_LIST_ELEMENTS).unwrap_or(i64::MAX);
    let maximum_elements = fields.read("maximum_elements", path, report, |value| {
        bounded_integer(value, 1, maximum)
    });
    let element = rule(
        fields.find("element")?,
        &[],
        false,
        &path.member("element"),
        report,
    )?;
    Some(ArgumentRule::List {
        element: Box::new(element),
        maximum_elements: usize::try_from(maximum_elements?).ok()?,
    })
}

fn display(
    value: &Value,
    arguments: Option<&[Argument]>,
    path: &Path<'_>,
    report: &mut Report,
) -> Option<DisplayTemplates> {
    let fields = Fields::exact(value, &DISPLAY_FIELDS, path, report)?;
    let mut template = |field: &str| {
        fields.read(field, path, report, |value| {
            let text = bounded_text(value, MAXIMUM_TEMPLATE_CHARS, false)?;
            arguments
                .map(|arguments| Template::parse(text, arguments))
                .transpose()
        })
    };
    let (summary, target, risk) = (template("summary"), template("target"), template("risk"));
    Some(DisplayTemplates {
        summary: summary??,
        target: target??,
        risk: risk??,
    })
}

fn members<'v>(
    value: &'v Value,
    (minimum, maximum): (usize, usize),
    path: &Path<'_>,
    report: &mut Report,
) -> Option<&'v Object> {
    let Some(object) = value.as_object() else {
        report.add(path, FieldReason::MustBe(Kind::Object));
        return None;
    };
    if (minimum..=maximum).contains(&object.len()) {
        return Some(object);
    }
    report.add(path, DefinitionReason::Count { minimum, maximum });
    None
}

fn boolean(value: &Value) -> Result<bool, Reason> {
    value
        .as_bool()
        .ok_or_else(|| FieldReason::MustBe(Kind::Boolean).into())
}

fn name_of<T, E>(
    name: &str,
    grammar: Grammar,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, Reason> {
    let refused = || Reason::from(crate::fault::ValueReason::NotOfGrammar(grammar));
    if name.len() > IDENTIFIER_MAX_CHARS || !grammar.matches(name) {
        return Err(refused());
    }
    parse(name).map_err(|_| refused())
}
