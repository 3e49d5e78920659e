//! Arguments of the built-in tools: kept, at the bounds, and beyond.

use countersign_canonical::{Number, Object, Value};
use countersign_governed::{ArgumentRule, Catalog, Tool};

use crate::commands::vectors::random::Random;

/// Texts over which grammars and encodings part.
pub(super) const TEXTS: [&str; 24] = [
    "",
    " ",
    "x",
    "t-1",
    "a/b:c.d_e-f",
    "a@b",
    "-a",
    "a b",
    "a\n",
    "a\0",
    "\u{1c}",
    "\u{1f}\u{85}\u{a0}\u{3000}",
    "\u{7f}",
    "\u{80}",
    "\u{200b}",
    "\u{feff}x",
    "é中",
    "🍵",
    "\u{10ffff}",
    "\"\\/\t",
    "1",
    "true",
    "xé\u{2028}",
    "A",
];

/// Picks a tool of the built-in catalog.
pub(super) fn tool(random: &mut Random) -> Option<&'static Tool> {
    let catalog = Catalog::colony();
    let index = random.below(catalog.tools().len());
    catalog.tools().nth(index)
}

/// Makes arguments that the tool takes.
pub(super) fn kept(random: &mut Random, tool: &Tool) -> Object {
    let mut arguments = Object::new();
    for argument in tool.arguments() {
        if argument.is_required() || random.once_in(2) {
            let value = kept_value(random, argument.rule());
            arguments.insert(argument.name().to_owned(), value);
        }
    }
    arguments
}

/// Makes arguments that the tool takes or, as often, that break one of its rules or are at a bound.
pub(super) fn near(random: &mut Random, tool: &Tool) -> Value {
    let mut arguments = kept(random, tool);
    let argument = tool.arguments().get(random.below(tool.arguments().len()));
    match (random.below(6), argument) {
        (0, Some(argument)) => {
            arguments.remove(argument.name());
        }
        (1, _) => {
            arguments.insert("extra".to_owned(), 1_i64.into());
        }
        (2 | 3, Some(argument)) => {
            let value = near_value(random, argument.rule());
            arguments.insert(argument.name().to_owned(), value);
        }
        _ => {}
    }
    if random.once_in(30) {
        return random.pick(&[Value::Null, Value::Array(Vec::new()), "{}".into()]);
    }
    arguments.into()
}

fn kept_value(random: &mut Random, rule: &ArgumentRule) -> Value {
    match rule {
        ArgumentRule::Text {
            maximum_chars,
            allow_empty,
        } => {
            if *allow_empty && random.once_in(4) {
                return "".into();
            }
            let chars = if random.once_in(12) {
                *maximum_chars
            } else {
                1 + random.below((*maximum_chars).min(40))
            };
            format!("x{}", text(random, chars.saturating_sub(1))).into()
        }
        ArgumentRule::Identifier => identifier(random).into(),
        ArgumentRule::Integer { minimum, maximum } => integer(random, *minimum, *maximum),
        ArgumentRule::Number { minimum, maximum } => {
            let share = f64::from(u32::try_from(random.below(1 << 30)).unwrap_or(0));
            let float = minimum + (maximum - minimum) * share / f64::from(1 << 30);
            random.pick(&[
                number(float),
                number(*minimum),
                number(*maximum),
                1_i64.into(),
            ])
        }
        ArgumentRule::Choice { values } => random.pick(values).into(),
        ArgumentRule::Boolean => random.once_in(2).into(),
        ArgumentRule::List { element, .. } => Value::Array(vec![kept_value(random, element)]),
        ArgumentRule::Object => bounded_object(random),
    }
}

