//! Tests the GitHub client against a stateful fake on loopback that checks every request and
//! response against GitHub's API description.

#[expect(
    clippy::disallowed_methods,
    reason = "the fake lives in the world outside: it reads a real repository"
)]
#[path = "../../../../tests/it/support/fake_github/mod.rs"]
mod fake_github;
mod faults;

use std::time::Duration;

use serde_json::json;

use crate::adapter::host::http::Http;
use crate::domain::id::{CommitId, RepoPath};
use crate::domain::secret::SecretKey;
use crate::effect::{
    Annotation, BranchCommit, CHECK_LIMIT, COMMENT_LIMIT, CheckRun, CheckStatus, Clock,
    CommentKind, Conclusion, Done, Forge, ForgeErrorKind, Label, Level, NewIssue, NewPull,
    Permission, PullState, Reaction, TestClock,
};

use super::{GitHub, GitHubSettings};
use fake_github::state::{Pull, sha};
use fake_github::{FakeGithub, Fault};

const TOKEN: &str = "ghs_canary0123456789canary0123456789";
const MARKER: &str = "<!-- regreen:WFS-test-pr-7 -->";

fn settings(fake: &FakeGithub) -> GitHubSettings {
    GitHubSettings {
        api_url: fake.url(),
        server_url: "https://github.com".into(),
        repository: "octo/demo".into(),
        token: SecretKey::new(TOKEN),
        login: None,
        deadline: None,
        answer_limit: Duration::from_secs(5),
        seed: 7,
    }
}

fn connect<'a>(fake: &FakeGithub, http: &Http, clock: &'a TestClock) -> GitHub<'a> {
    GitHub::new(http, settings(fake), clock).expect("a client")
}

fn http() -> Http {
    Http::new().expect("a client")
}

fn commit(number: u64) -> CommitId {
    CommitId::parse(sha(number)).expect("a commit")
}

fn path(text: &str) -> RepoPath {
    RepoPath::parse(text).expect("a path")
}

fn label(name: &str) -> Label {
    Label { name: name.into(), colour: "0e8a16".into(), description: "Made by regreen".into() }
}

fn run(annotations: u32) -> CheckRun {
    CheckRun {
        name: "regreen".into(),
        head_sha: commit(1),
        external_id: "WFS-test-pr-7".into(),
        status: CheckStatus::Completed(Conclusion::Neutral),
        title: "Iteration 3".into(),
        summary: "89 %".into(),
        text: "More".into(),
        details_url: Some("https://example.invalid/run".into()),
        annotations: (1..=annotations)
            .map(|line| Annotation {
                path: path("calc.py"),
                start_line: line,
                end_line: line,
                level: Level::Failure,
                message: format!("failure {line}"),
                title: String::new(),
            })
            .collect(),
    }
}

fn new_pull() -> NewPull {
    NewPull {
        head: "regreen/WFS-test-pr-7".into(),
        base: "main".into(),
        title: "Bring the tests back to green".into(),
        body: "All of it.".into(),
        draft: true,
        marker: MARKER.into(),
    }
}

fn new_issue() -> NewIssue {
    NewIssue {
        title: "total adds up wrong - test".into(),
        body: "See there.".into(),
        labels: vec![label("good first issue"), label("known")],
        marker: "<!-- regreen:issue:total -->".into(),
    }
}

fn signed() -> BranchCommit {
    BranchCommit {
        branch: "regreen/WFS-test-pr-7".into(),
        expected_head: commit(1),
        headline: "test-cycle: iteration 1".into(),
        body: "Regreen-Session: WFS-test-pr-7".into(),
        additions: vec![(path("calc.py"), b"print(1)\n".to_vec())],
        deletions: vec![path("old.py")],
    }
}

