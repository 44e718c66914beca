//! Phase 3 without a model: derives requirements from functions (specification.md 6.1, 8.8).

use std::collections::BTreeSet;

use crate::code::behaviour::Behaviour;
use crate::code::demands::find_demands;
use crate::code::language::Language;
use crate::code::lint::{self, Project};
use crate::code::signature::unread_examples;
use crate::domain::id::RepoPath;
use crate::domain::test_plan::layer::SubLayer;
use crate::domain::test_plan::plan::TestPlan;
use crate::domain::test_plan::requirement::{PlannedFile, Requirement};
use crate::domain::text::{count, has_word};

use super::code_requirements::CodeRequirements;
use super::coverage::{ExecutedLines, TestReach, callable};
use super::stated_requirements::{
    DemandOutcome, DemandTarget, documented_results, understand_demand,
};
use super::survey::Survey;

/// Maximum number of requirements per file beyond the first of each function; the others are counted.
const PER_FILE: usize = 40;

/// Maximum number of findings to keep.
const FINDINGS: usize = 100;

/// Adds the requirements of the files, unless executed lines in `ran` meet them: first the demands of
/// the request, then what is documented, then what the code says by itself. A file of which nothing
/// follows is left out of the plan.
pub fn derive_requirements(plan: &mut TestPlan, survey: &Survey, ran: &ExecutedLines) {
    let mut planned = Vec::new();
    for mut file in std::mem::take(&mut plan.files) {
        let functions = functions_of(&file, survey);
        let (stated, derived) = of_file(&file, &functions, (survey, &plan.description), ran);
        if stated.is_empty() && derived.is_empty() {
            let why = "no requirement can be derived from its source";
            plan.left_out.push(format!("{}: {}, and {why}", file.file, file.reason));
            continue;
        }
        let all = derived.len();
        let kept = fewest(derived);
        if kept.len() < all {
            let more = count(all - kept.len(), "requirement");
            plan.left_out.push(format!("{}: {more} beyond the limit of one file", file.file));
        }
        file.requirements = stated.into_iter().chain(kept).collect();
        planned.push((file, functions));
    }
    if plan.source_session_id.is_none() {
        plan.not_understood = add_demands(&plan.description, &mut planned, survey);
    }
    for (file, functions) in &planned {
        let names = functions.iter().map(|one| one.short_name().to_owned()).collect();
        let unread = Language::of(&file.file)
            .map(|language| unread_examples(language, survey.text(&file.file), &names));
        // What only contains the name of a function, such as `budget(` for `get`, calls another one.
        let calls = |code: &String| functions.iter().any(|one| has_word(code, one.short_name()));
        let unread = unread.into_iter().flatten().filter(calls);
        plan.unread_examples.extend(unread.map(|code| format!("`{code}` ({})", file.file)));
    }
    plan.files = planned.into_iter().map(|(file, _)| file).collect();
    let all = plan.files.iter_mut().flat_map(|file| &mut file.requirements);
    for (number, one) in (1..).zip(all) {
        one.id = format!("R-{number:03}");
    }
    plan.issues = issues(&plan.files, survey);
}

fn functions_of(planned: &PlannedFile, survey: &Survey) -> Vec<Behaviour> {
    let file = &planned.file;
    let only = [(file.clone(), planned.functions.iter().cloned().collect())].into();
    callable(file, survey.text(file), &only)
}

/// What documentation states about a file, and what its code says.
fn of_file(
    planned: &PlannedFile,
    functions: &[Behaviour],
    (survey, request): (&Survey, &str),
    ran: &ExecutedLines,
) -> (Vec<Requirement>, Vec<Requirement>) {
    let file = &planned.file;
    let reach = TestReach::of(file, &planned.tests, survey, ran);
    let stated = documented_results(file, functions, &planned.tests, (survey, request));
    (stated, CodeRequirements::of_functions(file, functions, survey, reach))
}

/// Adds each demand to the file that it is about, and returns the others with the reason.
fn add_demands(
    description: &str,
    planned: &mut [(PlannedFile, Vec<Behaviour>)],
    survey: &Survey,
) -> Vec<String> {
    let names: Vec<String> = planned
        .iter()
        .flat_map(|(file, functions)| {
            let own = functions.iter().map(|one| one.name.clone());
            own.chain([file.file.as_str().to_owned()])
        })
        .collect();
    let demands = find_demands(description, names.iter().map(String::as_str));
    let mut found: Vec<(RepoPath, Requirement)> = Vec::new();
    let mut not_understood = Vec::new();
    let targets: Vec<DemandTarget<'_>> = planned
        .iter()
        .flat_map(|(file, functions)| {
            functions.iter().map(|function| DemandTarget {
                file: &file.file,
                function,
                required: &file.requirements,
                text: lines_of(survey.text(&file.file), function),
            })
        })
        .collect();
    for demand in demands {
        match understand_demand(&demand, &targets) {
            DemandOutcome::Understood(file, one) => found.push((file, one)),
            DemandOutcome::Stated => {}
            DemandOutcome::NotUnderstood(why) => not_understood.push(why),
        }
    }
    drop(targets);
    for (file, one) in found.into_iter().rev() {
        if let Some((own, _)) = planned.iter_mut().find(|(own, _)| own.file == file) {
            own.requirements.insert(0, one);
        }
    }
    not_understood
}

fn lines_of(text: &str, function: &Behaviour) -> String {
    let inside = |(number, line): (u32, &str)| {
        (function.start..=function.end).contains(&number).then(|| line.to_owned())
    };
    (1..).zip(text.lines()).filter_map(inside).collect::<Vec<_>>().join("\n")
}

/// Keeps the most important requirements: the first of each function, errors, then edges.
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

/// Placeholder code in the files to be tested, which is pointless (specification.md 6.3).
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
                    is_branch: false,
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
