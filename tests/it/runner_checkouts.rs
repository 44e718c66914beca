//! Checkouts as the runner leaves them: of depth 1, and owned by another user.

use std::path::Path;
use std::process::Command;

use super::support::{CALC, TestRepo};

/// A shallow clone that contains only the last of two commits.
fn shallow() -> TestRepo {
    let repo = TestRepo::new(CALC);
    repo.write(&[("notes.txt", "more\n")]);
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-q", "-m", "second"]);
    let whole = format!("file://{}", repo.root().display());
    let cut = TestRepo::empty_at("cut");
    cut.git(&["fetch", "-q", "--depth=1", &whole, "main"]);
    cut.git(&["reset", "-q", "--hard", "FETCH_HEAD"]);
    cut
}

#[test]
fn the_loop_works_in_a_checkout_of_depth_one() {
    let repo = shallow();
    assert_eq!(repo.git(&["rev-parse", "--is-shallow-repository"]), "true");
    let ran = repo.regreen(&["fix", "--json", "--jobs", "1", "--base", "main"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.document()["result"], "success");
    let log = repo.git(&["log", "--format=%s", "regreen/WFS-test-main"]);
    assert_eq!(log.lines().last(), Some("second"), "{log}");
    repo.git(&["fsck", "--strict"]);
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output().expect("id starts");
    output.stdout == b"0\n"
}

fn fix_in(repo: &TestRepo, workspace: Option<&Path>) -> super::support::Ran {
    let mut command = repo.command();
    if let Some(folder) = workspace {
        command.env("GITHUB_WORKSPACE", folder);
    }
    command.args(["fix", "--json", "--jobs", "1"]).output().expect("regreen starts").into()
}

/// Only root can give a checkout to another user; otherwise only the variable is tested.
#[cfg(feature = "slow-tests")]
#[test]
fn a_workspace_of_ones_own_needs_no_trust() {
    let repo = TestRepo::new(CALC);
    let ran = fix_in(&repo, Some(&repo.root()));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    if is_root() {
        of_another_user();
    }
}

#[test]
#[ignore = "needs root; a_workspace_of_ones_own_needs_no_trust runs it where that is so"]
fn a_checkout_of_another_user_works_where_the_runner_made_it() {
    of_another_user();
}

fn of_another_user() {
    let repo = TestRepo::new(CALC);
    let given = Command::new("chown").args(["-R", "12345"]).arg(repo.root()).status();
    assert!(given.expect("chown starts").success());
    let elsewhere = repo.around().join("home");
    for untrusted in [None, Some(elsewhere.as_path()), Some(Path::new("/"))] {
        let ran = fix_in(&repo, untrusted);
        assert_eq!(ran.code, Some(3), "{untrusted:?}: {}", ran.err);
        assert!(ran.err.contains("belongs to another user"), "{}", ran.err);
        assert!(ran.err.contains("git config --global --add safe.directory"), "{}", ran.err);
    }
    let ran = fix_in(&repo, Some(&repo.root()));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.document()["result"], "success");
    let safe = format!("safe.directory={}", repo.root().display());
    let log = repo.git(&["-c", &safe, "log", "--format=%s", "-1", "regreen/WFS-test-main"]);
    assert!(log.starts_with("test-cycle: complete"), "{log}");
}
