//! Each command after each kind of earlier session, as the server shows it: every run ends in one row
//! of the documented table, and a command that runs no tests changes none of it.

use super::harness::World;
use super::plan_commands::untested;
use super::pull_request_life::{RIGHT, red, shown, story};
use crate::support::{CALC, Ran};

/// How a run ends: its name in the documentation, the outputs `result` that it has, and what the
/// heading of the comment contains.
const ENDS: [(&str, &[&str], &str); 14] = [
    (GREEN, &["success"], "✅ Green: "),
    (
        "Only failures of low criticality, and the gate is met",
        &["partial_success"],
        "🟡 Gate met: ",
    ),
    (FIXED, &["success"], "✅ Fixed: "),
    (FIXED, &["success"], "✅ A fix was found: "),
    (
        "A fix meets the gate; failures of low criticality are left",
        &["partial_success"],
        "🟡 Gate met, please review: ",
    ),
    (WRITTEN, &["success"], " written in 1 file, every test passes"),
    (MISSED, &["failure"], "❌ Not green: "),
    (STOPPED, &["blocked"], "⏸️ Stopped: "),
    (REVERTED, &["failure"], "↩️ Iteration "),
    (PLANNED, &["planned"], "📋 Planned, nothing was changed"),
    (NOTHING, &["planned"], "📋 Nothing to do"),
    ("A bundle was refused", &["failure"], "⛔ Refused"),
    ("Nothing could run", &["error"], "⚠️ No result: "),
    (UNFINISHED, &[""], "⏸️ No result yet"),
];
const GREEN: &str = "Every test passed already";
const FIXED: &str = "A fix makes every test pass";
const WRITTEN: &str = "Tests were written, and every test passes";
const MISSED: &str = "The gate is not met";
const STOPPED: &str = "Stopped while tests fail; `/regreen resume` continues";
const REVERTED: &str = "A person took a fix back";
const PLANNED: &str = "Tests were planned";
const NOTHING: &str = "Tests were requested, and none is missing";
/// A run that was killed; it has no end, so the table has no row.
const UNFINISHED: &str = "killed";

/// Commands that show something and run nothing.
const LOOKS: [&str; 8] = [
    "/regreen help",
    "/regreen status",
    "/regreen report",
    "/regreen show-plan",
    "/regreen estimate",
    "/regreen validate",
    "/regreen stop",
    "/regreen apply aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];

/// Commands that only answer where there is no session to work on.
const NEED_A_SESSION: [&str; 9] = [
    "/regreen resume",
    "/regreen rollback",
    "/regreen rebase",
    "/regreen complete",
    "/regreen sync",
    "/regreen extend",
    "/regreen issue test",
    "/regreen run",
    "/regreen cancel",
];

/// What the server shows of a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Shown {
    /// The names of the ends that the heading of the comment fits.
    ends: Vec<&'static str>,
    /// The conclusion of the check of the head.
    head: Option<String>,
    /// The tip of the branch of ours with the last name, and the conclusion of its check.
    tip: Option<String>,
    fix: Option<String>,
    /// The titles of our pull requests.
    titles: Vec<String>,
}

/// A pull request, and what was seen of it last.
struct Walk<'a> {
    world: &'a World,
    number: u64,
    last: Shown,
}

impl<'a> Walk<'a> {
    fn new(world: &'a World, number: u64) -> Self {
        let last = Shown { ends: Vec::new(), head: None, tip: None, fix: None, titles: Vec::new() };
        Self { world, number, last }
    }

    fn see(&self) -> Shown {
        let world = self.world;
        let comment = world.sticky(self.number);
        let headings: Vec<&str> = comment.lines().filter(|line| line.starts_with("### ")).collect();
        assert!(headings.len() < 2, "{comment}");
        let fits = |words: &str| headings.iter().any(|heading| heading.contains(words));
        let mut ends: Vec<&str> =
            ENDS.iter().filter(|(.., words)| fits(words)).map(|(end, ..)| *end).collect();
        ends.dedup();
        assert_eq!(ends.len(), headings.len(), "one heading is of one end: {comment}");
        let conclusion = |commit: &str| {
            let state = world.github.state();
            let mut checks = state.checks.iter().filter(|check| check.head_sha == commit);
            let conclusion = checks.next().and_then(|check| check.conclusion.clone());
            assert!(checks.next().is_none(), "{:?}", state.checks);
            conclusion
        };
        let tips = world.git(&["for-each-ref", "--format=%(objectname)", "refs/heads/regreen"]);
        let tip = tips.lines().last().map(str::to_owned);
        let pulls = world.github.state().pulls.clone();
        Shown {
            ends,
            head: conclusion(&world.git(&["rev-parse", "topic"])),
            fix: tip.as_deref().and_then(conclusion),
            tip,
            titles: pulls.into_iter().skip(1).map(|pull| pull.title).collect(),
        }
    }

