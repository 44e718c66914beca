//! The lint rule about relative imports that resolve to no file.

use crate::code::imports::{Import, ImportKind, join, python_base};
use crate::code::language::Language;
use crate::code::lint::rule::{Detection, LintRule, PY_JS, rule_for_all};
use crate::code::lint::source::{Hit, Source};
use crate::domain::quality::Severity::Critical;

/// The rule about relative imports. For Rust, Go and Java, the compiler reports them.
pub const RULES: &[LintRule] = &[LintRule {
    codes: &["import-not-found", "TS2307", "import/no-unresolved", "E0432", "E0583"],
    ..rule_for_all(
        ("imports", "unresolved-import"),
        Critical,
        ("import leads to no file", "correct the path, or add the file"),
        Detection::Function(PY_JS, unresolved),
    )
}];

/// Finds relative imports that resolve to no file.
fn unresolved(source: &Source<'_>) -> Vec<Hit> {
    let leads_nowhere = |import: &&Import| {
        import.kind != ImportKind::Mock
            && import.module.starts_with('.')
            && !source.is_import_in(import, &["try_statement", "if_statement"])
            && match source.language {
                Language::Python => is_missing_module(source, &import.module),
                _ => is_missing_path(source, &import.module),
            }
    };
    let missing = source.imports.iter().filter(leads_nowhere);
    missing.map(|import| Hit::noted(import.line, &import.module)).collect()
}

/// Whether a Python module does not exist; compiled modules and folders count as existing.
fn is_missing_module(source: &Source<'_>, module: &str) -> bool {
    let Some(base) = python_base(source.path, module) else { return true };
    let endings = ["py", "pyi", "so", "pyx", "pyd", "c"];
    !module.trim_start_matches('.').is_empty()
        && !endings.iter().any(|end| source.project.files.contains(&format!("{base}.{end}")))
        && !source.project.has_folder(&base)
        && !base.ends_with("version")
        && !base.ends_with("_pb2")
}

fn is_missing_path(source: &Source<'_>, module: &str) -> bool {
    let module = module.split(['?', '!']).next().unwrap_or_default();
    let built = ["dist", "build", "lib", "out", "generated", "gen", "target", "types", ".next"];
    join(source.path.parent(), module).is_some_and(|path| {
        !source.project.has(&path)
            && !source.project.has_folder(&path)
            && !path.split('/').any(|part| built.contains(&part))
            && !path.contains("generated")
            && !path.is_empty()
    })
}
