//! The lines that tests execute, against the thresholds.

use crate::domain::coverage::{CoverageResult, Share};

use super::markdown::{cell, line};
use super::phrases::capital;

/// A share in percent with its counts, or that there is nothing to cover.
fn share(share: Share) -> String {
    share.percent().map_or_else(
        || "nothing to cover".to_owned(),
        |percent| format!("{percent} % ({} of {})", share.part, share.whole),
    )
}

/// What a screen says where nobody wants a measurement.
const DECLINED: &str = "not measured, as `--no-coverage` asks";

/// Coverage on one line, for a terminal.
pub fn describe(reached: &CoverageResult) -> String {
    match reached {
        CoverageResult::Declined => DECLINED.to_owned(),
        CoverageResult::Unmeasured { reason, .. } => format!("not measured: {}", line(reason, 200)),
        CoverageResult::Measured { before, after, target, lacks_branches, counted, .. } => {
            let pairs = before.named(*target).into_iter().zip(after.named(*target));
            let parts = pairs.filter_map(|((name, before, asked), (_, after, _))| {
                let is = after.percent()?;
                let was = before.percent().map_or_else(String::new, |was| format!("{was} to "));
                let short = if after.is_below(asked) { ", too few" } else { "" };
                let of = format!("{} of {}", after.part, after.whole);
                Some(format!("{name} {was}{is} % ({of}, at least {asked} %{short})"))
            });
            let unmeasured = lacks_branches.then(|| "branches not measured".to_owned());
            let parts: Vec<String> = parts.chain(unmeasured).collect();
            if parts.is_empty() {
                return "there is nothing to run".to_owned();
            }
            format!("{}, counted in {}", parts.join(", "), line(counted, 200))
        }
    }
}

/// The coverage section of `test-quality-report.md`.
pub fn markdown(reached: &CoverageResult) -> String {
    match reached {
        CoverageResult::Declined => format!("\n## Coverage\n\n{}.\n", capital(DECLINED)),
        CoverageResult::Unmeasured { reason, target } => {
            let consequence = if target.is_none() {
                "Not measured, and no target is set"
            } else {
                "Not measured, so no target is reached"
            };
            format!("\n## Coverage\n\n{consequence}: {}.\n", cell(&line(reason, 500)))
        }
        CoverageResult::Measured { command, counted, before, after, target, lacks_branches } => {
            let mut text = format!(
                "\n## Coverage\n\nCounted in {}, by {}.\n\n\
                 | What | Before | With the new tests | Asked for |\n|---|--:|--:|--:|\n",
                cell(&line(counted, 200)),
                cell(&line(command, 200))
            );
            let pairs = before.named(*target).into_iter().zip(after.named(*target));
            for ((name, was, asked), (_, is, _)) in pairs {
                let shown = |of: Share| match (name, lacks_branches) {
                    ("branches", true) => "not measured".to_owned(),
                    _ => share(of),
                };
                let is_new = was == Share::default() && is != was;
                let was = if is_new { "not measured".to_owned() } else { shown(was) };
                let is = shown(is);
                text.push_str(&format!("| {name} | {was} | {is} | {asked} % |\n"));
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
    fn what_is_short_is_named_and_so_is_what_could_not_be_measured() {
        let of = |part, whole| Share { part, whole };
        let reached = CoverageResult::Measured {
            command: "cov | run `x`".into(),
            counted: "shop.py".into(),
            before: Shares { line: of(1, 10), branch: of(0, 4), function: Share::default() },
            after: Shares { line: of(9, 10), branch: of(1, 4), function: Share::default() },
            target: CoverageTarget::default(),
            lacks_branches: false,
        };
        insta::assert_snapshot!(describe(&reached), @"lines 10 to 90 % (9 of 10, at least 80 %), branches 0 to 25 % (1 of 4, at least 70 %, too few), counted in shop.py");
        insta::assert_snapshot!(markdown(&reached), @r"
        ## Coverage

        Counted in `shop.py`, by `` cov \| run `x` ``.

        | What | Before | With the new tests | Asked for |
        |---|--:|--:|--:|
        | lines | 10 % (1 of 10) | 90 % (9 of 10) | 80 % |
        | branches | 0 % (0 of 4) | 25 % (1 of 4) | 70 % |
        | public functions | nothing to cover | nothing to cover | 90 % |
        ");
        let CoverageResult::Measured { command, counted, before, after, target, .. } = reached
        else {
            unreachable!("it was measured");
        };
        let first = CoverageResult::Measured {
            command: command.clone(),
            counted: counted.clone(),
            before: Shares::default(),
            after,
            target,
            lacks_branches: true,
        };
        assert!(describe(&first).starts_with("lines 90 % (9 of 10"), "{}", describe(&first));
        assert!(markdown(&first).contains("| lines | not measured | 90 % (9 of 10) | 80 % |"));
        let after = Shares { branch: Share::default(), ..after };
        let lacks_branches = true;
        let reached =
            CoverageResult::Measured { command, counted, before, after, target, lacks_branches };
        assert!(describe(&reached).contains("at least 80 %), branches not measured, counted in"));
        assert!(markdown(&reached).contains("| branches | not measured | not measured | 70 % |"));
        let reason = "coverage.py is not here";
        let unmeasured = |target| CoverageResult::Unmeasured { reason: reason.into(), target };
        assert_eq!(describe(&unmeasured(target)), "not measured: coverage.py is not here");
        assert!(markdown(&unmeasured(target)).contains("so no target is reached: "));
        let nothing = CoverageTarget { line: 0, branch: 0, function: 0, branch_is_set: true };
        assert!(markdown(&unmeasured(nothing)).contains("and no target is set: "));
        assert!(markdown(&CoverageResult::Declined).contains("as `--no-coverage` asks."));
    }
}
