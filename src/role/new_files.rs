//! Whether a fix needs a new file: its own changes import it or name it, or a failing test misses it.

use std::collections::BTreeMap;

use crate::code::imports::{self, ImportKind, Index};
use crate::code::language::Language;
use crate::code::outline;
use crate::domain::id::RepoPath;
use crate::domain::plan_scope::Demand;
use crate::domain::proposal::FileEdit;
use crate::domain::text::has_word;

/// Whether the planned edits, or a failing test, call for a new file.
pub fn is_needed(created: &FileEdit, demand: &Demand<'_>) -> bool {
    let language = Language::of(&created.file);
    let module = module_of(&created.file, language);
    // A file of Rust belongs to a crate only where a module declares it.
    let is_declared = language == Some(Language::Rust);
    // The name of an index file is that of many others.
    let is_unique = module == created.file.stem();
    has_word(demand.failures, module)
        || !is_declared && has_word(demand.added, module)
        || is_unique && has_word(demand.added, created.file.file_name())
        || demand.edits.iter().any(|edit| imports(edit, &created.file))
        || is_package_of(&created.file, demand.edits)
        || visible_names(created, language)
            .iter()
            .any(|name| has_word(demand.added, name) || has_word(demand.failures, name))
}

/// The name of the module that a file holds; empty for one that stands for the root folder.
fn module_of(file: &RepoPath, language: Option<Language>) -> &str {
    let stem = file.stem();
    let stands_for_folder = match language {
        Some(Language::Python) => stem == "__init__",
        Some(Language::Rust) => stem == "mod",
        Some(language) if language.is_script() => stem == "index",
        _ => false,
    };
    if stands_for_folder { file.parent().rsplit('/').next().unwrap_or_default() } else { stem }
}

/// Whether a file imports a new one: in Rust, whether it declares it as its module.
fn imports(edit: &FileEdit, created: &RepoPath) -> bool {
    let (Some(language), Some(text)) = (Language::of(&edit.file), &edit.after) else {
        return false;
    };
    let Some(tree) = language.parse(text) else { return false };
    let index = Index::of(&BTreeMap::from([(created.clone(), String::new())]));
    imports::read(language, &tree, text)
        .iter()
        .filter(|import| language != Language::Rust || import.kind == ImportKind::Submodule)
        .any(|import| !index.targets(&edit.file, language, import).is_empty())
}

/// Whether a file makes a package of the folder in which other new files lie.
fn is_package_of(file: &RepoPath, edits: &[&FileEdit]) -> bool {
    let folder = format!("{}/", file.parent());
    let is_inside = |edit: &&FileEdit| {
        let is_python = Language::of(&edit.file) == Some(Language::Python);
        edit.before.is_none() && is_python && edit.file.as_str().starts_with(&folder)
    };
    file.file_name() == "__init__.py" && edits.iter().any(is_inside)
}

