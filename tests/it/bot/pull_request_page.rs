//! Generates the documentation page about the life of a pull request. `REGREEN_BLESS=1` writes it;
//! otherwise it is compared, with values that vary between runs replaced.

use std::collections::BTreeSet;

use regex::Regex;

use super::harness::World;
use super::pull_request_life::{red_twice, shown};

/// The page, from the root of the project.
const PAGE: &str = "docs/pull-request.md";

/// Replaces addresses, names, times, and text that only this machine produces.
fn plain(text: &str, world: &World) -> String {
    let rules = [
        (r"<!-- regreen:[^>]*-->\n*", ""),
        (r"(?s)<details>\n<summary>Notes \(\d+\)</summary>.*?</details>\n*", ""),
        (r"\b[0-9a-f]{40}\b", "0123456789abcdef0123456789abcdef01234567"),
        (r"\b([0-9]+[a-f][0-9a-f]*|[a-f]+[0-9][0-9a-f]*)\.\.[0-9a-f]{7,}\b", "0123456..789abcd"),
        (r"commit/[0-9a-f]{7,}", "commit/0123456"),
        (r"\[`[0-9a-f]{7,8}`\]", "[`0123456`]"),
        (r"reverted by [0-9a-f]{7,8}\b", "reverted by 0123456"),
        (r"merge base [0-9a-f]{7,8}\b", "merge base 0123456"),
        (r"Protection in force: .*", "Protection in force: what the machine of the job offers."),
        (r"\d\d:\d\d UTC", "12:00 UTC"),
        (r"\d+(\.\d+)? s\b", "1.0 s"),
        (r"\d+ candidates?", "12 candidates"),
        (r"\n{3,}", "\n\n"),
    ];
    let mut text = text.replace(world.url(), "https://github.com").replace("\r\n", "\n");
    for (pattern, to) in rules {
        text = Regex::new(pattern).expect("a pattern").replace_all(&text, to).into_owned();
    }
    text.trim().to_owned()
}

/// A comment as GitHub shows it, in a quote.
fn quoted(text: &str) -> String {
    let line = |line: &str| if line.is_empty() { ">\n".to_owned() } else { format!("> {line}\n") };
    text.lines().map(line).collect()
}

/// Method and path of every call, each once, with numbers and commits replaced.
fn calls(world: &World) -> String {
    let number = Regex::new(r"/\d+(/|$)").expect("a pattern");
    let commit = Regex::new(r"/[0-9a-f]{40}/").expect("a pattern");
    let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
    for call in world.github.log() {
        let path = call.target.split('?').next().unwrap_or_default().to_owned();
        let path = number.replace_all(&path, "/N$1").into_owned();
        let path = commit.replace_all(&path, "/COMMIT/").into_owned();
        seen.insert((path, call.method));
    }
    seen.into_iter().map(|(path, method)| format!("{method:<6} {path}\n")).collect()
}

#[test]
fn the_page_about_a_pull_request_shows_one() {
    let world = red_twice();
    let number = world.pull();
    let branch = format!("regreen/WFS-test-pr-{number}");
    let ran = world.run(&world.pull_request(number, "opened"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let first = world
        .github
        .log()
        .iter()
        .find(|seen| seen.method == "POST" && seen.target.ends_with("/check-runs"))
        .map(|seen| seen.body["output"].clone())
        .expect("a check run");
    let words = |name: &str| first[name].as_str().unwrap_or_default().to_owned();
    let first = plain(&format!("### {}\n\n{}", words("title"), words("summary")), &world);
    let second = plain(&world.sticky(number), &world);
    let graph = |from: &str| {
        let text = world.git(&["log", "--graph", "--format=%an: %s", &format!("main..{from}")]);
        text.lines().map(|line| line.trim_end().to_owned() + "\n").collect::<String>()
    };
    let log = graph(&branch);
    let files = world.git(&["diff", "--stat", "topic", &branch]);
    let ran = world.run(&world.comment(number, "ann", "/regreen rollback 2"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let third = plain(&world.sticky(number), &world);
    let after = graph(&branch);
    let state = world.github.state();
    let of = |branch: &str| {
        let commit = world.git(&["rev-parse", branch]);
        let check = state.checks.iter().find(|check| check.head_sha == commit);
        check.and_then(|check| check.conclusion.clone()).unwrap_or_default()
    };
    assert_eq!((of("topic"), of(&branch)), ("failure".into(), "action_required".into()));
    let fix = state.pulls.iter().find(|pull| pull.head == branch).expect("a fix");
    assert_eq!(fix.title, format!("Repair failing tests of #{number}"));
    assert!(fix.body.contains("taken back") && !fix.body.contains("satisfies"), "{}", fix.body);
    drop(state);
    let reactions = world.github.state().reactions.clone();
    assert_eq!(reactions.iter().map(|(_, _, word)| word.as_str()).collect::<Vec<_>>(), ["eyes"]);
    world.github.assert_clean();
    world.assert_no_token(&ran);
    // What the page must show; the rest of it may change.
    for (moment, words) in [
        (&first, "Waiting to begin"),
        (&second, "A fix was found: 60.0 → 100.0 % pass after 2 iterations"),
        (&third, "Iteration 2 is taken back, and no tests ran since"),
        (&third, "The fix of iteration 2 is reverted by"),
    ] {
        assert!(moment.contains(words), "{words}: {moment}");
    }
    assert_eq!(log.matches("test-cycle: iteration").count(), 2, "{log}");
    assert!(after.contains("rollback iteration 2 - asked for by ann"), "{after}");
    let page = format!(
        r"# The life of a pull request

Made by `the_page_about_a_pull_request_shows_one`, which opens a pull request on a git server and a GitHub of its own,
runs the action, and writes down what people see. Times, commits, addresses and what only one machine says are replaced;
everything else is as it was posted. How to set it up is described in [github.md](github.md).

Ann opens #{number}. Two of five tests fail on it.

## When the job begins

The check run of her commit says so. The comment follows as soon as a test fails: a green pull request gets none.

{}
## When it ends

The check run of her commit fails and names the fix; that of the fix succeeds. The comment says:

{}
The fix branch goes onto hers, as a pull request of its own:

```console
$ git log --graph main..{branch}
{log}$ git diff --stat topic {branch}
{files}
```

## When she takes a fix back

Ann comments `/regreen rollback 2`. The comment gets 👀, and the answer is in the one comment of the bot:

{}
```console
$ git log --graph main..{branch}
{after}```

## What was asked of GitHub

Each call once; git's own requests (fetch, push) are not among them.

```text
{}```
",
        quoted(&first),
        quoted(&second),
        quoted(&third),
        calls(&world),
    );
    let place = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    if std::env::var("REGREEN_BLESS").is_ok() {
        std::fs::write(&place, page).expect("the page");
        return;
    }
    let known = std::fs::read_to_string(&place).unwrap_or_default();
    assert_eq!(known, page, "run the test with REGREEN_BLESS=1 and read the difference");
}
