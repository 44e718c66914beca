//! Chooses path and imports of a new test file, by where the project already keeps its tests
//! (specification.md 6.8).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::code::go_packages::{imported_packages, package_name};
use crate::code::java_packages::{imports_of, package_of};
use crate::code::language::Language;
use crate::code::signature::is_module;
use crate::code::test_paths::is_test;
use crate::domain::framework::Framework;
use crate::domain::id::{RepoPath, in_folder};

use super::render::{ModuleKind, Naming, TestPackage, most_used_quote};

/// Folders without code of the project itself.
const ASIDE: &[&str] = &[
    "node_modules",
    "dist",
    "build",
    "docs",
    "doc",
    "examples",
    "example",
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "scripts",
    "tools",
    "vendor",
    "third_party",
    "site-packages",
    "out",
    "coverage",
    "migrations",
];

/// Files for configuration and scripts, which are not called by tests.
const CONFIGURING: &[&str] =
    &["setup.py", "conftest.py", "noxfile.py", "tasks.py", "__main__.py", "manage.py"];

/// Layout of the project, from which the paths of new test files are chosen.
#[derive(Clone, Debug)]
pub struct ProjectLayout<'a> {
    pub framework: Framework,
    /// Folder of the suite inside the repository; empty for the root.
    pub directory: &'a str,
    pub files: &'a BTreeSet<RepoPath>,
    /// Whether `package.json` says `"type": "module"`.
    pub modules: bool,
}

/// Whether a file is code of the project that tests can call.
pub fn is_subject(file: &RepoPath) -> bool {
    let aside = file.parent().split('/').any(|part| ASIDE.contains(&part) || part.starts_with('.'));
    let name = file.file_name();
    let configures = CONFIGURING.contains(&name)
        || name.starts_with('.')
        || name.contains(".config.")
        || name.contains(".min.")
        || name.ends_with(".d.ts");
    Language::of(file).is_some() && !aside && !configures && !is_test(file)
}

/// A Python file's dotted name in tests: without `src`, unless `files` make that a package.
pub fn module_of(file: &RepoPath, directory: &str, files: &BTreeSet<RepoPath>) -> String {
    let inside = file.below(directory).unwrap_or(file.as_str());
    let package = RepoPath::inside(directory, "src/__init__.py");
    let is_package = package.is_ok_and(|package| files.contains(&package));
    let inside = inside.strip_prefix("src/").filter(|_| !is_package).unwrap_or(inside);
    let inside = inside.strip_suffix(".py").unwrap_or(inside);
    let inside = inside.strip_suffix("/__init__").unwrap_or(inside);
    inside.replace('/', ".")
}

/// Path and imports of a file's tests, as planned or where the project keeps them.
pub fn locate_test_file(
    site: &ProjectLayout<'_>,
    file: &RepoPath,
    text: &str,
    planned: Option<&RepoPath>,
) -> Option<(RepoPath, Naming)> {
    if site.framework.is_python() {
        return locate_python_test(site, file, text, planned);
    }
    if site.framework == Framework::GoTest {
        return locate_go_test(file, text, planned);
    }
    if site.framework.language() == Some(Language::Rust) {
        return locate_rust_test(site.framework, file);
    }
    if site.framework.language() == Some(Language::Java) {
        return locate_java_test(site.framework, file, text, planned);
    }
    let source = match file.extension() {
        "mjs" | "ts" | "tsx" | "mts" => ModuleKind::Module,
        "cjs" | "cts" => ModuleKind::Common,
        _ if site.modules || is_module(text) => ModuleKind::Module,
        _ => ModuleKind::Common,
    };
    let test = match site.framework {
        Framework::Vitest => ModuleKind::Module,
        _ if site.modules => ModuleKind::Module,
        _ => source,
    };
    // Jest transpiles TypeScript tests but not JavaScript tests; other runners handle both.
    let typed = matches!(file.extension(), "ts" | "tsx" | "mts" | "cts");
    let typed = typed && (site.framework == Framework::Jest || !tests_are_scripts(site));
    let ending = script_ending(site, typed, test);
    let planned = planned.filter(|path| path.file_name().contains(['.', '_']));
    let (folder, stem) = match planned.map(|path| (path.parent(), path.file_name())) {
        Some((folder, name)) => {
            (folder.to_owned(), name.rsplit_once('.').map_or(name, |(stem, _)| stem))
        }
        None => (script_folder(site, file), ""),
    };
    let own = format!("{}.test", file.stem());
    let stem = if stem.is_empty() { &own } else { stem };
    let path = RepoPath::inside(&folder, &format!("{stem}.{ending}")).ok()?;
    let subject = imported_as(relative(path.parent(), file), site, text);
    let quote = most_used_quote(text);
    let naming =
        Naming { source, test, typed, quote, ..Naming::of_module(site.framework, subject) };
    Some((path, naming))
}

