//! Who may depend on whom, as data, each rule with its reason: a refusal quotes it.

/// The rule for one package of this workspace.
#[derive(Debug)]
pub(crate) struct PackageRule {
    pub(crate) name: &'static str,
    pub(crate) layer: Layer,
    /// The packages of this workspace that it may use in the product (build scripts count as product).
    pub(crate) may_use: MayUse,
    pub(crate) why: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layer {
    /// Pure: no I/O, clock, randomness or environment. Also what a plain `cargo build` builds.
    Core,
    /// Executes what the core decides.
    Shell,
    /// Never part of a product: others may use it in tests only.
    Development,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum MayUse {
    Only(&'static [&'static str]),
    /// Everything that may be part of a product.
    AnyProduct,
}

/// Every package of this workspace has one row.
pub(crate) const PACKAGES: &[PackageRule] = &[
    PackageRule {
        name: "countersign-canonical",
        layer: Layer::Core,
        may_use: MayUse::Only(&[]),
        why: "every digest rests on it, so it rests on nothing of ours",
    },
    PackageRule {
        name: "countersign-contract",
        layer: Layer::Core,
        may_use: MayUse::Only(&["countersign-canonical"]),
        why: "the contract says what a call is; it knows neither providers nor how a call is carried out",
    },
    PackageRule {
        name: "countersign-policy",
        layer: Layer::Core,
        may_use: MayUse::Only(&["countersign-canonical", "countersign-contract"]),
        why: "a decision is about a call under a contract; who asks for it and what follows is not its business",
    },
    PackageRule {
        name: "countersign-providers",
        layer: Layer::Core,
        may_use: MayUse::Only(&["countersign-canonical", "countersign-contract"]),
        why: "a provider's format must not reach authorization or execution: it turns bytes into calls, and results into bytes",
    },
    PackageRule {
        name: "countersign-dispatch",
        layer: Layer::Core,
        may_use: MayUse::Only(&[
            "countersign-canonical",
            "countersign-contract",
            "countersign-policy",
        ]),
        why: "the state machine must not know which provider a call came from, nor what executes its effects",
    },
    PackageRule {
        name: "countersign-governed",
        layer: Layer::Core,
        may_use: MayUse::Only(&["countersign-canonical"]),
        why: "the host's side of a governed action is judged against the endpoint's, and is no part of dispatch",
    },
    PackageRule {
        name: "countersign-endpoint",
        layer: Layer::Core,
        may_use: MayUse::Only(&[]),
        why: "the endpoint checks what a host sends with code of its own, so that no bug of ours passes on both sides",
    },
    PackageRule {
        name: "countersign-ledger",
        layer: Layer::Core,
        may_use: MayUse::Only(&[
            "countersign-canonical",
            "countersign-contract",
            "countersign-dispatch",
            "countersign-policy",
        ]),
        why: "what may become of an operation is decided here, once, whatever keeps the rows and whoever performs it",
    },
    PackageRule {
        name: "countersign-ledger-sqlite",
        layer: Layer::Shell,
        may_use: MayUse::Only(&[
            "countersign-canonical",
            "countersign-contract",
            "countersign-dispatch",
            "countersign-ledger",
            "countersign-policy",
        ]),
        why: "it keeps rows in a file and knows no rule: what may become of them is decided in `countersign-ledger`",
    },
    PackageRule {
        name: "countersign-ledger-suite",
        layer: Layer::Development,
        may_use: MayUse::Only(&[
            "countersign-canonical",
            "countersign-contract",
            "countersign-dispatch",
            "countersign-ledger",
            "countersign-policy",
        ]),
        why: "it judges back-ends by what `countersign-ledger` documents, and so knows none of them",
    },
    PackageRule {
        name: "countersign-runtime",
        layer: Layer::Shell,
        may_use: MayUse::Only(&[
            "countersign-canonical",
            "countersign-contract",
            "countersign-dispatch",
            "countersign-ledger",
            "countersign-policy",
        ]),
        why: "it executes what the state machine asks for, whatever provider, shop or command line stands above it",
    },
    PackageRule {
        name: "countersign-mcp",
        layer: Layer::Shell,
        may_use: MayUse::Only(&["countersign-canonical", "countersign-contract"]),
        why: "it reads and writes messages, pins and contracts; what is decided about a call and who carries it out is not its business",
    },
    PackageRule {
        name: "countersign-mcp-http",
        layer: Layer::Shell,
        may_use: MayUse::Only(&["countersign-canonical", "countersign-mcp"]),
        why: "it moves messages over HTTP, and knows nothing of what is decided about them",
    },
    PackageRule {
        name: "countersign-shop",
        layer: Layer::Shell,
        may_use: MayUse::Only(&[
            "countersign-canonical",
            "countersign-contract",
            "countersign-dispatch",
            "countersign-policy",
            "countersign-runtime",
        ]),
        why: "the demonstration shop is an ordinary user of the runtime; nothing that it needs may be special",
    },
    PackageRule {
        name: "countersign-scenario",
        layer: Layer::Shell,
        may_use: MayUse::Only(&[
            "countersign-canonical",
            "countersign-contract",
            "countersign-dispatch",
            "countersign-policy",
            "countersign-providers",
            "countersign-runtime",
            "countersign-shop",
        ]),
        why: "it plays written scenarios through the same pipeline as a live call, and knows no governed action",
    },
    PackageRule {
        name: "countersign",
        layer: Layer::Shell,
        may_use: MayUse::AnyProduct,
        why: "the binary puts the product together; what is for tests only stays out of it",
    },
    PackageRule {
        name: "countersign-agreement",
        layer: Layer::Development,
        may_use: MayUse::Only(&[
            "countersign-canonical",
            "countersign-endpoint",
            "countersign-governed",
        ]),
        why: "it runs both sides of governed actions over the same cases, and needs no more than them",
    },
    PackageRule {
        name: "countersign-testkit",
        layer: Layer::Development,
        may_use: MayUse::Only(&[
            "countersign-canonical",
            "countersign-contract",
            "countersign-dispatch",
            "countersign-ledger",
            "countersign-ledger-sqlite",
            "countersign-ledger-suite",
            "countersign-policy",
            "countersign-runtime",
        ]),
        why: "it simulates hosts around one ledger with what the product itself runs, and knows neither providers nor the binary",
    },
    PackageRule {
        name: "xtask",
        layer: Layer::Development,
        may_use: MayUse::Only(&[]),
        why: "the gate must build and run when the product does not",
    },
];

pub(crate) fn package_rule(name: &str) -> Option<&'static PackageRule> {
    PACKAGES.iter().find(|rule| rule.name == name)
}

