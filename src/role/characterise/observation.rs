//! Calls the functions that lack tests, and writes the observed results as test files.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::code::go_packages;
use crate::code::java_packages::{BUILD_FILES, JUnit};
use crate::code::language::Language;
use crate::code::rust_crate::{is_first_edition, module_path};
use crate::code::signature::module_exports::ScriptPackage;
use crate::code::signature::{
    self, Callable, EntryPoint, FileText, express_routes, module_exports,
};
use crate::code::test_paths::is_test;
use crate::domain::characterisation_report::{
    CharacterisationReport, CharacterisedFunction, DropReason,
};
use crate::domain::event::Event;
use crate::domain::framework::Framework;
use crate::domain::id::RepoPath;
use crate::effect::{EffectError, Effects, Observer};
use crate::repair::{
    self, FileTask, ObservedFunction, ProjectLayout, TestStyle, is_of_other_runner,
};

use super::boundary_values::{callee_names, drop_one_sided, drop_unmeant, learn_across};
use super::called_names::{CalledNames, SubjectNames, read_called_names};
use super::contradiction::fruitless_examples;
use super::route_hosts::{read_hosts, script_clients};
use super::test_file::PinnedFile;
use super::type_sources::{read_siblings, read_source};
use super::{Crossing, Gap, GenerateRequest, unfinished};
use crate::role::test_path::free_path;

/// Time limit of a single call.
pub const CALL: Duration = Duration::from_secs(1);

/// Maximum number of sources searched for example calls.
const SEARCHED: usize = 1_500;

/// Maximum number of tests beside a new one that are read for their style.
const NEIGHBOURS: usize = 5;

/// Maximum number of pages searched for examples.
const PAGES: usize = 200;

/// A source file with the functions to call.
struct Subject {
    file: RepoPath,
    language: Language,
    text: String,
    callables: Vec<Callable>,
    /// Where its tests are planned.
    test_file: Option<RepoPath>,
    /// The boundary that its tests must cross.
    crossing: Option<Crossing>,
    /// Files that its functions read.
    files: Vec<FileText>,
}

