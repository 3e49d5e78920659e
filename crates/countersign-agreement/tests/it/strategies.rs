//! Documents, calls and contexts to generate.

use countersign_canonical::{Number, Object, Value};
use countersign_governed::{ArgumentRule, Catalog, Tool, contract::CONTEXT_FIELDS};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Text of the characters that encodings and grammars part over.
pub(crate) fn text(maximum_chars: usize) -> impl Strategy<Value = String> {
    let character = prop_oneof![
        4 => proptest::char::range('a', 'z'),
        1 => select(vec![
            '"', '\\', '/', '\n', '\r', '\t', '\u{8}', '\u{c}', '\u{1}', '\u{1f}', ' ', '\u{7f}', '\u{80}', '\u{85}',
            '\u{a0}', 'é', '\u{2028}', '\u{d7ff}', '\u{e000}', '\u{feff}', '\u{ffff}', '🍵', '\u{10ffff}', '@', '-',
        ]),
        1 => any::<char>().prop_map(|character| if character == '\0' { '0' } else { character }),
    ];
    vec(character, 0..=maximum_chars).prop_map(|characters| characters.into_iter().collect())
}

/// Floats of every exponent, and those whose digits are hard to find.
pub(crate) fn float() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        any::<u64>()
            .prop_map(|bits| f64::from_bits(bits & !0xfff0_0000_0000_0000 | 0x3ff0_0000_0000_0000)),
        (0_u64..2048, any::<bool>())
            .prop_map(|(exponent, next)| f64::from_bits((exponent << 52) | u64::from(next))),
        (-1_000_000_000_i32..1_000_000_000, -12_i32..12)
            .prop_map(|(digits, exponent)| f64::from(digits) * 10_f64.powi(exponent)),
        (0_u64..1 << 54).prop_map(whole),
        select(vec![
            0.0,
            -0.0,
            5e-324,
            2.225_073_858_507_201e-308,
            9e15,
            1e16,
            1e-4,
            1e-5,
            1e22,
            1e23,
            f64::MAX
        ]),
    ]
    .prop_filter("finite", |float| float.is_finite())
}

#[expect(clippy::cast_precision_loss, reason = "the nearest float is as good")]
fn whole(integer: u64) -> f64 {
    integer as f64
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        float().prop_map(|float| Value::Number(Number::from_f64(float).unwrap())),
        (-i64::MAX..=i64::MAX).prop_map(Value::from),
        (-300_i64..300).prop_map(Value::from),
    ]
}

/// Any document that both sides can hold, keys and all.
pub(crate) fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number(),
        text(24).prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 96, 8, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..8).prop_map(Value::Array),
            vec((text(8), inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn identifier(maximum: usize, marks: &'static str) -> impl Strategy<Value = String> {
    let first = proptest::char::ranges(vec!['a'..='z', 'A'..='Z', '0'..='9'].into());
    let rest = prop_oneof![
        proptest::char::ranges(vec!['a'..='z', 'A'..='Z', '0'..='9'].into()),
        select(marks.chars().collect::<Vec<_>>()),
    ];
    (first, vec(rest, 0..maximum))
        .prop_map(|(first, rest)| std::iter::once(first).chain(rest).collect())
}

/// An object within the bounds of `details` and of a verification.
pub(crate) fn bounded_object() -> impl Strategy<Value = Value> {
    let plain = |text: String| {
        text.chars()
            .filter(|c| *c >= ' ' && *c != '\u{7f}')
            .collect::<String>()
    };
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number(),
        text(24).prop_map(move |text| plain(text).into()),
    ];
    let object = |inner: BoxedStrategy<Value>| {
        vec((identifier(20, "._:/-"), inner), 0..6)
            .prop_map(|members| Value::Object(members.into_iter().collect()))
    };
    let nested = leaf.prop_recursive(4, 48, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::Array),
            object(inner.boxed())
        ]
    });
    object(nested.boxed())
}

fn argument(rule: &ArgumentRule) -> BoxedStrategy<Value> {
    match rule {
        ArgumentRule::Text {
            maximum_chars,
            allow_empty,
        } => {
            let front = if *allow_empty { "" } else { "x" };
            text((*maximum_chars - 1).min(40))
                .prop_map(move |text| format!("{front}{text}").into())
                .boxed()
        }
        ArgumentRule::Identifier => identifier(40, "._:/-").prop_map(Value::from).boxed(),
        ArgumentRule::Integer { minimum, maximum } => {
            (*minimum..=*maximum).prop_map(Value::from).boxed()
        }
        ArgumentRule::Number { minimum, maximum } => prop_oneof![
            (*minimum..=*maximum).prop_map(|float| Value::Number(Number::from_f64(float).unwrap())),
            select(vec![0_i64, 1]).prop_map(Value::from),
        ]
        .boxed(),
        ArgumentRule::Choice { values } => select(values.clone()).prop_map(Value::from).boxed(),
        ArgumentRule::Boolean => any::<bool>().prop_map(Value::from).boxed(),
        ArgumentRule::List {
            element,
            maximum_elements,
        } => vec(argument(element), 0..=(*maximum_elements).min(5))
            .prop_map(Value::Array)
            .boxed(),
        ArgumentRule::Object => bounded_object().boxed(),
    }
}

fn arguments(tool: &Tool) -> BoxedStrategy<Value> {
    tool.arguments()
        .iter()
        .fold(Just(Object::new()).boxed(), |call, rule| {
            let name = rule.name().to_owned();
            let given = if rule.is_required() {
                Just(true).boxed()
            } else {
                any::<bool>().boxed()
            };
            (call, given, argument(rule.rule()))
                .prop_map(move |(mut call, given, value)| {
                    if given {
                        call.insert(name.clone(), value);
                    }
                    call
                })
                .boxed()
        })
        .prop_map(Value::Object)
        .boxed()
}

/// A call of a colony tool that keeps its rules.
pub(crate) fn call() -> impl Strategy<Value = (String, Value)> {
    let tools: Vec<&'static Tool> = Catalog::colony().tools().collect();
    select(tools).prop_flat_map(|tool| (Just(tool.name().as_str().to_owned()), arguments(tool)))
}

/// A context of any text.
pub(crate) fn context() -> impl Strategy<Value = Value> {
    vec(text(20), CONTEXT_FIELDS.len()).prop_map(|texts| {
        let fields = CONTEXT_FIELDS.iter().map(|field| (*field).to_owned());
        Value::Object(fields.zip(texts.into_iter().map(Value::from)).collect())
    })
}
