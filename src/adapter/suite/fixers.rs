//! The project's own safe fixers and formatters on files that were just written: what they would
//! make of a text, without writing it anywhere in the checkout (product.md 6.7, phase 5).
//!
//! Each tool gets the text on its standard input and says on its standard output how it should be,
//! so a file of the user cannot be touched by mistake: the child may not write there at all.

use std::path::Path;
use std::time::Duration;

use crate::adapter::host::files;
use crate::adapter::host::process::{self, Ending};
use crate::domain::id::RepoPath;
use crate::effect::FixedFiles;

use super::tools::{invocation, is_named_set_up, program};

/// Time for one tool on one file.
const LIMIT: Duration = Duration::from_secs(30);

/// Files of one request at most; each costs a process for each tool.
const FILES: usize = 60;

/// Bytes of a text that is given to a tool, and of what it may answer.
const TEXT: u64 = 1 << 20;

/// Passes the text by files, as a pipe would block on a long one.
const FEED: &str = "text=$1; made=$2; shift 2; exec \"$@\" < \"$text\" > \"$made\"";

/// How a tool says what it made.
#[derive(Clone, Copy)]
enum Said {
    /// The text alone.
    Text,
    /// The JSON report of `ESLint`, with the text in `output` when it differs.
    Eslint,
}

/// One fixer: the row of the table of tools that tells whether the project uses it, the endings it
/// is for, and its command; `{}` stands for the path.
struct Fixer {
    tool: &'static str,
    endings: &'static [&'static str],
    argv: &'static [&'static str],
    said: Said,
}

const PYTHON: &[&str] = &["py", "pyi"];
const SCRIPT: &[&str] = &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"];

/// Every fixer, those that change code before those that only format.
const FIXERS: &[Fixer] = &[
    Fixer {
        tool: "ruff",
        endings: PYTHON,
        // Fixes that ruff calls safe; the unsafe ones need a flag that is not given.
        argv: &[
            "ruff",
            "check",
            "--no-cache",
            "--fix",
            "--exit-zero",
            "--quiet",
            "--force-exclude",
            "--stdin-filename",
            "{}",
            "-",
        ],
        said: Said::Text,
    },
    Fixer {
        tool: "eslint",
        endings: SCRIPT,
        argv: &[
            "node_modules/.bin/eslint",
            "--fix-dry-run",
            "--format",
            "json",
            "--stdin",
            "--stdin-filename",
            "{}",
        ],
        said: Said::Eslint,
    },
    Fixer {
        tool: "ruff format",
        endings: PYTHON,
        argv: &[
            "ruff",
            "format",
            "--no-cache",
            "--quiet",
            "--force-exclude",
            "--stdin-filename",
            "{}",
            "-",
        ],
        said: Said::Text,
    },
    Fixer {
        tool: "black",
        endings: PYTHON,
        argv: &["black", "--quiet", "--stdin-filename", "{}", "-"],
        said: Said::Text,
    },
    Fixer {
        tool: "prettier",
        endings: SCRIPT,
        argv: &["node_modules/.bin/prettier", "--stdin-filepath", "{}"],
        said: Said::Text,
    },
    Fixer { tool: "gofmt", endings: &["go"], argv: &["gofmt"], said: Said::Text },
    Fixer {
        tool: "cargo fmt",
        endings: &["rs"],
        argv: &["rustfmt", "--emit", "stdout", "--quiet", "--edition", "{edition}"],
        said: Said::Text,
    },
];

