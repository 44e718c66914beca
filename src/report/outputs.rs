//! The outputs of a job, for later steps of it.

use super::final_state::FinalState;
use super::forge_page::ForgePage;
use super::markdown::line;
use super::view::View;

/// Number of tests that an output lists; all outputs of a job together may hold 1 MB.
const LISTED: usize = 500;

/// All outputs that `action.yml` names, in its order (specification.md 2.3). `report` is where
/// later steps of the job find the report, if that is not where the session stored it, and `bundle`
/// where commits are kept that were not pushed. Outputs that are not known yet are empty.
pub fn outputs(
    view: &View,
    page: &ForgePage<'_>,
    report: Option<&str>,
    bundle: Option<&str>,
) -> Vec<(&'static str, String)> {
    let outcome = view.outcome.as_ref();
    let result = FinalState::of(view, page).map(|state| state.result(outcome));
    let degraded = match outcome {
        Some(outcome) => outcome.degraded,
        None => view.rows.iter().any(|row| row.degraded),
    };
    let report = report.or(outcome.map(|outcome| outcome.report.as_str())).unwrap_or_default();
    let stuck = outcome.map_or(&[][..], |outcome| &outcome.stuck);
    vec![
        ("session-id", line(&view.session, 200)),
        ("result", result.unwrap_or_default()),
        ("pass-rate", view.rate().map_or_else(String::new, |rate| rate.to_string())),
        ("iterations", view.rows.len().to_string()),
        ("report-path", line(report, 4096)),
        (
            "commit-sha",
            outcome
                .and_then(|outcome| outcome.tip.as_ref())
                .map_or_else(String::new, ToString::to_string),
        ),
        ("bundle", line(bundle.unwrap_or_default(), 4096)),
        ("degraded", degraded.to_string()),
        (
            "stuck-tests",
            stuck
                .iter()
                .take(LISTED)
                .map(|test| line(test.as_str(), 300))
                .collect::<Vec<_>>()
                .join("\n"),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::inputs::OUTPUTS;

    #[test]
    fn outputs_are_those_of_the_action() {
        let named: Vec<_> = outputs(&View::default(), &ForgePage::default(), None, None)
            .iter()
            .map(|(name, _)| *name)
            .collect();
        let expected: Vec<_> = OUTPUTS.iter().map(|(name, _)| *name).collect();
        assert_eq!(named, expected);
    }
}
