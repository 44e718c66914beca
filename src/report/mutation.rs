//! Renders a mutation score as Markdown, and as lines for a terminal.

use crate::domain::mutation::{LineReach, Mutant, Preparation, Score};
use crate::domain::text::count;

use super::markdown::{cell, line};

/// Number of surviving mutants that are listed.
const LISTED: usize = 200;

/// The score as text, `84.2 %`; `none` when nothing was tried.
pub fn percent(score: &Score) -> String {
    score.per_mille().map_or_else(|| "none".to_owned(), |share| format!("{share} %"))
}

/// Sums the score up in one sentence.
pub fn headline(score: &Score) -> String {
    if score.stopped {
        let Score { covered, tried, noticed, .. } = score;
        return match covered {
            0 => "Stopped on request before the first mutant".into(),
            _ => {
                format!("Stopped on request after {tried} of {covered} mutants: {noticed} detected")
            }
        };
    }
    if let Some(part) = score.cut_short {
        let part = match part {
            Preparation::Suite => "the suite ran for the first time",
            Preparation::Traces => "the tests ran to show which lines they reach",
        };
        return format!(
            "Not measured: the time limit was reached while {part}; raise it with `--budget-minutes`"
        );
    }
    if score.tried == 0 {
        return "No mutant could be made on a line that a test reaches".into();
    }
    let away = match score.mutants.saturating_sub(score.covered) {
        0 => String::new(),
        away if score.reach == LineReach::Suite => {
            format!("; {away} more on lines that no test runs are not counted")
        }
        away => format!(
            "; {away} more on lines that run only while a file is loaded, or never, are not counted"
        ),
    };
    if !score.is_measured() {
        return format!(
            "Not measured: {} of {} on covered lines tried, {} detected{away}",
            score.tried,
            count(score.covered, "mutant"),
            score.noticed
        );
    }
    let verdict = if score.is_met() { "at least" } else { "below" };
    format!(
        "Tests detect {} of {} ({}, {verdict} the required {} %){away}",
        score.noticed,
        count(score.tried, "mutant"),
        percent(score),
        score.threshold
    )
}

/// Caveats that a reader must know besides the number, as sentences.
pub fn remarks(score: &Score) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(commit) = &score.commit {
        let away = match score.uncommitted {
            0 => String::new(),
            number => {
                format!("; the changes of {} are not in it", count(number, "uncommitted file"))
            }
        };
        found.push(format!("measured on commit {}{away}", commit.short()));
    }
    let known = score.tried + score.unviable;
    if known < score.covered && !score.stopped {
        let left = count(score.covered - known, "mutant");
        found.push(format!("{known} of {} were tried; {left} not", score.covered));
    }
    if score.unviable > 0 {
        let text = count(score.unviable, "mutant");
        found.push(format!("{text} refused by the compiler and not counted"));
    }
    if score.types_unchecked {
        found.push(
            "no compiler refused any: where running the tests checks no types, versions that \
             TypeScript would refuse are counted"
                .into(),
        );
    }
    if score.hung > 0 {
        let text = count(score.hung, "mutant");
        found.push(format!("{text} made a test hang or crash, which counts as detected"));
    }
    let counted = match score.reach {
        LineReach::Known => None,
        LineReach::Suite => Some("every line that it runs counts, also while a file is loaded"),
        LineReach::Unknown => Some("every line counts"),
    };
    found.extend(counted.map(|counted| {
        format!("the suite does not report which lines a test reaches, so {counted}")
    }));
    if !score.left_out.is_empty() {
        let text = count(score.left_out.len(), "test");
        found.push(format!("{text} not used for the score, because they do not pass"));
    }
    found
}

/// A surviving mutant on one line, safe to print on a terminal.
pub fn survivor(mutant: &Mutant) -> String {
    let place = format!("{}:{}", line(mutant.file.as_str(), 200), mutant.line);
    let (before, after) = (line(&mutant.before, 160), line(&mutant.after, 160));
    let after = if after.is_empty() { "(nothing)".to_owned() } else { after };
    format!("{place}  {}: {before}  →  {after}", mutant.operator)
}