/// A file in the folder of the project's tests.
fn locate_python_test(
    site: &ProjectLayout<'_>,
    file: &RepoPath,
    text: &str,
    planned: Option<&RepoPath>,
) -> Option<(RepoPath, Naming)> {
    let module = module_of(file, site.directory, site.files);
    let stem = module.rsplit('.').next().unwrap_or(&module);
    let folder = python_folder(site).unwrap_or_else(|| in_folder(site.directory, "tests"));
    let own = || RepoPath::inside(&folder, &format!("test_{stem}.py")).ok();
    let path = planned.filter(|path| path.extension() == "py").cloned().or_else(own)?;
    let single = text.replace("\"\"\"", "").replace("'''", "");
    let quote = if single.contains('\'') { most_used_quote(&single) } else { '"' };
    let naming = Naming { quote, ..Naming::of_module(site.framework, module) };
    Some((path, naming))
}

/// An integration test of the crate. Its naming gets the path of the module from the manifest.
fn locate_rust_test(framework: Framework, file: &RepoPath) -> Option<(RepoPath, Naming)> {
    let (package, below) = file.as_str().split_once("src/")?;
    let module = below.trim_end_matches(".rs").trim_end_matches("/mod");
    let stem = if module == "lib" { "library".to_owned() } else { module.replace('/', "_") };
    let path = RepoPath::inside(package.trim_end_matches('/'), &format!("tests/{stem}.rs")).ok()?;
    let naming = Naming::of_module(framework, String::new());
    Some((path, naming))
}

/// A test class in the package of the source. Its naming gets the version of JUnit from the build files.
fn locate_java_test(
    framework: Framework,
    file: &RepoPath,
    text: &str,
    planned: Option<&RepoPath>,
) -> Option<(RepoPath, Naming)> {
    let (module, below) = file.as_str().split_once("src/main/java/")?;
    let own = format!("{module}src/test/java/{}Test.java", below.strip_suffix(".java")?);
    let own = RepoPath::parse(own).ok()?;
    let path = planned.filter(|path| path.parent() == own.parent()).cloned().unwrap_or(own);
    let indented =
        text.lines().find(|line| line.starts_with([' ', '\t']) && !line.starts_with(" *"));
    let indent = indented.map_or("    ", |line| {
        line.get(..line.len() - line.trim_start().len()).unwrap_or_default()
    });
    let before = text.split_once("package ").map_or("", |(before, _)| before);
    let has_licence =
        before.starts_with("/*") && ["icense", "opyright"].iter().any(|word| before.contains(word));
    let named = |line: String| {
        let path = line.trim_start_matches("import").trim_end_matches(';').trim().to_owned();
        let name = path.rsplit('.').next()?.to_owned();
        (!path.contains(char::is_whitespace) && name != "*").then_some((name, path))
    };
    let package = TestPackage {
        imports: imports_of(text).into_iter().filter_map(named).collect(),
        name: package_of(text),
        header: if has_licence { before.to_owned() } else { String::new() },
        indent: indent.to_owned(),
        ..TestPackage::default()
    };
    let naming = Naming { package, ..Naming::of_module(framework, path.stem().to_owned()) };
    Some((path, naming))
}

