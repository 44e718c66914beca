//! Scans source files for violations of the lint rules.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use tree_sitter::{Query, QueryCursor, StreamingIterator, Tree};

use crate::code::language::{LANGUAGES, Language};
use crate::code::tree::line;
use crate::code::{parallel, syntax};
use crate::domain::id::RepoPath;
use crate::domain::quality::Finding;

use super::catalogue::{rule, rules};
use super::project::Project;
use super::rule::{AppliesTo, Detection, LintRule};
use super::source::{Hit, Source};
use super::test_rules::empty::{NOTHING_ASSERTED, SETUP_ONLY, some_asserts};

/// The findings of a scan, and the files it could not scan.
#[derive(Debug, Default)]
pub struct ScanResult {
    pub findings: Vec<Finding>,
    /// Files that were not scanned because they are nested too deeply.
    pub too_deep: Vec<RepoPath>,
}

/// Scans the `chosen` files of a repository; rules look up other files of it in `files`.
pub fn scan(
    chosen: &[&RepoPath],
    files: &BTreeMap<RepoPath, String>,
    project: &Project,
) -> ScanResult {
    let results = parallel::map(chosen, |file| {
        let text = files.get(*file)?;
        Some(scan_file(file, text, files, project).ok_or_else(|| (*file).clone()))
    });
    let mut all = ScanResult::default();
    let mut some_assert = false;
    for result in results.into_iter().flatten() {
        match result {
            Ok((findings, asserts)) => {
                some_assert |= asserts;
                all.findings.extend(findings);
            }
            Err(file) => all.too_deep.push(file),
        }
    }
    // A smoke test beside files of tests that assert is no suite that checks nothing.
    if let Some(rule) = rule(SETUP_ONLY).filter(|_| some_assert) {
        for one in all.findings.iter_mut().filter(|one| one.id == NOTHING_ASSERTED) {
            let note = one.message.split_once(": ").map_or("", |(_, note)| note);
            *one = rule.finding(&one.file, one.line, note);
        }
    }
    let key = |one: &Finding| (one.file.clone(), one.line, one.id.clone(), one.message.clone());
    all.findings.sort_by_cached_key(key);
    all.findings.dedup_by(|one, other| key(one) == key(other));
    all.too_deep.sort();
    all
}

/// The findings of one file, and whether one of its tests asserts something; `None` if it is nested too deeply.
fn scan_file(
    file: &RepoPath,
    text: &str,
    files: &BTreeMap<RepoPath, String>,
    project: &Project,
) -> Option<(Vec<Finding>, bool)> {
    let Some(language) = Language::of(file) else { return Some((Vec::new(), false)) };
    let tree = language.parse(text)?;
    if tree.root_node().has_error() {
        return Some((syntax_error(file, language, text).into_iter().collect(), false));
    }
    let source = Source::new((file, text), language, &tree, files, project);
    let mut findings = Vec::new();
    let mut add = |rule: &LintRule, hit: &Hit| {
        let fits = match rule.applies {
            AppliesTo::Code => !source.is_test_line(hit.line) && !source.is_bench(),
            AppliesTo::Tests => source.is_test_line(hit.line),
            AppliesTo::Both => true,
        };
        if fits {
            findings.push(rule.finding(file, hit.line, &hit.note));
        }
    };
    match_patterns(&source, &tree, &mut add);
    for rule in rules() {
        // Skip rules that cannot apply to any line of this file.
        let idle = match rule.applies {
            AppliesTo::Code => source.test || source.is_bench(),
            AppliesTo::Tests => !source.has_tests() || source.is_bench(),
            AppliesTo::Both => false,
        };
        if let Detection::Function(languages, detect) = rule.detection
            && languages.contains(&language)
            && !idle
        {
            for hit in detect(&source) {
                add(rule, &hit);
            }
        }
    }
    Some((findings, !source.is_bench() && some_asserts(&source)))
}

/// The finding for a file with a syntax error. TypeScript declaration files are exempt: they use
/// syntax that the grammar does not support, and they are not executed.
fn syntax_error(file: &RepoPath, language: Language, text: &str) -> Option<Finding> {
    let declares = [".d.ts", ".d.mts", ".d.cts"].iter().any(|end| file.as_str().ends_with(end));
    let rule = rule("syntax-error").filter(|_| !declares)?;
    let place = syntax::first_error(language, text)?;
    let last = u32::try_from(text.lines().count()).unwrap_or(u32::MAX).max(1);
    // What is never closed ends after the last line.
    let note = if place.line > last {
        "at the end of the file".to_owned()
    } else {
        format!("at column {}", place.column)
    };
    Some(rule.finding(file, place.line.min(last), &note))
}

