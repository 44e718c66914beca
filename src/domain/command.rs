//! What a person asks for in a comment, as values.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::id::{CommitId, SessionId};

/// A verb of a comment command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    Test,
    Plan,
    Fix,
    Resume,
    Continue,
    Integration,
    Refactor,
    Status,
    Validate,
    Issue,
    Rollback,
    Stop,
    Confirm,
    Adjust,
    Pick,
    Score,
    Extend,
    Report,
    Help,
    Run,
    ShowPlan,
    Cancel,
    Session,
    Complete,
    Sync,
    Estimate,
    Explain,
    Undo,
    Rebase,
    Recreate,
    Apply,
}

/// What a follow-up issue is about (product.md 9.4).
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

impl Dimension {
    /// All, with the words people write.
    pub const ALL: [(&'static str, Self); 4] = [
        ("test", Self::Test),
        ("enhance", Self::Enhance),
        ("refactor", Self::Refactor),
        ("doc", Self::Doc),
    ];

    /// Reads the word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(name, _)| *name == word).map(|(_, dimension)| *dimension)
    }
}

/// Flags a comment may carry. Absent means: as configured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flags {
    /// Iterations at most.
    pub max_iterations: Option<u32>,
    /// Wall time in minutes.
    pub minutes: Option<u64>,
    /// Dollars.
    pub usd: Option<f64>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// Questions to providers.
    pub calls: Option<u64>,
    /// Store the result for `apply` and make no branch.
    pub suggest: bool,
    /// Work and show the result; push nothing and keep nothing.
    pub dry_run: bool,
    /// Keep the whole change.
    pub no_minimise: bool,
    /// Ask nothing. It is the default.
    pub yes: bool,
}

/// A complete command.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Run the loop on the head under test.
    Fix { flags: Flags },
    /// Go on with a stopped session; `resume` and `continue` are the same for test sessions.
    Resume { session: Option<SessionId>, flags: Flags },
    /// Write tests for something on the head under test, judge them, run them, fix what fails.
    Test { what: String, flags: Flags },
    /// Plan such tests and stop there.
    Plan { what: String, flags: Flags },
    /// Carry a plan out.
    Run { flags: Flags },
    /// Write tests for what the last fix changed.
    Extend { flags: Flags },
    /// Run the tests and say where the failures come from; change nothing.
    Explain { flags: Flags },
    /// Begin again in the place of the fix branch.
    Recreate { flags: Flags },
    /// Look through the change for what generated code gets wrong; with `fix`, offer safe repairs.
    Validate { strict: bool, fix: bool },
    /// Show the plan.
    ShowPlan,
    /// Drop the plan.
    Cancel,
    /// Say what a run would take.
    Estimate,
    /// Set the fix branch on top of the present head.
    Rebase,
    /// End the session as it is.
    Complete,
    /// Write down what the session teaches.
    Sync,
    /// Show the sessions.
    Status,
    /// Finish the running step, save, exit.
    Stop,
    /// Take the fix of one iteration back; the last kept one when none is named.
    Rollback { iteration: Option<u32> },
    /// Open follow-up issues.
    Issue { dimensions: Vec<Dimension> },
    /// Post the report.
    Report,
    /// Post the table of commands.
    Help,
    /// Publish exactly this stored result.
    Apply { commit: CommitId },
    /// A verb that is known and not built yet.
    Later { verb: Verb },
}

/// What the configuration grants a run. `None` is no limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ceiling {
    /// Iterations.
    pub max_iterations: Option<u32>,
    /// Wall time in minutes.
    pub minutes: Option<u64>,
    /// Dollars.
    pub usd: Option<f64>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// Questions to providers.
    pub calls: Option<u64>,
}

impl Flags {
    /// The limits that hold: each flag as far as the ceiling allows, else the ceiling itself; and
    /// the names of the flags that asked for more.
    ///
    /// Source: product.md 13.18, commands lower money and iterations and never raise them.
    #[must_use]
    pub fn within(&self, ceiling: &Ceiling) -> (Ceiling, Vec<&'static str>) {
        let mut above = Vec::new();
        let limits = Ceiling {
            max_iterations: lower(
                "--max-iterations",
                self.max_iterations,
                ceiling.max_iterations,
                &mut above,
            ),
            minutes: lower("--budget-minutes", self.minutes, ceiling.minutes, &mut above),
            usd: lower("--budget-usd", self.usd, ceiling.usd, &mut above),
            tokens: lower("--budget-tokens", self.tokens, ceiling.tokens, &mut above),
            calls: lower("--budget-calls", self.calls, ceiling.calls, &mut above),
        };
        (limits, above)
    }
}

fn lower<T: PartialOrd + Copy>(
    name: &'static str,
    asked: Option<T>,
    ceiling: Option<T>,
    above: &mut Vec<&'static str>,
) -> Option<T> {
    match (asked, ceiling) {
        (Some(asked), Some(ceiling)) if asked > ceiling => {
            above.push(name);
            Some(ceiling)
        }
        (asked, ceiling) => asked.or(ceiling),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_lowers_and_never_raises() {
        let ceiling = Ceiling { max_iterations: Some(10), usd: Some(2.0), ..Ceiling::default() };
        let table = [
            ("nothing asked", None, None, (Some(10), Some(2.0)), vec![]),
            ("lower", Some(3), Some(0.5), (Some(3), Some(0.5)), vec![]),
            ("equal", Some(10), Some(2.0), (Some(10), Some(2.0)), vec![]),
            ("raised", Some(11), Some(0.5), (Some(10), Some(0.5)), vec!["--max-iterations"]),
            ("money raised", None, Some(2.01), (Some(10), Some(2.0)), vec!["--budget-usd"]),
        ];
        for (why, max_iterations, usd, expected, above) in table {
            let flags = Flags { max_iterations, usd, ..Flags::default() };
            let (limits, said) = flags.within(&ceiling);
            assert_eq!((limits.max_iterations, limits.usd), expected, "{why}");
            assert_eq!(said, above, "{why}");
        }
        let free = Flags { calls: Some(7), ..Flags::default() }.within(&Ceiling::default());
        assert_eq!((free.0.calls, free.1), (Some(7), vec![]), "no ceiling");
    }
}