/// A repository with a pull request, a branch, a label, and comments by others.
fn lively() -> FakeGithub {
    let fake = FakeGithub::start();
    {
        let mut state = fake.state();
        state.branches.insert("regreen/WFS-test-pr-7".into(), sha(1));
        state.permissions.insert("ann".into(), ("write".into(), "maintain".into()));
        state.labels.insert("known".into());
        state.comment(7, None, "by somebody who is gone");
        state.comment(7, Some((5, "mallory".into())), &format!("{MARKER}\nforged"));
        state.pulls.push(Pull {
            number: 7,
            title: "Seven".into(),
            head: "topic/x y".into(),
            head_repository: Some("octo/demo".into()),
            base: "main".into(),
            author: Some((9, "ann".into())),
            open: true,
            ..Pull::default()
        });
        state.pull_commits.insert(7, vec!["One\n\nRegreen-Session: a".into(), "Two".into()]);
    }
    fake
}

#[tokio::test]
async fn permissions_are_read_as_github_sends_them() {
    let (fake, http, clock) = (lively(), http(), TestClock::default());
    let forge = connect(&fake, &http, &clock);
    let table = [
        ("read", "read", Permission::Read),
        ("read", "triage", Permission::Triage),
        ("write", "write", Permission::Write),
        ("write", "maintain", Permission::Maintain),
        ("admin", "admin", Permission::Admin),
        ("none", "none", Permission::None),
        ("write", "Release engineers", Permission::Write),
    ];
    for (permission, role, expected) in table {
        fake.state().permissions.insert("bob".into(), (permission.into(), role.into()));
        assert_eq!(forge.permission("bob").await, Ok(expected), "{permission} {role}");
    }
    fake.state().permissions.insert("bob".into(), ("push".into(), "push".into()));
    let error = forge.permission("bob").await.expect_err("not a permission of the contract");
    assert_eq!(error.kind, ForgeErrorKind::Malformed);
    let error = forge.permission("nobody").await.expect_err("unknown");
    assert_eq!(error.kind, ForgeErrorKind::NotFound);
    fake.assert_clean();
}

#[tokio::test]
async fn hostile_names_stay_in_their_segment() {
    let (fake, http, clock) = (lively(), http(), TestClock::default());
    let forge = connect(&fake, &http, &clock);
    for login in ["../../../labels?x=", "a/b", "%2e%2e", "é ü", "x#y"] {
        let error = forge.permission(login).await.expect_err(login);
        assert_eq!(error.kind, ForgeErrorKind::NotFound, "{login}");
    }
    for seen in fake.log() {
        assert!(seen.target.starts_with("/repos/octo/demo/collaborators/"), "{}", seen.target);
        assert!(seen.target.ends_with("/permission"), "{}", seen.target);
    }
    let asked = fake.log().len();
    for login in ["..", ".", ""] {
        let error = forge.permission(login).await.expect_err("no segment");
        assert_eq!(error.kind, ForgeErrorKind::Invalid);
    }
    assert_eq!(fake.log().len(), asked, "nothing was sent for a way up");
    fake.assert_clean();
}

#[tokio::test]
async fn one_comment_of_ours_is_edited_only_when_its_text_changes() {
    let (fake, http, clock) = (lively(), http(), TestClock::default());
    let forge = connect(&fake, &http, &clock);
    // 120 comments by others precede ours, so it is on the second page.
    for number in 0..120 {
        fake.state().comment(7, Some((number, format!("user{number}"))), "hello");
    }
    let mut done = Vec::new();
    for body in ["first", "first", "second"] {
        done.push(forge.put_comment(7, MARKER, body).await.expect("a comment"));
    }
    assert_eq!(done, [Done::Created, Done::Unchanged, Done::Edited]);
    {
        let state = fake.state();
        let ours: Vec<_> =
            state.comments.iter().filter(|one| one.author == Some(state.me.clone())).collect();
        assert_eq!(ours.len(), 1);
        assert_eq!((ours[0].body.as_str(), ours[0].writes), (&*format!("{MARKER}\nsecond"), 2));
        assert!(state.comments.iter().any(|one| one.body.ends_with("forged")), "left alone");
    }
    let long = "é".repeat(COMMENT_LIMIT);
    forge.put_comment(7, MARKER, &long).await.expect("it is cut");
    // Line endings that GitHub changes do not count as a difference.
    let crlf = fake.state().comments.last().expect("ours").body.replace('\n', "\r\n");
    fake.state().comments.last_mut().expect("ours").body = crlf;
    let put = forge.put_comment(7, MARKER, &long).await.expect("the same");
    assert_eq!(put, Done::Unchanged);
    fake.assert_clean();
}

