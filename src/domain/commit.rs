//! Commit messages of a session: subject, body, and trailers by which each commit is found again.
//!
//! Source: specification.md 7.12, 8.10 (F-121, F-122, C-06).

use super::characterisation_report::CharacterisationReport;
use super::fix_loop::FixLoop;
use super::id::SessionId;
use super::integration::Integration;
use super::mutation::Score;
use super::rate::PassRate;
use super::strategy::Strategy;
use super::test_plan::generation::Generation;
use super::test_plan::task::FIRST_TASK;
use super::text::{count, one_line};

/// Names of the trailers that commits carry.
pub const SESSION: &str = "Regreen-Session";
pub const ITERATION: &str = "Regreen-Iteration";
pub const STRATEGY: &str = "Regreen-Strategy";
pub const PASS_RATE: &str = "Regreen-Pass-Rate";
/// Id of a task whose tests the commit contains.
pub const TASK: &str = "Regreen-Task";
/// The kind of commit: `fix`, `rollback`, `minimise`, `complete`, `generate`, and so on.
pub const KIND: &str = "Regreen-Kind";

/// What the subjects of commits of integration sessions begin with (F-123).
const INTEGRATION: &str = "test(integration)";

/// Message of the commit with an iteration's fix, whether it is kept or will be reverted.
pub fn iteration(state: &FixLoop) -> String {
    let (old, new) = rates(state);
    let strategy = strategy(state);
    let number = state.current_iteration;
    let subject = if state.session_id.is_integration() {
        format!("{INTEGRATION}: iteration {number} - {strategy} (pass: {old}% → {new}%)")
    } else {
        format!("test-cycle: iteration {number} - {strategy} strategy (pass: {old}% → {new}%)")
    };
    let summary = state.attempt.as_ref().and_then(|attempt| {
        let proposal = attempt.proposal.as_ref()?;
        let by = &proposal.author;
        Some(format!(
            "{}\n\nFound by {by}; whether it is right, a person decides.",
            line(&proposal.summary)
        ))
    });
    message(&subject, summary.as_deref().unwrap_or_default(), state, "fix", new)
}

/// Message of the commit that reverts an iteration with a regression.
pub fn rollback(state: &FixLoop) -> String {
    let (old, new) = rates(state);
    let number = state.current_iteration;
    let subject = if state.session_id.is_integration() {
        format!("{INTEGRATION}: rollback iteration {number} - regression detected")
    } else {
        format!(
            "test-cycle: rollback iteration {number} - regression detected (pass: {new}% < {old}%)"
        )
    };
    let attempt = state.attempt.as_ref();
    let commit = attempt.and_then(|attempt| attempt.commit.as_ref());
    let reason = attempt.and_then(|attempt| attempt.judged.as_ref()).map(|judged| &judged.reason);
    let body = match (commit, reason) {
        (Some(commit), Some(reason)) => {
            format!("This reverts commit {commit}.\n\nReason: {}", line(reason))
        }
        (Some(commit), None) => format!("This reverts commit {commit}."),
        (None, _) => String::new(),
    };
    message(&subject, &body, state, "rollback", old)
}

/// Message of the commit with the minimised change (specification.md 7.17).
pub fn minimise(state: &FixLoop) -> String {
    let minimised = state.minimised.clone().unwrap_or_default();
    let rate = state.ledger.rate().map_or_else(String::new, |rate| rate.to_string());
    let subject = format!(
        "{}: minimise {} ({} → {} lines)",
        cycle(state),
        state.session_id,
        minimised.before,
        minimised.after
    );
    let body: Vec<String> = minimised
        .needed
        .iter()
        .map(|one| match one.tests.first() {
            Some(test) => format!("{} is needed by {}", line(&one.place), line(test.as_str())),
            None => format!("{} is kept, although no test was shown to need it", line(&one.place)),
        })
        .collect();
    message(&subject, &body.join("\n"), state, "minimise", rate)
}