/// Calls the functions of all gaps until the deadline `ends`.
pub async fn observe(
    request: &GenerateRequest<'_>,
    observer: &dyn Observer,
    ends: Duration,
    fx: &Effects<'_>,
    report: &mut CharacterisationReport,
) -> Result<Vec<PinnedFile>, EffectError> {
    let files: BTreeSet<RepoPath> = fx.worktree.files(request.tree).await?.into_iter().collect();
    let facts = fx.suite.facts();
    let framework = facts.framework;
    if !repair::can_render(framework) {
        report.dropped.push(DropReason {
            reason: format!("tests for {framework} cannot be written yet"),
            count: 1,
        });
        return Ok(Vec::new());
    }
    let package = script_package(request, fx).await?;
    let modules = package.is_module;
    let layout = ProjectLayout { framework, directory: &facts.directory, files: &files, modules };
    let mut subjects = subjects(request, framework, fx).await?;
    let is_searched =
        |file: &RepoPath| Language::of(file).filter(|language| is_tested_by(*language, framework));
    let searched = files.iter().filter_map(|file| Some((file, is_searched(file)?)));
    let searched: Vec<(&RepoPath, Language)> = searched.take(SEARCHED).collect();
    let names = list_subject_names(&subjects);
    let CalledNames { examples, chains, ambiguous, imported } =
        read_called_names(request, &names, (&searched, &files), fx).await?;
    for subject in &mut subjects {
        let Some(crossing) = &subject.crossing else { continue };
        if let Some(text) = read_source(request, &crossing.to, fx).await? {
            let called = signature::callables(subject.language, &text);
            learn_across(&mut subject.callables, crossing, &called, &examples);
        }
    }
    add_page_examples(request, (&layout, &package), &mut subjects, &ambiguous, fx).await?;
    let mut test_files: Vec<PinnedFile> = Vec::new();
    let mut used = BTreeSet::new();
    let total = subjects.len();
    let calls = AtomicU64::new(0);
    let none = BTreeSet::new();
    for (done, subject) in subjects.into_iter().enumerate() {
        // Divide the remaining time evenly among the files, so that every file gets a turn.
        let left = ends.saturating_sub(fx.clock.elapsed());
        let turns = u32::try_from(total - done).unwrap_or(u32::MAX).max(1);
        let end = fx.clock.elapsed() + left / turns;
        let goes_on = |more: u64| {
            let done = calls.fetch_add(more, Ordering::Relaxed) + more;
            if more > 0 {
                let unit = "calls".to_owned();
                fx.screen.show(&Event::Progress { done, total: None, unit });
            }
            fx.clock.elapsed() < end
        };
        let module = repair::module_of(&subject.file, &facts.directory, &files);
        let others = imported.list_from_others(&subject.file);
        let entries = subject.callables.iter().filter_map(|one| one.entry.as_ref());
        let mut imports = repair::list_imports(&layout, &subject.file, &others);
        imports.extend(entries.flat_map(|one| one.imports.iter().cloned()));
        let task = FileTask {
            root: fx.worktree.root(),
            file: &subject.file,
            language: subject.language,
            module: if subject.language.is_script() { &package.name } else { &module },
            callables: &subject.callables,
            examples: &examples,
            chains: &chains,
            limit: CALL,
            text: &subject.text,
            imports: &imports,
            files: &subject.files,
            missed: request.missed.get(&subject.file).unwrap_or(&none),
            goes_on: &goes_on,
        };
        let mut functions = repair::characterise(observer, &task).await?;
        let callable = |one: &ObservedFunction| one.callable.unsupported.is_none();
        if fx.clock.elapsed() >= end && functions.iter().any(callable) {
            let search = format!("the search for calls of {} was cut short", subject.file);
            unfinished(report, search);
        }
        report.findings.extend(fruitless_examples(&subject.file, &mut functions));
        if let Some(crossing) = &subject.crossing {
            drop_one_sided(&mut functions, crossing);
            let is_typed = matches!(subject.language, Language::TypeScript | Language::Tsx);
            drop_unmeant(&mut functions, &examples, is_typed);
        }
        report
            .functions
            .extend(functions.iter().map(|one| reported(&subject.file, one, &functions)));
        let planned = subject.test_file.as_ref();
        let located = repair::locate_test_file(&layout, &subject.file, &subject.text, planned);
        let exists = |path: &RepoPath| files.contains(path) || used.contains(path);
        let has_folder = |folder: &str| files.iter().any(|file| file.parent() == folder);
        let free = located.and_then(|(path, naming)| {
            Some((free_path(&path, &subject.file, &exists, &has_folder)?, naming))
        });
        if functions.iter().any(|one| !one.cases.is_empty()) {
            let Some((path, mut naming)) = free else {
                let reason = format!("no place is known for the tests of {}", subject.file);
                report.dropped.push(DropReason { reason, count: 1 });
                continue;
            };
            naming.is_behaviour = subject.crossing.is_some();
            naming.imports = repair::imports_from(&layout, path.parent(), &others, &subject.text);
            let clients = script_clients(subject.language, &subject.callables);
            let (defaults, named) =
                repair::client_imports(&layout, path.parent(), &clients, &subject.text);
            naming.defaults = defaults;
            naming.imports.extend(named);
            naming.style = test_style(request, (&subject, framework), &path, &files, fx).await?;
            let tests = read_siblings(request, &subject.file, true, fx).await?;
            naming.package.taken =
                tests.iter().flat_map(|text| go_packages::function_names(text)).collect();
            if let Some((module, is_declared)) = rust_module(request, &subject.file, fx).await? {
                naming.subject = module;
                naming.package.is_declared = is_declared;
            }
            if subject.language == Language::Java {
                let Some(junit) = junit_version(request, &subject.file, fx).await? else {
                    let reason = "its project has no JUnit".to_owned();
                    report.dropped.push(DropReason { reason, count: 1 });
                    continue;
                };
                naming.package.junit = junit;
                path.stem().clone_into(&mut naming.subject);
            }
            used.insert(path.clone());
            let mut made = PinnedFile::new(path, subject.file, naming, functions);
            made.imports = imports;
            test_files.push(made);
        }
    }
    Ok(test_files)
}

/// What the `package.json` of the suite says.
async fn script_package(
    request: &GenerateRequest<'_>,
    fx: &Effects<'_>,
) -> Result<ScriptPackage, EffectError> {
    let path = format!("{}/package.json", fx.suite.facts().directory);
    let path = RepoPath::parse(path.trim_start_matches('/')).ok();
    let text = match path {
        Some(path) => read_source(request, &path, fx).await?.unwrap_or_default(),
        None => String::new(),
    };
    Ok(ScriptPackage::parse(&text))
}

