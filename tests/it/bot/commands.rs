//! Comment commands that publish, show, or clean up existing results.

use super::harness::World;
use super::pull_request_life::{red, red_twice, shown};
use crate::support::{Ran, write_program};
use crate::test_sessions::SHOP;

fn say(world: &World, number: u64, words: &str) -> (Ran, String) {
    let ran = world.run(&world.comment(number, "ann", words));
    let comment = world.sticky(number);
    (ran, comment)
}

/// The commit that a comment offers for `/regreen apply`.
fn offered(comment: &str) -> String {
    let rest = comment.split("/regreen apply ").nth(1);
    rest.unwrap_or_else(|| panic!("nothing is offered: {comment}")).chars().take(40).collect()
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_stored_result_is_published_on_its_own_head_only() {
    let world = red();
    let number = world.pull();
    let branch = format!("regreen/WFS-test-pr-{number}");
    let heads = || world.git(&["for-each-ref", "refs/heads"]);
    let before = heads();
    let (ran, comment) = say(&world, number, "/regreen fix --suggest");
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert_eq!(heads(), before);
    let result = offered(&comment);
    assert_eq!(
        world.git(&["show", &format!("{result}:calc.py")]).matches("total += value").count(),
        1
    );

    let none = "a".repeat(40);
    let (_, comment) = say(&world, number, &format!("/regreen apply {none}"));
    assert!(comment.contains("No result aaaaaaa"), "{comment}");
    let foreign = world.git(&["rev-parse", "topic"]);
    let (_, comment) = say(&world, number, &format!("/regreen apply {foreign}"));
    assert!(comment.contains("is stored here"), "{comment}");
    world.git(&["update-ref", &format!("refs/regreen/results/{foreign}"), &foreign]);
    let (_, comment) = say(&world, number, &format!("/regreen apply {foreign}"));
    assert!(comment.contains("is not a result of regreen"), "{comment}");
    assert_eq!(heads(), before);

    let (ran, comment) = say(&world, number, &format!("/regreen apply {result}"));
    assert_eq!(world.git(&["rev-parse", &branch]), result, "{}\n{comment}", shown(&ran));
    assert!(comment.contains("is published") && comment.contains("Review [the fix]"), "{comment}");
    let fix = world.github.state().pulls.iter().find(|pull| pull.head == branch).cloned();
    assert_eq!(fix.expect("a pull request").base, "topic");
    let checks = world.github.state().checks.clone();
    let check = checks.iter().find(|check| check.head_sha == result);
    let conclusion = check.and_then(|check| check.conclusion.as_deref());
    assert_eq!(conclusion, Some("success"), "{checks:?}");
    let stored = format!("refs/regreen/results/{result}");
    assert!(!world.has(&stored), "an applied result is not stored any more");

    world.git(&["update-ref", &stored, &result]);
    world.git(&["update-ref", "-d", &format!("refs/heads/{branch}")]);
    world.commit("topic", &[("notes.txt", "x\n")], "Move on");
    let (_, comment) = say(&world, number, &format!("/regreen apply {result}"));
    assert!(
        comment.contains("was made for") && comment.contains("Nothing was published"),
        "{comment}"
    );
    assert!(!world.has(&branch));
    world.github.assert_clean();
    world.assert_no_token(&ran);
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_bundle_of_a_working_job_is_published_by_apply() {
    let world = red();
    let number = world.pull();
    let branch = format!("regreen/WFS-test-pr-{number}");
    let bundle = world.bundle(number);
    let list = std::fs::read_to_string(bundle.join("bundle.json")).expect("a list");
    let list: serde_json::Value = serde_json::from_str(&list).expect("JSON");
    let tip = list["of"]["tip"].as_str().expect("a tip");
    let mut job = world.comment(number, "ann", &format!("/regreen apply {tip}"));
    job.inputs = &[("bundle", "../kept")];
    let ran = world.run(&job);
    assert_eq!(world.git(&["rev-parse", &branch]), tip, "{}", shown(&ran));
    assert!(world.sticky(number).contains("is published"), "{}", world.sticky(number));
    world.github.assert_clean();
}

#[test]
fn a_dry_run_works_and_shows_and_leaves_nothing() {
    let world = red_twice();
    let number = world.pull();
    let before = world.git(&["for-each-ref"]);
    let (ran, comment) = say(&world, number, "/regreen fix --dry-run");
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert_eq!(world.git(&["for-each-ref"]), before);
    for words in ["A fix was found: ", "total += value", "Nothing was pushed", "a dry run"] {
        assert!(comment.contains(words), "{words}: {comment}");
    }
    assert!(!comment.contains("/regreen apply"), "{comment}");
    let (ran, comment) = say(&world, number, "/regreen explain");
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert_eq!(world.git(&["for-each-ref"]), before);
    assert!(
        comment.contains("To `/regreen explain` by `ann`:") && comment.contains("calc.py"),
        "{comment}"
    );
    assert!(!comment.contains("Dry run") && !comment.contains("Waiting"), "{comment}");
    for words in ["in clamp", "Why: ", "Since: ", "failing run", "A fix would begin with"] {
        assert!(comment.contains(words), "{words}: {comment}");
    }
    world.github.assert_clean();
}

#[test]
fn teams_are_asked_for_when_nothing_else_allows() {
    let world = red();
    let settings = "commands: { allow: [admin], teams: [octo/fixers] }\n";
    world.commit("main", &[(".github/regreen.yml", settings)], "Who may");
    let number = world.pull();
    let (ran, comment) = say(&world, number, "/regreen status");
    assert!(ran.out.contains("`token` of an App with `members: read`"), "{}", shown(&ran));
    assert_eq!(comment, "");
    let list = |word: &str| Some([("octo/fixers/ann".to_owned(), word.to_owned())].into());
    world.github.state().teams = Some(std::collections::BTreeMap::new());
    let (ran, comment) = say(&world, number, "/regreen status");
    assert!(ran.out.contains("does not name this account"), "{}", shown(&ran));
    world.github.state().teams = list("pending");
    let (ran, _) = say(&world, number, "/regreen status");
    assert!(ran.out.contains("does not name this account"), "{}", shown(&ran));
    assert_eq!(comment, "");
    world.github.state().teams = list("active");
    let (ran, comment) = say(&world, number, "/regreen status");
    assert!(comment.contains("This pull request has no session"), "{comment}\n{}", shown(&ran));
    // Read access is not enough, whatever the team.
    world.github.state().permissions.insert("ann".into(), ("read".into(), "read".into()));
    let (ran, _) = say(&world, number, "/regreen fix");
    assert!(ran.out.contains("need write access"), "{}", shown(&ran));
    world.github.assert_clean();
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_fix_is_set_on_a_new_head_begun_again_and_ended() {
    let world = red();
    let number = world.pull();
    let branch = format!("regreen/WFS-test-pr-{number}");
    let (_, comment) =
        say(&world, number, "/regreen rebase\n/regreen complete\n/regreen sync\n/regreen estimate");
    assert_eq!(comment.matches("There is no fix branch").count(), 3, "{comment}");
    assert!(comment.contains("Nothing ran here yet"), "{comment}");
    world.run(&world.pull_request(number, "opened"));
    let (_, comment) = say(&world, number, "/regreen rebase");
    assert!(comment.contains("already"), "{comment}");
    let head = world.commit("topic", &[("notes.txt", "x\n")], "Move on");
    let (ran, comment) =
        say(&world, number, "/regreen rebase\n/regreen session list\n/regreen estimate");
    assert!(comment.contains("The fix was not tested there"), "{comment}\n{}", shown(&ran));
    world.git(&["merge-base", "--is-ancestor", &head, &branch]);
    assert!(world.git(&["show", &format!("{branch}:calc.py")]).contains("return high"));
    assert!(world.git(&["show", &format!("{branch}:notes.txt")]).contains('x'));
    for words in ["completed", "wall time", "The last session", "does not hold the commits"] {
        assert!(comment.contains(words), "{words}: {comment}");
    }
    let check = || {
        let tip = world.git(&["rev-parse", &branch]);
        let state = world.github.state();
        let check = state.checks.iter().find(|check| check.head_sha == tip);
        check.and_then(|check| check.conclusion.clone()).unwrap_or_default()
    };
    assert_eq!(check(), "action_required", "nothing ran on the rebased commits");
    // Both sides change the same lines, so the rebase must change nothing.
    world.commit(
        "topic",
        &[(
            "calc.py",
            "def clamp(value, low, high):\n    return 0\n\n\ndef total(values):\n    return 1\n",
        )],
        "Clash",
    );
    let tip = world.git(&["rev-parse", &branch]);
    let (_, comment) = say(&world, number, "/regreen rebase\n/regreen complete\n/regreen sync");
    assert!(
        comment.contains("Nothing was changed") && comment.contains("is already completed"),
        "{comment}"
    );
    assert!(comment.contains("is recorded in"), "{comment}");
    let learned = world.git(&["show", &format!("{branch}:.workflow/project-tech.json")]);
    assert!(learned.contains("\"bugfix\""), "{learned}");
    assert_eq!(world.git(&["rev-parse", &format!("{branch}~1")]), tip);
    assert_eq!(check(), "action_required", "nor on the lessons above them");

    let (ran, _) = say(&world, number, "/regreen recreate --max-iterations=1");
    assert!(ran.code.is_some_and(|code| code < 2), "{}", shown(&ran));
    let ours = !world.has(&branch)
        || world.git(&["merge-base", "topic", &branch]) == world.git(&["rev-parse", "topic"]);
    assert!(ours, "it begins on the head");
    world.github.assert_clean();
}

#[test]
fn a_killed_session_is_ended_by_a_comment() {
    let world = super::pull_request_life::story();
    let number = world.pull();
    let branch = format!("regreen/WFS-test-pr-{number}");
    world.run_until(&world.pull_request(number, "opened"), &branch, "rollback iteration");
    let (ran, comment) = say(&world, number, "/regreen complete\n/regreen status");
    assert!(comment.contains("is completed. Its files are removed"), "{comment}\n{}", shown(&ran));
    assert!(!world.git(&["ls-tree", "-r", "--name-only", &branch]).contains(".workflow"));
    assert!(comment.contains("| completed |"), "{comment}");
    let (_, comment) = say(&world, number, "/regreen resume");
    assert!(comment.contains("cannot be continued"), "{comment}");
}

/// A fake Ruff that reports each `import os` and, when run as a fixer, removes it.
const RUFF: &str = "#!/bin/sh
case \"$*\" in
*--fix*) sed '/^import os$/d';;
check*) bad=0; for f in $(find * -name '*.py'); do grep -q '^import os$' \"$f\" && { bad=1; echo \"$f:1:8: F401 [*] \\`os\\` imported but unused\"; }; done; exit $bad;;
esac
";

/// `PATH` with a linter of the project in front.
fn with_ruff(world: &World) -> String {
    let folder = world.around().join("tools");
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("ruff");
    write_program(&file, RUFF);
    format!("{}:{}", folder.display(), std::env::var("PATH").expect("a path"))
}

#[test]
fn the_change_is_validated_and_safe_repairs_wait_for_a_word() {
    let world = World::new(
        &[SHOP[3], ("pyproject.toml", "[project]\nname = \"shop\"\n\n[tool.ruff]\n")],
        &[
            (
                "shop/price.py",
                "import os\nimport json\n\n\ndef parse(text: str) -> dict:\n    return json.loads(text)\n",
            ),
            ("shop/__init__.py", ""),
        ],
    );
    let number = world.pull();
    let before = world.git(&["for-each-ref", "refs/heads"]);
    let job = world.comment(number, "ann", "/regreen validate --fix");
    let mut command = world.action(&job);
    let ran = Ran::from(command.env("PATH", with_ruff(&world)).output().expect("it starts"));
    let comment = world.sticky(number);
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert!(comment.contains("Code validation") && comment.contains("price.py"), "{comment}");
    assert_eq!(world.git(&["for-each-ref", "refs/heads"]), before);
    let result = offered(&comment);
    let (ran, comment) = say(&world, number, &format!("/regreen apply {result}"));
    let branch = format!("regreen/WFS-test-pr-{number}");
    assert_eq!(world.git(&["rev-parse", &branch]), result, "{comment}\n{}", shown(&ran));
    let text = world.git(&["show", &format!("{branch}:shop/price.py")]);
    assert!(!text.contains("import os") && text.contains("import json"), "{text}");
    let pull = world.github.state().pulls.iter().find(|pull| pull.head == branch).cloned();
    let pull = pull.expect("a pull request");
    assert_eq!(pull.title, format!("Apply safe repairs to #{number}"));
    assert!(world.github.state().checks.is_empty(), "nothing was tested");
    world.github.assert_clean();
}

#[cfg(feature = "slow-tests")]
#[test]
fn tests_for_what_the_fix_changed_have_a_branch_of_their_own() {
    let world = red();
    let number = world.pull();
    let (_, comment) = say(&world, number, "/regreen extend");
    assert!(comment.contains("No fix changed a file here"), "{comment}");
    world.run(&world.pull_request(number, "opened"));
    let branch = format!("regreen/WFS-test-pr-{number}");
    let tip = world.git(&["rev-parse", &branch]);
    let (ran, comment) = say(&world, number, "/regreen extend --max-iterations=2");
    assert_eq!(world.git(&["rev-parse", &branch]), tip, "the fix stays: {comment}");
    assert!(comment.contains(&format!("WFS-test-pr-{number}-2")), "{comment}\n{}", shown(&ran));
    assert!(comment.contains("The result of an earlier run]") && comment.contains("still waits"));
    let checks = world.github.state().checks.clone();
    let head = world.git(&["rev-parse", "topic"]);
    let of_head: Vec<_> = checks.iter().filter(|check| check.head_sha == head).collect();
    assert_eq!(of_head.len(), 1, "{checks:?}");
    assert!(of_head[0].conclusion.is_some(), "{checks:?}");

    // A look changes neither the check nor what is shown of the fix.
    let (ran, comment) = say(&world, number, "/regreen explain");
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert!(comment.contains("To `/regreen explain` by `ann`:"), "{comment}");
    assert!(comment.contains("still waits"), "{comment}");
    let now = world.github.state().checks.clone();
    assert_eq!(format!("{now:?}"), format!("{checks:?}"));
}

/// Somebody with write access runs a fix on a pull request from a fork. The result is stored until
/// `/regreen apply` publishes it on a branch of this repository, for the base branch.
#[test]
fn a_result_for_a_fork_waits_for_a_maintainer() {
    let world = red();
    let number = world.pull();
    let state = |world: &World| {
        let mut state = world.github.state();
        let pull = state.pulls.iter_mut().find(|pull| pull.number == number).expect("it is there");
        pull.head_repository = Some("mallory/demo".into());
    };
    state(&world);
    let before = world.git(&["for-each-ref", "refs/heads"]);
    let mut job = world.comment(number, "ann", "/regreen fix");
    job.inputs = &[("providers", "gemini,embedded")];
    let mut command = world.action(&job);
    let ran = Ran::from(command.env("GEMINI_API_KEY", "AIzaNever").output().expect("it starts"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert_eq!(world.git(&["for-each-ref", "refs/heads"]), before);
    let comment = world.sticky(number);
    let asked = comment.contains("gemini") && !comment.contains("GEMINI_API_KEY");
    assert!(!asked, "no key comes near a stranger's code: {comment}");
    let result = offered(&comment);
    let (ran, comment) = say(&world, number, &format!("/regreen apply {result}"));
    let branch = format!("regreen/WFS-test-pr-{number}");
    assert_eq!(world.git(&["rev-parse", &branch]), result, "{comment}\n{}", shown(&ran));
    let fix = world.github.state().pulls.iter().find(|pull| pull.head == branch).cloned();
    assert_eq!(fix.expect("a pull request").base, "main");
    world.github.assert_clean();
    world.assert_no_token(&ran);
}