#[tokio::test]
async fn the_author_is_the_account_of_the_token_or_the_app_behind_the_check_run() {
    let http = http();
    // A personal token acts as its own account, not as that of Actions.
    let (fake, clock) = (lively(), TestClock::default());
    {
        let mut state = fake.state();
        (state.user, state.me) = (Some((77, "ann".into())), (77, "ann".into()));
        state.comment(7, Some((41_898_282, "github-actions[bot]".into())), MARKER);
    }
    let forge = connect(&fake, &http, &clock);
    assert_eq!(forge.put_comment(7, MARKER, "x").await.expect("a comment"), Done::Created);
    assert_eq!(forge.put_comment(7, MARKER, "x").await.expect("a comment"), Done::Unchanged);
    fake.assert_clean();
    // With an App, the process after a kill learns its account from the check run.
    let (fake, clock) = (lively(), TestClock::default());
    {
        let mut state = fake.state();
        (state.app, state.me) = ("my-app".into(), (88, "my-app[bot]".into()));
    }
    for done in [Done::Created, Done::Unchanged] {
        let forge = connect(&fake, &http, &clock);
        forge.put_check(&run(1)).await.expect("a check run");
        assert_eq!(forge.put_comment(7, MARKER, "x").await.expect("a comment"), done);
    }
    // With a configured login it sends no question.
    let app_settings = GitHubSettings { login: Some("my-app[bot]".into()), ..settings(&fake) };
    let asked = fake.count("GET", "/user");
    let forge = GitHub::new(&http, app_settings, &clock).expect("a client");
    assert_eq!(forge.put_comment(7, MARKER, "x").await.expect("a comment"), Done::Unchanged);
    assert_eq!(fake.count("GET", "/user"), asked);
    fake.assert_clean();
}

#[tokio::test]
async fn comments_and_check_runs_are_listed_once() {
    let (fake, http, clock) = (lively(), http(), TestClock::default());
    let forge = connect(&fake, &http, &clock);
    for text in ["one", "two", "two", "three"] {
        forge.put_comment(7, MARKER, text).await.expect("a comment");
        forge.put_check(&run(1)).await.expect("a check run");
    }
    let lists = || (fake.count("GET", "/comments"), fake.count("GET", "/check-runs"));
    let first = lists();
    assert!(first.0 <= 1 && first.1 <= 1, "{first:?}");
    assert_eq!(fake.count("PATCH", "/comments/"), 2, "the same text is not sent again");
    // Somebody deletes the comment, so another one is posted.
    fake.state().comments.retain(|one| !one.body.starts_with(MARKER));
    assert_eq!(forge.put_comment(7, MARKER, "four").await.expect("a comment"), Done::Created);
    assert_eq!(lists().0, first.0 + 1);
    fake.assert_clean();
}