/// The style of the tests beside a new one, of its source, and of the settings of formatters.
async fn test_style(
    request: &GenerateRequest<'_>,
    (subject, framework): (&Subject, Framework),
    path: &RepoPath,
    files: &BTreeSet<RepoPath>,
    fx: &Effects<'_>,
) -> Result<TestStyle, EffectError> {
    let own = subject.language;
    let is_alike = |one: Language| one == own || one.is_script() && own.is_script();
    let is_neighbour = |file: &&RepoPath| is_test(file) && Language::of(file).is_some_and(is_alike);
    let mut neighbours: Vec<&RepoPath> = files.iter().filter(is_neighbour).collect();
    neighbours.sort_by_key(|file| file.parent() != path.parent());
    let mut texts = Vec::new();
    for file in neighbours.into_iter().take(NEIGHBOURS) {
        let text = read_source(request, file, fx).await?;
        texts.extend(text.filter(|text| !is_of_other_runner(text, framework)));
    }
    let mut settings = String::new();
    for name in ["pyproject.toml", "ruff.toml", ".ruff.toml"] {
        if let Ok(path) = RepoPath::parse(name) {
            settings.push_str(&read_source(request, &path, fx).await?.unwrap_or_default());
        }
    }
    let style = TestStyle::shown_by(subject.language, &subject.text, &texts, &settings);
    let is_linter = |file: &&RepoPath| {
        let name = file.file_name();
        let is_near = file.parent().is_empty() || file.parent() == path.parent();
        is_near && (name.starts_with(".eslintrc") || name.starts_with("eslint.config."))
    };
    let manifest = RepoPath::parse("package.json").ok();
    let manifest = match manifest.filter(|_| own.is_script() && texts.is_empty()) {
        Some(manifest) => read_source(request, &manifest, fx).await?.unwrap_or_default(),
        None => String::new(),
    };
    let has_standard =
        ["\"standard\"", "\"semistandard\""].iter().any(|one| manifest.contains(one));
    let declares_globals = match texts.as_slice() {
        [] => has_standard || files.iter().any(|file| is_linter(&file)),
        texts => ["/* global ", "/*global ", "eslint-env"]
            .iter()
            .any(|mark| texts.iter().any(|text| text.contains(mark))),
    };
    Ok(TestStyle { declares_globals, ..style })
}

/// The functions of all gaps; those that cannot be called have a reason.
async fn subjects(
    request: &GenerateRequest<'_>,
    framework: Framework,
    fx: &Effects<'_>,
) -> Result<Vec<Subject>, EffectError> {
    let mut subjects = Vec::new();
    for gap in request.gaps {
        let (Some(language), Some(text)) =
            (Language::of(&gap.file), read_source(request, &gap.file, fx).await?)
        else {
            continue;
        };
        let siblings = read_siblings(request, &gap.file, false, fx).await?;
        let mut callables = signature::callables_among(language, &text, &siblings);
        let package = RepoPath::inside(gap.file.parent(), "__init__.py").ok();
        if let Some(package) = package.filter(|_| language == Language::Python) {
            let package = read_source(request, &package, fx).await?.unwrap_or_default();
            signature::mark_internal(&mut callables, gap.file.stem(), &text, &package);
        }
        let hosts = read_hosts(request, (&gap.file, &text), fx).await?;
        if language == Language::Python {
            signature::add_entry_points(&mut callables, &text, &hosts);
            signature::add_django_views(&mut callables, (gap.file.as_str(), &text), &hosts);
        } else if language.is_script() {
            let own = (gap.file.as_str(), text.as_str());
            express_routes::add_routes(&mut callables, own, language, &hosts);
        }
        let clients: BTreeSet<String> = callables
            .iter()
            .filter(|one| names(gap, one) && gap.crossing.is_some())
            .filter_map(|one| Some(one.entry.as_ref()?.split_request()?.0.to_owned()))
            .collect();
        // A request may need what another one of the same application stored.
        let is_needed = |one: &Callable| {
            let entry = one.entry.as_ref().filter(|entry| entry.stores_something());
            entry.and_then(EntryPoint::split_request).is_some_and(|(one, _)| clients.contains(one))
        };
        callables.retain(|one| names(gap, one) || is_needed(one));
        let to = gap.crossing.as_ref().map(|crossing| &crossing.to);
        let to = match to.filter(|_| language == Language::Python) {
            Some(to) => read_source(request, to, fx).await?,
            None => None,
        };
        let siblings: Vec<String> = siblings.into_iter().chain(to).collect();
        let files = match language {
            Language::Python => signature::learn_files(&mut callables, &text, &siblings),
            _ => Vec::new(),
        };
        let foreign = unsupported_reason(language, framework, &fx.suite.facts().version);
        for callable in &mut callables {
            let held = request.held.get(&(gap.file.clone(), callable.name.clone()));
            let held = held.cloned().or_else(|| callable.unsupported.take());
            callable.unsupported = foreign.map(str::to_owned).or(held);
        }
        let (file, test_file) = (gap.file.clone(), gap.test_file.clone());
        let crossing = gap.crossing.clone();
        subjects.push(Subject { file, language, text, callables, test_file, crossing, files });
    }
    Ok(subjects)
}

