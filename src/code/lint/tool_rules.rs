//! Rules that parsers, compilers, type checkers, linters and formatters report, and what their own
//! codes are called in the catalogue (specification.md 6.1, L0).

use crate::domain::quality::Severity::{Critical, Error, Warning};

use super::rule::{
    ALL, AppliesTo, CODE_RULE, Detection, JS, JS_RS_GO, LintRule, NOT_SCRIPT, PY_JS_RS, PY_JS_RS_GO,
};

/// What is checked by tools alone.
pub const RULES: &[LintRule] = &[
    LintRule {
        id: "syntax-error",
        category: "compilation",
        severity: Critical,
        issue: "does not parse",
        detection: Detection::Syntax(ALL),
        suggestion: "make it parse; nothing else is checked before",
        applies: AppliesTo::Both,
        ..CODE_RULE
    },
    LintRule {
        id: "type-mismatch",
        category: "types",
        severity: Critical,
        issue: "the project's own check says",
        detection: Detection::Tool(NOT_SCRIPT),
        suggestion: "correct the type; the checker's own message says which",
        applies: AppliesTo::Both,
        ..CODE_RULE
    },
    LintRule {
        id: "project-rule",
        category: "lint",
        severity: Warning,
        issue: "a rule of the project is broken",
        detection: Detection::Tool(ALL),
        suggestion: "follow the rule, or change it for all",
        applies: AppliesTo::Both,
        ..CODE_RULE
    },
    LintRule {
        id: "format",
        category: "lint",
        severity: Warning,
        issue: "not formatted",
        detection: Detection::Tool(ALL),
        suggestion: "run the project's formatter",
        applies: AppliesTo::Both,
        fixable: true,
        ..CODE_RULE
    },
    LintRule {
        id: "duplicate-import",
        category: "imports",
        severity: Error,
        issue: "imported twice",
        detection: Detection::Tool(JS),
        suggestion: "keep one of the two",
        applies: AppliesTo::Both,
        fixable: true,
        ..CODE_RULE
    },
    LintRule {
        id: "unused-import",
        category: "imports",
        severity: Warning,
        issue: "imported and never used",
        detection: Detection::Tool(PY_JS_RS),
        suggestion: "remove the import",
        applies: AppliesTo::Both,
        fixable: true,
        ..CODE_RULE
    },
    LintRule {
        id: "redeclaration",
        category: "variables",
        severity: Critical,
        issue: "declared twice in one block",
        detection: Detection::Tool(PY_JS_RS_GO),
        suggestion: "rename one, or remove the first",
        applies: AppliesTo::Both,
        ..CODE_RULE
    },
    LintRule {
        id: "shadowing",
        category: "variables",
        severity: Error,
        issue: "a local name hides another one",
        detection: Detection::Tool(PY_JS_RS),
        suggestion: "give the local another name",
        ..CODE_RULE
    },
    LintRule {
        id: "undefined-variable",
        category: "variables",
        severity: Critical,
        issue: "nothing binds this name",
        detection: Detection::Tool(PY_JS_RS_GO),
        suggestion: "define or import it, or correct its spelling",
        applies: AppliesTo::Both,
        ..CODE_RULE
    },
    LintRule {
        id: "unused-variable",
        category: "variables",
        severity: Warning,
        issue: "assigned and never read",
        detection: Detection::Tool(PY_JS_RS),
        suggestion: "use the value or remove the variable",
        fixable: true,
        ..CODE_RULE
    },
    LintRule {
        id: "unreachable-code",
        category: "control_flow",
        severity: Warning,
        issue: "this code can never run",
        detection: Detection::Tool(JS_RS_GO),
        suggestion: "remove it, or move the exit",
        ..CODE_RULE
    },
];

/// Where the code of a rule stands in the message of a tool.
#[derive(Clone, Copy)]
enum Position {
    /// At the beginning, as Ruff, `tsc` and `cargo` print it.
    Start,
    /// At the end, as `ESLint` and mypy print it.
    End,
    /// Anywhere, for messages of Go and Rust that have no code.
    Anywhere,
}

use Position::{Anywhere, End, Start};