#[tokio::test]
async fn an_update_edits_the_comment_that_it_found_and_creates_none() {
    let (fake, http, clock) = (lively(), http(), TestClock::default());
    let writer = connect(&fake, &http, &clock);
    writer.put_comment(7, MARKER, "one").await.expect("a comment");
    let forge = connect(&fake, &http, &clock);
    let lists = fake.count("GET", "/comments");
    for (text, done) in [("two", Done::Edited), ("two", Done::Unchanged), ("three", Done::Edited)] {
        assert_eq!(forge.update_comment(7, MARKER, text).await.expect("an answer"), done, "{text}");
    }
    assert_eq!(fake.count("GET", "/comments"), lists + 1);
    fake.state().comments.retain(|one| !one.body.starts_with(MARKER));
    for text in ["four", "five"] {
        let done = forge.update_comment(7, MARKER, text).await.expect("an answer");
        assert_eq!(done, Done::Unchanged, "{text}");
    }
    assert!(!fake.state().comments.iter().any(|one| one.body.ends_with("five")));
    assert_eq!(fake.count("POST", "/comments"), 1);
    fake.assert_clean();
}

#[tokio::test]
async fn annotations_arrive_once_each_in_batches_and_long_texts_are_cut() {
    let (fake, http, clock) = (lively(), http(), TestClock::default());
    let forge = connect(&fake, &http, &clock);
    let mut long = run(130);
    long.summary = "é".repeat(70_000);
    long.text = "y".repeat(70_000);
    forge.put_check(&long).await.expect("a check run");
    // Two batches take effect although the response is an error; none is sent again.
    long.annotations = run(260).annotations;
    fake.fault("PATCH", "/check-runs/", Fault::StatusAfter(502));
    fake.fault("PATCH", "/check-runs/", Fault::ResetAfter);
    fake.fault("PATCH", "/check-runs/", Fault::ResetBefore);
    assert_eq!(forge.put_check(&long).await.expect("a check run"), Done::Edited);
    let state = fake.state().clone();
    assert_eq!(state.checks.len(), 1);
    let lines: Vec<u64> =
        state.checks[0].annotations.iter().filter_map(|one| one["start_line"].as_u64()).collect();
    assert_eq!(lines, (1..=260).collect::<Vec<_>>());
    let summary = state.checks[0].output["summary"].as_str().expect("a summary");
    assert!(summary.len() <= CHECK_LIMIT && summary.ends_with("… (cut)"));
    fake.assert_clean();
}

#[tokio::test]
async fn a_check_run_of_another_app_is_left_alone() {
    let (fake, http, clock) = (lively(), http(), TestClock::default());
    fake.state().app = "other".into();
    connect(&fake, &http, &clock).put_check(&run(0)).await.expect("theirs");
    fake.state().app = "github-actions".into();
    let forge = connect(&fake, &http, &clock);
    assert_eq!(forge.put_check(&run(0)).await.expect("ours"), Done::Created);
    assert_eq!(forge.put_check(&run(0)).await.expect("ours"), Done::Edited);
    let apps: Vec<String> = fake.state().checks.iter().map(|one| one.app.clone()).collect();
    assert_eq!(apps, ["other", "github-actions"]);
    fake.assert_clean();
}

#[tokio::test]
async fn pull_requests_are_opened_once_and_those_of_people_left_alone() {
    let (fake, http, clock) = (lively(), http(), TestClock::default());
    let forge = connect(&fake, &http, &clock);
    let put = forge.open_pull(&new_pull()).await.expect("opened");
    assert!(put.created);
    let changed = NewPull { title: "Green after 2".into(), ..new_pull() };
    let again = forge.open_pull(&changed).await.expect("found");
    assert_eq!((again.number, again.created), (put.number, false));
    assert_eq!(fake.state().pulls.last().expect("ours").title, "Green after 2");
    // The list lags behind: the error says that the pull request exists, and then it is found.
    let list = json!([]).to_string();
    fake.fault("GET", "/pulls?state=open", Fault::Status(200, vec![], list));
    assert_eq!(forge.open_pull(&changed).await.expect("found").number, put.number);
    // A person's pull request from the branch is found, not rewritten.
    fake.state().pulls.last_mut().expect("one").body = "My own words".into();
    forge.open_pull(&new_pull()).await.expect("found");
    assert_eq!(fake.state().pulls.last().expect("one").title, "Green after 2");
    fake.state().pulls.pop();
    fake.state().may_open_pulls = false;
    let error = forge.open_pull(&new_pull()).await.expect_err("settings forbid it");
    assert_eq!(error.kind, ForgeErrorKind::CreationForbidden);
    assert_eq!(
        forge.compare_link("main", "regreen/a b#1"),
        "https://github.com/octo/demo/compare/main...regreen/a%20b%231?expand=1"
    );
    fake.assert_clean();
}

