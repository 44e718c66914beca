//! The life of a pull request: fixes, comments, kills, resumed jobs, forks, failures of GitHub.

use super::harness::World;
use crate::support::fake_github::Fault;
use crate::support::{CALC, REGRESSING, Ran};

/// The modules of `CALC` without their bugs.
pub const RIGHT: (&str, &str) = (
    "calc.py",
    r"def clamp(value, low, high):
    if value < low:
        return low
    if value > high:
        return high
    return value


def total(values):
    total = 0
    for value in values:
        total += value
    return total
",
);

/// A pull request that brings one bug.
pub fn red() -> World {
    let mut good = CALC.to_vec();
    good[0] = RIGHT;
    let bug = RIGHT.1.replace("return high", "return low");
    World::new(&good, &[("calc.py", &bug)])
}

/// A pull request that brings two bugs, which two iterations repair.
pub fn red_twice() -> World {
    let mut good = CALC.to_vec();
    good[0] = RIGHT;
    World::new(&good, &CALC[..1])
}

fn outputs(world: &World) -> String {
    world.left("output")
}

pub fn shown(ran: &Ran) -> String {
    format!("{:?}\n{}\n{}", ran.code, ran.out, ran.err)
}

#[test]
fn a_red_pull_request_gets_a_fix_a_comment_and_a_check() {
    let world = red_twice();
    let number = world.pull();
    let ran = world.run(&world.pull_request(number, "opened"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    world.github.assert_clean();
    world.assert_no_token(&ran);

    let branch = format!("regreen/WFS-test-pr-{number}");
    let log = world.git(&["log", "--format=%s", &format!("topic..{branch}")]);
    assert!(log.contains("iteration 1 - conservative"), "{log}");
    assert_eq!(world.git(&["show", &format!("{branch}:calc.py")]) + "\n", RIGHT.1);
    assert_eq!(world.git(&["ls-tree", "-r", "--name-only", &branch]).lines().count(), 3);

    let comment = world.sticky(number);
    assert!(comment.starts_with(&format!("<!-- regreen:WFS-test-pr-{number} -->")), "{comment}");
    assert!(comment.contains("60.0") && comment.contains("100.0"), "{comment}");
    let state = world.github.state();
    // One on the tested head, and one on the fix, where a required check would stay pending.
    assert_eq!(state.checks.len(), 2);
    let check = &state.checks[1];
    assert_eq!(check.conclusion.as_deref(), Some("success"), "{check:?}");
    assert_eq!(check.head_sha, world.git(&["rev-parse", &branch]));
    let check = &state.checks[0];
    // The tests fail on this commit, whatever holds of the fix.
    assert_eq!(check.conclusion.as_deref(), Some("failure"), "{check:?}");
    assert_eq!(check.head_sha, world.git(&["rev-parse", "topic"]));
    let fix = state.pulls.iter().find(|pull| pull.head == branch).expect("a fix");
    assert_eq!((fix.base.as_str(), state.pulls.len()), ("topic", 2));
    drop(state);
    assert!(outputs(&world).contains("success"), "{}", outputs(&world));
    assert!(world.left("summary").contains("100.0"), "{}", world.left("summary"));
    assert!(comment.contains("/commit/"), "{comment}");

    // An automatic trigger on the same head shows the result again and repeats nothing.
    let before = world.git(&["for-each-ref"]);
    let ran = world.run(&world.pull_request(number, "synchronize"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert_eq!(world.git(&["for-each-ref"]), before, "{}", shown(&ran));
    let comment = world.sticky(number);
    assert!(comment.contains("its result is shown again"), "{comment}");
    assert!(comment.contains("100.0") && comment.contains("/commit/"), "{comment}");
    assert!(outputs(&world).contains("success"), "{}", outputs(&world));
    assert_eq!(world.github.state().pulls.len(), 2);
}

/// One module whose first edit regresses, and one with two plain bugs.
pub fn story() -> World {
    let files: Vec<_> = REGRESSING.iter().chain(&CALC[..2]).copied().collect();
    World::new(&[("README.md", "demo\n"), (".gitignore", "__pycache__/\n")], &files)
}

#[test]
fn a_life_with_a_rollback_a_kill_a_resume_and_issues() {
    let world = story();
    let number = world.pull();
    let branch = format!("regreen/WFS-test-pr-{number}");
    world.run_until(&world.pull_request(number, "opened"), &branch, "rollback iteration");
    let killed_at = world.git(&["rev-parse", &branch]);
    assert!(world.git(&["ls-tree", "-r", "--name-only", &branch]).contains(".workflow/active/"));

    let ran = world.run(&world.comment(number, "ann", "Please go on:\n\n/regreen resume\n"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    world.assert_no_token(&ran);
    world.git(&["merge-base", "--is-ancestor", &killed_at, &branch]);
    let log = world.git(&["log", "--format=%s", &format!("topic..{branch}")]);
    assert!(log.contains("rollback iteration") && log.contains("complete"), "{log}");
    assert!(!world.git(&["ls-tree", "-r", "--name-only", &branch]).contains(".workflow"));
    let comment = world.sticky(number);
    assert!(comment.contains("A fix was found: ") && comment.contains("100.0 %"), "{comment}");
    // What the killed job did is still shown.
    assert!(comment.contains("start"), "{comment}");
    let rows =
        comment.lines().filter(|line| line.starts_with("| ") && line.contains(" → ")).count();
    assert!(rows >= 3, "{comment}");
    let reactions = world.github.state().reactions.clone();
    assert!(reactions.iter().any(|(_, _, word)| word == "eyes"), "{reactions:?}");

    let job = world.comment(number, "ann", "/regreen issue test,doc");
    let ran = world.run(&job);
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let titles: Vec<String> =
        world.github.state().issues.iter().map(|issue| issue.title.clone()).collect();
    assert_eq!(titles.len(), 2, "{titles:?}\n{}", world.sticky(number));
    let body = world.github.state().issues[0].body.clone();
    assert!(body.contains("store.py") || body.contains("calc.py"), "{body}");
    assert!(body.contains(&format!("#{number}")), "{body}");
    let ran = world.run(&job);
    assert_eq!(world.github.state().issues.len(), 2, "never twice: {}", shown(&ran));
    assert!(world.sticky(number).contains("already exists"), "{}", world.sticky(number));
    world.github.assert_clean();
}

#[test]
fn strangers_bots_and_edits_command_nothing() {
    let world = red();
    let number = world.pull();
    let before = world.git(&["for-each-ref"]);
    let ran = world.run(&world.comment(number, "mallory", "/regreen fix"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert!(ran.out.contains("may not give commands"), "{}", shown(&ran));
    let mut edited = world.comment(number, "ann", "/regreen fix");
    edited.payload["comment"]["updated_at"] = "2030-01-01T00:00:00Z".into();
    assert!(world.run(&edited).out.contains("edited"));
    let mut bot = world.comment(number, "helper[bot]", "/regreen fix");
    bot.payload["comment"]["user"]["type"] = "Bot".into();
    assert!(world.run(&bot).out.contains("bot"));
    assert_eq!(world.git(&["for-each-ref"]), before);
    assert_eq!(world.sticky(number), "");
    let thumbs: Vec<String> =
        world.github.state().reactions.iter().map(|(_, _, word)| word.clone()).collect();
    assert_eq!(thumbs, ["-1", "-1"]);
}

#[cfg(feature = "slow-tests")]
#[test]
fn commands_are_answered_in_the_one_comment() {
    let world = red();
    let number = world.pull();
    world.run(&world.pull_request(number, "opened"));
    let body = "/regreen help\n/regreen status\n/regreen refactor\n/regreen fxi\n> /regreen fix\n";
    let ran = world.run(&world.comment(number, "ann", body));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let comment = world.sticky(number);
    for words in
        ["/regreen rollback", "completed", "Unknown command `refactor`.", "Did you mean `fix`"]
    {
        assert!(comment.contains(words), "{words}\n{comment}");
    }
    assert!(comment.contains("A fix was found: "), "the last session is still shown: {comment}");
    assert!(comment.contains("Review [the fix]") && !comment.contains("Nothing was pushed"));

    let branch = format!("regreen/WFS-test-pr-{number}");
    let before = world.git(&["show", &format!("{branch}:calc.py")]);
    let ran = world.run(&world.comment(number, "ann", "/regreen rollback 2"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let after = world.git(&["show", &format!("{branch}:calc.py")]);
    assert_ne!(before, after);
    assert!(after.contains("return high") && after.contains("total -= value"), "{after}");
    assert!(
        world.sticky(number).contains("iteration 2 is reverted by"),
        "{}",
        world.sticky(number)
    );
    let ran = world.run(&world.comment(number, "ann", "/regreen rollback\n/regreen status"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let comment = world.sticky(number);
    assert!(
        comment.contains("iteration 1 is reverted by") && comment.contains("completed"),
        "{comment}"
    );
    world.github.assert_clean();
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_stop_comment_stops_the_running_job_which_can_go_on() {
    let world = story();
    let number = world.pull();
    let branch = format!("regreen/WFS-test-pr-{number}");
    let held = world.hold_push(&format!("git rev-parse --verify '{branch}'"));
    let mut child = world.start(&world.pull_request(number, "opened"));
    world.wait_for(|| held.has_come());
    world.comment(number, "mallory", "/regreen stop");
    world.comment(number, "ann", "/regreen stop");
    drop(held);
    let code = child.wait().expect("a child").code();
    assert_eq!(code, Some(0), "stopped at a checkpoint");
    let comment = world.sticky(number);
    assert!(comment.contains("ann asked to stop this run"), "{comment}");
    assert_eq!(world.github.state().checks[0].conclusion.as_deref(), Some("failure"));
    let ran = world.run(&world.comment(number, "ann", "/regreen resume"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert!(world.sticky(number).contains("A fix was found: "), "{}", world.sticky(number));
}

#[test]
fn a_signal_saves_and_ends_within_seconds() {
    let world = red_twice();
    let number = world.pull();
    let branch = format!("regreen/WFS-test-pr-{number}");
    let held = world.hold_push(&format!("git rev-parse --verify '{branch}'"));
    let mut child = world.start(&world.pull_request(number, "opened"));
    world.wait_for(|| held.has_come());
    let killed = std::process::Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status()
        .expect("kill starts");
    assert!(killed.success());
    drop(held);
    let code = child.wait().expect("a child").code();
    assert_eq!(code, Some(0));
    assert!(world.sticky(number).contains("stopped"), "{}", world.sticky(number));
    // The second iteration may have mended the rest before the signal was heard.
    let is_mended = world.sticky(number).contains("Stopped: 100.0 % pass");
    let expected = if is_mended { "neutral" } else { "failure" };
    assert_eq!(world.github.state().checks[0].conclusion.as_deref(), Some(expected));
    let ran = world.run(&world.pull_request(number, "synchronize"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert!(world.sticky(number).contains("A fix was found: "), "{}", world.sticky(number));
}

#[test]
fn a_fork_gets_a_report_and_a_patch_and_nothing_is_written() {
    let world = red();
    let number = world.pull();
    world.github.state().read_only = true;
    let before = world.git(&["for-each-ref"]);
    let mut job = world.pull_request(number, "opened");
    job.payload["pull_request"]["head"]["repo"]["full_name"] = "mallory/demo".into();
    let ran = world.run(&job);
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert_eq!(world.git(&["for-each-ref"]), before);
    let posts = world.github.log().iter().filter(|seen| seen.method != "GET").count();
    assert_eq!(posts, 0, "{:?}", world.github.transcript());
    let summary = world.left("summary");
    assert!(summary.contains("return high") && summary.contains("A fix was found: "), "{summary}");
    world.assert_no_token(&ran);
}

#[test]
fn two_jobs_work_without_a_token_and_publish_without_tests() {
    let world = red();
    let number = world.pull();
    let mut job = world.pull_request(number, "opened");
    job.inputs = &[("mode", "work"), ("bundle", "bundle")];
    let ran = world.run(&job);
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let posts = world.github.log().iter().filter(|seen| seen.method != "GET").count();
    assert_eq!(posts, 0, "{:?}", world.github.transcript());
    let bundle = world.around().join("kept");
    std::fs::rename(world.around().join("workspace/bundle"), &bundle).expect("a bundle");

    let mut job = world.pull_request(number, "opened");
    job.inputs = &[("mode", "publish"), ("bundle", "../kept"), ("publish", "none")];
    job.checkout = "main";
    let ran = world.run(&job);
    assert!(ran.out.contains("::warning title=regreen::nothing of the bundle was"), "{}", ran.out);
    assert!(world.git(&["branch", "--list", "regreen/*"]).is_empty(), "{}", shown(&ran));

    // A server that refuses says nothing about the bundle.
    job.inputs = &[("mode", "publish"), ("bundle", "../kept")];
    let hook = world.refuse_pushes();
    let ran = world.run(&job);
    std::fs::remove_file(hook).expect("a hook");
    assert_eq!(ran.code, Some(3), "{}", shown(&ran));
    let comment = world.sticky(number);
    assert!(
        comment.contains("### ⚠️ No result\n\nNothing of the bundle was published: "),
        "{comment}"
    );
    assert!(
        comment.contains("not on fridays") && comment.contains("Run this job again"),
        "{comment}"
    );
    assert!(ran.out.contains("::error title=regreen::nothing of the bundle was published"));
    let check = world.github.state().checks[0].conclusion.clone();
    assert_eq!(check.as_deref(), Some("action_required"));

    // Nor does a branch that somebody else made, and the same job would end there again.
    let branch = format!("regreen/WFS-test-pr-{number}");
    world.branch(&branch, "topic");
    let theirs = world.commit(&branch, &[("theirs.txt", "mine\n")], "By hand");
    let ran = world.run(&job);
    assert_eq!(ran.code, Some(3), "{}", shown(&ran));
    let comment = world.sticky(number);
    assert!(
        comment.contains("### ⚠️ No result\n\nNothing of the bundle was published: "),
        "{comment}"
    );
    assert!(comment.contains("on a branch of its own") && !comment.contains("Run this job again"));
    assert_eq!(world.git(&["rev-parse", &branch]), theirs);
    world.git(&["branch", "-D", &branch]);

    let ran = world.run(&job);
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert!(!ran.err.contains("ran 5 tests"), "{}", shown(&ran));
    assert!(world.git(&["show", &format!("{branch}:calc.py")]).contains("return high"));
    assert!(world.sticky(number).contains("A fix was found: "), "{}", world.sticky(number));

    // Simulates that somebody changed the artefact between the two jobs.
    let pack = bundle.join("commits.pack");
    let mut bytes = std::fs::read(&pack).expect("a pack");
    let last = bytes.len() - 30;
    bytes[last] ^= 1;
    std::fs::write(&pack, bytes).expect("a pack");
    world.git(&["branch", "-D", &branch]);
    for (missing, said) in [(false, "were not taken over"), (true, "has no commits")] {
        if missing {
            std::fs::remove_file(&pack).expect("a pack");
        }
        let ran = world.run(&job);
        assert_eq!(ran.code, Some(1), "{}", shown(&ran));
        let comment = world.sticky(number);
        let top = comment.lines().take(6).collect::<Vec<_>>().join("\n");
        assert!(top.contains("Refused: nothing of this bundle was published"), "{comment}");
        assert!(top.contains("The bundle was refused") && top.contains(said), "{comment}");
        assert!(ran.out.contains("::error title=regreen::the bundle was refused"), "{}", ran.out);
        let check = world.github.state().checks[0].conclusion.clone();
        assert_eq!(check.as_deref(), Some("failure"));
        let outputs = outputs(&world);
        let value = |name: &str| {
            let mut lines =
                outputs.lines().skip_while(|line| !line.starts_with(&format!("{name}<<")));
            lines.nth(1).unwrap_or_default()
        };
        assert_eq!((value("result"), value("commit-sha")), ("failure", ""), "{outputs}");
        assert!(world.git(&["branch", "--list", &branch]).is_empty());
    }
}

#[test]
fn our_own_push_starts_nothing_and_other_events_say_why() {
    let world = red();
    let number = world.pull();
    world.commit(
        "topic",
        &[("notes.txt", "x\n")],
        "test-cycle: iteration 1\n\nRegreen-Session: WFS-test-pr-1\nRegreen-Kind: fix",
    );
    let ran = world.run(&world.pull_request(number, "synchronize"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert!(ran.out.contains("regreen's own"), "{}", shown(&ran));
    let ran = world.run(&world.pull_request(number, "closed"));
    assert!(ran.out.contains("nothing to do"), "{}", shown(&ran));
    let mut job = world.pull_request(number, "opened");
    job.event = "pull_request_target";
    let ran = world.run(&job);
    assert_eq!(ran.code, Some(2), "{}", shown(&ran));
    assert!(ran.out.contains("::error") && ran.out.contains("pull_request_target"), "{}", ran.out);
}

#[test]
fn the_base_configures_and_its_mistakes_are_shown_at_their_line() {
    let world = red();
    let number = world.pull();
    // The change tries to configure its own repair.
    world.commit("topic", &[(".github/regreen.yml", "publish: head\n")], "Configure");
    let ran = world.run(&world.pull_request(number, "synchronize"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert!(!world.git(&["log", "--format=%s", "topic"]).contains("test-cycle"));

    world.commit("main", &[(".github/regreen.yml", "gate:\n  target: 0\n")], "Configure");
    let ran = world.run(&world.pull_request(number, "synchronize"));
    assert_eq!(ran.code, Some(2), "{}", shown(&ran));
    assert!(ran.out.contains("::error file=.github/regreen.yml,line=2"), "{}", ran.out);

    world.commit("main", &[(".github/regreen.yml", "publish: head\n")], "Configure");
    let ran = world.run(&world.pull_request(number, "synchronize"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let log = world.git(&["log", "--format=%s", "topic"]);
    assert!(log.starts_with("test-cycle: complete"), "{log}\n{}", shown(&ran));
    let comment = world.sticky(number);
    assert!(comment.contains("The fix is on `topic` now"), "{comment}");
    assert!(!comment.contains("/regreen rollback"), "{comment}");
    assert_eq!(world.github.state().pulls.len(), 2, "the first run opened one, this one none");
}

#[cfg(feature = "slow-tests")]
#[test]
fn github_being_away_loses_nothing() {
    let world = red();
    let number = world.pull();
    let page = "<html>unicorn</html>".to_owned();
    for _ in 0..3 {
        world.github.fault("POST", "/check-runs", Fault::Status(502, vec![], page.clone()));
        world.github.fault("POST", "/comments", Fault::ResetAfter);
        world.github.fault("PATCH", "/comments", Fault::Limited(Some(1)));
        world.github.fault("POST", "/pulls", Fault::CutAfter);
        world.github.fault("PATCH", "/check-runs", Fault::StatusAfter(500));
    }
    let git = [
        ("reset", "GET", "upload"),
        ("html", "POST", "upload"),
        ("limited", "GET", "receive"),
        ("limited", "POST", "receive"),
        ("lost", "POST", "receive"),
    ];
    for (kind, method, service) in git {
        world.git_fault(kind, method, service);
    }
    let ran = world.run(&world.pull_request(number, "opened"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert!(world.sticky(number).contains("A fix was found: "), "{}", world.sticky(number));
    assert_eq!(world.git_faults_left(), "", "{}", shown(&ran));
    let branch = format!("regreen/WFS-test-pr-{number}");
    let log = world.git(&["log", "--format=%s", &branch]);
    assert!(log.starts_with("test-cycle: complete"), "{log}\n{}", shown(&ran));
    let state = world.github.state();
    assert_eq!(state.checks.len(), 2, "{:?}", state.checks);
    assert_eq!(state.checks[0].conclusion.as_deref(), Some("failure"));
    assert_eq!(state.checks[1].conclusion.as_deref(), Some("success"));
    assert_eq!(state.pulls.len(), 2, "{:?}", state.pulls);
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_push_of_somebody_else_is_never_lost() {
    let world = story();
    let number = world.pull();
    let branch = format!("regreen/WFS-test-pr-{number}");
    world.run_until(&world.pull_request(number, "opened"), &branch, "rollback iteration");
    world.git(&["update-ref", "refs/heads/theirs", &branch]);
    world.branch_here(&branch);
    let theirs = world.commit(&branch, &[("theirs.txt", "mine\n")], "By hand");
    let ran = world.run(&world.pull_request(number, "synchronize"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    world.git(&["merge-base", "--is-ancestor", &theirs, &branch]);
    let other = format!("{branch}-2");
    assert!(world.git(&["log", "--format=%s", &other]).contains("complete"), "{}", shown(&ran));
}

#[test]
fn a_signed_result_and_what_was_learned_are_there_on_request() {
    let world = red();
    let number = world.pull();
    let mut job = world.pull_request(number, "opened");
    job.inputs = &[("signed", "true"), ("sync", "true"), ("check-workflow", "ci.yml")];
    let ran = world.run(&job);
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let branch = format!("regreen/WFS-test-pr-{number}");
    let learned = world.git(&["show", &format!("{branch}:.workflow/project-tech.json")]);
    let learned: serde_json::Value = serde_json::from_str(&learned).expect("JSON");
    assert_eq!(learned["development_index"]["bugfix"][0]["status"], "completed", "{learned}");
    // Both bugs were found at once, so that nobody learns from them.
    let specs = world.git(&["ls-tree", "-r", "--name-only", &branch, ".workflow/specs"]);
    assert_eq!(specs, "");
    let log = world.git(&["log", "--format=%s", "-1", &branch]);
    assert!(log.contains("record the lessons of"), "{log}");
    let state = world.github.state();
    let signed = format!("{branch}-signed");
    let heads: Vec<&str> = state.pulls.iter().map(|pull| pull.head.as_str()).collect();
    assert_eq!(heads, ["topic", &signed], "{}\n{:?}", state.comments[0].body, shown(&ran));
    let made = state.commits.values().find(|commit| !commit.files.is_empty());
    let made = made.expect("a commit of the forge");
    assert_eq!(made.files.keys().collect::<Vec<_>>(), ["calc.py"]);
    let commit = state.commits.iter().find(|(_, commit)| !commit.files.is_empty());
    let commit = commit.map(|(id, _)| id.clone()).unwrap_or_default();
    let check = state.checks.iter().find(|check| check.head_sha == commit);
    let check = check.and_then(|check| check.conclusion.clone());
    assert_eq!(check.as_deref(), Some("success"), "what is offered has a check");
    assert_eq!(state.dispatches, [("ci.yml".to_owned(), signed)]);
    drop(state);
    let ran = world.run(&world.comment(number, "ann", "/regreen status"));
    assert!(world.sticky(number).contains("completed"), "{}", shown(&ran));
    world.github.assert_clean();
}

#[cfg(feature = "slow-tests")]
#[test]
fn set_up_commands_run_first_and_a_failing_one_is_the_result() {
    let world = red();
    let needs = r"import pathlib, unittest


class T(unittest.TestCase):
    def test_set_up(self):
        self.assertEqual(pathlib.Path('made').read_text(), 'made\n')
";
    world.commit("topic", &[("test_set_up.py", needs)], "Need something");
    let number = world.pull();
    let mut job = world.pull_request(number, "opened");
    job.inputs =
        &[("setup", "echo made > made\necho \"token: $INPUT_TOKEN$GITHUB_ENV\"; test -f made")];
    let ran = world.run(&job);
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let branch = format!("regreen/WFS-test-pr-{number}");
    assert!(!world.git(&["ls-tree", "-r", "--name-only", &branch]).contains("made"));
    assert!(world.sticky(number).contains("A fix was found: "), "{}", world.sticky(number));

    job.inputs =
        &[("setup", "true\necho nothing to install from; echo '::set-env name=A::b'; exit 7")];
    world.git(&["branch", "-D", &branch]);
    let ran = world.run(&job);
    assert_eq!(ran.code, Some(3), "{}", shown(&ran));
    let comment = world.sticky(number);
    let top = comment.lines().take(6).collect::<Vec<_>>().join("\n");
    for words in ["No result", "set-up command", "exit code 7"] {
        assert!(top.contains(words), "{words}: {comment}\n{}", shown(&ran));
    }
    assert!(!comment.contains("/regreen stop") && outputs(&world).contains("error"), "{comment}");
    assert!(ran.err.contains("nothing to install from"), "{}", shown(&ran));
    assert!(!ran.err.lines().any(|line| line.trim().starts_with("::set-env")), "{}", ran.err);
    assert_eq!(world.git(&["branch", "--list", &branch]), "", "no fix is looked for");
    world.assert_no_token(&ran);
}

#[test]
fn patches_only_means_that_no_branch_is_pushed() {
    let world = red();
    let number = world.pull();
    let mut job = world.pull_request(number, "opened");
    job.inputs = &[("publish", "suggest")];
    let before = world.git(&["for-each-ref", "refs/heads", "refs/pull"]);
    let ran = world.run(&job);
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert_eq!(world.git(&["for-each-ref", "refs/heads", "refs/pull"]), before);
    let comment = world.sticky(number);
    for words in ["/regreen apply", "Nothing was pushed", "return high"] {
        assert!(comment.contains(words), "{words}: {comment}");
    }
}

#[test]
fn a_green_pull_request_gets_a_check_and_no_comment_unless_somebody_asks() {
    let mut good = CALC.to_vec();
    good[0] = RIGHT;
    let world = World::new(&good, &[("notes.txt", "nothing\n")]);
    let number = world.pull();
    let ran = world.run(&world.pull_request(number, "opened"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert_eq!(world.sticky(number), "", "nobody asked");
    let check = world.github.state().checks[0].conclusion.clone();
    assert_eq!(check.as_deref(), Some("success"));
    assert!(world.left("summary").contains("Green: 100.0 % pass"), "{}", world.left("summary"));
    let ran = world.run(&world.comment(number, "ann", "/regreen fix"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert!(world.sticky(number).contains("Green: 100.0 % pass"), "{}", world.sticky(number));
    world.github.assert_clean();
}
