//! Runs the tests that a project already has, before new ones are written.

use crate::code::test_paths::is_test;
use crate::domain::event::Event;
use crate::domain::id::TreeId;
use crate::domain::test::{Scope, TestCase};
use crate::effect::{Effects, RunError, RunRequest};

/// The tests of a project with their results; empty when it has none yet.
///
/// A run without results counts as empty too, because that is how some runners say that there are
/// no tests. A crash looks the same, so a notice names the reason where the tree that is checked out has tests.
pub async fn existing_tests(
    tree: &TreeId,
    fx: &Effects<'_>,
    log: &str,
) -> Result<Vec<TestCase>, RunError> {
    match run_existing(tree, fx, log).await {
        Err(error) => match notice(&error) {
            Some(text) => {
                fx.screen.show(&Event::Notice { text });
                Ok(Vec::new())
            }
            None => Err(error),
        },
        found => found,
    }
}

/// The same, where a crash ends what needs the suite later on.
pub async fn run_existing(
    tree: &TreeId,
    fx: &Effects<'_>,
    log: &str,
) -> Result<Vec<TestCase>, RunError> {
    let request = RunRequest::new(fx.worktree.root(), &Scope::Full, log);
    match fx.suite.run(&request).await {
        Ok(results) => Ok(results.cases),
        Err(RunError::NoTests { .. }) => Ok(Vec::new()),
        Err(error) if notice(&error).is_some() && !has_test_files(tree, fx).await => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Whether a tree has files of tests; also if it cannot be read.
pub async fn has_test_files(tree: &TreeId, fx: &Effects<'_>) -> bool {
    let files = fx.worktree.files(tree).await;
    files.map_or(true, |files| files.iter().any(is_test))
}

fn notice(error: &RunError) -> Option<String> {
    use RunError::{ForeignReport, NoReport, NoReportFile};
    if !matches!(error, NoReport { .. } | NoReportFile { .. } | ForeignReport { .. }) {
        return None;
    }
    let cause = match error.find_cause() {
        "" => String::new(),
        line => format!(" (it printed: {line})"),
    };
    Some(format!("{error}{cause}, so existing tests do not count; {}", error.hint()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_is_named_and_a_suite_without_tests_is_not() {
        let (command, log) = ("run".to_owned(), "out.log".into());
        let no_tests = RunError::NoTests { command: command.clone(), log };
        assert_eq!(notice(&no_tests), None);
        let (ending, log) = ("exit code 7".to_owned(), "out.log".into());
        let crash = RunError::NoReport {
            command,
            ending,
            is_final: false,
            tail: "ERROR: usage: pytest\npytest: error: no option --x\n rootdir: /r\n\n".into(),
            log,
        };
        let text = notice(&crash).unwrap();
        assert!(
            text.contains("exit code 7 ")
                && text.contains("it printed: pytest: error: no option --x)"),
            "{text}"
        );
        assert!(text.contains("read out.log"), "{text}");
    }
}
