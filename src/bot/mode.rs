//! The job of a run without a command, from the inputs `mode`, `input` and `session`
//! (product.md 2.3).

use crate::config::inputs::Inputs;
use crate::domain::id::SessionId;

/// What the inputs ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Job {
    /// Fix what fails.
    Fix,
    /// Plan tests for this, write them, and fix what fails, like `/regreen test`.
    Test(String),
    /// Plan tests for this and write none, like `/regreen plan`.
    Plan(String),
    /// Check for the mistakes of generated code, like `/regreen validate`.
    Validate,
    /// Resume this session, or the newest.
    Resume(Option<SessionId>),
    /// Report the progress of the sessions.
    Status,
}

/// Reads the job.
///
/// # Errors
///
/// What is wrong, and what to do.
pub fn job(inputs: &Inputs) -> Result<Job, (String, String)> {
    let text = |name: &str| inputs.text(name);
    let mode = text("mode").unwrap_or("fix");
    let asked = |job: fn(String) -> Job| match text("input") {
        Some(what) => Ok(job(what.to_owned())),
        None => Err((
            format!("`mode: {mode}` needs `input`"),
            "set `input` to what to test: a description, a Markdown file or a session id".into(),
        )),
    };
    match mode {
        "test-fix" => asked(Job::Test),
        "plan" => asked(Job::Plan),
        "validate" => Ok(Job::Validate),
        "resume" => {
            let session = text("session").map(SessionId::parse).transpose();
            session.map(Job::Resume).map_err(|error| {
                (error.to_string(), "`/regreen status` lists the sessions".to_owned())
            })
        }
        "status" => Ok(Job::Status),
        // `work` and `publish` split a fix run into two jobs.
        _ => Ok(Job::Fix),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    use crate::config::inputs::{parse, variable};

    #[test]
    fn every_mode_asks_for_one_thing() {
        let session = SessionId::parse("WFS-test-x").unwrap();
        let table = [
            (vec![], Ok(Job::Fix)),
            (vec![("mode", "fix")], Ok(Job::Fix)),
            (vec![("mode", "work")], Ok(Job::Fix)),
            (vec![("mode", "test-fix"), ("input", "the cart")], Ok(Job::Test("the cart".into()))),
            (vec![("mode", "plan"), ("input", "docs/a.md")], Ok(Job::Plan("docs/a.md".into()))),
            (vec![("mode", "plan")], Err("`mode: plan` needs `input`")),
            (vec![("mode", "test-fix")], Err("`mode: test-fix` needs `input`")),
            (vec![("mode", "validate")], Ok(Job::Validate)),
            (vec![("mode", "status")], Ok(Job::Status)),
            (vec![("mode", "resume")], Ok(Job::Resume(None))),
            (vec![("mode", "resume"), ("session", "WFS-test-x")], Ok(Job::Resume(Some(session)))),
        ];
        for (given, expected) in table {
            let environment: BTreeMap<String, String> =
                given.iter().map(|(name, value)| (variable(name), (*value).to_owned())).collect();
            let found = job(&parse(&environment).unwrap());
            let found = found.as_ref().map_err(|(message, _)| message.as_str());
            assert_eq!(found, expected.as_ref().map_err(|message| *message), "{given:?}");
        }
    }
}
