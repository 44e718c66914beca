//! The limits of a run and the destination of its result, from configuration, inputs and flags.

use crate::config::{Publish, Settings};
use crate::domain::command::{Command, RunLimits};
use crate::domain::session::MAX_ITERATIONS;

use super::context::Context;

/// Where the commits of a run go (specification.md 8.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// To a fix branch, with a pull request.
    Branch,
    /// To the head branch once the gate is met; to the fix branch until then.
    Head,
    /// To a reference outside of all branches, until somebody applies it.
    Stored,
    Nowhere,
}

/// The limits that the configuration sets for a run.
pub fn ceiling(settings: &Settings) -> RunLimits {
    let gate = settings.gate.clone().unwrap_or_default();
    let budget = settings.budget.clone().unwrap_or_default();
    RunLimits {
        max_iterations: Some(gate.max_iterations.unwrap_or(MAX_ITERATIONS)),
        minutes: budget.minutes,
        usd: budget.usd,
        tokens: budget.tokens,
        calls: budget.calls,
    }
}

/// The facts that decide where a result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DestinationFacts {
    /// The run may write to the repository.
    pub writes: bool,
    /// The code comes from another repository.
    pub foreign: bool,
    /// This job only works; another one publishes.
    pub works_only: bool,
    /// The run leaves nothing behind.
    pub dry: bool,
    /// The run writes tests.
    pub tests: bool,
    /// `publish` of the configuration.
    pub publish: Publish,
}

impl DestinationFacts {
    /// Where the result goes. The first rule that holds wins.
    ///
    /// Code of a fork, and what a person wants to see first, is stored outside of all branches and
    /// waits for `/regreen apply`. Written tests are offered on a branch, not pushed to the head,
    /// where their author did not ask for them.
    #[must_use]
    pub fn destination(self) -> Destination {
        match self {
            Self { writes: false, .. }
            | Self { works_only: true, .. }
            | Self { dry: true, .. }
            | Self { publish: Publish::None, .. } => Destination::Nowhere,
            Self { foreign: true, .. } | Self { publish: Publish::Suggest, .. } => {
                Destination::Stored
            }
            Self { publish: Publish::Head, tests: false, .. } => Destination::Head,
            Self { publish: Publish::Head | Publish::Branch, .. } => Destination::Branch,
        }
    }
}

/// Where the result of a command goes.
pub fn destination(context: &Context<'_>, command: &Command) -> Destination {
    let flags = command.run_flags();
    let publish = match context.prepared.settings.publish() {
        Publish::None => Publish::None,
        _ if flags.is_some_and(|flags| flags.suggest) => Publish::Suggest,
        publish => publish,
    };
    DestinationFacts {
        dry: flags.is_some_and(|flags| flags.dry_run) || matches!(command, Command::Explain { .. }),
        tests: matches!(
            command,
            Command::Test { .. }
                | Command::Plan { .. }
                | Command::Run { .. }
                | Command::Integration { .. }
                | Command::Confirm { .. }
                | Command::Adjust { .. }
        ),
        ..facts(context, publish)
    }
    .destination()
}

/// Where a result goes after a person approved it.
pub fn approved_destination(context: &Context<'_>) -> Destination {
    let approved = facts(context, context.prepared.settings.publish_approved());
    DestinationFacts { foreign: false, ..approved }.destination()
}

fn facts(context: &Context<'_>, publish: Publish) -> DestinationFacts {
    DestinationFacts {
        writes: context.target.writes,
        foreign: context.target.foreign,
        works_only: context.env.text("mode") == Some("work"),
        dry: false,
        tests: false,
        publish,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_holds_decides_where_a_result_goes() {
        let plain = DestinationFacts {
            writes: true,
            foreign: false,
            works_only: false,
            dry: false,
            tests: false,
            publish: Publish::Branch,
        };
        let head = DestinationFacts { publish: Publish::Head, ..plain };
        let suggest = DestinationFacts { publish: Publish::Suggest, ..plain };
        let none = DestinationFacts { publish: Publish::None, ..plain };
        let table = [
            ("as configured", plain, Destination::Branch),
            ("the head", head, Destination::Head),
            ("nowhere", none, Destination::Nowhere),
            (
                "nowhere, for a fork",
                DestinationFacts { foreign: true, ..none },
                Destination::Nowhere,
            ),
            ("tests for the head", DestinationFacts { tests: true, ..head }, Destination::Branch),
            ("a fork", DestinationFacts { foreign: true, ..plain }, Destination::Stored),
            (
                "a fork, for the head",
                DestinationFacts { foreign: true, ..head },
                Destination::Stored,
            ),
            (
                "a fork, dry",
                DestinationFacts { foreign: true, dry: true, ..plain },
                Destination::Nowhere,
            ),
            ("looked at first", suggest, Destination::Stored),
            (
                "tests, looked at first",
                DestinationFacts { tests: true, ..suggest },
                Destination::Stored,
            ),
            (
                "a token that reads",
                DestinationFacts { writes: false, ..suggest },
                Destination::Nowhere,
            ),
            ("a working job", DestinationFacts { works_only: true, ..plain }, Destination::Nowhere),
        ];
        for (why, facts, expected) in table {
            assert_eq!(facts.destination(), expected, "{why}");
        }
    }
}