/// A file of the package beside the source, where else a test in the package cannot be.
fn locate_go_test(
    file: &RepoPath,
    text: &str,
    planned: Option<&RepoPath>,
) -> Option<(RepoPath, Naming)> {
    let path = RepoPath::inside(file.parent(), &format!("{}_test.go", file.stem())).ok()?;
    let beside = planned.filter(|path| path.parent() == file.parent()).cloned();
    let package = TestPackage { imports: imported_packages(text), ..TestPackage::default() };
    let subject = package_name(text)?.to_owned();
    let naming = Naming { package, ..Naming::of_module(Framework::GoTest, subject) };
    Some((beside.unwrap_or(path), naming))
}

/// Whether the project writes tests in JavaScript, and none in TypeScript.
fn tests_are_scripts(site: &ProjectLayout<'_>) -> bool {
    let written_in = |extension: &str| {
        let marks = [format!(".test.{extension}"), format!(".spec.{extension}")];
        let named = |name: &str| marks.iter().any(|mark| name.contains(mark));
        site.files.iter().any(|one| within(site, one) && named(one.file_name()))
    };
    written_in("js") && !written_in("ts")
}

/// The folder with the most Python test files.
fn python_folder(site: &ProjectLayout<'_>) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let is_test = |file: &&RepoPath| {
        file.extension() == "py" && file.file_name().starts_with("test_") && within(site, file)
    };
    for file in site.files.iter().filter(is_test) {
        *counts.entry(file.parent()).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(folder, count)| (*count, Reverse(*folder)));
    most.map(|(folder, _)| folder.to_owned())
}

fn within(site: &ProjectLayout<'_>, file: &RepoPath) -> bool {
    site.directory.is_empty() || file.as_str().starts_with(&format!("{}/", site.directory))
}

/// Folder for JavaScript tests of a file: `__tests__`, a common folder, or that of the file.
fn script_folder(site: &ProjectLayout<'_>, file: &RepoPath) -> String {
    let tests: Vec<&RepoPath> = site
        .files
        .iter()
        .filter(|one| {
            let name = one.file_name();
            within(site, one)
                && (name.contains(".test.")
                    || name.contains(".spec.")
                    || one.parent().contains("__tests__"))
        })
        .collect();
    let below = |name: &str| in_folder(site.directory, name);
    if tests.iter().any(|one| one.parent().ends_with("__tests__")) {
        return in_folder(file.parent(), "__tests__");
    }
    for name in ["test", "tests"] {
        let folder = below(name);
        if site.files.iter().any(|one| one.parent() == folder) {
            return folder;
        }
    }
    if tests.is_empty() { below("test") } else { file.parent().to_owned() }
}