/// What tools print for a rule, and the rule's id in the catalogue.
///
/// Go's compiler calls unused imports and variables errors. They are no rows here: they break the
/// build, so they remain `type-mismatch`, which is critical.
const TOOL_CODES: &[(Position, &str, &str)] = &[
    // Ruff
    (Start, "F401 ", "unused-import"),
    (Start, "F811 ", "redeclaration"),
    (Start, "F821 ", "undefined-variable"),
    (Start, "F822 ", "undefined-variable"),
    (Start, "F823 ", "undefined-variable"),
    (Start, "F841 ", "unused-variable"),
    (Start, "F842 ", "unused-variable"),
    (Start, "F402 ", "shadowing"),
    (Start, "A001 ", "shadowing"),
    (Start, "A004 ", "shadowing"),
    (Start, "S110 ", "empty-catch"),
    (Start, "S307 ", "dynamic-evaluation"),
    (Start, "SIM115 ", "unclosed-resource"),
    (Start, "N801 ", "mixed-naming"),
    (Start, "N802 ", "mixed-naming"),
    (Start, "N803 ", "mixed-naming"),
    (Start, "N806 ", "mixed-naming"),
    // mypy
    (End, "[import-not-found]", "unresolved-import"),
    (End, "[name-defined]", "undefined-variable"),
    (End, "[no-redef]", "redeclaration"),
    // tsc
    (Start, "TS2304:", "undefined-variable"),
    (Start, "TS2552:", "undefined-variable"),
    (Start, "TS2307:", "unresolved-import"),
    (Start, "TS2300:", "redeclaration"),
    (Start, "TS2451:", "redeclaration"),
    (Start, "TS6133:", "unused-variable"),
    (Start, "TS6192:", "unused-import"),
    (Start, "TS7027:", "unreachable-code"),
    // ESLint
    (End, "(no-undef)", "undefined-variable"),
    (End, "(no-unused-vars)", "unused-variable"),
    (End, "(@typescript-eslint/no-unused-vars)", "unused-variable"),
    (End, "(unused-imports/no-unused-imports)", "unused-import"),
    (End, "(no-redeclare)", "redeclaration"),
    (End, "(@typescript-eslint/no-redeclare)", "redeclaration"),
    (End, "(no-shadow)", "shadowing"),
    (End, "(@typescript-eslint/no-shadow)", "shadowing"),
    (End, "(no-unreachable)", "unreachable-code"),
    (End, "(no-eval)", "dynamic-evaluation"),
    (End, "(no-empty)", "empty-catch"),
    (End, "(camelcase)", "mixed-naming"),
    (End, "(import/no-unresolved)", "unresolved-import"),
    (End, "(import/no-cycle)", "circular-import"),
    (End, "(import/no-duplicates)", "duplicate-import"),
    (End, "(no-duplicate-imports)", "duplicate-import"),
    (End, "(@typescript-eslint/no-explicit-any)", "escape-type"),
    // cargo check and Clippy
    (Start, "[E0425]:", "undefined-variable"),
    (Start, "[E0412]:", "undefined-variable"),
    (Start, "[E0428]:", "redeclaration"),
    (Start, "[E0252]:", "redeclaration"),
    (Start, "[E0432]:", "unresolved-import"),
    (Start, "[E0583]:", "unresolved-import"),
    (Start, "unused import", "unused-import"),
    (Start, "unused variable", "unused-variable"),
    (Anywhere, "is assigned to, but never used", "unused-variable"),
    (Anywhere, "is shadowed", "shadowing"),
    // go vet; `unreachable` is also how messages of rustc begin
    (Start, "undefined: ", "undefined-variable"),
    (Anywhere, " redeclared in this block", "redeclaration"),
    (Start, "unreachable ", "unreachable-code"),
];

/// The id of the rule that a message of a tool is about; `None` when the catalogue has no rule for
/// it.
#[must_use]
pub fn rule_of_tool_message(message: &str) -> Option<&'static str> {
    let message = message.trim_end();
    let fits = |(position, code, _): &&(Position, &str, &str)| match position {
        Start => message.starts_with(code),
        End => message.ends_with(code),
        Anywhere => message.contains(code),
    };
    TOOL_CODES.iter().find(fits).map(|(_, _, id)| *id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::lint::rule;

    #[test]
    fn every_code_leads_to_a_rule_of_the_catalogue() {
        for (_, code, id) in TOOL_CODES {
            assert!(rule(id).is_some(), "{code} leads to {id}, which is no rule");
        }
    }

    #[test]
    fn every_rule_that_only_tools_detect_is_reached_by_a_code() {
        let general = ["type-mismatch", "project-rule", "format"];
        for rule in RULES.iter().filter(|rule| matches!(rule.detection, Detection::Tool(_))) {
            let named = TOOL_CODES.iter().any(|(_, _, id)| *id == rule.id);
            assert_eq!(named, !general.contains(&rule.id), "{}", rule.id);
        }
    }

    #[test]
    fn messages_of_every_tool_are_recognised() {
        let table = [
            ("F401 [*] `os` imported but unused", Some("unused-import")),
            ("F811 Redefinition of unused `a` from line 1", Some("redeclaration")),
            ("F821 Undefined name `x`", Some("undefined-variable")),
            ("F841 Local variable `x` is assigned to but never used", Some("unused-variable")),
            ("F402 Import `a` from line 1 shadowed by loop variable", Some("shadowing")),
            ("E501 Line too long", None),
            ("F4011 is another code", None),
            ("Name \"x\" is not defined  [name-defined]", Some("undefined-variable")),
            ("Name \"f\" already defined on line 1  [no-redef]", Some("redeclaration")),
            ("Cannot find module [import-not-found]", Some("unresolved-import")),
            ("Incompatible types [assignment]", None),
            ("TS2304: Cannot find name 'x'.", Some("undefined-variable")),
            ("TS2451: Cannot redeclare block-scoped variable 'a'.", Some("redeclaration")),
            ("TS6133: 'a' is declared but its value is never read.", Some("unused-variable")),
            ("TS7027: Unreachable code detected.", Some("unreachable-code")),
            ("TS2322: Type 'x' is not assignable to type 'y'.", None),
            ("'x' is not defined. (no-undef)", Some("undefined-variable")),
            ("'x' is already declared in the upper scope. (no-shadow)", Some("shadowing")),
            ("'./a' imported multiple times. (import/no-duplicates)", Some("duplicate-import")),
            ("Unreachable code. (no-unreachable)", Some("unreachable-code")),
            ("Expected '===' (eqeqeq)", None),
            ("[E0425]: cannot find value `x` in this scope", Some("undefined-variable")),
            ("[E0428]: the name `f` is defined multiple times", Some("redeclaration")),
            ("[E0308]: mismatched types", None),
            ("unused import: `std::fs`", Some("unused-import")),
            ("unused variable: `x`", Some("unused-variable")),
            ("unreachable statement", Some("unreachable-code")),
            ("`x` is shadowed by itself in `x + 1`", Some("shadowing")),
            ("undefined: x", Some("undefined-variable")),
            ("f redeclared in this block", Some("redeclaration")),
            ("unreachable code", Some("unreachable-code")),
            ("declared and not used: x", None),
            ("", None),
        ];
        for (message, expected) in table {
            assert_eq!(rule_of_tool_message(message), expected, "{message}");
        }
    }
}
