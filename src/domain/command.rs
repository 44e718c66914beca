//! `Command`: a command that a person gives in a comment, with its flags and limits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::id::{CommitId, SessionId};
use super::integration::records::Adjustment;

/// What a follow-up issue is about (specification.md 9.4).
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Dimension {
    Test,
    Enhance,
    Refactor,
    Doc,
}

display_stored_name!(Dimension);

/// Limits of a run. `None` sets no limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunLimits {
    pub max_iterations: Option<u32>,
    pub minutes: Option<u64>,
    pub usd: Option<f64>,
    pub tokens: Option<u64>,
    pub calls: Option<u64>,
}

/// The flags of a command; an absent flag leaves the configured value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flags {
    /// Requested limits, which can only lower the configured ones.
    pub limits: RunLimits,
    /// Store the result for `apply` instead of pushing a branch.
    pub suggest: bool,
    /// Show the result without pushing or storing it.
    pub dry_run: bool,
    /// Skip the minimisation of the fix.
    pub no_minimise: bool,
    /// Do not ask for approval, which is the default.
    pub yes: bool,
    /// End without running the suite where no test is missing.
    pub only_missing: bool,
}

/// A complete command of a comment.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Run the tests on the head under test and fix them.
    Fix {
        flags: Flags,
    },
    /// Continue a stopped session, or the newest one.
    Resume {
        session: Option<SessionId>,
        flags: Flags,
    },
    /// Write tests for `what`, check their quality, run them, and fix what fails.
    Test {
        what: String,
        flags: Flags,
    },
    /// Plan tests for `what` without writing them.
    Plan {
        what: String,
        flags: Flags,
    },
    Run {
        flags: Flags,
    },
    /// Write integration tests for a module.
    Integration {
        module: String,
        flags: Flags,
    },
    /// Carry out the design of integration tests that waits.
    Confirm {
        flags: Flags,
    },
    /// Change the design that waits, and show it again.
    Adjust {
        adjustment: Adjustment,
        flags: Flags,
    },
    /// Write tests for what the last fix changed.
    Extend {
        flags: Flags,
    },
    /// Run the tests and explain the failures; change nothing.
    Explain {
        flags: Flags,
    },
    /// Replace the fix branch by a new attempt.
    Recreate {
        flags: Flags,
    },
    /// Check the change for mistakes typical of generated code; with `fix`, offer safe repairs.
    Validate {
        strict: bool,
        fix: bool,
    },
    ShowPlan,
    Cancel,
    /// Estimate time and cost of a run.
    Estimate,
    /// Rebase the fix branch onto the current head.
    Rebase,
    /// End the session as it is.
    Complete,
    /// Record what the session learned.
    Sync,
    Status,
    /// Finish the current step, save and exit.
    Stop,
    /// Revert the fix of one iteration, or the newest.
    Rollback {
        iteration: Option<u32>,
    },
    /// Opens follow-up issues.
    Issue {
        dimensions: Vec<Dimension>,
    },
    Report,
    /// Post the table of commands.
    Help,
    /// Publish exactly this stored result.
    Apply {
        commit: CommitId,
    },
}

impl Command {
    /// The flags of a command that starts a run; `None` for one that is answered at once.
    pub fn run_flags(&self) -> Option<&Flags> {
        match self {
            Self::Fix { flags }
            | Self::Resume { flags, .. }
            | Self::Test { flags, .. }
            | Self::Plan { flags, .. }
            | Self::Run { flags }
            | Self::Integration { flags, .. }
            | Self::Confirm { flags }
            | Self::Adjust { flags, .. }
            | Self::Explain { flags }
            | Self::Recreate { flags } => Some(flags),
            _ => None,
        }
    }
}

impl Flags {
    /// Caps each requested limit at `ceiling`; also returns the names of the flags that exceeded
    /// it.
    ///
    /// Source: specification.md 2.5, commands lower money and iterations and never raise them.
    pub fn within(&self, ceiling: &RunLimits) -> (RunLimits, Vec<&'static str>) {
        let (own, mut above) = (&self.limits, Vec::new());
        let limits = RunLimits {
            max_iterations: lower(
                "--max-iterations",
                own.max_iterations,
                ceiling.max_iterations,
                &mut above,
            ),
            minutes: lower("--budget-minutes", own.minutes, ceiling.minutes, &mut above),
            usd: lower("--budget-usd", own.usd, ceiling.usd, &mut above),
            tokens: lower("--budget-tokens", own.tokens, ceiling.tokens, &mut above),
            calls: lower("--budget-calls", own.calls, ceiling.calls, &mut above),
        };
        (limits, above)
    }
}

fn lower<T: PartialOrd + Copy>(
    name: &'static str,
    requested: Option<T>,
    ceiling: Option<T>,
    above: &mut Vec<&'static str>,
) -> Option<T> {
    match (requested, ceiling) {
        (Some(requested), Some(ceiling)) if requested > ceiling => {
            above.push(name);
            Some(ceiling)
        }
        (requested, ceiling) => requested.or(ceiling),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_lowers_and_never_raises() {
        let ceiling =
            RunLimits { max_iterations: Some(10), usd: Some(2.0), ..RunLimits::default() };
        let table = [
            ("no flag", None, None, (Some(10), Some(2.0)), vec![]),
            ("lower", Some(3), Some(0.5), (Some(3), Some(0.5)), vec![]),
            ("equal", Some(10), Some(2.0), (Some(10), Some(2.0)), vec![]),
            ("raised", Some(11), Some(0.5), (Some(10), Some(0.5)), vec!["--max-iterations"]),
            ("money raised", None, Some(2.01), (Some(10), Some(2.0)), vec!["--budget-usd"]),
        ];
        for (why, max_iterations, usd, expected, above) in table {
            let limits = RunLimits { max_iterations, usd, ..RunLimits::default() };
            let flags = Flags { limits, ..Flags::default() };
            let (limits, names) = flags.within(&ceiling);
            assert_eq!((limits.max_iterations, limits.usd), expected, "{why}");
            assert_eq!(names, above, "{why}");
        }
        let limits = RunLimits { calls: Some(7), ..RunLimits::default() };
        let free = Flags { limits, ..Flags::default() }.within(&RunLimits::default());
        assert_eq!((free.0.calls, free.1), (Some(7), vec![]), "no ceiling");
    }
}
