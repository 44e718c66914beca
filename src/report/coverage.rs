//! The lines that tests execute, against the thresholds.

use crate::domain::coverage::{CoverageResult, Share};

use super::markdown::{cell, line};

/// A share in percent with its counts, or that nothing was measured.
fn share(share: Share) -> String {
    share.percent().map_or_else(
        || "none measured".to_owned(),
        |percent| format!("{percent} % ({} of {})", share.part, share.whole),
    )
}

/// Coverage on one line, for a terminal.
pub fn describe(reached: &CoverageResult) -> String {
    match reached {
        CoverageResult::Unmeasured { reason } => format!("not measured: {}", line(reason, 200)),
        CoverageResult::Measured { before, after, target, .. } => {
            let pairs = before.named(*target).into_iter().zip(after.named(*target));
            let parts = pairs.filter_map(|((name, before, asked), (_, after, _))| {
                let (was, is) = (before.percent().unwrap_or_default(), after.percent()?);
                let short = if after.is_below(asked) { ", too few" } else { "" };
                Some(format!("{name} {was} to {is} % (at least {asked} %{short})"))
            });
            let parts: Vec<String> = parts.collect();
            if parts.is_empty() { "there is nothing to run".to_owned() } else { parts.join(", ") }
        }
    }
}

/// The coverage section of `test-quality-report.md`.
pub fn markdown(reached: &CoverageResult) -> String {
    match reached {
        CoverageResult::Unmeasured { reason } => {
            format!(
                "\n## Coverage\n\nNot measured, so it decides nothing: {}.\n",
                cell(&line(reason, 500))
            )
        }
        CoverageResult::Measured { command, before, after, target } => {
            let mut text = format!(
                "\n## Coverage\n\nOf the functions that were asked for, by {}.\n\n\
                 | What | Before | With the new tests | Asked for |\n|---|--:|--:|--:|\n",
                cell(&line(command, 200))
            );
            let pairs = before.named(*target).into_iter().zip(after.named(*target));
            for ((name, was, asked), (_, is, _)) in pairs {
                text.push_str(&format!(
                    "| {name} | {} | {} | {asked} % |\n",
                    share(was),
                    share(is)
                ));
            }
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::coverage::{CoverageTarget, Shares};

    #[test]
    fn what_is_short_is_named_and_what_is_not_told_decides_nothing() {
        let of = |part, whole| Share { part, whole };
        let reached = CoverageResult::Measured {
            command: "cov | run `x`".into(),
            before: Shares { line: of(1, 10), branch: of(0, 4), function: Share::default() },
            after: Shares { line: of(9, 10), branch: of(1, 4), function: Share::default() },
            target: CoverageTarget::default(),
        };
        insta::assert_snapshot!(describe(&reached), @"lines 10 to 90 % (at least 80 %), branches 0 to 25 % (at least 70 %, too few)");
        insta::assert_snapshot!(markdown(&reached), @r"
        ## Coverage

        Of the functions that were asked for, by `` cov \| run `x` ``.

        | What | Before | With the new tests | Asked for |
        |---|--:|--:|--:|
        | lines | 10 % (1 of 10) | 90 % (9 of 10) | 80 % |
        | branches | 0 % (0 of 4) | 25 % (1 of 4) | 70 % |
        | functions | none measured | none measured | 90 % |
        ");
        let unmeasured = CoverageResult::Unmeasured { reason: "coverage.py is not here".into() };
        assert_eq!(describe(&unmeasured), "not measured: coverage.py is not here");
        assert!(markdown(&unmeasured).contains("it decides nothing: "));
    }
}