#[tokio::test]
async fn pull_requests_of_deleted_forks_and_merged_ones_are_read() {
    let (fake, http, clock) = (lively(), http(), TestClock::default());
    let forge = connect(&fake, &http, &clock);
    let pull = forge.pull(7).await.expect("a pull request");
    assert!(!pull.is_foreign() && pull.state == PullState::Open);
    assert_eq!(
        (pull.head.branch.as_str(), pull.author.map(|one| one.login)),
        ("topic/x y", Some("ann".into()))
    );
    for (repository, merged, expected) in [
        (None, false, PullState::Closed),
        (Some("mallory/demo".to_owned()), true, PullState::Merged),
    ] {
        {
            let mut state = fake.state();
            let one = state.pulls.last_mut().expect("one");
            (one.open, one.merged, one.head_repository) = (false, merged, repository.clone());
        }
        let pull = forge.pull(7).await.expect("a pull request");
        assert!(pull.is_foreign());
        assert_eq!((pull.state, pull.head.repository), (expected, repository));
    }
    fake.assert_clean();
}

#[tokio::test]
async fn issues_are_opened_once_and_labels_that_cannot_be_made_are_named() {
    let (fake, http, clock) = (lively(), http(), TestClock::default());
    let forge = connect(&fake, &http, &clock);
    fake.state().may_label = false;
    let put = forge.put_issue(&new_issue()).await.expect("opened");
    assert!(put.created);
    assert_eq!(put.left_out.len(), 1);
    let reason = &put.left_out["good first issue"];
    assert!(reason.contains("Resource not accessible"), "{reason}");
    // A person closed our issue: it is not opened again.
    fake.state().issues[0].open = false;
    fake.state().issues[0].title = "renamed by hand".into();
    assert!(!forge.put_issue(&new_issue()).await.expect("found").created);
    // Our marker in somebody else's issue does not keep ours from being opened.
    fake.state().issues[0].author = Some((5, "mallory".into()));
    assert!(forge.put_issue(&new_issue()).await.expect("opened").created);
    // An open issue with the same title suffices, whoever wrote it; a pull request does not.
    let other = NewIssue { marker: "<!-- other -->".into(), ..new_issue() };
    assert!(!forge.put_issue(&other).await.expect("found").created);
    let seven = NewIssue { title: "Seven".into(), ..other };
    assert!(forge.put_issue(&seven).await.expect("opened").created);
    fake.assert_clean();
}

#[tokio::test]
async fn a_branch_that_moved_stops_a_signed_commit() {
    let (fake, http, clock) = (lively(), http(), TestClock::default());
    let forge = connect(&fake, &http, &clock);
    let made = forge.commit_on_branch(&signed()).await.expect("a commit");
    let files = fake.state().commits[made.as_str()].files.clone();
    assert_eq!(files["calc.py"], "cHJpbnQoMSkK");
    assert!(files["old.py"].is_null());
    let other = BranchCommit { headline: "another".into(), ..signed() };
    let error = forge.commit_on_branch(&other).await.expect_err("moved");
    assert_eq!(error.kind, ForgeErrorKind::Stale);
    fake.state().read_only = true;
    let error = forge.commit_on_branch(&other).await.expect_err("read only");
    assert_eq!(error.kind, ForgeErrorKind::Denied { needed: None });
    assert_eq!(forge.branch_sha("no/such").await, Ok(None));
    fake.assert_clean();
}

