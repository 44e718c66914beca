//! Node's own test runner, with a reporter of ours.

use super::super::format::lines;
use super::{Framework, Plan, Read, Site, heads};
use crate::domain::shell;

/// The row.
pub const FRAMEWORK: Framework = Framework {
    name: "node --test",
    format: "JSON lines of a reporter",
    signals: "package.json with `node --test`, *.test.js",
    detect,
    version: |_| vec!["node".into(), "--version".into()],
    install: "install Node.js 20 or later",
    plan: |site, chosen, scratch| {
        let reporter = scratch.drivers.join("node_reporter.mjs").display().to_string();
        let mut argv: Vec<String> = vec![
            "node".into(),
            "--test".into(),
            format!("--test-reporter={reporter}"),
            format!("--test-reporter-destination={}", scratch.cases.display()),
            "--test-reporter=spec".into(),
            "--test-reporter-destination=stdout".into(),
        ];
        let script = site.command.clone().or_else(|| site.test_script());
        let script = script.filter(|text| text.contains("node ") && text.contains("--test"));
        let typed = script.clone().unwrap_or_else(|| "node --test".into());
        match chosen {
            Some(ids) => {
                let below = site.directory.clone() + "/";
                argv.extend(
                    heads(ids, "::")
                        .into_iter()
                        .map(|file| file.strip_prefix(below.as_str()).unwrap_or(file).to_owned()),
                );
            }
            None => argv = whole(argv, &typed),
        }
        Plan { argv, typed: Some(typed), ..Plan::default() }
    },
    read: |left| {
        let recorded = lines::parse(&left.cases_text()?);
        Ok(Read { told: recorded.told, complete: recorded.complete })
    },
};

/// The arguments of a whole run. A script with patterns is left to a shell, as npm does.
fn whole(argv: Vec<String>, script: &str) -> Vec<String> {
    let arguments = arguments(script);
    if !arguments.iter().any(|word| word.contains(['*', '?', '[', '{', '$', '~', '"', '\''])) {
        return [argv, arguments].concat();
    }
    let command = format!("exec {} {}", shell::line(&argv), arguments.join(" "));
    vec!["sh".into(), "-c".into(), command]
}

/// Files and flags that the project's own script passes to `node --test`; its reporters are ours.
fn arguments(script: &str) -> Vec<String> {
    let Some((before, after)) = script.split_once("--test") else { return Vec::new() };
    let plain =
        |word: &&str| !word.starts_with("--test-reporter") && !["&&", ";", "|"].contains(word);
    let flags = before.split_whitespace().skip(1).map(str::to_owned);
    let files = after.split_whitespace().take_while(|word| *word != "&&" && *word != ";");
    flags.chain(files.filter(plain).map(str::to_owned)).collect()
}

fn detect(site: &Site) -> Option<String> {
    if let Some(command) = &site.command {
        let named = command.contains("node ") && command.contains("--test");
        return named.then(|| format!("the command `{command}`"));
    }
    if let Some(script) = site.test_script() {
        if script.contains("node ") && script.contains("--test") {
            return Some(format!("`{script}` in package.json"));
        }
        let other = ["mocha", "ava", "tap", "jasmine", "karma"];
        if other.iter().any(|name| script.contains(name)) {
            return None;
        }
    }
    let wanted = |name: &str| {
        [".test.js", ".test.mjs", ".test.cjs", "-test.js", "_test.js"]
            .iter()
            .any(|end| name.ends_with(end))
            || ["test.js", "test.mjs", "test.cjs"].contains(&name)
    };
    (site.has("package.json") || !site.has_file(&|name| name.ends_with(".py")))
        .then(|| site.has_file(&wanted))
        .filter(|found| *found)
        .map(|_| "files named *.test.js".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_a_script_reach_a_shell_as_they_are() {
        let argv = || vec!["node".to_owned(), "--test".to_owned()];
        let table = [
            ("node --test", "node --test"),
            ("node --test test/a.js && echo", "node --test test/a.js"),
            ("node --test 'test/**/*.js'", "sh -c exec node --test 'test/**/*.js'"),
            (
                "node --no-warnings --test test/*.js",
                "sh -c exec node --test --no-warnings test/*.js",
            ),
        ];
        for (script, expected) in table {
            assert_eq!(whole(argv(), script).join(" "), expected, "{script}");
        }
    }
}