/// What others see of a file without an import: a package, type declarations, fixtures.
fn visible_names(created: &FileEdit, language: Option<Language>) -> Vec<String> {
    let name = created.file.file_name();
    let is_typing = [".d.ts", ".d.mts", ".d.cts"].iter().any(|end| name.ends_with(end));
    let text = created.after.as_deref().unwrap_or_default();
    match language {
        Some(language @ (Language::Go | Language::Java)) => outline::top_level(language, text),
        Some(language) if is_typing || name == "conftest.py" => outline::top_level(language, text),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::plan_scope::tests::edit;

    /// Whether the new file is needed by a file that is changed to this text, all of it new.
    fn by_change(created: (&str, &str), changed: (&str, &str)) -> bool {
        let present = edit(changed.0, Some(""), changed.1);
        let demand = Demand { failures: "", added: changed.1, edits: &[&present] };
        is_needed(&edit(created.0, None, created.1), &demand)
    }

    #[test]
    fn a_change_needs_what_it_imports_or_names() {
        let go = ("cart/cart.go", "package cart\n\nvar x = Sum(Rate, limit, Money{})\n");
        let lib = |text: &'static str| ("src/lib.rs", text);
        let script = |text: &'static str| ("src/cart.ts", text);
        let python = |text: &'static str| ("shop/cart.py", text);
        let table = [
            // Go sees all that its package declares.
            (("cart/a.go", "package cart\n\nfunc Sum() {}\n"), go, true),
            (("cart/a.go", "package cart\n\ntype Money struct{}\n"), go, true),
            (("cart/a.go", "package cart\n\nconst (\n\tOther = 1\n\tRate = 2\n)\n"), go, true),
            (("cart/a.go", "package cart\n\nvar other, limit = 1, 2\n"), go, true),
            (("cart/a.go", "package cart\n\nfunc (m *Coin) Sum() {}\n"), go, true),
            (("cart/a.go", "package cart\n\nfunc other() { Sum := 1; _ = Sum }\n"), go, false),
            (
                ("cart/a.go", "package cart\n\nvar _ = 1\n"),
                ("b.go", "package b\nvar _ = 2\n"),
                false,
            ),
            (
                ("money/a.go", "package money\n"),
                ("b.go", "package b\nimport \"x/y/money\"\n"),
                true,
            ),
            (("A.java", "class A { int sum() { return 1; } }\n"), ("B.java", "A a;\n"), true),
            (("A.java", "class A {} enum Kind { X }\n"), ("B.java", "Kind a;\n"), true),
            (("A.java", "class A { int sum() { return 1; } }\n"), ("B.java", "int sum;\n"), false),
            // A module of Rust is declared where it belongs.
            (("src/tax.rs", ""), lib("mod tax;\n"), true),
            (("src/tax.rs", ""), lib("pub(crate) mod tax;\n"), true),
            (("src/tax/mod.rs", ""), lib("mod tax;\n"), true),
            (("src/cart/tax.rs", ""), ("src/cart.rs", "mod tax;\n"), true),
            (("src/deep/tax.rs", ""), lib("mod tax;\n"), false),
            (("src/tax.rs", "pub fn rate() {}\n"), lib("fn f() { let tax = rate(); }\n"), false),
            (("src/tax.rs", ""), lib("#[path = \"tax.rs\"]\nmod other;\n"), true),
            // A package of Python, and its modules.
            (("shop/tax.py", ""), python("from .tax import rate\n"), true),
            (("shop/tax/__init__.py", ""), python("from .tax import rate\n"), true),
            (("shop/tax/__init__.py", ""), python("from shop import tax\n"), true),
            (("shop/tax.py", "def rate(): pass\n"), python("rate = 1\n"), false),
            (("__init__.py", ""), python("x = 1\n"), false),
            (
                ("conftest.py", "def cart(): pass\n"),
                ("tests/test_a.py", "def test(cart): pass\n"),
                true,
            ),
            // A folder of scripts, and declarations of their types.
            (("src/tax/index.ts", ""), script("import { rate } from './tax';\n"), true),
            (("src/index.ts", ""), script("import { rate } from '.';\n"), true),
            (("index.js", ""), script("import { rate } from '..';\n"), true),
            (("index.js", ""), script("const index = 1;\n"), false),
            (("src/tax.d.ts", ""), script("import { rate } from './tax';\n"), true),
            (
                ("types/all.d.ts", "declare const RATE: number;\n"),
                script("const x = RATE;\n"),
                true,
            ),
            (("types/all.d.ts", "interface Money { x: 1 }\n"), script("let x: Money;\n"), true),
            (("types/all.d.ts", "interface Coin { x: 1 }\n"), script("let x: Money;\n"), false),
            (("src/tax.ts", "export const rate = 1;\n"), script("const rate = 1;\n"), false),
            // Names that stand for a folder in one language are plain in another.
            (("tax/index.go", "package tax\n"), ("b.go", "package b\nvar tax = 1\n"), false),
            (("tax/mod.py", ""), python("import tax\n"), false),
            // Other files are named, and an empty name is none.
            (("shop/rates.json", "{}"), python("open('shop/rates.json')\n"), true),
            (("shop/.json", "{}"), python("open('')\n"), false),
        ];
        for (created, changed, expected) in table {
            assert_eq!(by_change(created, changed), expected, "{created:?} {changed:?}");
        }
    }

    #[test]
    fn a_failing_test_needs_what_it_misses() {
        let table = [
            ("src/tax.rs", "error[E0583]: file not found for module `tax`", true),
            ("shop/gone.py", "No module named 'shop.gone'", true),
            ("shop/gone/__init__.py", "No module named 'shop.gone'", true),
            ("lib/gone.js", "Cannot find module './gone'", true),
            ("lib/other.js", "Cannot find module './gone'", false),
            ("index.js", "Cannot find module ''", false),
        ];
        for (file, failures, expected) in table {
            let demand = Demand { failures, added: "", edits: &[] };
            assert_eq!(is_needed(&edit(file, None, ""), &demand), expected, "{file}: {failures}");
        }
    }

    #[test]
    fn a_declaration_that_was_there_before_needs_its_file_too() {
        let text = "mod tax;\n\nfn f() -> u8 {\n    2\n}\n";
        let present = edit("src/lib.rs", Some("mod tax;\n\nfn f() -> u8 {\n    1\n}\n"), text);
        let demand = Demand { failures: "", added: "    2\n", edits: &[&present] };
        assert!(is_needed(&edit("src/tax.rs", None, ""), &demand));
        assert!(!is_needed(&edit("src/rate.rs", None, ""), &demand));
    }

    #[test]
    fn a_new_module_in_a_new_folder_needs_the_packages_around_it() {
        let module = edit("shop/tax/deep/rate.py", None, "");
        let present = edit("shop/cart.py", Some(""), "");
        let demand = Demand { failures: "", added: "", edits: &[&module, &present] };
        for (file, expected) in [
            ("shop/tax/deep/__init__.py", true),
            ("shop/tax/__init__.py", true),
            ("shop/other/__init__.py", false),
            ("__init__.py", false),
            ("shop/tax/deep/more.py", false),
        ] {
            assert_eq!(is_needed(&edit(file, None, ""), &demand), expected, "{file}");
        }
    }
}
