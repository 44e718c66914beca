//! The project's own type checkers, on the checkout as it lies there. A missing tool skips its
//! check and says so.

use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;

use crate::adapter::host::process::{self, Ending, Invocation};
use crate::domain::id::RepoPath;

/// Time for one check (product.md 6.3).
const LIMIT: Duration = Duration::from_mins(1);

/// Bytes of what a check said that are read.
const SAID: u64 = 256 << 10;

/// What the checkers said, and what could not be asked.
#[derive(Debug, Default)]
pub struct Typed {
    /// File, line, message.
    pub said: Vec<(RepoPath, u32, String)>,
    /// Checks that were skipped, with the reason.
    pub skipped: Vec<(String, String)>,
}

/// One checker: its name, what tells that the project uses it, and its command.
struct Checker {
    name: &'static str,
    signs: &'static [(&'static str, &'static str)],
    argv: &'static [&'static str],
}

/// File and the words it must hold; the tool is the project's own where it has one.
const CHECKERS: &[Checker] = &[
    Checker {
        name: "tsc",
        signs: &[("tsconfig.json", "")],
        argv: &["node_modules/.bin/tsc", "--noEmit", "--pretty", "false", "-p", "."],
    },
    Checker {
        name: "mypy",
        signs: &[
            ("mypy.ini", ""),
            (".mypy.ini", ""),
            ("pyproject.toml", "[tool.mypy]"),
            ("setup.cfg", "[mypy]"),
        ],
        argv: &["mypy", "--no-error-summary", "--no-color-output", "."],
    },
    Checker {
        name: "cargo check",
        signs: &[("Cargo.toml", "")],
        argv: &["cargo", "check", "--all-targets", "--quiet", "--message-format", "short"],
    },
    Checker { name: "go vet", signs: &[("go.mod", "")], argv: &["go", "vet", "./..."] },
];

static PLACE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:vet: )?(?:\./)?([^\s:(]+)[:(](\d+)(?:[:,]\d+)?\)?:?\s*(?:error(?:\[?\s*\w*\]?)?:\s*)?(.+)$").ok()
});

/// Reads `file:line:column: message` and `file(line,column): error: message`; notes and warnings
/// are none of its business.
#[must_use]
pub fn parse(text: &str, root: &Path) -> Vec<(RepoPath, u32, String)> {
    let Some(place) = PLACE.as_ref() else { return Vec::new() };
    let prefix = format!("{}/", root.display());
    text.lines()
        .filter(|line| {
            !line.contains(": warning")
                && !line.contains(": note:")
                && !line.starts_with([' ', '#'])
        })
        .filter_map(|line| {
            let found = place.captures(line)?;
            let file = found.get(1)?.as_str();
            let file = RepoPath::parse(file.strip_prefix(&prefix).unwrap_or(file)).ok()?;
            Some((file, found.get(2)?.as_str().parse().ok()?, found.get(3)?.as_str().to_owned()))
        })
        .collect()
}

/// Asks every checker that the project has set up, in the root of the checkout.
pub async fn types(root: &Path, scratch: &Path) -> Typed {
    let mut typed = Typed::default();
    for checker in CHECKERS {
        let set_up = checker.signs.iter().any(|(file, words)| {
            let text = crate::adapter::host::files::read(&root.join(file), 4 << 20);
            text.is_ok_and(|text| {
                text.is_some_and(|text| String::from_utf8_lossy(&text).contains(words))
            })
        });
        if !set_up {
            continue;
        }
        let mut argv: Vec<String> = checker.argv.iter().map(|word| (*word).to_owned()).collect();
        if let Some(program) = argv.first_mut()
            && program.contains('/')
        {
            *program = root.join(&*program).display().to_string();
        }
        let invocation = Invocation {
            argv,
            directory: root.to_owned(),
            environment: process::environment(scratch),
            access: None,
        };
        let log = scratch.join("types.log");
        let skipped = match process::run(&invocation, LIMIT, &log).await {
            Ok(Ending::Exit(0)) => continue,
            Ok(Ending::Exit(code)) => {
                let said = parse(&process::tail_of(&log, SAID), root);
                let silent = said.is_empty();
                typed.said.extend(said);
                if !silent {
                    continue;
                }
                format!("it ended with exit code {code} and named no file")
            }
            Ok(ending) => format!("it was stopped by {ending}"),
            Err(error) => format!("it could not be started: {error}"),
        };
        typed.skipped.push((checker.name.to_owned(), skipped));
    }
    typed
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
        ];
        for (text, file, line) in table {
            let said = parse(text, Path::new("/r"));
            let first = said.first().map(|(file, line, _)| (file.as_str(), *line));
            assert_eq!(first, Some((file, line)), "{text}");
        }
        assert!(parse("src/c.rs:5:9: warning: unused", Path::new("/r")).is_empty());
        assert!(parse("# example.com/m", Path::new("/r")).is_empty());
    }
}