fn script_ending(site: &ProjectLayout<'_>, typed: bool, test: ModuleKind) -> &'static str {
    let is_node = matches!(site.framework, Framework::NodeTest | Framework::Mocha | Framework::Ava);
    match (test, site.modules) {
        _ if typed => "ts",
        (ModuleKind::Module, false) if is_node => "mjs",
        (ModuleKind::Common, true) if is_node => "cjs",
        _ => "js",
    }
}

/// How a test imports a TypeScript file: with the ending that its own imports have, else with that of
/// the compiled file where ES modules need one. Only Node.js takes the real one.
fn imported_as(path: String, site: &ProjectLayout<'_>, text: &str) -> String {
    let bare = [".ts", ".tsx"].iter().find_map(|ending| path.strip_suffix(ending));
    let Some(bare) = bare.filter(|_| site.framework != Framework::NodeTest) else { return path };
    let is_relative = |line: &&str| line.contains("from '.") || line.contains("from \".");
    let mut imports = text.lines().filter(is_relative).peekable();
    let takes_none = imports.peek().is_some();
    let mut endings = imports.filter_map(|line| {
        let specifier = line.trim_end_matches([';', '"', '\'', ' ']);
        [".js", ".ts"].into_iter().find(|ending| specifier.ends_with(ending))
    });
    match endings.next_back() {
        Some(".ts") => path,
        Some(ending) => format!("{bare}{ending}"),
        None if site.modules && site.framework == Framework::Vitest && !takes_none => {
            format!("{bare}.js")
        }
        None => bare.to_owned(),
    }
}

/// Where a driver finds names of other files: a Python module, or a script's path and name.
pub fn list_imports(
    site: &ProjectLayout<'_>,
    subject: &RepoPath,
    others: &[(String, RepoPath)],
) -> Vec<(String, String)> {
    let is_python = Language::of(subject) == Some(Language::Python);
    let place = |(name, file): &(String, RepoPath)| {
        let place = if is_python {
            module_of(file, site.directory, site.files)
        } else {
            format!("{file}#{name}")
        };
        (name.clone(), place)
    };
    others.iter().map(place).collect()
}

/// How a script in a folder imports names that other files have; `text` is the file under test.
pub fn imports_from(
    site: &ProjectLayout<'_>,
    folder: &str,
    others: &[(String, RepoPath)],
    text: &str,
) -> Vec<(String, String)> {
    let scripts =
        others.iter().filter(|(_, file)| Language::of(file).is_some_and(Language::is_script));
    scripts
        .map(|(name, file)| (name.clone(), imported_as(relative(folder, file), site, text)))
        .collect()
}

/// Names that a file imports, each with where it is imported from.
type ImportedNames = Vec<(String, String)>;

/// How a script in a folder imports what its requests need: the default exports, and the others.
pub fn client_imports(
    site: &ProjectLayout<'_>,
    folder: &str,
    clients: &[(String, String)],
    text: &str,
) -> (ImportedNames, ImportedNames) {
    let (mut defaults, mut named) = (Vec::new(), Vec::new());
    for (name, place) in clients {
        let (path, export) = place.rsplit_once('#').unwrap_or((place, "default"));
        let file = RepoPath::parse(path).ok().filter(|file| Language::of(file).is_some());
        let from = file.map_or_else(
            || path.to_owned(),
            |file| imported_as(relative(folder, &file), site, text),
        );
        let list = if export == "default" { &mut defaults } else { &mut named };
        list.push((name.clone(), from));
    }
    (defaults, named)
}

/// The path from a folder to a file, as used in an import.
fn relative(folder: &str, file: &RepoPath) -> String {
    let from: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let to: Vec<&str> = file.as_str().split('/').collect();
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = "../".repeat(from.len() - shared);
    let rest = to.get(shared..).unwrap_or_default().join("/");
    if up.is_empty() { format!("./{rest}") } else { format!("{up}{rest}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(list: &[&str]) -> BTreeSet<RepoPath> {
        list.iter().map(|text| RepoPath::parse(*text).unwrap()).collect()
    }

    #[test]
    fn tests_go_where_the_project_keeps_them() {
        let py = |list: &[&str], directory: &'static str, file: &str| {
            let files = files(list);
            let site = ProjectLayout {
                framework: Framework::Pytest,
                directory,
                files: &files,
                modules: false,
            };
            let (path, naming) =
                locate_test_file(&site, &RepoPath::parse(file).unwrap(), "", None).unwrap();
            (path.to_string(), naming.subject)
        };
        let table = [
            (vec![], "", "shop/fees.py", "tests/test_fees.py", "shop.fees"),
            (vec![], "", "src/shop/__init__.py", "tests/test_shop.py", "shop"),
            (
                vec!["shop/test/test_a.py"],
                "",
                "shop/fees.py",
                "shop/test/test_fees.py",
                "shop.fees",
            ),
            (vec![], "api", "api/src/a/b.py", "api/tests/test_b.py", "a.b"),
        ];
        for (list, directory, file, path, module) in table {
            let found = py(&list, directory, file);
            assert_eq!(found, (path.to_owned(), module.to_owned()), "{file}");
        }
    }

    #[test]
    fn script_tests_follow_folder_kind_and_ending() {
        let js = |list: &[&str], modules, file: &str, text: &str| {
            let files = files(list);
            let site = ProjectLayout {
                framework: Framework::NodeTest,
                directory: "",
                files: &files,
                modules,
            };
            let (path, naming) =
                locate_test_file(&site, &RepoPath::parse(file).unwrap(), text, None).unwrap();
            (path.to_string(), naming.subject, naming.test)
        };
        let esm = "export const a = 1;";
        let (module, common) = (ModuleKind::Module, ModuleKind::Common);
        let table = [
            (vec![], false, "lib/a.js", "", "test/a.test.js", "../lib/a.js", common),
            (vec![], true, "lib/a.js", esm, "test/a.test.js", "../lib/a.js", module),
            (vec![], false, "lib/a.js", esm, "test/a.test.mjs", "../lib/a.js", module),
            (
                vec!["src/__tests__/b.js"],
                true,
                "src/a.js",
                esm,
                "src/__tests__/a.test.js",
                "../a.js",
                module,
            ),
            (vec!["src/b.test.js"], true, "src/a.js", esm, "src/a.test.js", "./a.js", module),
            (
                vec!["tests/x.js"],
                false,
                "index.js",
                "",
                "tests/index.test.js",
                "../index.js",
                common,
            ),
            (vec![], true, "a.cjs", "", "test/a.test.js", "../a.cjs", module),
        ];
        for (list, modules, file, text, path, subject, kind) in table {
            let found = js(&list, modules, file, text);
            assert_eq!(found, (path.to_owned(), subject.to_owned(), kind), "{file}");
        }
    }

    #[test]
    fn a_planned_file_is_written_where_it_is_planned() {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let table = [
            (
                Framework::Pytest,
                "shop/fees.py",
                "tests/shop/test_fees.py",
                "tests/shop/test_fees.py",
                "shop.fees",
            ),
            (Framework::Pytest, "shop/fees.py", "tests/fees.md", "tests/test_fees.py", "shop.fees"),
            (Framework::Jest, "src/a.js", "spec/a.spec.js", "spec/a.spec.js", "../src/a.js"),
            (Framework::Vitest, "src/a.ts", "src/a.test.ts", "src/a.test.ts", "./a"),
            (Framework::NodeTest, "lib/a.mjs", "test/a.test.js", "test/a.test.mjs", "../lib/a.mjs"),
        ];
        for (framework, file, planned, expected, subject) in table {
            let files = BTreeSet::new();
            let site = ProjectLayout { framework, directory: "", files: &files, modules: false };
            let located = locate_test_file(&site, &path(file), "", Some(&path(planned)));
            let (found, naming) = located.unwrap();
            assert_eq!((found.as_str(), naming.subject.as_str()), (expected, subject), "{file}");
        }
    }

    #[test]
    fn a_test_imports_typescript_as_its_own_imports_do() {
        use Framework::{Jest, NodeTest, Vitest};
        let table = [
            (Vitest, true, "", "../a.js"),
            (Vitest, false, "", "../a"),
            (Jest, false, "", "../a"),
            (NodeTest, true, "", "../a.ts"),
            (Vitest, true, "import { b } from './b';", "../a"),
            (Vitest, false, "import { b } from \"./b.js\";", "../a.js"),
            (Vitest, true, "import { b } from './b.ts';", "../a.ts"),
        ];
        for (framework, modules, text, expected) in table {
            let files = BTreeSet::new();
            let site = ProjectLayout { framework, directory: "", files: &files, modules };
            let found = imported_as("../a.ts".into(), &site, text);
            assert_eq!(found, expected, "{framework} {text}");
        }
    }

    #[test]
    fn a_folder_named_src_is_left_out_unless_it_is_a_package() {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let table = [
            ("src/shop/fees.py", "", "", "shop.fees"),
            ("src/fees.py", "src/__init__.py", "", "src.fees"),
            ("app/src/fees.py", "app/src/__init__.py", "app", "src.fees"),
            ("app/src/fees.py", "src/__init__.py", "app", "fees"),
        ];
        for (file, other, directory, expected) in table {
            let files = RepoPath::parse(other).into_iter().collect();
            assert_eq!(module_of(&path(file), directory, &files), expected, "{file}");
        }
    }

    #[test]
    fn what_configures_or_stands_aside_is_no_subject() {
        for path in [
            "setup.py",
            "docs/conf.py",
            "jest.config.js",
            "tests/test_a.py",
            "dist/a.js",
            "a.d.ts",
            "README.md",
            ".github/x.py",
        ] {
            assert!(!is_subject(&RepoPath::parse(path).unwrap()), "{path}");
        }
        for path in ["shop/fees.py", "src/a.ts", "index.js", "a.mjs"] {
            assert!(is_subject(&RepoPath::parse(path).unwrap()), "{path}");
        }
    }
}