#[tokio::test]
async fn a_renamed_repository_is_found_at_the_start() {
    let (fake, http, clock) = (lively(), http(), TestClock::default());
    fake.state().old_name = Some("octo/before".into());
    let old = GitHubSettings { repository: "octo/before".into(), ..settings(&fake) };
    let forge = GitHub::new(&http, old, &clock).expect("a client");
    let error = forge.permission("ann").await.expect_err("nothing is followed blindly");
    assert_eq!(error.kind, ForgeErrorKind::Moved);
    assert_eq!(forge.repository().await.expect("found").full_name, "octo/demo");
    assert_eq!(forge.permission("ann").await, Ok(Permission::Maintain));
    fake.assert_clean();
}

#[tokio::test]
async fn no_redirect_leads_to_another_server() {
    let (fake, http, clock) = (lively(), http(), TestClock::default());
    let away = vec![("location", "https://evil.invalid/repositories/1".to_owned())];
    fake.fault("GET", "/repos/octo/demo", Fault::Status(301, away, "{}".into()));
    let error = connect(&fake, &http, &clock).repository().await.expect_err("moved away");
    assert_eq!(error.kind, ForgeErrorKind::Moved);
    assert_eq!(fake.log().len(), 1);
}

#[tokio::test]
async fn waits_never_outlive_the_run() {
    let (fake, http, clock) = (lively(), http(), TestClock::default());
    let short = GitHubSettings { deadline: Some(Duration::from_secs(10)), ..settings(&fake) };
    let forge = GitHub::new(&http, short, &clock).expect("a client");
    fake.fault("GET", "/pulls/7", Fault::Limited(Some(60)));
    let error = forge.pull(7).await.expect_err("too long a wait");
    assert_eq!(error.kind, ForgeErrorKind::RateLimited { wait: Some(Duration::from_mins(1)) });
    assert!(error.is_transient() && clock.elapsed().is_zero());
    // The back-off uses up the remaining time, and then no further call begins.
    for _ in 0..9 {
        fake.fault("GET", "/pulls/7", Fault::ResetBefore);
    }
    let error = forge.pull(7).await.expect_err("never answers");
    assert_eq!(error.kind, ForgeErrorKind::TooLate);
    assert!(clock.elapsed() < Duration::from_secs(10), "{:?}", clock.elapsed());
    let asked = fake.log().len();
    clock.wait(Duration::from_secs(10)).await;
    let error = forge.put_comment(7, MARKER, "late").await.expect_err("over");
    assert_eq!((error.kind.clone(), error.is_transient()), (ForgeErrorKind::TooLate, true));
    assert_eq!(fake.log().len(), asked, "nothing is sent after the deadline");
}

#[tokio::test]
async fn silence_and_a_closed_port_end_in_an_error_that_passes() {
    let (fake, http, clock) = (lively(), http(), TestClock::default());
    let quick = GitHubSettings { answer_limit: Duration::from_millis(200), ..settings(&fake) };
    let forge = GitHub::new(&http, quick.clone(), &clock).expect("a client");
    fake.fault("POST", "/comments", Fault::Silence(Duration::from_millis(600)));
    let put = forge.put_comment(7, MARKER, "said").await.expect("after the silence");
    assert_eq!(put, Done::Created);
    fake.assert_clean();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = closed.local_addr().expect("an address").port();
    drop(closed);
    let nowhere = GitHubSettings { api_url: format!("http://127.0.0.1:{port}"), ..quick };
    let forge = GitHub::new(&http, nowhere, &clock).expect("a client");
    let error = forge.dispatch_workflow("ci.yml", "main").await.expect_err("nobody there");
    assert_eq!(error.kind, ForgeErrorKind::Unavailable);
    assert!(error.is_transient());
}

