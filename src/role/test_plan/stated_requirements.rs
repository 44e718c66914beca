//! What documentation and the request state about the code: documented results, and the demands of a
//! request, each of which is a requirement or named as not understood.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::behaviour::Behaviour;
use crate::code::description_match::{content_words, share_stem};
use crate::code::language::Language;
use crate::code::signature::special_method_calls::write_call;
use crate::code::signature::{self, Callable, DocumentedResult, Example, module_exports};
use crate::domain::id::RepoPath;
use crate::domain::test_plan::layer::SubLayer;
use crate::domain::test_plan::requirement::{DOCUMENTATION, REQUEST, Requirement};
use crate::domain::text;

use super::survey::Survey;

/// The documented results of some functions of a file that no test in `tests` asks for, without ids.
/// Pages of documentation speak of a function only where no other file has one of its name.
pub fn documented_results(
    file: &RepoPath,
    functions: &[Behaviour],
    tests: &[RepoPath],
    (survey, request): (&Survey, &str),
) -> Vec<Requirement> {
    let Some(language) = Language::of(file) else { return Vec::new() };
    let mut callables = signature::callables(language, survey.text(file));
    let is_planned = |one: &Callable| {
        let is_member =
            |name: &str| one.is_attribute() && name.split('.').next() == Some(one.subject());
        functions.iter().any(|function| function.name == one.name || is_member(&function.name))
    };
    callables.retain(is_planned);
    let in_source: Vec<Example> = callables.iter().flat_map(|one| one.examples.clone()).collect();
    let is_only_here = |name: &String| {
        let files = survey.known.values().filter(|own| {
            own.iter().any(|one| one.rsplit('.').next().is_some_and(|one| one == name))
        });
        files.count() <= 1 || signature::is_entry_point(file)
    };
    let names: BTreeSet<String> =
        callables.iter().flat_map(Callable::shown_names).filter(is_only_here).collect();
    let package = survey.script_package();
    let default = module_exports::package_default(&callables, (file, &package));
    let default = (default.as_deref(), package.name.as_str());
    let pages = survey.texts.iter().filter(|(page, _)| signature::is_page(page));
    for page in std::iter::once(request).chain(pages.map(|(_, text)| text.as_str())) {
        let found = module_exports::package_examples(language, page, &names, default);
        signature::assign_examples(language, &mut callables, &found);
    }
    let in_request = module_exports::package_examples(language, request, &names, default);
    let is_asked = |call: &str| tests.iter().any(|test| survey.text(test).contains(call));
    let mut found: Vec<Requirement> = Vec::new();
    for (callable, example) in
        callables.iter().flat_map(|one| one.examples.iter().map(move |example| (one, example)))
    {
        let is_requested = in_request.iter().any(|one| is_same_call(one, example))
            && !in_source.iter().any(|one| is_same_call(one, example));
        let source = if is_requested { REQUEST } else { DOCUMENTATION };
        let one = documented_result(file, (language, callable), example, source);
        let one = one.filter(|_| !example.setup.is_empty() || !is_asked(&short_call(example)));
        // Methods of one name that differ in their parameters have the same examples.
        let sentence =
            |one: &Requirement| one.text.rsplit_once(" (").map(|(text, _)| text.to_owned());
        let is_new = |one: &Requirement| found.iter().all(|known| sentence(known) != sentence(one));
        found.extend(one.filter(is_new));
    }
    found
}

fn is_same_call(one: &Example, other: &Example) -> bool {
    one.name == other.name && one.arguments == other.arguments && one.setup == other.setup
}

/// A call without what stands before its name; an attribute with its object.
fn short_call(example: &Example) -> String {
    if let Some(object) = example.receiver.as_ref().filter(|_| example.is_read) {
        return format!("{object}.{}", example.name);
    }
    format!("{}({})", example.name, example.arguments.join(", "))
}

fn documented_result(
    file: &RepoPath,
    (language, callable): (Language, &Callable),
    example: &Example,
    source: &str,
) -> Option<Requirement> {
    let raises = if language == Language::Python { "raises" } else { "throws" };
    let shown_as = |shown: &str| {
        let words: Vec<&str> = shown.split_whitespace().collect();
        (SubLayer::Happy, format!("is shown as `{}`", words.join(" ")))
    };
    let (layer, clause) = match (example.result.as_ref(), example.printed.as_ref()) {
        (Some(DocumentedResult::Value(value)), _) => {
            (SubLayer::Happy, format!("returns `{value}`"))
        }
        (Some(DocumentedResult::Printed(shown)), _) => shown_as(shown),
        (Some(DocumentedResult::Raised(class)), _) => {
            (SubLayer::Negative, format!("{raises} {class}"))
        }
        (None, Some(shown)) if signature::is_whole_repr(shown) => shown_as(shown),
        (None, _) => return None,
    };
    let after = match example.setup.as_slice() {
        [] => String::new(),
        calls => format!(" after `{}`", calls.join("`, `")),
    };
    let receiver = example.receiver.as_ref().map(|one| format!("{one}.")).unwrap_or_default();
    let callee = format!("{receiver}{}", example.name);
    let call = write_call(callable, &callee, &example.arguments).text;
    let line = callable.start;
    Some(Requirement {
        id: String::new(),
        layer,
        function: callable.name.clone(),
        line,
        text: format!("`{call}`{after} {clause} ({file}:{line})"),
        source: source.to_owned(),
        is_branch: false,
    })
}