fn near_value(random: &mut Random, rule: &ArgumentRule) -> Value {
    if random.once_in(3) {
        return any_value(random);
    }
    match rule {
        ArgumentRule::Text { maximum_chars, .. } => {
            let character = random.pick(&["x", "é", "🍵"]);
            let chars = maximum_chars + random.below(2);
            let short = text(random, 8);
            random.pick(&[character.repeat(chars), short]).into()
        }
        ArgumentRule::Identifier => {
            let long = "x".repeat(256 + random.below(2));
            let short = random_text(random);
            random.pick(&[long, short]).into()
        }
        ArgumentRule::Integer { minimum, maximum } => random.pick(&[
            (minimum - 1).into(),
            (*minimum).into(),
            (*maximum).into(),
            (maximum + 1).into(),
            maximum.to_string().into(),
            i64::MAX.into(),
            Value::Number(u64::MAX.into()),
        ]),
        ArgumentRule::Number { minimum, maximum } => random.pick(&[
            number(minimum.next_down()),
            number(maximum.next_up()),
            number(-0.0),
            2_i64.into(),
            (-1_i64).into(),
        ]),
        ArgumentRule::Choice { values } => {
            let choice = random.pick(values);
            let near = [choice.to_uppercase(), format!("{choice}\n"), choice];
            random.pick(&near).into()
        }
        ArgumentRule::Boolean => any_value(random),
        ArgumentRule::List { element, .. } => Value::Array(vec![near_value(random, element)]),
        ArgumentRule::Object => near_object(random),
    }
}

/// Any value of any kind.
pub(super) fn any_value(random: &mut Random) -> Value {
    let text = random_text(random);
    random.pick(&[
        Value::Null,
        true.into(),
        false.into(),
        0_i64.into(),
        1_i64.into(),
        number(1.0),
        number(-0.0),
        number(1e16),
        number(1e-5),
        number(0.1),
        (-1_i64).into(),
        i64::MAX.into(),
        i64::MIN.into(),
        Value::Number(u64::MAX.into()),
        "1".into(),
        Value::Array(Vec::new()),
        Object::new().into(),
        Value::Array(vec![1_i64.into(), Value::Null]),
        text.into(),
    ])
}

/// An object whose bounds are kept.
pub(super) fn bounded_object(random: &mut Random) -> Value {
    let members = random.below(5);
    let members = (0..members).map(|index| {
        let value = match random.below(6) {
            0 => Value::Array(vec![Value::Null, number(0.25), "é".into()]),
            1 => Value::from([("inner", random.once_in(2).into())]),
            2 => number(1.5e300),
            3 => i64::MAX.into(),
            4 => "done 🍵".into(),
            _ => integer(random, -1_000, 1_000),
        };
        (
            format!("{}{index}", random.pick(&["k", "a.b:", "x/y-"])),
            value,
        )
    });
    Value::Object(members.collect())
}

/// An object that is at a bound of `details` or of a verification, or just beyond.
pub(super) fn near_object(random: &mut Random) -> Value {
    let object = |key: &str, value: Value| Value::from([(key, value)]);
    match random.below(6) {
        0 => {
            let count = random.pick(&[254, 255, 510, 511]);
            object("k", Value::Array(vec![0_i64.into(); count]))
        }
        1 => {
            let depth = random.pick(&[5, 6, 7, 8, 14, 15, 16]);
            let nested = (0..depth).fold(0_i64.into(), |inner, _| Value::Array(vec![inner]));
            object("k", nested)
        }
        2 => {
            let chars = random.pick(&[2_048, 2_049, 4_096, 4_097]);
            object("k", random.pick(&["x", "é"]).repeat(chars).into())
        }
        3 => object(&"k".repeat(random.pick(&[128, 129, 256, 257])), Value::Null),
        4 => object(&random_text(random), Value::Null),
        _ => object("k", any_value(random)),
    }
}

pub(super) fn random_text(random: &mut Random) -> String {
    random.pick(&TEXTS).to_owned()
}

pub(super) fn number(float: f64) -> Value {
    Number::from_f64(float).map_or(Value::Null, Value::Number)
}

fn text(random: &mut Random, chars: usize) -> String {
    let characters = [
        'a', 'b', ' ', 'é', '中', '🍵', '"', '\\', '\n', '\u{7f}', '\u{85}',
    ];
    (0..chars).map(|_| random.pick(&characters)).collect()
}

fn identifier(random: &mut Random) -> String {
    let long = "x".repeat(256);
    let digits = random.hex(8);
    random.pick(&["t-1".to_owned(), "a/b:c.d_e-f".to_owned(), long, digits])
}

fn integer(random: &mut Random, minimum: i64, maximum: i64) -> Value {
    let span = usize::try_from(maximum.saturating_sub(minimum)).unwrap_or(0);
    let step = i64::try_from(random.below(span.saturating_add(1))).unwrap_or(0);
    minimum.saturating_add(step).into()
}
