//! Parses the output of type checkers, linters and formatters into remarks on lines.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::domain::id::RepoPath;
use crate::domain::quality::Remark;

/// Remarks of one tool that are kept.
const LIMIT: usize = 2_000;

/// The output format of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// `file:line:column: message`; warnings are skipped.
    Locations,
    /// `file:line:column: message` with warnings, as which rules of the project are reported.
    Lints,
    /// One file per line, after a fixed phrase of the tool.
    FileList,
    /// The JSON report of `ESLint`.
    EslintJson,
    /// A configured command: `ESLint`'s JSON, or locations with warnings.
    Any,
}

/// Parses the output of a tool.
pub fn parse(format: OutputFormat, text: &str, root: &Path, tool: &str) -> Vec<Remark> {
    let mut found = match format {
        OutputFormat::Locations => locations(text, root, false),
        OutputFormat::Lints => locations(text, root, true),
        OutputFormat::FileList => files_of(text, root, tool),
        OutputFormat::EslintJson => eslint(text, root),
        OutputFormat::Any => {
            let found = eslint(text, root);
            if found.is_empty() { locations(text, root, true) } else { found }
        }
    };
    found.truncate(LIMIT);
    found
}

static LOCATION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:vet: )?(?:\./)?([^\s:(]+)[:(](\d+)(?:[:,]\d+)?\)?:?\s*(?:(?:error|warning):\s*(.+)|(?:error|warning)\s*((?:TS\d+|\[\w+\]):.+)|(.+))$").ok()
});

/// The repository path of a path that a tool printed.
fn below(root: &Path, file: &str) -> Option<RepoPath> {
    let prefix = format!("{}/", root.display());
    let file = file.strip_prefix(&prefix).unwrap_or(file);
    RepoPath::parse(file.strip_prefix("./").unwrap_or(file)).ok()
}

/// Reads `file:line:column: message` and `file(line,column): error: message`; notes are none of its
/// business, and warnings count only on request.
fn locations(text: &str, root: &Path, warnings: bool) -> Vec<Remark> {
    let Some(place) = LOCATION.as_ref() else { return Vec::new() };
    text.lines()
        .filter(|line| {
            (warnings || !line.contains(": warning"))
                && !line.contains(": note:")
                && !line.starts_with([' ', '#'])
        })
        .filter_map(|line| {
            let found = place.captures(line)?;
            let file = below(root, found.get(1)?.as_str())?;
            // The severity is dropped; the code of a rule stays with its message.
            let message = (3..=5).find_map(|group| found.get(group))?;
            Some((file, found.get(2)?.as_str().parse().ok()?, message.as_str().to_owned()))
        })
        .collect()
}

/// Parses a list of files, one per line.
fn files_of(text: &str, root: &Path, tool: &str) -> Vec<Remark> {
    text.lines()
        .map(|line| {
            line.trim_start_matches("would reformat ").trim_start_matches("Would reformat: ")
        })
        .filter(|line| !line.contains(' ') && line.contains('.'))
        .filter_map(|line| Some((below(root, line)?, 1, format!("`{tool}` would change it"))))
        .collect()
}

