//! Phase 3 without a model: derives requirements from functions (specification.md 6.1, 8.8).

use std::collections::BTreeSet;

use crate::code::lint::{self, Project};
use crate::domain::id::RepoPath;
use crate::domain::test_plan::layer::SubLayer;
use crate::domain::test_plan::plan::TestPlan;
use crate::domain::test_plan::requirement::{PlannedFile, Requirement};
use crate::domain::text::count;

use super::code_requirements::CodeRequirements;
use super::coverage::{ExecutedLines, TestReach, callable};
use super::survey::Survey;

/// Maximum number of requirements per file beyond the first of each function; the others are counted.
const PER_FILE: usize = 40;

/// Maximum number of findings to keep.
const FINDINGS: usize = 100;

/// Adds the requirements of the files, unless executed lines in `ran` meet them. A file from whose
/// source nothing follows is left out of the plan.
pub fn derive_requirements(plan: &mut TestPlan, survey: &Survey, ran: &ExecutedLines) {
    let mut number = 0;
    for mut file in std::mem::take(&mut plan.files) {
        let found = of_file(&file, survey, ran);
        if found.is_empty() {
            let why = "no requirement can be derived from its source";
            plan.left_out.push(format!("{}: {}, and {why}", file.file, file.reason));
            continue;
        }
        let all = found.len();
        let kept = fewest(found);
        if kept.len() < all {
            let more = count(all - kept.len(), "requirement");
            plan.left_out.push(format!("{}: {more} beyond the limit of one file", file.file));
        }
        for one in kept {
            number += 1;
            file.requirements.push(Requirement { id: format!("R-{number:03}"), ..one });
        }
        plan.files.push(file);
    }
    plan.issues = issues(&plan.files, survey);
}

fn of_file(planned: &PlannedFile, survey: &Survey, ran: &ExecutedLines) -> Vec<Requirement> {
    let file = &planned.file;
    let only = [(file.clone(), planned.functions.iter().cloned().collect())].into();
    let functions = callable(file, survey.text(file), &only);
    let reach = TestReach::of(file, &planned.tests, survey, ran);
    CodeRequirements::of_functions(file, &functions, survey, reach)
}

/// Keeps the most important requirements if there are too many: the first of each function, so that
/// none is left without a test, then errors and results before edges.
fn fewest(found: Vec<Requirement>) -> Vec<Requirement> {
    let mut functions = BTreeSet::new();
    let mut ranked: Vec<(bool, SubLayer, usize)> = found
        .iter()
        .enumerate()
        .map(|(at, one)| (!functions.insert(one.function.as_str()), one.layer, at))
        .collect();
    ranked.sort();
    let most = PER_FILE.max(functions.len());
    let chosen: BTreeSet<usize> = ranked.into_iter().take(most).map(|(.., at)| at).collect();
    let found = found.into_iter().enumerate().filter(|(at, _)| chosen.contains(at));
    found.map(|(_, one)| one).collect()
}

/// Placeholder code in the files to be tested (specification.md 6.3), because testing a placeholder is
/// pointless.
fn issues(files: &[PlannedFile], survey: &Survey) -> Vec<String> {
    let chosen: Vec<&RepoPath> = files.iter().map(|file| &file.file).collect();
    let findings = lint::scan(&chosen, &survey.texts, &Project::of(&survey.texts)).findings;
    let placeholders = findings.iter().filter(|one| one.category == "placeholder_code");
    placeholders
        .take(FINDINGS)
        .map(|one| format!("{} in `{}:{}`: {}", one.severity, one.file, one.line, one.message))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::test_plan::requirement::CODE;

    proptest::proptest! {
        #[test]
        fn the_most_important_requirements_of_a_file_stay_in_their_order(
            count in 0u32..90, functions in 1u32..60
        ) {
            let found: Vec<Requirement> = (1..=count)
                .map(|line| Requirement {
                    id: String::new(),
                    layer: if line % 3 == 0 { SubLayer::Happy } else { SubLayer::Edge },
                    function: format!("f{}", line % functions),
                    line,
                    text: String::new(),
                    source: CODE.into(),
                })
                .collect();
            let named = |list: &[Requirement]| -> BTreeSet<String> {
                list.iter().map(|one| one.function.clone()).collect()
            };
            let happy = found.iter().filter(|one| one.layer == SubLayer::Happy).count();
            let all = named(&found);
            let left = fewest(found);
            let most = PER_FILE.max(all.len());
            proptest::prop_assert_eq!(left.len(), usize::try_from(count).unwrap().min(most));
            proptest::prop_assert_eq!(named(&left), all);
            proptest::prop_assert!(left.windows(2).all(|pair| pair[0].line < pair[1].line));
            let left_happy = left.iter().filter(|one| one.layer == SubLayer::Happy).count();
            proptest::prop_assert!(left_happy == happy || functions > 1);
        }
    }
}