/// What the fixers make of files of a checkout. `scratch` is an own folder.
pub async fn mended(root: &Path, scratch: &Path, chosen: &[RepoPath]) -> FixedFiles {
    let mut made = FixedFiles::default();
    let fixers: Vec<&Fixer> =
        FIXERS.iter().filter(|fixer| is_named_set_up(fixer.tool, root)).collect();
    for file in chosen.iter().take(FILES) {
        let own = fixers.iter().filter(|fixer| fixer.endings.contains(&file.extension()));
        let Ok(Some(bytes)) = files::read_left(&root.join(file.as_str()), TEXT) else { continue };
        let Ok(before) = String::from_utf8(bytes) else { continue };
        let mut text = before.clone();
        for fixer in own {
            match fix(fixer, root, scratch, file, &text).await {
                Ok(Some(after)) if after != text => {
                    text = after;
                    if !made.tools.contains(&fixer.tool.to_owned()) {
                        made.tools.push(fixer.tool.to_owned());
                    }
                }
                Ok(_) => {}
                Err(reason) => {
                    let told = (format!("{} as a fixer", fixer.tool), reason);
                    if !made.skipped.contains(&told) {
                        made.skipped.push(told);
                    }
                }
            }
        }
        if text != before {
            made.texts.insert(file.clone(), text);
        }
    }
    made
}

/// What one tool makes of a text; `None` when it would leave it as it is.
async fn fix(
    fixer: &Fixer,
    root: &Path,
    scratch: &Path,
    file: &RepoPath,
    text: &str,
) -> Result<Option<String>, String> {
    let (given, answer) = (scratch.join("fix-given"), scratch.join("fix-made"));
    files::write(&given, text.as_bytes()).map_err(|error| error.to_string())?;
    let path = root.join(file.as_str()).display().to_string();
    let own = program(root, fixer.argv);
    let mut argv = vec!["sh".to_owned(), "-c".into(), FEED.into(), "sh".into()];
    argv.extend([given.display().to_string(), answer.display().to_string()]);
    argv.extend(own.into_iter().map(|word| match word.as_str() {
        "{}" => path.clone(),
        "{edition}" => edition(root),
        _ => word,
    }));
    let child = invocation(argv, root, scratch);
    let ending = process::run(&child, LIMIT, &scratch.join("fix.log")).await;
    let code = match ending {
        Ok(Ending::Exit(code)) => code,
        Ok(ending) => return Err(format!("it was stopped by {ending}")),
        Err(error) => return Err(format!("it could not be started: {error}")),
    };
    let bytes = files::read_left(&answer, 4 * TEXT).map_err(|error| error.to_string())?;
    let said = bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    let after = match fixer.said {
        // ESLint ends with 1 when something is left that it cannot fix.
        Said::Eslint => eslint(&said).filter(|_| code <= 1),
        Said::Text if code == 0 => Some(said),
        Said::Text => return Err(format!("exit code {code}")),
    };
    // What empties a file has not understood it.
    Ok(after.filter(|after| !after.trim().is_empty()))
}

/// The text that `ESLint` made, when it changed something.
fn eslint(report: &str) -> Option<String> {
    let report: serde_json::Value = serde_json::from_str(report).ok()?;
    report.get(0)?.get("output")?.as_str().map(str::to_owned)
}

/// The edition that `Cargo.toml` names; that of Cargo where it names none.
fn edition(root: &Path) -> String {
    let manifest =
        files::read_left(&root.join("Cargo.toml"), TEXT).ok().flatten().unwrap_or_default();
    let manifest = String::from_utf8_lossy(&manifest).into_owned();
    let named = manifest.lines().find_map(|line| line.trim().strip_prefix("edition"));
    let digits: String =
        named.unwrap_or_default().chars().filter(char::is_ascii_digit).take(4).collect();
    if digits.len() == 4 { digits } else { "2015".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixer_is_a_tool_of_the_table() {
        for fixer in FIXERS {
            assert!(super::super::tools::is_known(fixer.tool), "{}", fixer.tool);
            assert!(!fixer.argv.iter().any(|word| word.contains("unsafe")), "{}", fixer.tool);
        }
    }

    #[test]
    fn the_text_of_a_report_of_eslint_is_read() {
        let table = [
            (
                r#"[{"filePath":"/x/a.test.js","messages":[],"output":"const a = 1;\n"}]"#,
                Some("const a = 1;\n"),
            ),
            (r#"[{"filePath":"/x/a.test.js","messages":[{"ruleId":"no-undef"}]}]"#, None),
            ("Oops! Something went wrong! :(", None),
            ("[]", None),
        ];
        for (report, expected) in table {
            assert_eq!(eslint(report).as_deref(), expected, "{report}");
        }
    }
}