/// The path by which tests import from a file of a Rust library, and whether they declare it.
async fn rust_module(
    request: &GenerateRequest<'_>,
    file: &RepoPath,
    fx: &Effects<'_>,
) -> Result<Option<(String, bool)>, EffectError> {
    let Some((package, _)) = file.as_str().split_once("src/") else { return Ok(None) };
    let mut texts = Vec::new();
    for name in ["Cargo.toml", "src/lib.rs"] {
        let path = RepoPath::parse(format!("{package}{name}")).ok();
        let Some(path) = path else { return Ok(None) };
        texts.push(read_source(request, &path, fx).await?.unwrap_or_default());
    }
    let [manifest, library] = texts.as_slice() else { return Ok(None) };
    let below = file.as_str().strip_prefix(package).unwrap_or_default();
    let module = module_path(manifest, library, below).filter(|_| file.extension() == "rs");
    Ok(module.map(|module| (module, is_first_edition(manifest))))
}

/// The version of JUnit that the build files in the folders of a file ask for, up to the root.
async fn junit_version(
    request: &GenerateRequest<'_>,
    file: &RepoPath,
    fx: &Effects<'_>,
) -> Result<Option<JUnit>, EffectError> {
    let (module, _) = file.as_str().split_once("src/main/").unwrap_or_default();
    let mut texts = String::new();
    for folder in Path::new(module).ancestors() {
        for name in BUILD_FILES {
            let Some(path) = folder.join(name).to_str().and_then(|path| RepoPath::parse(path).ok())
            else {
                continue;
            };
            texts.push_str(&read_source(request, &path, fx).await?.unwrap_or_default());
        }
    }
    Ok(JUnit::asked_by(&texts))
}

/// Whether a gap contains a function. What is part of each object of a class comes with any of its
/// functions: operators, attributes, and the constructor.
fn names(gap: &Gap, callable: &Callable) -> bool {
    let is_special = callable.is_operator()
        || callable.is_attribute()
        || callable.called_name() != callable.short_name();
    let class = callable.class.as_ref().filter(|_| is_special).map(|class| class.name.as_str());
    let is_named = |name: &String| {
        *name == callable.name
            || name == callable.short_name()
            || class.is_some() && name.split_once('.').map(|(class, _)| class) == class
    };
    // What a factory makes is called with it.
    let outer = callable.name.split_once('.').filter(|_| callable.entry.is_some());
    let is_made = outer.is_some_and(|(outer, _)| gap.functions.iter().any(|name| name == outer));
    gap.functions.is_empty() || gap.functions.iter().any(is_named) || is_made
}

/// The functions and classes whose calls in the repository show how they are used.
fn list_subject_names(subjects: &[Subject]) -> SubjectNames {
    let callables = subjects.iter().flat_map(|subject| &subject.callables);
    let classes = |one: &Callable| -> Vec<String> {
        let of_parameters = one.parameters.iter().filter_map(|one| one.class.as_ref());
        of_parameters.chain(&one.class).map(|class| class.name.clone()).collect()
    };
    let crossings = subjects.iter().filter_map(|subject| subject.crossing.as_ref());
    let names = callables
        .flat_map(|one| [vec![one.called_name().to_owned()], classes(one)].concat())
        .chain(crossings.flat_map(callee_names))
        .collect();
    let defaults = subjects.iter().flat_map(|subject| {
        let is_default = |one: &&Callable| one.export.as_deref() == Some("default");
        let own = subject.callables.iter().filter(is_default);
        own.map(|one| (subject.file.clone(), one.called_name().to_owned()))
    });
    SubjectNames { names, defaults: defaults.collect() }
}

