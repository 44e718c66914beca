//! [`PinnedFile`]: a generated test file with its cases, its text and the ids of its tests.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::code::language::Language;
use crate::code::signature::Callable;
use crate::code::signature::special_method_calls::write_call;
use crate::domain::framework::Framework;
use crate::domain::id::{RepoPath, TestId};
use crate::domain::proposal::{EditSet, FileEdit};
use crate::domain::test::{Status, TestCase};
use crate::effect::{Call, CallOutcome, Lines, Trace};
use crate::repair::{
    Case, Contribution, Draft, DraftTest, MANY, Naming, ObservedFunction, answered_code,
    boundary_pairs, choose_cover, counts_rounds, is_edge, is_garbled, named_parts, rank_case,
    render, shown_code,
};

use super::compiler_errors::{read_errors, refused_names};

/// The assumed duration of a test if its framework does not report one.
const SHORT: Duration = Duration::from_millis(2);

/// Number of cases of a function that are always considered.
const FEW: usize = 24;

/// The most characters of the message of a file that cannot be loaded.
const MESSAGE: usize = 160;

/// The index of a function and the index of one of its cases.
type CasePlace = (usize, usize);

/// A generated test file.
#[derive(Clone)]
pub struct PinnedFile {
    pub path: RepoPath,
    pub subject: RepoPath,
    pub naming: Naming,
    /// The functions with their remaining cases.
    pub functions: Vec<ObservedFunction>,
    pub draft: Draft,
    /// Where the driver finds names that arguments use besides those of the subject.
    pub imports: Vec<(String, String)>,
    /// The id under which each test ran, by its name; only tests that passed.
    pub ids: BTreeMap<String, TestId>,
    /// What the compiler refused tests for in earlier runs.
    refused: BTreeSet<String>,
    /// The durations of the tests.
    took: BTreeMap<TestId, Duration>,
}

impl PinnedFile {
    /// Creates a file with one test for each case.
    pub fn new(
        path: RepoPath,
        subject: RepoPath,
        naming: Naming,
        functions: Vec<ObservedFunction>,
    ) -> Self {
        let mut test_file = Self {
            path,
            subject,
            naming,
            functions,
            draft: Draft::default(),
            imports: Vec::new(),
            ids: BTreeMap::new(),
            refused: BTreeSet::new(),
            took: BTreeMap::new(),
        };
        test_file.write();
        test_file
    }

    /// Writes the text again from the remaining cases and forgets the ids of the tests.
    pub fn write(&mut self) {
        self.draft = render(&self.naming, &self.functions, false);
        self.ids.clear();
    }

    /// The text with its tests in reverse order.
    pub fn reversed(&self) -> String {
        render(&self.naming, &self.functions, true).text
    }

    /// The id that runs the whole file; for unittest, a module name.
    pub fn whole(&self, directory: &str, packages: &BTreeSet<String>) -> TestId {
        whole_file(&self.path, self.naming.framework, directory, packages)
    }