pub fn markdown(score: &Score) -> String {
    let mut text = format!("### Mutation score\n\n{}.\n", headline(score));
    for remark in remarks(score) {
        text.push_str(&format!("\n- {remark}"));
    }
    text.push_str(&format!(
        "\n- {} asked, {} of {} lines that can be broken are reached, {:.1} s\n",
        count(score.tests, "test"),
        score.lines_covered,
        score.lines,
        score.seconds
    ));
    if score.survivors.is_empty() {
        return text;
    }
    text.push_str(
        "\nSurviving mutants:\n\n| place | operator | before | after |\n|:--|:--|:--|:--|\n",
    );
    for mutant in score.survivors.iter().take(LISTED) {
        text.push_str(&format!(
            "| {} | {} | {} | {} |\n",
            cell(&format!("{}:{}", mutant.file, mutant.line)),
            mutant.operator,
            cell(&mutant.before),
            cell(&mutant.after)
        ));
    }
    if score.survivors.len() > LISTED {
        text.push_str(&format!("\nand {} more.\n", score.survivors.len() - LISTED));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::{CommitId, RepoPath};

    #[test]
    fn survivors_are_listed_and_hostile_code_stays_in_its_cell() {
        let survivor = |before: &str, after: &str| Mutant {
            file: RepoPath::parse("shop/cart.py").unwrap(),
            line: 3,
            operator: "comparison".into(),
            before: before.into(),
            after: after.into(),
        };
        let score = Score {
            mutants: 42,
            covered: 40,
            tried: 39,
            noticed: 30,
            hung: 1,
            tests: 4,
            lines: 8,
            lines_covered: 6,
            threshold: 80,
            seconds: 1.25,
            survivors: vec![
                survivor("if a < b:", "if a <= b:"),
                survivor("x = \"`|<img>@ada\"", "x = 1"),
            ],
            ..Score::default()
        };
        insta::assert_snapshot!(markdown(&score), @r##"
    ### Mutation score

    Tests detect 30 of 39 mutants (76.9 %, below the required 80 %); 2 more on lines that run only while a file is loaded, or never, are not counted.

    - 39 of 40 were tried; 1 mutant not
    - 1 mutant made a test hang or crash, which counts as detected
    - 4 tests asked, 6 of 8 lines that can be broken are reached, 1.2 s

    Surviving mutants:

    | place | operator | before | after |
    |:--|:--|:--|:--|
    | `shop/cart.py:3` | comparison | `if a < b:` | `if a <= b:` |
    | `shop/cart.py:3` | comparison | ``x = "`\|<img>@ada"`` | `x = 1` |
    "##);
        let stopped = Score {
            stopped: true,
            commit: Some(CommitId::parse("a1".repeat(20)).unwrap()),
            uncommitted: 1,
            ..score.clone()
        };
        assert_eq!(headline(&stopped), "Stopped on request after 39 of 40 mutants: 30 detected");
        let place = "measured on commit a1a1a1a1; the changes of 1 uncommitted file are not in it";
        assert_eq!(remarks(&stopped).first().map(String::as_str), Some(place));
        let before = headline(&Score::of_stopped_run(60));
        assert_eq!(before, "Stopped on request before the first mutant");
        let cut = headline(&Score::of_cut_run(60, Preparation::Suite));
        let expected = "Not measured: the time limit was reached while the suite ran for the first time; raise it with `--budget-minutes`";
        assert_eq!(cut, expected);
        let whole = Score { reach: LineReach::Suite, ..score.clone() };
        let away = "; 2 more on lines that no test runs are not counted";
        assert!(headline(&whole).ends_with(away), "{}", headline(&whole));
        let counted = "the suite does not report which lines a test reaches, so every line that it runs counts, also while a file is loaded";
        assert!(remarks(&whole).iter().any(|one| one == counted), "{:?}", remarks(&whole));
        let few = headline(&Score { tried: 9, noticed: 7, ..score });
        assert_eq!(
            few,
            "Not measured: 9 of 40 mutants on covered lines tried, 7 detected; 2 more on lines that run only while a file is loaded, or never, are not counted"
        );
        assert_eq!(percent(&Score::default()), "none");
    }
}
