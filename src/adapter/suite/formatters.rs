//! The project's own safe formatters and formatters on files that were just written: what they would
//! make of a text, without writing it anywhere in the checkout (specification.md 6.7, phase 5).
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
enum FormatterOutput {
    /// The text alone.
    Text,
    /// The JSON report of `ESLint`, with the text in `output` when it differs.
    Eslint,
}

/// One formatter: the row of the table of tools that tells whether the project uses it, the endings it
/// is for, and its command; `{}` stands for the path.
struct Formatter {
    tool: &'static str,
    endings: &'static [&'static str],
    argv: &'static [&'static str],
    output: FormatterOutput,
}

const PYTHON: &[&str] = &["py", "pyi"];
const SCRIPT: &[&str] = &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"];

/// Every formatter, those that change code before those that only format.
const FORMATTERS: &[Formatter] = &[
    Formatter {
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
        output: FormatterOutput::Text,
    },
    Formatter {
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
        output: FormatterOutput::Eslint,
    },
    Formatter {
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
        output: FormatterOutput::Text,
    },
    Formatter {
        tool: "black",
        endings: PYTHON,
        argv: &["black", "--quiet", "--stdin-filename", "{}", "-"],
        output: FormatterOutput::Text,
    },
    Formatter {
        tool: "prettier",
        endings: SCRIPT,
        argv: &["node_modules/.bin/prettier", "--stdin-filepath", "{}"],
        output: FormatterOutput::Text,
    },
    Formatter { tool: "gofmt", endings: &["go"], argv: &["gofmt"], output: FormatterOutput::Text },
    Formatter {
        tool: "cargo fmt",
        endings: &["rs"],
        argv: &["rustfmt", "--emit", "stdout", "--quiet", "--edition", "{edition}"],
        output: FormatterOutput::Text,
    },
];

/// What the formatters make of files of a checkout. `scratch` is an own folder.
pub async fn format_files(root: &Path, scratch: &Path, chosen: &[RepoPath]) -> FixedFiles {
    let mut made = FixedFiles::default();
    let formatters: Vec<&Formatter> =
        FORMATTERS.iter().filter(|formatter| is_named_set_up(formatter.tool, root)).collect();
    for file in chosen.iter().take(FILES) {
        let own =
            formatters.iter().filter(|formatter| formatter.endings.contains(&file.extension()));
        let Ok(Some(bytes)) = files::read_left(&root.join(file.as_str()), TEXT) else { continue };
        let Ok(before) = String::from_utf8(bytes) else { continue };
        let mut text = before.clone();
        for formatter in own {
            match fix(formatter, root, scratch, file, &text).await {
                Ok(Some(after)) if after != text => {
                    text = after;
                    if !made.tools.contains(&formatter.tool.to_owned()) {
                        made.tools.push(formatter.tool.to_owned());
                    }
                }
                Ok(_) => {}
                Err(reason) => {
                    let skipped = (format!("{} as a fixer", formatter.tool), reason);
                    if !made.skipped.contains(&skipped) {
                        made.skipped.push(skipped);
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
    formatter: &Formatter,
    root: &Path,
    scratch: &Path,
    file: &RepoPath,
    text: &str,
) -> Result<Option<String>, String> {
    let (given, answer) = (scratch.join("fix-given"), scratch.join("fix-made"));
    files::write(&given, text.as_bytes()).map_err(|error| error.to_string())?;
    let path = root.join(file.as_str()).display().to_string();
    let own = program(root, formatter.argv);
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
    let output = bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    let after = match formatter.output {
        // ESLint ends with 1 when something is left that it cannot fix.
        FormatterOutput::Eslint => eslint(&output).filter(|_| code <= 1),
        FormatterOutput::Text if code == 0 => Some(output),
        FormatterOutput::Text => return Err(format!("exit code {code}")),
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
        for formatter in FORMATTERS {
            assert!(super::super::tools::is_known(formatter.tool), "{}", formatter.tool);
            assert!(
                !formatter.argv.iter().any(|word| word.contains("unsafe")),
                "{}",
                formatter.tool
            );
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