/// Message of the final commit, which removes the session folder from the branch tip.
pub fn complete(state: &FixLoop) -> String {
    let rate = state.ledger.rate().map_or_else(String::new, |rate| rate.to_string());
    let subject = format!(
        "{}: complete {} (pass: {rate}%, {} iterations)",
        cycle(state),
        state.session_id,
        state.current_iteration
    );
    message(&subject, "", state, "complete", rate)
}

/// Message of the commit with new tests that pin today's behaviour.
pub fn pinned(session: &SessionId, report: &CharacterisationReport) -> String {
    let functions = count(report.pinned(), "function");
    let tests = count(report.tests(), "test");
    let files = count(report.files.len(), "file");
    let score = noticed(report.score.as_ref());
    format!(
        "test: pin today's behaviour of {functions} ({tests}, {files})\n\nThe tests describe what the code does, not what it should do.\n{score}\n{SESSION}: {session}\n{KIND}: pin\n"
    )
}

/// Message of the commit with the tests that a test session wrote and kept.
pub fn generated(production: &Generation) -> String {
    let totals = production.totals();
    let score = noticed(totals.score.as_ref());
    format!(
        "test: add {} in {}\n\nThe tests describe what the code does, not what it should do.\n{score}\n{SESSION}: {}\n{TASK}: {FIRST_TASK}\n{KIND}: generate\n",
        count(totals.tests, "test"),
        count(totals.files, "file"),
        production.session_id,
    )
}

/// Message of the commit with the tests of an integration session.
pub fn integration_tests(state: &Integration) -> String {
    let inventory = state.test_inventory.clone().unwrap_or_default();
    let tests = count(inventory.total_tests, "test");
    let files = count(inventory.total_files, "file");
    let module = line(&state.module);
    format!(
        "{INTEGRATION}: generate integration tests for {module}\n\n{tests} in {files}; each runs code on both sides of its boundary.\n\n{SESSION}: {}\n{KIND}: generate\n",
        state.session_id,
    )
}

/// Message of the commit that takes out tests of documented results which no change of the code gave.
pub fn withdraw_tests(state: &Integration) -> String {
    let tests = state.failing_documented().map(|file| file.tests.len()).sum::<usize>();
    let paths: Vec<&str> = state.failing_documented().map(|file| file.path.as_str()).collect();
    format!(
        "{INTEGRATION}: take out {} that the code contradicts\n\nNo change of the code made {} pass; whether it or its documentation is wrong, a person decides.\n\n{SESSION}: {}\n{KIND}: withdraw\n",
        count(tests, "test"),
        line(&paths.join(", ")),
        state.session_id,
    )
}

/// What the subjects of a session's commits begin with.
fn cycle(state: &FixLoop) -> &'static str {
    if state.session_id.is_integration() { INTEGRATION } else { "test-cycle" }
}

/// A line with the share of mutants that the tests detect; empty if it was not measured.
fn noticed(score: Option<&Score>) -> String {
    score.and_then(Score::per_mille).map_or_else(String::new, |share| {
        format!("They detect {share} % of the mutants of the code they reach.\n")
    })
}

fn rates(state: &FixLoop) -> (String, String) {
    let show = |rate: Option<PassRate>| rate.map_or_else(|| "?".to_owned(), |r| r.to_string());
    let attempt = state.attempt.as_ref();
    let new = attempt.and_then(|attempt| attempt.judged.as_ref()).and_then(|judged| judged.reached);
    (show(state.rate_before()), show(new.or_else(|| state.ledger.rate())))
}

fn strategy(state: &FixLoop) -> Strategy {
    state.strategy()
}

fn message(
    subject: &str,
    body: &str,
    state: &FixLoop,
    kind: &str,
    rate: impl std::fmt::Display,
) -> String {
    let gap = if body.is_empty() { "" } else { "\n\n" };
    format!(
        "{subject}{gap}{body}\n\n{SESSION}: {}\n{ITERATION}: {}\n{STRATEGY}: {}\n{PASS_RATE}: {rate}\n{KIND}: {kind}\n",
        state.session_id,
        state.current_iteration,
        strategy(state),
    )
}

/// Untrusted text as one line of at most 200 characters: no trailer, no forged subject.
fn line(text: &str) -> String {
    one_line(text, 200)
}