    /// The ids of tests that contain only the first and most informative cases of each function.
    pub fn first_ids(&self) -> impl Iterator<Item = TestId> + '_ {
        let first = |test: &&DraftTest| test.case < FEW;
        let tests = self.draft.tests.iter().filter(first);
        tests.filter_map(|test| self.ids.get(&test.name).cloned())
    }

    /// The result of a test of this file, found by its name.
    pub fn result<'a>(&self, test: &DraftTest, cases: &'a [TestCase]) -> Option<&'a TestCase> {
        let endings = ["::", ".", " > "].map(|mark| format!("{mark}{}", test.name));
        let is_named = |id: &str| endings.iter().any(|ending| id.ends_with(ending.as_str()));
        let named = cases.iter().filter(|case| is_named(case.id.as_str()));
        if self.naming.framework == Framework::GoTest {
            // Go names the package, which ends in its folder unless that has the module's go.mod.
            let folder = self.path.parent().rsplit('/').next().unwrap_or_default();
            let place = format!("/{folder}.{}", test.name);
            return named.min_by_key(|case| {
                let id = case.id.as_str();
                (folder.is_empty() || !id.ends_with(&place), id.len())
            });
        }
        if self.naming.framework == Framework::Ava {
            // Its TAP has the title, with several files behind a part of the path.
            let title = format!("› {}", test.name);
            let is_titled = |id: &str| id == test.name || id.ends_with(&title);
            let is_own =
                |case: &&TestCase| case.file.as_ref().is_none_or(|file| *file == self.path);
            return cases.iter().filter(|case| is_titled(case.id.as_str())).find(is_own);
        }
        let file = self.path.file_name().trim_end_matches(".py").trim_end_matches(".java");
        named.into_iter().find(|case| case.id.as_str().contains(file))
    }

    /// Records the tests that passed; returns the others with the reason.
    pub fn record_results(&mut self, cases: &[TestCase]) -> Vec<(DraftTest, String)> {
        let mut broken = self.refused_tests(cases);
        if !broken.is_empty() {
            return broken;
        }
        for test in self.draft.tests.clone() {
            match self.result(&test, cases) {
                Some(case) if case.status == Status::Passed => {
                    self.took.insert(case.id.clone(), Duration::from_millis(case.duration_ms));
                    self.ids.insert(test.name.clone(), case.id.clone());
                }
                Some(case) => {
                    let class = case.failure.as_ref().map_or("", |failure| failure.class.as_str());
                    let class = if class.is_empty() { "an error" } else { class };
                    broken.push((test, format!("it fails as a test, with {class}")));
                }
                None => broken.push((test, self.unrun_reason(cases))),
            }
        }
        broken
    }

    /// Why tests of the file were not run.
    fn unrun_reason(&self, cases: &[TestCase]) -> String {
        let is_own = |case: &&TestCase| {
            let id = case.id.as_str();
            // unittest names a module.
            let is_module = || id.rsplit('.').next() == Some(self.path.stem());
            let is_named = id.contains(self.path.file_name()) || is_module();
            case.kind.is_unloaded() && (case.file.as_ref() == Some(&self.path) || is_named)
        };
        let is_compiled = Language::of(&self.path).is_some_and(|one| one != Language::Python);
        if let Some(error) = read_errors(&self.path, cases).first().filter(|_| is_compiled) {
            return format!("its file does not compile: {}", error.message);
        }
        let first_line = |case: &TestCase| {
            let failure = case.failure.as_ref()?;
            let line = failure.message.lines().next().unwrap_or_default();
            Some(line.chars().take(MESSAGE).collect::<String>())
        };
        if let Some(message) = cases.iter().find(is_own).and_then(first_line) {
            return format!("its file cannot be loaded: {message}");
        }
        if !cases.iter().all(|case| case.kind.is_unloaded()) {
            return format!("no test of {} is run by the test command", self.path);
        }
        match cases.iter().find_map(first_line).filter(|message| !message.is_empty()) {
            Some(message) => format!("the test command runs no test: {message}"),
            None => "the test command gives no result of any test".to_owned(),
        }
    }

    /// The tests that the compiler refuses, with its message: the others cannot run with them.
    fn refused_tests(&mut self, cases: &[TestCase]) -> Vec<(DraftTest, String)> {
        let errors = read_errors(&self.path, cases);
        let Some(language) = Language::of(&self.path).filter(|_| !errors.is_empty()) else {
            return Vec::new();
        };
        let refused = refused_names(language, &self.draft.text, &errors, &self.refused);
        self.refused.extend(errors.into_iter().map(|error| error.message));
        let of_test = |test: &DraftTest| {
            // A subtest of Go stands in the function of its name.
            let is_go = language == Language::Go;
            let own = test.name.split('/').next().filter(|_| is_go).unwrap_or(&test.name);
            let (_, message) = refused.iter().find(|(name, _)| name == own)?;
            Some((test.clone(), format!("it does not compile: {message}")))
        };
        self.draft.tests.iter().filter_map(of_test).collect()
    }

    /// The calls of the tests that passed.
    pub fn passing_calls(&self) -> Vec<(TestId, Call)> {
        let tests = self.draft.tests.iter();
        let call = |test: &DraftTest| {
            let case = self.find_case((test.function, test.case))?;
            Some((self.ids.get(&test.name)?.clone(), case.call.clone()))
        };
        tests.filter_map(call).collect()
    }

    /// Removes the cases of some tests.
    pub fn remove(&mut self, tests: &[DraftTest]) {
        let gone: BTreeSet<CasePlace> =
            tests.iter().map(|test| (test.function, test.case)).collect();
        self.retain_cases(&|function, case| !gone.contains(&(function, case)));
    }

    /// A file with only some of the tests; `None` without any.
    pub fn with_only(&self, tests: &[DraftTest]) -> Option<Self> {
        let places: BTreeSet<CasePlace> =
            tests.iter().map(|test| (test.function, test.case)).collect();
        let mut own = self.clone();
        own.retain_cases(&|function, case| places.contains(&(function, case)));
        own.write();
        (!own.draft.tests.is_empty()).then_some(own)
    }

    /// Removes the cases of which `accepts` refuses function and place.
    pub fn retain_cases(&mut self, accepts: &dyn Fn(usize, usize) -> bool) {
        for (function, one) in self.functions.iter_mut().enumerate() {
            let mut index = 0;
            one.cases.retain(|_| {
                index += 1;
                accepts(function, index - 1)
            });
        }
    }

    /// The lines that each test runs: those recorded during its call, and those that run when the
    /// file is loaded. The latter are derived from any test of this file traced in `whole`.
    pub fn traces(&self, whole: &[Trace]) -> Vec<Trace> {
        let loaded = self.loaded(whole);
        let mut traces = Vec::new();
        for test in &self.draft.tests {
            let place = (test.function, test.case);
            let (Some(id), Some(case)) = (self.ids.get(&test.name), self.find_case(place)) else {
                continue;
            };
            let lines: BTreeSet<u32> = case.seen.lines.iter().chain(&loaded).copied().collect();
            traces.push(Trace {
                test: id.clone(),
                status: Status::Passed,
                duration: self.took.get(id).copied().unwrap_or_default().max(SHORT),
                lines: [(self.subject.clone(), lines.into_iter().collect())].into(),
                loaded: Lines::new(),
                failure: None,
            });
        }
        traces
    }

    /// The lines that run on load: those in the trace of a test that its calls did not run.
    fn loaded(&self, whole: &[Trace]) -> BTreeSet<u32> {
        let of_test = |trace: &&Trace| self.ids.values().any(|id| *id == trace.test);
        let Some(trace) = whole.iter().find(of_test) else { return BTreeSet::new() };
        let name = self.ids.iter().find(|(_, id)| **id == trace.test).map(|(name, _)| name);
        let tests = self.draft.tests.iter().filter(|test| Some(&test.name) == name);
        let called: BTreeSet<u32> = tests
            .filter_map(|test| self.find_case((test.function, test.case)))
            .flat_map(|case| case.seen.lines.iter().copied())
            .collect();
        let ran = trace.lines.get(&self.subject).into_iter().flatten().copied();
        ran.filter(|line| !called.contains(line)).collect()
    }

    /// Keeps a minimal set of cases that covers and detects as much, and all documented ones.
    pub fn keep_distinguishing(&mut self, notices: &BTreeMap<TestId, BTreeSet<usize>>) {
        let passed = self.draft.tests.iter();
        let passed =
            passed.filter_map(|test| Some((test.function, test.case, self.ids.get(&test.name)?)));
        let mut tests: Vec<(usize, &ObservedFunction, usize, &Case, &TestId)> = passed
            .filter_map(|(function, index, id)| {
                let one = self.functions.get(function)?;
                Some((function, one, index, one.cases.get(index)?, id))
            })
            .collect();
        tests
            .sort_by_key(|(function, one, _, case, _)| (*function, rank_case(&one.callable, case)));
        let answered = answered_code(tests.iter().map(|one| one.3));
        let language = Language::of(&self.subject).unwrap_or(Language::Python);
        let contributions: Vec<Contribution> = tests
            .iter()
            .map(|(function, one, _, case, id)| {
                let (is_internal, is_odd) =
                    (one.callable.is_internal, is_garbled(&one.callable, case));
                let named =
                    named_parts(language, &one.callable, case).into_iter().filter(|_| !is_internal);
                let reaches = shown_code(case, &answered).into_iter().chain(named);
                Contribution {
                    reaches: reaches
                        .filter(|mark| !is_odd || !is_internal && !counts_rounds(mark))
                        .collect(),
                    notices: notices.get(*id).cloned().unwrap_or_default(),
                    is_documented: case.documented.is_some(),
                    is_makeshift: is_internal || is_odd || self.is_shown_by_text(one, case),
                    function: *function,
                }
            })
            .collect();
        let places: Vec<CasePlace> = tests.iter().map(|one| (one.0, one.2)).collect();
        let mut chosen: BTreeSet<CasePlace> = choose_cover(&contributions)
            .into_iter()
            .filter_map(|index| places.get(index).copied())
            .collect();
        self.add_limits(&places, &mut chosen);
        let kinds: [fn(&Callable, &Case) -> bool; 2] =
            [is_edge, |_, case| matches!(case.expected_outcome(), CallOutcome::Raised { .. })];
        for fits in kinds {
            let is_first = |callable: &Callable, case: &Case, known: &[&Case]| {
                fits(callable, case) && !known.iter().any(|other| fits(callable, other))
            };
            self.add_other(&places, &mut chosen, &is_first);
        }
        // Of one outcome alone, nobody sees that it depends on the input.
        self.add_other(&places, &mut chosen, &|_, _, known| {
            let mut all = known.iter().map(|one| one.expected_outcome());
            let first = all.next();
            all.all(|one| Some(one) == first)
        });
        self.retain_cases(&|function, case| chosen.contains(&(function, case)));
    }

    pub(super) fn find_case(&self, (function, case): CasePlace) -> Option<&Case> {
        self.functions.get(function)?.cases.get(case)
    }

    /// Whether a case makes an object of which others show the text or the items, which says more.
    fn is_shown_by_text(&self, one: &ObservedFunction, case: &Case) -> bool {
        let shows = |other: &ObservedFunction| {
            other.callable.subject() == one.callable.subject()
                && ["__repr__", "__str__", "__iter__"].contains(&other.callable.short_name())
                && !other.cases.is_empty()
        };
        one.callable.is_constructor()
            && matches!(case.expected_outcome(), CallOutcome::Value { .. })
            && self.functions.iter().any(shows)
    }

    /// Adds the plainest legible cases that give what no chosen one of their function gives, where they are
    /// wanted beside these, one for each outcome (specification.md 6.2).
    fn add_other(
        &self,
        places: &[CasePlace],
        chosen: &mut BTreeSet<CasePlace>,
        is_wanted: &dyn Fn(&Callable, &Case, &[&Case]) -> bool,
    ) {
        for place in places {
            let (Some(one), Some(case)) = (self.functions.get(place.0), self.find_case(*place))
            else {
                continue;
            };
            if one.callable.is_internal || self.is_shown_by_text(one, case) {
                continue;
            }
            let of_function = chosen.iter().filter(|other| other.0 == place.0);
            let known: Vec<&Case> =
                of_function.filter_map(|other| self.find_case(*other)).collect();
            let is_known =
                known.iter().any(|one| one.expected_outcome() == case.expected_outcome());
            if !is_known
                && !is_garbled(&one.callable, case)
                && is_wanted(&one.callable, case, &known)
            {
                chosen.insert(*place);
            }
        }
    }

    /// Adds the calls on both sides of each number that a function compares, to few others.
    fn add_limits(&self, places: &[CasePlace], chosen: &mut BTreeSet<CasePlace>) {
        let offered = |(_, one): &(usize, &ObservedFunction)| !one.callable.is_internal;
        for (function, one) in self.functions.iter().enumerate().filter(offered) {
            for (at, other) in boundary_pairs(&one.callable, &one.cases) {
                let pair = [(function, at), (function, other)];
                let count = chosen.iter().filter(|place| place.0 == function).count();
                if count < MANY && pair.iter().all(|place| places.contains(place)) {
                    chosen.extend(pair);
                }
            }
        }
    }

    /// The number of assertions in passing tests, by function.
    pub fn assertions(&self) -> BTreeMap<String, u32> {
        let mut counts = BTreeMap::new();
        for test in self.draft.tests.iter().filter(|test| self.ids.contains_key(&test.name)) {
            if let Some(one) = self.functions.get(test.function) {
                *counts.entry(one.callable.name.clone()).or_default() += 1;
            }
        }
        counts
    }

    /// The documented calls of a function that passing tests make.
    pub fn documented_calls(&self, name: &str) -> Vec<String> {
        let calls = self.passing_cases(name);
        calls.filter_map(|(function, case)| documented_call(function, case)).collect()
    }

    /// The results of a function that passing tests hold: literals, and classes of what is raised.
    pub fn shown_results(&self, name: &str) -> Vec<String> {
        let shown: BTreeSet<String> = self
            .passing_cases(name)
            .filter_map(|(_, case)| match case.expected_outcome() {
                CallOutcome::Value { literal, .. } => Some(literal.clone()),
                CallOutcome::Raised { class, .. } => {
                    class.rsplit('.').next().map(ToOwned::to_owned)
                }
                CallOutcome::Refused(_) => None,
            })
            .collect();
        shown.into_iter().collect()
    }

    /// Whether a passing test gives a function an empty text, list or object.
    pub fn takes_empty(&self, name: &str) -> bool {
        let is_empty = |value: &str| {
            let bare =
                value.rsplit('=').next().unwrap_or_default().trim_start_matches(['b', 'r', 'u']);
            matches!(bare, "\"\"" | "''" | "``" | "[]" | "{}" | "()" | "set()")
        };
        self.passing_cases(name)
            .any(|(_, case)| case.call.arguments.iter().any(|one| is_empty(one)))
    }

    /// The cases of a function that passing tests hold.
    fn passing_cases(&self, name: &str) -> impl Iterator<Item = (&ObservedFunction, &Case)> {
        let tests = self.draft.tests.iter().filter(|test| self.ids.contains_key(&test.name));
        tests.filter_map(move |test| {
            let function = self.functions.get(test.function)?;
            let case = function.cases.get(test.case)?;
            (function.callable.name == name).then_some((function, case))
        })
    }
}