#[tokio::test]
async fn errors_say_what_github_said_and_never_the_token() {
    let (fake, http, clock) = (lively(), http(), TestClock::default());
    let forge = connect(&fake, &http, &clock);
    fake.state().read_only = true;
    let error = forge.put_check(&run(0)).await.expect_err("read only");
    assert_eq!(
        error.to_string(),
        "cannot create the check run: the token may not do this (403): Resource not accessible by integration"
    );
    assert_eq!(error.hint(), "give the job `permissions` with contents: write");
    fake.state().read_only = false;
    let field = json!({ "message": format!("Validation Failed for {TOKEN}"), "errors": [{ "resource": "IssueComment", "field": "body", "code": "invalid" }] });
    fake.fault("POST", "/comments", Fault::Status(422, vec![], field.to_string()));
    let error = forge.put_comment(7, MARKER, "x").await.expect_err("refused");
    assert_eq!(
        error.to_string(),
        "cannot write the comment: the request was refused (422): Validation Failed for [redacted]; IssueComment body invalid"
    );
    fake.fault(
        "GET",
        "/pulls/7",
        Fault::Status(401, vec![], json!({ "message": "Bad credentials" }).to_string()),
    );
    let error = forge.pull(7).await.expect_err("refused");
    assert_eq!(error.kind, ForgeErrorKind::Unauthorised);
    assert_eq!(fake.count("GET", "/pulls/7"), 1, "a wrong token is not tried again");
    assert!(!format!("{error:?} {:?}", settings(&fake)).contains(TOKEN));
}

#[tokio::test]
async fn every_word_we_have_is_one_github_knows() {
    let (fake, http, clock) = (lively(), http(), TestClock::default());
    let forge = connect(&fake, &http, &clock);
    let conclusions = [
        (Conclusion::Success, "success"),
        (Conclusion::Failure, "failure"),
        (Conclusion::Neutral, "neutral"),
        (Conclusion::ActionRequired, "action_required"),
    ];
    let states = [(CheckStatus::Queued, "queued"), (CheckStatus::InProgress, "in_progress")]
        .map(|(status, word)| (status, word, None))
        .into_iter()
        .chain(
            conclusions.map(|(end, word)| (CheckStatus::Completed(end), "completed", Some(word))),
        );
    for (status, word, conclusion) in states {
        forge.put_check(&CheckRun { status, ..run(0) }).await.expect("a check run");
        let check = fake.state().checks[0].clone();
        assert_eq!((check.status.as_str(), check.conclusion.as_deref()), (word, conclusion));
    }
    let mut levels = run(4);
    for (one, level) in
        levels.annotations.iter_mut().zip([Level::Notice, Level::Warning, Level::Failure])
    {
        one.level = level;
        one.title = "t".repeat(300);
    }
    // The client corrects what GitHub would reject: no message, line 0, an end before the start.
    levels.annotations[3].message = " ".into();
    levels.annotations[3].start_line = 0;
    levels.annotations[3].end_line = 0;
    forge.put_check(&levels).await.expect("a check run");
    let sent = fake.state().checks[0].annotations.clone();
    let words: Vec<_> = sent.iter().map(|one| one["annotation_level"].as_str()).collect();
    assert_eq!(words, [Some("notice"), Some("warning"), Some("failure"), Some("failure")]);
    assert_eq!(sent[0]["title"].as_str().map(str::len), Some(255));
    assert_eq!((&sent[3]["start_line"], &sent[3]["message"]), (&json!(1), &json!("(no message)")));
    let reactions = [
        (Reaction::Eyes, "eyes"),
        (Reaction::Rocket, "rocket"),
        (Reaction::ThumbsDown, "-1"),
        (Reaction::Confused, "confused"),
    ];
    for (reaction, word) in reactions {
        forge.react(CommentKind::Issue, 101, reaction).await.expect("a reaction");
        assert_eq!(fake.state().reactions.last().map(|one| one.2.clone()).as_deref(), Some(word));
    }
    fake.assert_clean();
}