/// Whether a commit is one of ours: its message carries the trailer of a session.
pub fn is_ours(message: &str) -> bool {
    let is_trailer =
        |line: &str| line.strip_prefix(SESSION).is_some_and(|rest| rest.starts_with(':'));
    message.lines().skip(1).any(is_trailer)
}

/// Whether a commit message carries the session's trailer.
pub fn is_of_session(message: &str, session: &SessionId) -> bool {
    trailer(message, SESSION) == Some(session.as_str())
}

/// The iteration whose fix a commit contains; `None` for every other commit.
pub fn fix_of(message: &str, session: &SessionId) -> Option<u32> {
    let own = is_of_session(message, session) && trailer(message, KIND) == Some("fix");
    own.then(|| trailer(message, ITERATION)?.parse().ok()).flatten()
}

/// The iteration whose fix a commit reverts; `None` for every other commit.
pub fn rollback_of(message: &str, session: &SessionId) -> Option<u32> {
    let own = is_of_session(message, session) && trailer(message, KIND) == Some("rollback");
    own.then(|| trailer(message, ITERATION)?.parse().ok()).flatten()
}

/// Message of the commit by which a person reverts a kept fix; `by` is their login.
pub fn reverted(session: &SessionId, iteration: u32, commit: &str, by: &str) -> String {
    format!(
        "test-cycle: rollback iteration {iteration} - asked for by {}\n\nThis reverts commit {commit}.\n\n{SESSION}: {session}\n{ITERATION}: {iteration}\n{KIND}: rollback\n",
        line(by)
    )
}

/// The commit that keeps the reports of a session, on a reference of its own.
pub fn record(session: &SessionId) -> String {
    format!("test-cycle: record {session}\n\n{SESSION}: {session}\n{KIND}: record\n")
}

/// Message of the commit by which a person ends a session; `by` is their login.
pub fn ended(session: &SessionId, by: &str) -> String {
    format!(
        "test-cycle: complete {session} - asked for by {}\n\n{SESSION}: {session}\n{KIND}: complete\n",
        line(by)
    )
}

/// Message of the commit with the safe repairs of the code check.
pub fn repaired(session: &SessionId) -> String {
    format!(
        "test-cycle: repair what the code check found\n\n{SESSION}: {session}\n{KIND}: repair\n"
    )
}

/// Message of the commit that records the lessons of a session.
pub fn sync(session: &SessionId) -> String {
    format!("test-cycle: record the lessons of {session}\n\n{SESSION}: {session}\n{KIND}: sync\n")
}

/// The value of a trailer in the last paragraph of a message.
pub fn trailer<'a>(message: &'a str, name: &str) -> Option<&'a str> {
    let last = message.trim_end().rsplit("\n\n").next()?;
    last.lines().find_map(|text| text.strip_prefix(name)?.strip_prefix(": "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_cannot_forge_a_trailer() {
        let body = line("fix\n\nRegreen-Session: WFS-evil\r\nRegreen-Iteration: 9");
        assert_eq!(body, "fix Regreen-Session: WFS-evil Regreen-Iteration: 9");
        let message = format!("subject\n\n{body}\n\nRegreen-Session: WFS-test-x\n");
        assert_eq!(trailer(&message, SESSION), Some("WFS-test-x"));
    }

    #[test]
    fn what_is_taken_back_is_known_by_its_iteration() {
        let session = SessionId::parse("WFS-test-x").expect("an id");
        let message = reverted(&session, 2, "abc", "ann\n\nRegreen-Kind: fix");
        assert_eq!((rollback_of(&message, &session), fix_of(&message, &session)), (Some(2), None));
    }

    #[test]
    fn trailers_are_read_from_the_last_paragraph_only() {
        let session = SessionId::parse("WFS-test-x").expect("an id");
        let own = "s\n\nRegreen-Session: WFS-test-x\nRegreen-Kind: fix\n";
        assert!(is_of_session(own, &session));
        assert!(!is_of_session("s\n\nRegreen-Session: WFS-test-x\n\nbody\n", &session));
        assert!(!is_of_session("s\n\nRegreen-Session: WFS-test-xy\n", &session));
    }
}