    /// Says something, after which the page is as it was, but for an answer.
    fn look(&mut self, command: &str) {
        self.look_at(&[command]);
    }

    fn look_at(&mut self, commands: &[&str]) {
        let command = commands.join("\n");
        let ran = self.world.run(&self.world.comment(self.number, "ann", &command));
        let comment = self.world.sticky(self.number);
        let context = format!("{command}: {}\n{comment}", shown(&ran));
        assert_eq!(ran.code, Some(0), "{context}");
        for command in commands {
            assert!(comment.contains(&format!("To `{command}`")), "{context}");
        }
        let now = self.see();
        // Without a session there is no heading to keep.
        assert_eq!(now, self.last, "{context}");
        self.check_page(&context);
    }

    fn looks(&mut self) {
        self.look_at(&LOOKS);
        self.look("/regreen explain");
    }

    /// Says something that runs, and compares all that is shown with the row of the table.
    fn run(&mut self, command: &str, end: &'static str) {
        let ran = self.world.run(&self.world.comment(self.number, "ann", command));
        self.ended(command, &ran, end, true);
    }

    /// Says something that changes how the session stands, and runs no tests.
    fn change(&mut self, command: &str, end: &'static str) {
        let ran = self.world.run(&self.world.comment(self.number, "ann", command));
        self.ended(command, &ran, end, false);
    }

    fn ended(&mut self, command: &str, ran: &Ran, end: &'static str, runs: bool) {
        let now = self.see();
        let context =
            format!("{command}: {now:?} {}\n{}", shown(ran), self.world.sticky(self.number));
        assert_eq!(now.ends, [end], "{context}");
        let row = row(end);
        let [_, head, fix, result_words, code] = row.as_slice() else { panic!("{row:?}") };
        let results: Vec<&str> = ENDS
            .iter()
            .filter(|(known, ..)| *known == end)
            .flat_map(|(_, results, _)| *results)
            .copied()
            .collect();
        let (expected, result) =
            if runs { (code.as_str(), self.result()) } else { ("0", results[0].to_owned()) };
        assert_eq!(ran.code.map(|code| code.to_string()).as_deref(), Some(expected), "{context}");
        assert!(results.contains(&result.as_str()), "{result}: {context}");
        assert_eq!(result_words.trim_matches('`'), result, "{context}");
        // An end without a row of its own for a commit leaves its check as it was.
        let head = if head == "-" { &self.last.head } else { &Some(head.clone()) };
        assert_eq!(&now.head, head, "{context}");
        let published = !self.world.sticky(self.number).contains("Nothing was pushed");
        if fix != "-" && published {
            assert_eq!(now.fix.as_ref(), Some(fix), "{context}");
        } else if now.tip != self.last.tip {
            assert_eq!(now.fix, None, "{context}");
        }
        let title = now.titles.last().map(String::as_str).unwrap_or_default();
        match end {
            FIXED if published => assert!(title.starts_with("Bring the tests of"), "{context}"),
            WRITTEN => assert!(title.starts_with("Add tests for"), "{context}"),
            MISSED | STOPPED | REVERTED => {
                assert!(title.starts_with("Repair failing"), "{context}");
            }
            _ => assert_eq!(now.titles, self.last.titles, "{context}"),
        }
        self.last = now;
        self.check_page(&context);
    }

    fn result(&self) -> String {
        let outputs = self.world.left("output");
        let mut lines = outputs.lines().skip_while(|line| !line.starts_with("result<<"));
        lines.nth(1).unwrap_or_default().to_owned()
    }