/// A function that a demand may speak of.
pub struct DemandTarget<'a> {
    pub file: &'a RepoPath,
    pub function: &'a Behaviour,
    /// All that is required of its file so far.
    pub required: &'a [Requirement],
    pub text: String,
}

/// What became of one demand.
pub enum DemandOutcome {
    /// A requirement of this file.
    Understood(RepoPath, Requirement),
    /// One that a documented call already states.
    Stated,
    /// The demand, with the reason.
    NotUnderstood(String),
}

/// Finds what a demand speaks of: the function that shares most of its words, rare ones counting more.
pub fn understand_demand(demand: &str, targets: &[DemandTarget<'_>]) -> DemandOutcome {
    let is_stated = |one: &Requirement| {
        let call = one.text.split('`').nth(1).unwrap_or_default();
        one.is_stated() && !call.is_empty() && demand.contains(call)
    };
    if targets.iter().any(|target| target.required.iter().any(is_stated)) {
        return DemandOutcome::Stated;
    }
    if let Some(name) = identifiers(demand).find(|name| !is_known(name, targets)) {
        return DemandOutcome::NotUnderstood(format!(
            "\"{demand}\": `{name}` is not in these files"
        ));
    }
    let words: Vec<String> = content_words(demand)
        .iter()
        .flat_map(|word| text::words_of_name(word))
        .filter(|word| word.len() > 2)
        .collect();
    let bags: Vec<BTreeSet<String>> = targets.iter().map(words_of_target).collect();
    let hits = |bag: &BTreeSet<String>| -> Vec<&String> {
        words.iter().filter(|word| bag.iter().any(|own| is_meant(own, word))).collect()
    };
    let mut frequency: BTreeMap<&String, u32> = BTreeMap::new();
    for word in bags.iter().flat_map(hits) {
        *frequency.entry(word).or_default() += 1;
    }
    let weight = |word: &&String| 1.0 / f64::from(*frequency.get(*word).unwrap_or(&1));
    let mut best: Option<(f64, usize, &DemandTarget<'_>)> = None;
    for (bag, target) in bags.iter().zip(targets) {
        let own = hits(bag);
        let score: f64 = own.iter().map(weight).sum();
        if score > best.as_ref().map_or(0.0, |(known, ..)| *known) {
            best = Some((score, own.len(), target));
        }
    }
    match best {
        // One word in common may be chance, unless the code itself decides about it.
        Some((_, number, target))
            if number > 1 || number * 2 >= words.len() || decides_about(target, &words) =>
        {
            DemandOutcome::Understood(target.file.clone(), required_of(demand, &words, target))
        }
        _ => DemandOutcome::NotUnderstood(format!("\"{demand}\": no function here speaks of it")),
    }
}

/// Whether something required of a function is about one of some words, beside those of its name.
fn decides_about(target: &DemandTarget<'_>, words: &[String]) -> bool {
    let named = text::words_of_name(&target.function.name);
    let own = target.required.iter().filter(|one| one.function == target.function.name);
    let decisive = || words.iter().filter(|word| word.len() > 4 && !named.contains(word));
    own.flat_map(|one| text::words_of_name(&one.text))
        .any(|part| decisive().any(|word| *word == part))
}

/// Whether a word is meant: the same, of the same stem, or short for it, as `max`.
fn is_meant(own: &str, word: &str) -> bool {
    own == word || share_stem(own, word) || own.len() >= 3 && word.starts_with(own)
}

/// The names in a demand that can only be code: in backticks or with an underscore.
fn identifiers(demand: &str) -> impl Iterator<Item = &str> {
    let quoted = demand.split('`').skip(1).step_by(2);
    let plain = demand.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let is_name = |one: &&str| {
        one.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && one.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
    };
    let named = quoted.filter(is_name).filter(|one| one.len() > 1 && !is_constant(one));
    named.chain(plain.filter(|one| one.trim_matches('_').contains('_')))
}

/// Whether a word is a value of a language rather than a name.
fn is_constant(word: &str) -> bool {
    ["None", "True", "False", "null", "undefined", "true", "false", "nil"].contains(&word)
}

fn is_known(name: &str, targets: &[DemandTarget<'_>]) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    targets.iter().any(|target| {
        text::has_word(&target.text, last) || target.function.name.split('.').any(|one| one == last)
    })
}

fn words_of_target(target: &DemandTarget<'_>) -> BTreeSet<String> {
    text::words_of_name(&target.function.name)
        .into_iter()
        .chain(text::words_of_name(&target.text))
        .filter(|word| word.len() > 2)
        .collect()
}

/// A demand as a requirement, at the line of what the code does about it.
fn required_of(demand: &str, words: &[String], target: &DemandTarget<'_>) -> Requirement {
    let hits = |one: &Requirement| {
        let own = text::words_of_name(&one.text);
        words.iter().filter(|word| own.iter().any(|part| is_meant(part, word))).count()
    };
    let of_function = target.required.iter().filter(|one| one.function == target.function.name);
    let nearest = of_function.rev().max_by_key(|one| hits(one));
    let line = nearest.map_or(target.function.start, |one| one.line);
    Requirement {
        id: String::new(),
        layer: nearest.map_or(SubLayer::Happy, |one| one.layer),
        function: target.function.name.clone(),
        line,
        text: format!("{demand} (`{}`, {}:{line})", target.function.name, target.file),
        source: REQUEST.to_owned(),
        is_branch: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::role::test_plan::coverage::ExecutedLines;
    use crate::role::test_plan::gather::assemble;
    use crate::role::test_plan::requirements::derive_requirements;
    use crate::role::test_plan::tests;

    const SHOP: &str = "def shipping(cents, country='DE'):\n    \"\"\"What sending costs.\n\n    >>> shipping(2000)\n    490\n    \"\"\"\n    if cents < 0:\n        raise ValueError('negative amount')\n    if cents >= 5000:\n        return 0\n    return 490\n\n\ndef cut(text, max_length=0):\n    return text[:max_length] if max_length else text\n\n\nclass Till:\n    def __init__(self, cents):\n        self.cents = cents\n        self.log = []\n\n    def pay(self, amount):\n        self.log.append(amount)\n        return self.cents + amount\n";

    /// Source and text of each requirement of a plan, and what was not understood.
    fn planned(description: &str) -> (Vec<(String, String)>, Vec<String>) {
        let path = |name: &str| RepoPath::parse(name).unwrap();
        let readme = ">>> cut('abc', max_length=2)\n'ab'\n>>> till = Till(5)\n>>> till.pay(2)\n7\n>>> till.log\n[2]\n";
        let texts: BTreeMap<RepoPath, String> =
            [(path("shop.py"), SHOP.to_owned()), (path("README.md"), readme.to_owned())].into();
        let survey = Survey::of(texts.keys().cloned().collect(), texts);
        let named = survey.find_described("shop.py");
        let session = crate::domain::id::SessionId::parse("WFS-test-x").unwrap();
        let request = tests::request(&session, description);
        let ran = ExecutedLines::default();
        let mut plan = assemble(&request, &named, ran.clone(), &tests::facts(), &survey).plan;
        derive_requirements(&mut plan, &survey, &ran);
        let all = plan.all_requirements().filter(|(_, one)| one.is_stated());
        let stated = all.map(|(_, one)| (one.source.clone(), one.text.clone())).collect();
        (stated, plan.not_understood)
    }

    #[test]
    fn documented_results_are_the_first_requirements() {
        let (stated, not_understood) = planned("shop.py");
        let own = |text: &str| (DOCUMENTATION.to_owned(), text.to_owned());
        let expected = [
            own("`shipping(2000)` returns `490` (shop.py:1)"),
            own("`cut('abc', max_length=2)` returns `'ab'` (shop.py:14)"),
            own("`Till(5).pay(2)` returns `7` (shop.py:23)"),
            own("`Till(5).log` after `pay(2)` returns `[2]` (shop.py:19)"),
        ];
        assert_eq!(stated, expected);
        assert_eq!(not_understood, [""; 0]);
    }

    #[test]
    fn an_example_is_one_requirement_for_all_overloads_and_named_where_it_cannot_be_read() {
        let path = RepoPath::parse("shop.py").unwrap();
        let documentation = "    \"\"\"Doubles.\n\n    >>> twice(2 * 3)\n    12\n    >>> twice(Decimal('1.5'))\n    Decimal('3.0')\n    >>> twice(Set.of(1))\n    <Set at 0x7f>\n    >>> not_twice(Decimal('1.5'))\n    Decimal('1.5')\n    \"\"\"\n";
        let text = format!(
            "@overload\ndef twice(n: int) -> int:\n{documentation}\n\ndef twice(n):\n{documentation}    return n * 2\n"
        );
        let survey = Survey::of([path.clone()].into(), [(path, text)].into());
        let named = survey.find_described("shop.py");
        let session = crate::domain::id::SessionId::parse("WFS-test-x").unwrap();
        let request = tests::request(&session, "shop.py");
        let ran = ExecutedLines::default();
        let mut plan = assemble(&request, &named, ran.clone(), &tests::facts(), &survey).plan;
        derive_requirements(&mut plan, &survey, &ran);
        let stated = plan.all_requirements().filter(|(_, one)| one.is_stated());
        let stated: Vec<&str> = stated.map(|(_, one)| one.text.as_str()).collect();
        let expected = [
            "`twice(2 * 3)` returns `12` (shop.py:16)",
            "`twice(Decimal('1.5'))` is shown as `Decimal('3.0')` (shop.py:16)",
        ];
        assert_eq!(stated, expected);
        assert_eq!(plan.unread_examples, ["`twice(Set.of(1))` (shop.py)"]);
        assert_eq!(plan.not_understood, [""; 0]);
    }

    #[test]
    fn methods_of_one_name_have_one_requirement_for_an_example() {
        let path = |name: &str| RepoPath::parse(name).unwrap();
        let source = "public class Range {\n  public static Range of(int n) { return new Range(); }\n  public boolean holds(int n) { return true; }\n  public boolean holds(String n) { return true; }\n}\n";
        let readme = "~~~ java\nRange range = Range.of(2);\nrange.holds(1);  // true\n~~~\n";
        let texts = [(path("Range.java"), source), (path("README.md"), readme)];
        let texts = texts.map(|(file, text)| (file, text.to_owned()));
        let survey = Survey::of(texts.iter().map(|one| one.0.clone()).collect(), texts.into());
        let functions: Vec<Behaviour> = crate::code::behaviour::read(Language::Java, source);
        let found = documented_results(&path("Range.java"), &functions, &[], (&survey, ""));
        let stated: Vec<&str> = found.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(stated, ["`Range.of(2).holds(1)` returns `true` (Range.java:3)"]);
    }

    #[test]
    fn a_page_may_give_the_default_export_of_its_package_a_name() {
        let path = |name: &str| RepoPath::parse(name).unwrap();
        let source = "module.exports = rangeParser\n\nfunction rangeParser (size, text) {\n  return size + text.length\n}\n";
        let readme =
            "```js\nvar parseRange = require('range-parser')\n\nparseRange(3, 'ab') // => 5\n```\n";
        let texts = [
            (path("index.js"), source.to_owned()),
            (path("README.md"), readme.to_owned()),
            (path("package.json"), "{ \"name\": \"range-parser\" }".to_owned()),
        ];
        let survey = Survey::of(texts.iter().map(|one| one.0.clone()).collect(), texts.into());
        let functions: Vec<Behaviour> = crate::code::behaviour::read(Language::JavaScript, source);
        let found = documented_results(&path("index.js"), &functions, &[], (&survey, ""));
        let stated: Vec<&str> = found.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(stated, ["`rangeParser(3, 'ab')` returns `5` (index.js:3)"]);
    }

    #[test]
    fn each_demand_is_in_the_plan_or_not_understood() {
        let table: &[(&str, Option<&str>, &[&str])] = &[
            (
                "- no negative amount is sent",
                Some("no negative amount is sent (`shipping`, shop.py:8)"),
                &[],
            ),
            (
                "- texts never exceed the maximum length",
                Some("texts never exceed the maximum length (`cut`, shop.py:15)"),
                &[],
            ),
            ("- `shipping(6000)` is `0`", Some("`shipping(6000)` returns `0` (shop.py:1)"), &[]),
            (
                "- `parcel_limit` is kept",
                None,
                &["\"`parcel_limit` is kept\": `parcel_limit` is not in these files"],
            ),
            (
                "- customers from Excel sheets import in bulk",
                None,
                &["\"customers from Excel sheets import in bulk\": no function here speaks of it"],
            ),
        ];
        for (text, expected, unclear) in table {
            let (stated, not_understood) = planned(text);
            let requested: Vec<&str> = stated
                .iter()
                .filter(|(source, _)| source == REQUEST)
                .map(|(_, text)| text.as_str())
                .collect();
            assert_eq!(requested, expected.iter().copied().collect::<Vec<_>>(), "{text}");
            assert_eq!(not_understood, *unclear, "{text}");
        }
    }
}