/// A documented call, without what stands before the name of the function; an attribute or operator with its object.
fn documented_call(function: &ObservedFunction, case: &Case) -> Option<String> {
    case.documented.as_ref()?;
    let callable = &function.callable;
    let is_whole = callable.is_property || callable.is_operator();
    let callee = if is_whole { case.call.callee.as_str() } else { callable.called_name() };
    Some(write_call(callable, callee, &case.call.arguments).text)
}

/// The id that runs a whole test file; for unittest, a module name. `packages` are the folders with
/// an `__init__.py`.
pub fn whole_file(
    path: &RepoPath,
    framework: Framework,
    directory: &str,
    packages: &BTreeSet<String>,
) -> TestId {
    let text = path.as_str();
    if framework == Framework::GoTest {
        let folder =
            path.below(directory).map_or("", |file| file.rsplit_once('/').map_or("", |it| it.0));
        return TestId(format!("./{folder}"));
    }
    if let (Some(Language::Java), Some((_, class))) =
        (framework.language(), text.split_once("src/test/java/"))
    {
        return TestId(class.trim_end_matches(".java").replace('/', "."));
    }
    if framework != Framework::Unittest {
        return TestId(text.to_owned());
    }
    let inside = path.below(directory).unwrap_or(text);
    let inside = inside.strip_suffix(".py").unwrap_or(inside);
    let (folder, stem) = inside.rsplit_once('/').unwrap_or(("", inside));
    if folder.is_empty() || packages.contains(path.parent()) {
        return TestId(inside.replace('/', "."));
    }
    TestId(stem.to_owned())
}