/// Parses `ESLint`'s errors; skips its warnings, since they do not fail a gate.
fn eslint(text: &str, root: &Path) -> Vec<Remark> {
    let start = text.find('[').unwrap_or(text.len());
    let Ok(value) =
        serde_json::from_str::<serde_json::Value>(text.get(start..).unwrap_or_default())
    else {
        return Vec::new();
    };
    let mut remarks = Vec::new();
    for file in value.as_array().into_iter().flatten() {
        let path = file.get("filePath").and_then(|path| path.as_str()).unwrap_or_default();
        let Some(path) = below(root, path) else { continue };
        for message in file.get("messages").and_then(|list| list.as_array()).into_iter().flatten() {
            let number = |key: &str| message.get(key).and_then(serde_json::Value::as_u64);
            let word =
                |key: &str| message.get(key).and_then(|text| text.as_str()).unwrap_or_default();
            if number("severity") == Some(2) {
                let line = number("line").and_then(|line| u32::try_from(line).ok()).unwrap_or(1);
                let text = format!("{} ({})", word("message"), word("ruleId"));
                remarks.push((path.clone(), line, text));
            }
        }
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_every_checker_are_read() {
        let table = [
            ("src/a.ts(3,7): error TS2322: Type 'x'", "src/a.ts", 3),
            ("app/b.py:12: error: Incompatible types", "app/b.py", 12),
            ("src/c.rs:5:9: error[E0308]: mismatched types", "src/c.rs", 5),
            ("vet: ./d.go:4:2: undefined: x", "d.go", 4),
            ("/r/e.go:4:2: unusedresult", "e.go", 4),
            ("f.py:1:8: F401 [*] `os` imported but unused", "f.py", 1),
        ];
        for (text, file, line) in table {
            let remarks = locations(text, Path::new("/r"), false);
            let first = remarks.first().map(|(file, line, _)| (file.as_str(), *line));
            assert_eq!(first, Some((file, line)), "{text}");
        }
        assert!(locations("src/c.rs:5:9: warning: unused", Path::new("/r"), false).is_empty());
        assert!(locations("# example.com/m", Path::new("/r"), false).is_empty());
    }

    #[test]
    fn a_message_keeps_the_code_of_its_rule_and_loses_its_severity() {
        let table = [
            ("src/a.ts(3,7): error TS2304: Cannot find name 'x'.", "TS2304: Cannot find name 'x'."),
            (
                "app/b.py:12: error: Name \"x\" is not defined  [name-defined]",
                "Name \"x\" is not defined  [name-defined]",
            ),
            ("src/c.rs:5:9: error[E0425]: cannot find value `x`", "[E0425]: cannot find value `x`"),
            ("src/c.rs:5:9: warning: unused variable: `x`", "unused variable: `x`"),
            ("vet: ./d.go:4:2: undefined: x", "undefined: x"),
            ("f.py:1:8: F401 [*] `os` imported but unused", "F401 [*] `os` imported but unused"),
            (
                "d.go:4:2: error strings should not be capitalized",
                "error strings should not be capitalized",
            ),
        ];
        for (text, message) in table {
            let found = locations(text, Path::new("/r"), true);
            assert_eq!(found.first().map(|one| one.2.as_str()), Some(message), "{text}");
        }
    }

    #[test]
    fn commands_of_the_project_may_print_either_form_and_a_flood_is_cut() {
        let root = Path::new("/r");
        let json = r#"[{"filePath":"/r/a.js","messages":[{"ruleId":"x","severity":2,"message":"no","line":3}]}]"#;
        let table = [
            (json, vec![("a.js", 3, "no (x)")]),
            (
                "src/c.rs:5:9: warning: unused variable: `x`",
                vec![("src/c.rs", 5, "unused variable: `x`")],
            ),
            ("a.py:1:1: E501 Line too long", vec![("a.py", 1, "E501 Line too long")]),
            ("all good", vec![]),
        ];
        for (text, expected) in table {
            let remarks = parse(OutputFormat::Any, text, root, "lint");
            let remarks: Vec<(&str, u32, &str)> =
                remarks.iter().map(|one| (one.0.as_str(), one.1, one.2.as_str())).collect();
            assert_eq!(remarks, expected, "{text}");
        }
        let flood = "a.py:1:1: E501 Line too long\n".repeat(LIMIT + 5);
        assert_eq!(parse(OutputFormat::Lints, &flood, root, "ruff").len(), LIMIT);
    }

    #[test]
    fn files_of_every_formatter_are_read() {
        let table = [
            ("tax/tax.go", "tax/tax.go"),
            ("would reformat /r/app/a.py", "app/a.py"),
            ("Would reformat: app/a.py", "app/a.py"),
            ("/r/src/main.rs", "src/main.rs"),
        ];
        for (text, file) in table {
            let remarks = files_of(text, Path::new("/r"), "tool");
            assert_eq!(remarks.first().map(|one| one.0.as_str()), Some(file), "{text}");
        }
        for text in ["All done!", "1 file would be reformatted.", "", "Oh no! Boom."] {
            assert!(files_of(text, Path::new("/r"), "tool").is_empty(), "{text}");
        }
    }

    #[test]
    fn errors_of_eslint_are_read_and_its_warnings_are_not() {
        let text = r#"[{"filePath":"/r/a.js","messages":[
            {"ruleId":"eqeqeq","severity":2,"message":"Expected '==='","line":3},
            {"ruleId":"semi","severity":1,"message":"Missing semicolon","line":4}]}]"#;
        let remarks = eslint(text, Path::new("/r"));
        let lines: Vec<(&str, u32, &str)> = remarks
            .iter()
            .map(|(file, line, text)| (file.as_str(), *line, text.as_str()))
            .collect();
        assert_eq!(lines, [("a.js", 3, "Expected '===' (eqeqeq)")]);
        assert!(eslint("Oops! Something went wrong", Path::new("/r")).is_empty());
    }
}
