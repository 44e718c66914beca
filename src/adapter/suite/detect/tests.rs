//! Tests of detection: versions, and the runners of well-known repositories.

#![expect(clippy::disallowed_methods, reason = "detection reads real folders")]

use super::*;

#[test]
fn rules_and_bold_print_are_no_version() {
    let table = [
        ("\n-----\nGradle 4.4.1\n-----\n", Some("Gradle 4.4.1")),
        ("\u{1b}[1mApache Maven 3.8.7\u{1b}[m\nMaven home: /x1\n", Some("Apache Maven 3.8.7")),
        ("unknown\n", Some("unknown")),
        ("\n", None),
    ];
    for (output, expected) in table {
        assert_eq!(version_line(output).as_deref(), expected, "{output}");
    }
}
