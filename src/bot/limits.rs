//! What a run may use and where its result goes, from configuration, inputs and flags.

use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::config::Budget;
use crate::config::inputs::Value;
use crate::config::precedence::Effective;
use crate::domain::command::Ceiling;

use super::action::{Run, Trouble};
use super::commits::Goes;
use super::start::{Wish, Work};

/// What the configuration grants a run.
pub fn ceiling(effective: &[Effective], budget: Option<&Budget>) -> Ceiling {
    let value = |key: &str| effective.iter().find(|one| one.key == key)?.value.clone();
    let whole = |key: &str| match value(key) {
        Some(Value::Whole(number)) => Some(number),
        _ => None,
    };
    Ceiling {
        max_iterations: whole("gate.max-iterations").and_then(|number| u32::try_from(number).ok()),
        minutes: whole("budget.minutes"),
        usd: match value("budget.usd") {
            Some(Value::Amount(amount)) => Some(amount),
            _ => None,
        },
        tokens: budget.and_then(|budget| budget.tokens),
        calls: budget.and_then(|budget| budget.calls),
    }
}

/// Globs of the configuration that no edit may touch.
pub fn protect(globs: &[String]) -> Result<GlobSet, Trouble> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(Glob::new(glob).map_err(|error| {
            Trouble::usage(format!("`protect`: {error}"), "write it like `migrations/**`")
        })?);
    }
    set.build().map_err(|error| Trouble::usage(format!("`protect`: {error}"), "use fewer patterns"))
}

/// All that the way of a result depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Anything may be written at all.
    pub writes: bool,
    /// The code comes from another repository.
    pub foreign: bool,
    /// This job only works; another one publishes.
    pub working: bool,
    /// A person looks before anything is pushed.
    pub suggest: bool,
    /// Nothing is left behind.
    pub dry: bool,
    /// It writes tests.
    pub tests: bool,
    /// `commit` of the configuration keeps the result where it was made.
    pub stays: bool,
    /// `push` of the configuration.
    pub push: Goes,
}

impl Way {
    /// Where the result goes. The first rule that holds wins.
    ///
    /// A stranger's code, and what a person wants to see first, is stored beside the branches and
    /// waits for `/regreen apply`. Tests that were written are offered, not put where their author
    /// did not ask for them.
    #[must_use]
    pub fn goes(self) -> Goes {
        match self {
            Self { writes: false, .. }
            | Self { working: true, .. }
            | Self { dry: true, .. }
            | Self { stays: true, .. } => Goes::Nowhere,
            Self { foreign: true, .. } | Self { suggest: true, .. } => Goes::Stored,
            Self { tests: true, push: Goes::Head, .. } => Goes::Branch,
            Self { push, .. } => push,
        }
    }
}

/// The way of the result of a wish.
pub fn way(run: &Run<'_>, effective: &[Effective], wish: &Wish) -> Way {
    let value = |key: &str| effective.iter().find(|one| one.key == key)?.value.clone();
    Way {
        writes: run.target.writes,
        foreign: run.target.foreign,
        working: run.around.text("mode") == Some("work"),
        suggest: wish.flags.suggest || run.around.text("fix-mode") == Some("suggest"),
        dry: wish.flags.dry_run || wish.work == Work::Explain,
        tests: matches!(wish.work, Work::Test(_) | Work::Plan(_) | Work::Run),
        stays: value("commit").is_some_and(|word| word != Value::Text("push".into())),
        push: match value("push") {
            Some(Value::Text(word)) if word == "none" => Goes::Nowhere,
            Some(Value::Text(word)) if word == "head" => Goes::Head,
            _ => Goes::Branch,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_holds_decides_where_a_result_goes() {
        let plain = Way {
            writes: true,
            foreign: false,
            working: false,
            suggest: false,
            dry: false,
            tests: false,
            stays: false,
            push: Goes::Branch,
        };
        let table = [
            ("as configured", plain, Goes::Branch),
            ("the head", Way { push: Goes::Head, ..plain }, Goes::Head),
            ("nowhere", Way { push: Goes::Nowhere, ..plain }, Goes::Nowhere),
            ("kept local", Way { stays: true, suggest: true, ..plain }, Goes::Nowhere),
            ("tests for the head", Way { push: Goes::Head, tests: true, ..plain }, Goes::Branch),
            ("a stranger's", Way { foreign: true, ..plain }, Goes::Stored),
            ("a stranger's, dry", Way { foreign: true, dry: true, ..plain }, Goes::Nowhere),
            ("looked at first", Way { suggest: true, push: Goes::Head, ..plain }, Goes::Stored),
            ("a token that reads", Way { writes: false, suggest: true, ..plain }, Goes::Nowhere),
            ("a working job", Way { working: true, ..plain }, Goes::Nowhere),
        ];
        for (why, way, expected) in table {
            assert_eq!(way.goes(), expected, "{why}");
        }
    }
}