/// Adds the examples of the request, the README and other pages to the functions that they call.
async fn add_page_examples(
    request: &GenerateRequest<'_>,
    (layout, package): (&ProjectLayout<'_>, &ScriptPackage),
    subjects: &mut [Subject],
    ambiguous: &BTreeSet<String>,
    fx: &Effects<'_>,
) -> Result<(), EffectError> {
    let mut texts = vec![request.description.to_owned()];
    for page in layout.files.iter().filter(|file| signature::is_page(file)).take(PAGES) {
        texts.extend(read_source(request, page, fx).await?);
    }
    for subject in subjects {
        let names = subject.callables.iter().flat_map(Callable::shown_names);
        let is_meant =
            |name: &String| !ambiguous.contains(name) || signature::is_entry_point(&subject.file);
        let names: BTreeSet<String> = names.filter(is_meant).collect();
        let default = module_exports::package_default(&subject.callables, (&subject.file, package));
        for text in &texts {
            let default = (default.as_deref(), package.name.as_str());
            let found = module_exports::package_examples(subject.language, text, &names, default);
            signature::assign_examples(subject.language, &mut subject.callables, &found);
        }
    }
    Ok(())
}

/// Whether tests of a framework are written in a language, JavaScript and TypeScript being one.
fn is_tested_by(language: Language, framework: Framework) -> bool {
    let own = framework.language();
    own == Some(language) || own.is_some_and(Language::is_script) && language.is_script()
}

/// Why functions of a language cannot get tests for a framework; `version` is that of the
/// framework, or of Node.js for its built-in test runner.
fn unsupported_reason(
    language: Language,
    framework: Framework,
    version: &str,
) -> Option<&'static str> {
    if !is_tested_by(language, framework) {
        return Some("the detected test framework is one of another language");
    }
    match language {
        Language::TypeScript if framework == Framework::NodeTest && strips_types(version) => None,
        Language::TypeScript | Language::Tsx if framework == Framework::NodeTest => {
            Some("`node --test` loads TypeScript from Node.js 22.18 on, and no TSX")
        }
        _ => None,
    }
}

/// Whether a version of Node.js runs TypeScript without a build step.
fn strips_types(version: &str) -> bool {
    let digits = |c: char| !c.is_ascii_digit();
    let mut parts = version.split(digits).filter(|part| !part.is_empty());
    let mut next = || parts.next().and_then(|part| part.parse::<u32>().ok()).unwrap_or_default();
    let (major, minor) = (next(), next());
    matches!((major, minor), (22, 18..) | (23, 6..) | (24.., _))
}

fn reported(
    file: &RepoPath,
    one: &ObservedFunction,
    all: &[ObservedFunction],
) -> CharacterisedFunction {
    CharacterisedFunction {
        internal_until: one.is_run_by_others(all).then_some(one.callable.end),
        dropped: one
            .dropped
            .iter()
            .map(|(reason, count)| DropReason { reason: reason.clone(), count: *count })
            .collect(),
        ..CharacterisedFunction::without_tests(
            file.clone(),
            &one.callable.name,
            one.callable.start,
            one.tried,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typescript_is_pinned_where_its_tests_can_load_it() {
        use Framework::{Jest, NodeTest, Pytest, Vitest};
        let table = [
            (Language::TypeScript, Vitest, "", true),
            (Language::Tsx, Jest, "29.7.0", true),
            (Language::TypeScript, NodeTest, "v20.20.2", false),
            (Language::TypeScript, NodeTest, "22.17.1", false),
            (Language::TypeScript, NodeTest, "v22.18.0", true),
            (Language::TypeScript, NodeTest, "24.0.0", true),
            (Language::Tsx, NodeTest, "24.0.0", false),
            (Language::TypeScript, Pytest, "9.2.0", false),
            (Language::JavaScript, NodeTest, "v18.0.0", true),
            (Language::Rust, NodeTest, "v24.0.0", false),
        ];
        for (language, framework, version, pinned) in table {
            let reason = unsupported_reason(language, framework, version);
            assert_eq!(
                reason.is_none(),
                pinned,
                "{language:?} {framework:?} {version}: {reason:?}"
            );
        }
    }

    #[test]
    fn a_gap_names_methods_with_or_without_their_class() {
        let text = "class Cart:\n    def total(self):\n        return 1\n\n\ndef price(x):\n    return x\n";
        let callables = signature::callables(Language::Python, text);
        let gap = |functions: &[&str]| Gap {
            file: RepoPath::parse("a.py").unwrap(),
            functions: functions.iter().map(|one| (*one).to_owned()).collect(),
            test_file: None,
            crossing: None,
        };
        let table = [
            (&[][..], vec!["Cart.total", "price"]),
            (&["Cart.total"], vec!["Cart.total"]),
            (&["total"], vec!["Cart.total"]),
            (&["Basket.total", "price"], vec!["price"]),
            (&["tot"], vec![]),
        ];
        for (functions, expected) in table {
            let gap = gap(functions);
            let named = callables.iter().filter(|one| names(&gap, one));
            let mut named: Vec<&str> = named.map(|one| one.name.as_str()).collect();
            named.sort_unstable();
            assert_eq!(named, expected, "{functions:?}");
        }
    }
}
