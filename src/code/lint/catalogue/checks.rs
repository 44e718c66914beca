//! Rows of the static checks: compilation, imports, variables, types.
//!
//! Source: product.md 6.1 (L0) and the quality configuration of 6.3.

use crate::code::lint::{Detection, Row, imports, scope};
use crate::domain::quality::Severity::{Critical, Error, Warning};

use super::{ALL, NOT_SCRIPT, PY_JS, PY_JS_GO_JAVA, PY_JS_JAVA, PY_JS_RS, both, code, fixable};

/// The rows.
pub const ROWS: &[Row] = &[
    // L0.1 to L0.4
    both(code(
        "syntax-error",
        "compilation",
        Critical,
        "does not parse",
        Detection::Syntax(ALL),
        "make it parse; nothing else is looked at before",
    )),
    both(code(
        "type-mismatch",
        "types",
        Critical,
        "the project's own check says",
        Detection::Tool(NOT_SCRIPT),
        "correct the type; the checker's own message says which",
    )),
    both(code(
        "project-rule",
        "lint",
        Warning,
        "a rule of the project is broken",
        Detection::Tool(PY_JS),
        "follow the rule, or change it for all",
    )),
    fixable(both(code(
        "format",
        "lint",
        Warning,
        "not formatted",
        Detection::Tool(ALL),
        "run the project's formatter",
    ))),
    both(code(
        "unresolved-import",
        "imports",
        Critical,
        "import leads to no file",
        Detection::Named(PY_JS_RS, imports::unresolved),
        "correct the path, or add the file",
    )),
    code(
        "circular-import",
        "imports",
        Warning,
        "files import each other",
        Detection::Named(PY_JS, imports::circular),
        "move what both need into a third file",
    ),
    fixable(both(code(
        "duplicate-import",
        "imports",
        Error,
        "imported twice",
        Detection::Named(ALL, imports::duplicate),
        "keep one of the two",
    ))),
    fixable(both(code(
        "unused-import",
        "imports",
        Warning,
        "imported and never used",
        Detection::Named(PY_JS_GO_JAVA, imports::unused),
        "take the import out",
    ))),
    both(code(
        "redeclaration",
        "variables",
        Critical,
        "declared twice in one block",
        Detection::Named(ALL, scope::redeclared),
        "rename one, or take the first out",
    )),
    code(
        "shadowing",
        "variables",
        Error,
        "a local hides an import",
        Detection::Named(PY_JS, scope::shadowing),
        "give the local another name",
    ),
    both(code(
        "undefined-variable",
        "variables",
        Critical,
        "nothing binds this name",
        Detection::Named(PY_JS, scope::undefined),
        "define or import it, or correct its spelling",
    )),
    fixable(code(
        "unused-variable",
        "variables",
        Warning,
        "assigned and never read",
        Detection::Named(PY_JS_JAVA, scope::unused),
        "use the value or take the variable out",
    )),
];
