//! Runs the project's own formatters and safe fixers on newly written files and returns the new
//! texts, without writing to the checkout (specification.md 6.7, phase 5).
//!
//! Each tool reads the text from standard input and prints the new text, so it cannot change a file
//! of the user by mistake: the child has no write access to the checkout.

use std::path::Path;
use std::time::Duration;

use crate::adapter::host::files;
use crate::adapter::host::process;
use crate::domain::id::RepoPath;
use crate::effect::{Concern, FixedFiles};

use super::tools::{Fixer, FixerOutput, TOOLS, Tool, exit_code, invocation, program};

/// Time limit of one tool on one file.
const LIMIT: Duration = Duration::from_mins(1);

/// Files of one request at most; each costs one process per tool.
const FILES: usize = 60;

/// Bytes of a text that is given to a tool, and of what it may answer.
const TEXT: u64 = 1 << 20;

/// Shell command that passes the text through files, since a pipe would block on a long one.
const FEED: &str = "text=$1; made=$2; shift 2; exec \"$@\" < \"$text\" > \"$made\"";

/// The new texts of files; `layout_only` selects pure formatters, `scratch` is private.
pub async fn format_files(
    root: &Path,
    scratch: &Path,
    chosen: &[RepoPath],
    layout_only: bool,
) -> FixedFiles {
    let mut made = FixedFiles::default();
    let usable = |tool: &&Tool| !layout_only || tool.concern == Concern::Format;
    let fixers: Vec<(&str, &Fixer)> = TOOLS
        .iter()
        .filter(usable)
        .filter(|tool| tool.fixer.is_some() && tool.is_set_up(root))
        .filter_map(|tool| Some((tool.name, tool.fixer.as_ref()?)))
        .collect();
    for file in chosen.iter().take(FILES) {
        let Ok(Some(bytes)) = files::read_untrusted(&root.join(file.as_str()), TEXT) else {
            continue;
        };
        let Ok(before) = String::from_utf8(bytes) else { continue };
        let mut text = before.clone();
        for (tool, fixer) in &fixers {
            if !fixer.endings.contains(&file.extension()) {
                continue;
            }
            match fix(fixer, root, scratch, file, &text).await {
                Ok(Some(after)) if after != text => {
                    text = after;
                    if made.tools.iter().all(|known| known != tool) {
                        made.tools.push((*tool).to_owned());
                    }
                }
                Ok(_) => {}
                Err(reason) => {
                    let skipped = (format!("{tool} as a fixer"), reason);
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

/// The text as one tool changes it; `None` when it stays the same.
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
    let own = program(root, fixer.command.split(' '));
    let mut argv = vec!["sh".to_owned(), "-c".into(), FEED.into(), "sh".into()];
    argv.extend([given.display().to_string(), answer.display().to_string()]);
    argv.extend(own.into_iter().map(|word| match word.as_str() {
        "{}" => path.clone(),
        "{edition}" => edition(root),
        _ => word,
    }));
    let child = invocation(argv, root, scratch);
    let code = exit_code(process::run(&child, LIMIT, &scratch.join("fix.log")).await)?;
    let bytes = files::read_untrusted(&answer, 4 * TEXT).map_err(|error| error.to_string())?;
    let output = bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    let after = match fixer.output {
        // ESLint exits with 1 when problems remain that it cannot fix.
        FixerOutput::Eslint => eslint(&output).filter(|_| code <= 1),
        FixerOutput::Text if code == 0 => Some(output),
        FixerOutput::Text => return Err(format!("exit code {code}")),
    };
    // A tool that empties a file has misread it.
    Ok(after.filter(|after| !after.trim().is_empty()))
}

/// The text that `ESLint` made, when it changed something.
fn eslint(report: &str) -> Option<String> {
    let report: serde_json::Value = serde_json::from_str(report).ok()?;
    report.get(0)?.get("output")?.as_str().map(str::to_owned)
}

/// The Rust edition in `Cargo.toml`, else Cargo's default.
fn edition(root: &Path) -> String {
    let manifest = files::read_untrusted(&root.join("Cargo.toml"), TEXT).ok().flatten();
    let manifest = String::from_utf8_lossy(&manifest.unwrap_or_default()).into_owned();
    let named = manifest.lines().find_map(|line| line.trim().strip_prefix("edition"));
    let digits: String =
        named.unwrap_or_default().chars().filter(char::is_ascii_digit).take(4).collect();
    if digits.len() == 4 { digits } else { "2015".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_fixer_is_asked_for_what_its_tool_calls_unsafe() {
        for tool in TOOLS {
            let command = tool.fixer.as_ref().map_or("", |fixer| fixer.command);
            assert!(!command.contains("unsafe"), "{}", tool.name);
        }
    }

    #[test]
    fn a_tool_keeps_its_cache_outside_of_the_checkout() {
        let child = invocation(Vec::new(), Path::new("/checkout"), Path::new("/scratch"));
        assert_eq!(child.environment.get("CACHE_DIR").map(String::as_str), Some("/scratch/cache"));
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