    /// What holds of every page when nothing runs.
    fn check_page(&self, context: &str) {
        let world = self.world;
        let comment = world.sticky(self.number);
        for word in ["🔄", "Waiting", "Running", "/regreen stop`: "] {
            assert!(!comment.contains(word), "{word}: {context}");
        }
        let places = |mark: &str| -> Vec<String> {
            let rest = comment.split(mark).skip(1);
            rest.map(|rest| rest.split([')', ' ']).next().unwrap_or_default().to_owned()).collect()
        };
        for branch in places("/tree/") {
            assert!(world.has(&branch), "no branch {branch}: {context}");
        }
        let pulls = world.github.state().pulls.clone();
        for number in places("/pull/") {
            let known = pulls.iter().any(|pull| pull.number.to_string() == number);
            assert!(known, "no pull request {number}: {context}");
        }
        for pull in pulls.iter().skip(1) {
            assert!(!pull.body.contains("Nothing was pushed"), "{}\n{context}", pull.body);
        }
        world.github.assert_clean();
    }
}

/// The row of the table in the documentation.
fn row(end: &str) -> Vec<String> {
    let page = include_str!("../../../docs/github.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let mut rows = rows.map(|row| row.split(" | ").map(str::to_owned).collect::<Vec<_>>());
    let row = rows.find(|row| row.first().is_some_and(|name| name == end));
    let row = row.unwrap_or_else(|| panic!("no row {end}"));
    row.into_iter().map(|cell| cell.replace("action required", "action_required")).collect()
}

#[test]
fn each_command_after_a_fix() {
    let world = red();
    let number = world.pull();
    let mut walk = Walk::new(&world, number);
    let ran = world.run(&world.pull_request(number, "opened"));
    walk.ended("opened", &ran, FIXED, true);
    walk.looks();
    for command in ["/regreen cancel", "/regreen issue test", "/regreen resume", "/regreen rebase"]
    {
        walk.look(command);
    }
    walk.run("/regreen fix", FIXED);
    walk.change("/regreen sync", FIXED);
    walk.change("/regreen rollback", REVERTED);
    walk.looks();
    walk.run("/regreen extend", NOTHING);
    walk.looks();
    for command in ["/regreen run", "/regreen complete"] {
        walk.look(command);
    }
    walk.run("/regreen recreate", FIXED);
    walk.run("/regreen plan calc.py", NOTHING);
    walk.run("/regreen test calc.py", FIXED);
    walk.look("/regreen run");
}

#[test]
fn each_command_after_a_kill() {
    let world = story();
    let number = world.pull();
    let branch = format!("regreen/WFS-test-pr-{number}");
    world.run_until(&world.pull_request(number, "opened"), &branch, "rollback iteration");
    let mut walk = Walk::new(&world, number);
    // The first command shows that nothing runs any more.
    world.run(&world.comment(number, "ann", "/regreen help"));
    walk.last = walk.see();
    assert_eq!(walk.last.ends, [UNFINISHED]);
    walk.looks();
    for command in ["/regreen issue test", "/regreen sync", "/regreen cancel", "/regreen run"] {
        walk.look(command);
    }
    walk.change("/regreen rollback", REVERTED);
    walk.looks();
    walk.run("/regreen resume", FIXED);
    walk.change("/regreen rollback", REVERTED);
    walk.change("/regreen complete", REVERTED);
}

#[test]
fn each_command_after_a_plan() {
    let world = untested();
    let number = world.pull();
    let mut walk = Walk::new(&world, number);
    walk.run("/regreen plan shop/price.py", PLANNED);
    walk.looks();
    for command in ["/regreen rollback", "/regreen rebase", "/regreen sync", "/regreen extend"] {
        walk.look(command);
    }
    walk.run("/regreen plan shop/price.py", PLANNED);
    walk.run("/regreen fix", GREEN);
    walk.run("/regreen run", WRITTEN);
    walk.looks();
    for command in ["/regreen rollback", "/regreen rebase", "/regreen run", "/regreen resume"] {
        walk.look(command);
    }
    walk.change("/regreen complete", WRITTEN);
}

#[test]
fn each_command_without_a_failure() {
    let world = untested();
    let number = world.pull();
    let mut walk = Walk::new(&world, number);
    world.run(&world.pull_request(number, "opened"));
    walk.last = walk.see();
    assert_eq!((walk.last.ends.len(), walk.last.head.as_deref()), (0, Some("success")));
    walk.looks();
    walk.run("/regreen fix", GREEN);
    // Nobody asked for this one, and a green run leaves nothing to show.
    walk.last.ends.clear();
    for command in NEED_A_SESSION {
        walk.look(command);
    }
    walk.run("/regreen recreate", GREEN);
}

#[test]
fn each_command_before_any_session() {
    let world = red();
    let number = world.pull();
    let mut walk = Walk::new(&world, number);
    walk.looks();
    for command in NEED_A_SESSION {
        walk.look(command);
    }
    walk.run("/regreen fix --dry-run", FIXED);
    // A dry run leaves nothing but its check.
    walk.last.ends.clear();
    walk.look("/regreen status");
    walk.run("/regreen fix --suggest", FIXED);
    walk.looks();
    let comment = world.sticky(number);
    let rest = comment.split("/regreen apply ").last().unwrap_or_default();
    let stored =
        world.git(&["for-each-ref", "--format=%(refname:lstrip=3)", "refs/regreen/results"]);
    assert!(rest.len() > 40 && stored.len() == 40, "{comment}\n{stored}");
    let apply = format!("/regreen apply {stored}");
    walk.change(&apply, FIXED);
    walk.look(&apply);
    walk.looks();
    walk.change("/regreen rollback", REVERTED);
    walk.run("/regreen recreate", FIXED);
}

#[test]
fn each_command_after_a_miss() {
    let world = story();
    let number = world.pull();
    let mut walk = Walk::new(&world, number);
    walk.run("/regreen fix --max-iterations=1", MISSED);
    walk.looks();
    walk.change("/regreen rollback", REVERTED);
    walk.run("/regreen resume", FIXED);
    walk.run("/regreen recreate --max-iterations=1", MISSED);
    walk.change("/regreen sync", MISSED);
    walk.change("/regreen complete", MISSED);
    walk.run("/regreen fix --max-iterations=1", MISSED);
    walk.run("/regreen resume", FIXED);
}

#[test]
fn each_command_after_a_stop() {
    let world = story();
    let number = world.pull();
    let mut walk = Walk::new(&world, number);
    let branch = format!("regreen/WFS-test-pr-{number}");
    let held = world.hold_push(&format!("git rev-parse --verify '{branch}'"));
    let mut command = world.action(&world.pull_request(number, "opened"));
    let pipe = std::process::Stdio::piped;
    let child = command.stdout(pipe()).stderr(pipe()).spawn().expect("regreen starts");
    world.wait_for(|| held.has_come());
    world.comment(number, "ann", "/regreen stop");
    drop(held);
    let ran: Ran = child.wait_with_output().expect("a child").into();
    walk.ended("stop", &ran, STOPPED, true);
    walk.looks();
    for command in ["/regreen issue test", "/regreen run", "/regreen cancel"] {
        walk.look(command);
    }
    walk.run("/regreen extend", NOTHING);
    let comment = world.sticky(number);
    assert!(comment.contains("of an earlier run]") && comment.contains("Stopped: "), "{comment}");
    walk.run("/regreen resume", FIXED);
}

#[test]
fn a_fix_is_offered_where_the_command_fails_beside_its_tests() {
    // Unlike a test, what runs at the end of the process fails the command alone.
    let late = "\n\nimport atexit, os, sys\n\natexit.register(lambda: (print('socket closed', file=sys.stderr, flush=True), os._exit(3)))\n";
    let tests = format!("{}{late}", CALC[1].1);
    let world = World::new(&[RIGHT, (CALC[1].0, &tests)], &CALC[..1]);
    let number = world.pull();
    let ran = world.run(&world.pull_request(number, "opened"));
    assert_eq!(ran.code, Some(1), "{}", shown(&ran));
    world.github.assert_clean();
    let seen = Walk::new(&world, number).see();
    assert_eq!((seen.head.as_deref(), seen.fix), (Some("failure"), None));
    assert_eq!(seen.titles.len(), 1, "the fix is offered: {:?}", seen.titles);
    let comment = world.sticky(number);
    assert!(
        comment.contains("### ❌ Not green: 100.0 % pass after 2 iterations, the command does not")
    );
    assert_eq!(comment.matches("socket closed").count(), 1, "{comment}");
    assert!(world.left("output").contains("failure"), "{}", world.left("output"));
}