/// The files as edits, except for files without tests.
pub fn edits(test_files: &[PinnedFile]) -> EditSet {
    let mut files: Vec<FileEdit> = test_files
        .iter()
        .filter(|test_file| !test_file.draft.tests.is_empty())
        .map(|test_file| FileEdit {
            file: test_file.path.clone(),
            before: None,
            after: Some(test_file.draft.text.clone()),
        })
        .collect();
    files.sort_by(|a, b| a.file.cmp(&b.file));
    EditSet { files }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::test::FailureText;

    fn path(text: &str) -> RepoPath {
        RepoPath::parse(text).unwrap()
    }

    #[test]
    fn unittest_takes_a_module_and_the_others_take_a_path() {
        let packages = BTreeSet::from(["shop/tests".to_owned()]);
        let table = [
            (Framework::Pytest, "tests/test_a.py", "", "tests/test_a.py"),
            (Framework::Jest, "a.test.js", "", "a.test.js"),
            (Framework::Unittest, "test_a.py", "", "test_a"),
            (Framework::Unittest, "shop/tests/test_a.py", "", "shop.tests.test_a"),
            (Framework::Unittest, "shop/tests/test_a.py", "shop", "tests.test_a"),
            (Framework::Unittest, "tests/test_a.py", "", "test_a"),
            (Framework::Unittest, "shopping/tests/test_a.py", "shop", "test_a"),
        ];
        for (framework, file, directory, expected) in table {
            let name = whole_file(&path(file), framework, directory, &packages);
            assert_eq!(name.as_str(), expected, "{framework} {file}");
        }
    }

    fn case(arguments: &[&str]) -> Case {
        let arguments = arguments.iter().map(|one| (*one).to_owned()).collect();
        let call = crate::effect::Call::new("f", arguments);
        Case { call, seen: crate::effect::Observation::refused(""), documented: None }
    }

    #[test]
    fn of_tests_that_differ_in_a_value_only_one_and_an_edge_are_kept() {
        let text = "def double(x):\n    return x * 2\n";
        let callable = crate::code::signature::callables(Language::Python, text).remove(0);
        let observed = |given: &i32| {
            let literal = (given * 2).to_string();
            let way = crate::effect::ResultKind::Plain;
            let mut one = case(&[&given.to_string()]);
            one.seen.outcome = CallOutcome::Value { literal, way };
            one
        };
        let function = ObservedFunction {
            callable,
            local: "double".into(),
            cases: [4, 3, 2, 0].iter().map(observed).collect(),
            tried: 4,
            dropped: Vec::new(),
            fruitless: Vec::new(),
            limits: BTreeSet::new(),
        };
        let naming = Naming::of_module(Framework::Pytest, "shop".into());
        let (file, subject) = (path("test_shop.py"), path("shop.py"));
        let mut test_file = PinnedFile::new(file, subject, naming, vec![function]);
        let names = test_file.draft.tests.iter().map(|test| test.name.clone());
        test_file.ids = names.map(|name| (name.clone(), TestId(name))).collect();
        let notices = test_file.ids.values().map(|id| (id.clone(), BTreeSet::from([1]))).collect();
        test_file.keep_distinguishing(&notices);
        let kept = test_file.functions[0].cases.iter().map(|one| one.call.arguments.concat());
        assert_eq!(kept.collect::<Vec<_>>(), ["4", "0"]);
    }

    #[test]
    fn why_tests_did_not_run_is_read_from_what_the_runner_says_of_their_file() {
        use crate::domain::test::CaseKind;
        let naming = Naming::of_module(Framework::Unittest, "shop".into());
        let mut test_file =
            PinnedFile::new(path("tests/test_shop.py"), path("shop.py"), naming, Vec::new());
        test_file.draft.tests = vec![DraftTest { name: "test_a".into(), function: 0, case: 0 }];
        let table = [
            ("test_shop", "its file cannot be loaded: no shop"),
            ("tests.test_shop", "its file cannot be loaded: no shop"),
            ("tests/test_shop.py", "its file cannot be loaded: no shop"),
            ("test_shopping", "the test command runs no test: no shop"),
            ("", "the test command gives no result of any test"),
            ("test_shopping.A.b", "no test of tests/test_shop.py is run by the test command"),
        ];
        for (id, expected) in table {
            let case = TestCase {
                kind: if id.ends_with('b') { CaseKind::Test } else { CaseKind::Unloaded },
                id: id.into(),
                status: Status::Failed,
                file: None,
                line: None,
                duration_ms: 0,
                layer: crate::domain::test::Layer::Unit,
                failure: Some(FailureText { message: "no shop".into(), ..FailureText::default() }),
            };
            let cases = if id.is_empty() { Vec::new() } else { vec![case] };
            let broken = test_file.record_results(&cases);
            assert_eq!(broken.first().map(|one| one.1.as_str()), Some(expected), "{id}");
        }
    }

    #[test]
    fn files_without_a_test_are_no_edit() {
        let files = BTreeSet::new();
        let (framework, directory) = (Framework::Pytest, "");
        let layout =
            crate::repair::ProjectLayout { framework, directory, files: &files, modules: false };
        let located = crate::repair::locate_test_file(&layout, &path("a.py"), "", None);
        let (file, naming) = located.unwrap();
        let empty = PinnedFile::new(file, path("a.py"), naming, Vec::new());
        assert!(edits(&[empty]).files.is_empty());
    }
}
