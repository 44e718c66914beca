//! Maps the inputs `mode`, `input` and `session` to a command (specification.md 2.3).

use crate::config::inputs::Inputs;
use crate::domain::command::{Command, Flags};
use crate::domain::id::SessionId;

use super::error::BotError;

/// Reads the command of a job that no comment started.
pub fn command(inputs: &Inputs) -> Result<Command, BotError> {
    let text = |name: &str| inputs.text(name);
    let flags = Flags::default();
    let mode = text("mode").unwrap_or("fix");
    let what = || {
        text("input").map(str::to_owned).ok_or_else(|| {
            BotError::usage(
                format!("`mode: {mode}` needs `input`"),
                "set `input` to what to test: a description, a Markdown file or a session id",
            )
        })
    };
    Ok(match mode {
        "test-fix" => Command::Test { what: what()?, flags },
        "plan" => Command::Plan { what: what()?, flags },
        // The configuration and the inputs `validate-strict` and `validate-fix` apply to the comment as well.
        "validate" => Command::Validate { strict: false, fix: false },
        "integration" => Command::Integration { module: what()?, flags },
        "resume" | "continue" => {
            let session = text("session").map(SessionId::parse).transpose().map_err(|error| {
                BotError::usage(error.to_string(), "`/regreen status` lists the sessions")
            })?;
            Command::Resume { session, flags }
        }
        "status" => Command::Status,
        // `work` and `publish` choose the phase of the job, not what it does.
        _ => Command::Fix { flags },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    use crate::config::inputs::{parse, variable};

    #[test]
    fn every_mode_stands_for_one_command() {
        let session = SessionId::parse("WFS-test-x").unwrap();
        let flags = Flags::default;
        let fix = || Ok(Command::Fix { flags: flags() });
        let table = [
            (vec![], fix()),
            (vec![("mode", "fix")], fix()),
            (vec![("mode", "work")], fix()),
            (
                vec![("mode", "test-fix"), ("input", "the cart")],
                Ok(Command::Test { what: "the cart".into(), flags: flags() }),
            ),
            (
                vec![("mode", "plan"), ("input", "docs/a.md")],
                Ok(Command::Plan { what: "docs/a.md".into(), flags: flags() }),
            ),
            (vec![("mode", "plan")], Err("`mode: plan` needs `input`")),
            (vec![("mode", "test-fix")], Err("`mode: test-fix` needs `input`")),
            (vec![("mode", "validate")], Ok(Command::Validate { strict: false, fix: false })),
            (vec![("mode", "status")], Ok(Command::Status)),
            (
                vec![("mode", "integration"), ("input", "shop/cart.py")],
                Ok(Command::Integration { module: "shop/cart.py".into(), flags: flags() }),
            ),
            (vec![("mode", "integration")], Err("`mode: integration` needs `input`")),
            (
                vec![("mode", "continue"), ("session", "WFS-test-x")],
                Ok(Command::Resume { session: Some(session.clone()), flags: flags() }),
            ),
            (vec![("mode", "resume")], Ok(Command::Resume { session: None, flags: flags() })),
            (
                vec![("mode", "resume"), ("session", "WFS-test-x")],
                Ok(Command::Resume { session: Some(session), flags: flags() }),
            ),
        ];
        for (given, expected) in table {
            let environment: BTreeMap<String, String> =
                given.iter().map(|(name, value)| (variable(name), (*value).to_owned())).collect();
            let found = command(&parse(&environment).unwrap());
            let found = found.as_ref().map_err(|error| error.message.as_str());
            assert_eq!(found, expected.as_ref().map_err(|message| *message), "{given:?}");
        }
    }
}
