//! Canonical digests and parsing against `serde_json` with the same SHA-256.
//!
//! Each measurement runs both sides in turn, so that their ratio means
//! something on a busy machine. The ratios are printed at the end: below 1.00
//! this crate takes less time.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark prints its figures and stops where it is broken"
)]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use countersign_canonical::{Ascii, Limits, Utf8, Value, digest, parse};
use criterion::{BenchmarkId, Criterion, Throughput};
use sha2::{Digest as _, Sha256};

const SIZES: [(&str, usize); 2] = [("1 KiB", 1 << 10), ("1 MiB", 1 << 20)];

/// A shape's name and its member number `index`.
type Shape = (&'static str, fn(usize) -> String);

const SHAPES: [Shape; 5] = [
    ("numbers", numbers),
    ("short keys", short_keys),
    ("long strings", long_strings),
    ("escapes", escapes),
    ("non-ASCII", non_ascii),
];

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut table = Vec::new();
    for (size_name, size) in SIZES {
        for (shape_name, member) in SHAPES {
            let document = document(member, size);
            let name = format!("{shape_name}, {size_name}");
            table.push((name.clone(), measure(&mut criterion, &name, &document)));
        }
    }
    criterion.final_summary();
    println!(
        "\n{:24} {:>12} {:>12} {:>12}",
        "ratio to serde_json", "digest utf8", "digest ascii", "parse"
    );
    for (name, ratios) in table {
        let [utf8, ascii, parse] = ratios;
        println!("{name:24} {utf8:>12.2} {ascii:>12.2} {parse:>12.2}");
    }
}

fn measure(criterion: &mut Criterion, name: &str, document: &str) -> [f64; 3] {
    let bytes = document.as_bytes();
    let limits = Limits::tool_result();
    let ours: Value = parse(bytes, &limits).expect("the document is strict JSON");
    let theirs: serde_json::Value = serde_json::from_str(document).expect("the document is JSON");
    let serialize_and_hash = || Sha256::digest(serde_json::to_vec(&theirs).expect("no error"));

    let batch = (1 << 15) / document.len() as u64 + 1;

    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Bytes(document.len() as u64));
    group.warm_up_time(Duration::from_millis(100));
    group.measurement_time(Duration::from_millis(500));
    group.sample_size(15);
    let mut ratios = [0.0; 3];
    let [utf8, ascii, parsing] = &mut ratios;
    let mut compare = |kind: &str, ratio: &mut f64, ours: &dyn Fn(), theirs: &dyn Fn()| {
        let mut samples = Vec::new();
        group.bench_function(BenchmarkId::from_parameter(kind), |bencher| {
            bencher.iter_custom(|iterations| {
                let (time, ratio) = in_turn(iterations, batch, ours, theirs);
                if iterations >= batch {
                    samples.push(ratio);
                }
                time
            });
        });
        *ratio = median(&mut samples);
    };
    compare(
        "digest utf8",
        utf8,
        &|| _ = black_box(digest::<Utf8>(&ours)),
        &|| {
            black_box(serialize_and_hash());
        },
    );
    compare(
        "digest ascii",
        ascii,
        &|| _ = black_box(digest::<Ascii>(&ours)),
        &|| {
            black_box(serialize_and_hash());
        },
    );
    compare(
        "parse",
        parsing,
        &|| drop(black_box(parse(bytes, &limits))),
        &|| {
            drop(black_box(serde_json::from_slice::<serde_json::Value>(
                bytes,
            )));
        },
    );
    group.finish();
    ratios
}

/// Runs both sides in alternating batches, and gives the time of our side and
/// the ratio of the shortest batches, which nothing else interrupted.
fn in_turn(iterations: u64, batch: u64, ours: &dyn Fn(), theirs: &dyn Fn()) -> (Duration, f64) {
    let mut sum = Duration::ZERO;
    let mut shortest = (Duration::MAX, Duration::MAX);
    let mut left = iterations;
    while left > 0 {
        let size = left.min(batch);
        let (our_time, their_time) = (time(size, ours), time(size, theirs));
        sum += our_time;
        if size == batch {
            shortest = (shortest.0.min(our_time), shortest.1.min(their_time));
        }
        left -= size;
    }
    (sum, shortest.0.as_secs_f64() / shortest.1.as_secs_f64())
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn time(iterations: u64, run: &dyn Fn()) -> Duration {
    let start = Instant::now();
    for _ in 0..iterations {
        run();
    }
    start.elapsed()
}

fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Joins members to an array of about `size` bytes, as deep as real results are.
fn document(member: fn(usize) -> String, size: usize) -> String {
    let mut groups = Vec::new();
    let mut length = 0;
    let mut index = 0;
    while length < size {
        let group: Vec<String> = (index..index + 16)
            .map(member)
            .take_while(|member| {
                let fits = length < size;
                length += member.len() + 1;
                fits
            })
            .collect();
        index += 16;
        groups.push(format!("[{}]", group.join(",")));
    }
    format!("[{}]", groups.join(","))
}

fn numbers(index: usize) -> String {
    match index % 4 {
        0 => format!("{}", index * 7_919),
        1 => format!("-{}.{:02}", index * 31, index % 89 + 10),
        2 => format!("{index}"),
        _ => format!("{}.{index}e-7", index % 9 + 1),
    }
}

fn short_keys(index: usize) -> String {
    format!(
        r#"{{"active":{},"id":{index},"name":"n{index}","qty":{},"tag":null}}"#,
        index.is_multiple_of(2),
        index % 100
    )
}

fn long_strings(index: usize) -> String {
    let text = "The quick brown fox jumps over the lazy dog, again and again. ".repeat(4);
    format!(r#""{index} {text}""#)
}

fn escapes(index: usize) -> String {
    format!(r#""line {index}\n\t\"quoted\" C:\\path\\to\\{index}\r\nnext \u0001 \f""#)
}

fn non_ascii(index: usize) -> String {
    format!(r#""{index} Grüße aus Zürich – 東京都の天気は晴れ 🌤️ и ещё немного текста""#)
}
