//! What the program says of itself.

use crate::program::run;

#[test]
fn help_of_the_governed_commands() {
    let pages: [&[&str]; 9] = [
        &["contract"],
        &["contract", "check"],
        &["contract", "check", "request"],
        &["contract", "check", "gate"],
        &["contract", "build"],
        &["contract", "build", "request"],
        &["contract", "schema"],
        &["contract", "catalog", "check"],
        &["vectors", "make"],
    ];
    let pages = pages.map(|page| {
        let help = run(&[page, &["--help"]].concat(), b"");
        assert_eq!(help.exit, Some(0), "{page:?}");
        format!("$ countersign {} --help\n{}", page.join(" "), help.text())
    });
    insta::assert_snapshot!(pages.join("\n"));
}