/// Runs the tree-sitter patterns of all rules over a file in one pass.
fn match_patterns(source: &Source<'_>, tree: &Tree, add: &mut impl FnMut(&LintRule, &Hit)) {
    let Some((query, rules)) = patterns(source.language) else { return };
    let here = query.capture_index_for_name("here");
    let mut cursor = QueryCursor::new();
    let mut matches = cursor.matches(query, tree.root_node(), source.text.as_bytes());
    while let Some(one) = matches.next() {
        let Some(rule) = rules.get(one.pattern_index) else { continue };
        let Some(capture) = one.captures().iter().find(|c| Some(c.index) == here) else {
            continue;
        };
        if let Detection::Query(_, filter) = rule.detection
            && filter(source, capture.node)
        {
            add(rule, &Hit::at(line(capture.node)));
        }
    }
}

/// The patterns of all rules for a language as one query, and the rule that each belongs to.
type RuleQuery = (Query, Vec<&'static LintRule>);

fn patterns(language: Language) -> Option<&'static RuleQuery> {
    static QUERIES: OnceLock<BTreeMap<Language, RuleQuery>> = OnceLock::new();
    let queries = QUERIES.get_or_init(|| {
        let compiled =
            |(language, _, _): &(Language, _, _)| Some((*language, compile(*language).ok()?));
        LANGUAGES.iter().filter_map(compiled).collect()
    });
    queries.get(&language)
}

fn compile(language: Language) -> Result<RuleQuery, String> {
    let (mut all, mut owners) = (String::new(), Vec::new());
    for rule in rules() {
        let Detection::Query(list, _) = rule.detection else { continue };
        for (_, text) in list.iter().filter(|(languages, _)| languages.contains(&language)) {
            let one = Query::new(&language.grammar(), text)
                .map_err(|error| format!("{} for {language:?}: {error}", rule.id))?;
            owners.extend(std::iter::repeat_n(rule, one.pattern_count()));
            all.push_str(text);
            all.push('\n');
        }
    }
    let query = Query::new(&language.grammar(), &all).map_err(|error| error.to_string())?;
    Ok((query, owners))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for (language, _, _) in LANGUAGES {
            compile(*language).unwrap();
        }
    }

    #[test]
    fn hostile_nesting_is_reported_and_does_not_end_the_program() {
        let file = RepoPath::parse("a.py").unwrap();
        let text = format!("x = {}1{}\n", "(".repeat(5000), ")".repeat(5000));
        let files = BTreeMap::from([(file.clone(), text)]);
        let result = scan(&[&file], &files, &Project::default());
        assert!(result.findings.is_empty());
        assert_eq!(result.too_deep, [file]);
    }

    #[test]
    fn only_what_does_not_parse_and_runs_is_a_syntax_error() {
        let table = [
            ("a.py", "def f(:\n", vec![(1, "syntax-error")]),
            ("a.ts", "function f( {", vec![(1, "syntax-error")]),
            ("a.d.ts", "function f( {", vec![]),
            ("a.txt", "def f(:\n", vec![]),
            ("a.py", "", vec![]),
        ];
        for (name, text, expected) in table {
            let file = RepoPath::parse(name).unwrap();
            let files = BTreeMap::from([(file.clone(), text.to_owned())]);
            let result = scan(&[&file], &files, &Project::of(&files));
            let found: Vec<(u32, &str)> =
                result.findings.iter().map(|one| (one.line, one.id.as_str())).collect();
            assert_eq!(found, expected, "{name}: {text}");
        }
    }

    #[test]
    fn findings_are_ordered_and_files_that_are_not_chosen_are_left_out() {
        let text = "def f():\n    pass\n\n\ndef g():\n    ...\n";
        let files: BTreeMap<RepoPath, String> = ["b.py", "a.py", "c.py"]
            .into_iter()
            .map(|name| (RepoPath::parse(name).unwrap(), text.to_owned()))
            .collect();
        let chosen: Vec<&RepoPath> = files.keys().filter(|f| f.as_str() != "c.py").rev().collect();
        let result = scan(&chosen, &files, &Project::of(&files));
        let found: Vec<String> = result
            .findings
            .iter()
            .map(|one| format!("{}:{} {}", one.file, one.line, one.id))
            .collect();
        assert_eq!(
            found,
            [
                "a.py:2 bare-pass",
                "a.py:6 ellipsis-statement",
                "b.py:2 bare-pass",
                "b.py:6 ellipsis-statement"
            ]
        );
    }
}