/// Outside crates that no core crate may contain, directly or through another.
#[derive(Debug)]
pub(crate) struct Ban {
    pub(crate) names: &'static [&'static str],
    pub(crate) why: &'static str,
}

pub(crate) const CORE_BANS: &[Ban] = &[
    Ban {
        names: &[
            "async-std",
            "futures-executor",
            "mio",
            "rayon",
            "smol",
            "tokio",
        ],
        why: "the core runs no task: it turns an event into a state and effects, and a runtime carries them out",
    },
    Ban {
        names: &[
            "axum", "hyper", "nix", "reqwest", "rmcp", "rustix", "rustls", "socket2", "tempfile",
            "tonic", "ureq", "walkdir",
        ],
        why: "the core does no I/O, so that every step can be tested and repeated from its input alone",
    },
    Ban {
        names: &[
            "deadpool-postgres",
            "diesel",
            "libsqlite3-sys",
            "postgres",
            "redb",
            "rusqlite",
            "sled",
            "sqlx",
            "tokio-postgres",
        ],
        why: "storage stands behind the core's traits: a back-end is chosen outside",
    },
    Ban {
        names: &["chrono", "humantime", "jiff", "time", "web-time"],
        why: "the core reads no clock: time comes in as a value, judged by whoever owns the ledger",
    },
    Ban {
        names: &[
            "fastrand",
            "getrandom",
            "nanoid",
            "rand",
            "rand_core",
            "ulid",
            "uuid",
        ],
        why: "the core makes no random choice: ids come in as values, so that the same input gives the same bytes",
    },
    Ban {
        names: &[
            "clap",
            "config",
            "dirs",
            "dotenvy",
            "env_logger",
            "etcetera",
            "figment",
            "home",
        ],
        why: "the core reads no arguments, environment or files: the binary does, and hands over values",
    },
    Ban {
        names: &["jiter", "serde_json", "simd-json", "sonic-rs"],
        why: "what a stranger sent is held in our own strict value: other JSON values lose duplicate keys, large integers and `-0`",
    },
];

/// The two sides of a governed action, which may share only [`SHARED_ROOTS`] and what those bring along.
pub(crate) const HOST_SIDE: &str = "countersign-governed";
pub(crate) const ENDPOINT_SIDE: &str = "countersign-endpoint";

/// Outside crates that both sides may use. `thiserror` is here because it writes `Display` and `Error` impls while
/// compiling and is no part of what runs: it cannot make both sides accept the same wrong document.
pub(crate) const SHARED_ROOTS: &[&str] = &["regex", "sha2", "thiserror"];

pub(crate) const INDEPENDENCE_WHY: &str = "host and endpoint check each other, so the contract is implemented twice: what \
    both use can be wrong on both sides unnoticed. They may share hashing and regular expressions, which have one right \
    answer, and `thiserror`, which writes code at compile time and decides nothing";

/// The longest source file, in lines, that needs no reason.
pub(crate) const MAX_FILE_LINES: usize = 800;

/// Longer files, by their path from the root, each with the reason why it stays whole.
pub(crate) const LONG_FILES: &[(&str, &str)] = &[];

/// Module names that say nothing about what is inside, and so gather everything.
pub(crate) const EMPTY_NAMES: &[&str] = &[
    "common", "helper", "helpers", "misc", "prelude", "shared", "util", "utils",
];

#[cfg(test)]
mod tests {
    use super::*;

    /// A lower crate that could use an upper one would make a cycle that cargo reports without our reason.
    #[test]
    fn the_table_names_only_its_own_rows_and_has_no_cycle() {
        for rule in PACKAGES {
            let MayUse::Only(names) = rule.may_use else {
                continue;
            };
            for name in names {
                let used = package_rule(name)
                    .unwrap_or_else(|| panic!("{} names {name}, which has no row", rule.name));
                let MayUse::Only(back) = used.may_use else {
                    panic!("{} may use all, and {name} too", rule.name)
                };
                assert!(
                    !back.contains(&rule.name),
                    "{} and {name} may use each other",
                    rule.name
                );
                assert!(
                    rule.layer != Layer::Core || used.layer == Layer::Core,
                    "core {} may use {name}",
                    rule.name
                );
            }
        }
    }

    #[test]
    fn each_package_and_each_ban_stands_once() {
        let mut names: Vec<_> = PACKAGES.iter().map(|rule| rule.name).collect();
        names.extend(CORE_BANS.iter().flat_map(|ban| ban.names));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
