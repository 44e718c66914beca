//! Chooses the file of the tests of one boundary, in the manner of the project.

use crate::code::language::Language;
use crate::domain::framework::Framework;
use crate::domain::id::RepoPath;
use crate::domain::test_plan::framework::Conventions;

/// What the names of files end in whose tests hold documented results that the code contradicts.
pub const DOCUMENTED: &str = "-documented";

/// Where the tests of a boundary go: into a folder of integration tests where the project has one,
/// else where its tests are. `files` are those of the tree, and `suffix` tells several files of one
/// boundary apart.
pub fn place_tests(
    (from, to, suffix): (&RepoPath, &RepoPath, &str),
    framework: Framework,
    habits: &Conventions,
    files: &[RepoPath],
) -> Option<RepoPath> {
    let (from_name, to_name) = (module_name(from), module_name(to).to_owned() + suffix);
    let language = framework.language()?;
    if language == Language::Go {
        let name = format!("{from_name}_{to_name}_integration_test.go");
        return RepoPath::inside(from.parent(), &name).ok();
    }
    let is_python = framework.is_python();
    let joined = if is_python {
        format!("{from_name}_{to_name}").replace('-', "_")
    } else {
        format!("{from_name}-{to_name}")
    };
    let pattern = habits.file_naming.as_str();
    let name = match pattern.split_once('*') {
        Some((start, end)) if end.contains('.') => format!("{start}{joined}{end}"),
        _ if is_python => format!("test_{joined}.py"),
        _ => format!("{joined}.test.{}", from.extension()),
    };
    let folder = integration_folder(habits, files);
    let folder = folder.unwrap_or_else(|| match habits.directory.as_str() {
        "" if pattern.is_empty() => "tests".to_owned(),
        "" => from.parent().to_owned(),
        beside if beside.starts_with("./") => {
            format!("{}/{}", from.parent(), beside.trim_start_matches("./"))
        }
        own => own.to_owned(),
    });
    RepoPath::inside(&folder, &name).ok()
}

/// The folder of the project's integration tests.
fn integration_folder(habits: &Conventions, files: &[RepoPath]) -> Option<String> {
    let below = if habits.directory.is_empty() { "tests" } else { &habits.directory };
    let folders = files.iter().map(RepoPath::parent).filter(|folder| {
        let last = folder.rsplit('/').next().unwrap_or(folder);
        folder.starts_with(below) && last.to_lowercase().starts_with("integration")
    });
    folders.min_by_key(|folder| folder.len()).map(ToOwned::to_owned)
}

/// The name of a module: that of its file, or of its folder where the file speaks for it.
fn module_name(file: &RepoPath) -> &str {
    let folder = file.parent().rsplit('/').next().unwrap_or_default();
    match file.stem() {
        "__init__" | "index" | "mod" if !folder.is_empty() => folder,
        stem => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_of_a_boundary_go_where_the_project_has_such_tests() {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let table = [
            (
                Framework::Pytest,
                ("shop/order.py", "shop/tax.py"),
                ("test_*.py", "tests"),
                vec!["tests/test_tax.py"],
                "tests/test_order_tax.py",
            ),
            (
                Framework::Pytest,
                ("shop/__init__.py", "shop/tax.py"),
                ("test_*.py", "tests"),
                vec!["tests/integration/test_all.py"],
                "tests/integration/test_shop_tax.py",
            ),
            (
                Framework::Pytest,
                ("order.py", "tax.py"),
                ("", ""),
                vec![],
                "tests/test_order_tax.py",
            ),
            (
                Framework::NodeTest,
                ("src/order.js", "src/tax/index.js"),
                ("*.spec.js", "test"),
                vec![],
                "test/order-tax.spec.js",
            ),
            (
                Framework::Vitest,
                ("src/order.ts", "src/tax.ts"),
                ("*.test.ts", ""),
                vec![],
                "src/order-tax.test.ts",
            ),
            (
                Framework::GoTest,
                ("order/order.go", "tax/tax.go"),
                ("*_test.go", ""),
                vec![],
                "order/order_tax_integration_test.go",
            ),
        ];
        for (framework, (from, to), (naming, directory), files, expected) in table {
            let habits = Conventions {
                file_naming: naming.into(),
                directory: directory.into(),
                ..Conventions::default()
            };
            let files: Vec<RepoPath> = files.into_iter().map(path).collect();
            let found = place_tests((&path(from), &path(to), ""), framework, &habits, &files);
            assert_eq!(found.unwrap().as_str(), expected);
        }
    }
}
