//! Lint rules checked by compilers, type checkers, linters and formatters, with the codes that
//! those tools report (specification.md 6.1, L0).

use crate::domain::quality::Severity::{Critical, Error, Warning};

use super::rule::{
    ALL, Detection, JS, JS_GO, JS_RS_GO, LintRule, NOT_SCRIPT, PY, PY_JS, PY_JS_GO, PY_JS_RS,
    PY_JS_RS_GO, code_rule, rule_for_all,
};

/// The rule about syntax errors, which our own parsers report as well.
const SYNTAX: LintRule = rule_for_all(
    ("compilation", "syntax-error"),
    Critical,
    ("does not parse", "make it parse; nothing else is checked before"),
    Detection::Syntax(ALL),
);

/// Rules that only tools report: severity, category, id, languages, problem, remedy, codes.
macro_rules! tool_rules {
    (@fixable fixable) => { true };
    (@fixable) => { false };
    ($($severity:ident $($fixable:ident)? $category:literal $id:literal $languages:ident:
        $issue:literal => $suggestion:literal $(, as $($code:literal)+)?;)+) => {
        /// What tools alone check. The three rows without codes take every other message of a concern.
        ///
        /// Go's compiler calls unused imports and variables errors. They have no code here: they break
        /// the build, so they remain `type-mismatch`, which is critical.
        pub const RULES: &[LintRule] = &[SYNTAX, $(LintRule {
            fixable: tool_rules!(@fixable $($fixable)?),
            codes: &[$($($code),+)?],
            ..code_rule(
                ($category, $id),
                $severity,
                ($issue, $suggestion),
                Detection::Tool($languages),
            )
        }),+];
    };
}

tool_rules! {
    Critical "types" "type-mismatch" NOT_SCRIPT:
        "the project's own check says" => "correct the type; the checker's own message says which";
    Error "types" "implicit-escape-type" PY_JS:
        "no type is declared, so it fits everything" => "declare the type",
        as "TS7005" "TS7006" "TS7018" "TS7019" "TS7031" "TS7034" "TS7053" "no-untyped-def";
    Warning "types" "missing-type-definitions" PY_JS:
        "nothing declares the types of this package" => "add its stubs or type package",
        as "TS7016" "import-untyped";
    Warning "lint" "project-rule" ALL:
        "a rule of the project is broken" => "follow the rule, or change it for all";
    Warning fixable "lint" "format" ALL: "not formatted" => "run the project's formatter";
    Error fixable "imports" "duplicate-import" JS: "imported twice" => "keep one of the two",
        as "import/no-duplicates" "no-duplicate-imports";
    Warning fixable "imports" "unused-import" PY_JS_RS:
        "imported and never used" => "remove the import",
        as "F401" "TS6192" "unused-imports/no-unused-imports" "unused import: " "unused imports: ";
    Warning "imports" "circular-import" PY_JS_GO:
        "files import each other" => "move what both need into a third file",
        as "import/no-cycle" "import cycle not allowed";
    Critical "variables" "redeclaration" PY_JS_RS_GO:
        "declared twice in one block" => "rename one, or remove the first",
        as "F811" "no-redef" "TS2300" "TS2451" "no-redeclare" "@typescript-eslint/no-redeclare"
           "E0428" "E0252" " redeclared in this block";
    Error "variables" "shadowing" PY_JS_RS:
        "a local name hides another one" => "give the local another name",
        as "F402" "A001" "A004" "no-shadow" "@typescript-eslint/no-shadow" " is shadowed";
    Critical "variables" "undefined-variable" PY_JS_RS_GO:
        "undefined name" => "define or import it, or correct its spelling",
        as "F821" "F822" "F823" "name-defined" "TS2304" "TS2552" "no-undef" "E0425" "E0412"
           "undefined: ";
    Warning fixable "variables" "unused-variable" PY_JS_RS:
        "assigned and never read" => "use the value or remove the variable",
        as "F841" "F842" "TS6133" "no-unused-vars" "@typescript-eslint/no-unused-vars"
           "unused variable: " "is assigned to, but never used";
    Warning "control_flow" "unreachable-code" JS_RS_GO:
        "this code can never run" => "remove it, or move the exit",
        as "TS7027" "no-unreachable" "unreachable ";
    Error "control_flow" "empty-catch" PY_JS_GO:
        "an error is swallowed" => "handle the error, or say in a comment why it does not matter",
        as "S110" "S112" "no-empty" "SA9003";
    Warning "control_flow" "endless-loop" JS_RS_GO:
        "a loop without an exit" => "give the loop a condition or a limit",
        as "no-unmodified-loop-condition" "infinite loop detected" "empty `loop {}` wastes CPU"
           "SA5002";
    Warning "control_flow" "async-not-awaited" PY_JS:
        "nothing waits for asynchronous code" => "await the result",
        as "unused-coroutine" "unused-awaitable" "@typescript-eslint/no-floating-promises";
    Warning "type_abuse" "escape-type" PY_JS: "a type that accepts any value" => "name the type",
        as "ANN401" "@typescript-eslint/no-explicit-any";
    Error "type_abuse" "double-cast" JS:
        "a cast that nothing checks" => "convert the value, or check its type",
        as "@typescript-eslint/no-unsafe-type-assertion";
    Error "type_abuse" "chained-assertion" JS:
        "asserts that a value is there" => "check the value once, where it comes from",
        as "@typescript-eslint/no-non-null-assertion";
    Warning "naming_issues" "mixed-naming" PY_JS_RS_GO:
        "a name against the convention" => "follow the convention of the language",
        as "N801" "N802" "N803" "N806" "N815" "N816" "camelcase"
           "@typescript-eslint/naming-convention" "should have a snake case name"
           "should have an upper camel case name" "ST1003";
    Warning "naming_issues" "misspelt-identifier" JS:
        "a misspelt name" => "correct the spelling everywhere",
        as "@cspell/spellchecker";
    Error "resource_leaks" "unclosed-resource" PY:
        "opened and never closed" => "close it on every way out",
        as "SIM115";
    Warning "resource_leaks" "listener-not-removed" JS:
        "a listener that nothing removes" => "remove it where its owner ends",
        as "react-web-api/no-leaked-event-listener";
    Warning "resource_leaks" "subscription-not-cancelled" JS_GO:
        "started and never stopped" => "keep the handle, and cancel it where its owner ends",
        as "react-web-api/no-leaked-interval" "react-web-api/no-leaked-timeout" "SA1015";
    Warning "ai_generated_issues" "conditional-assertion" JS:
        "an assertion that only runs under a condition" => "write one test for each way",
        as "jest/no-conditional-expect" "vitest/no-conditional-expect";
    Warning "ai_generated_issues" "copied-body" JS:
        "the same body as another function" => "test another case, or take one out",
        as "sonarjs/no-identical-functions";
    Critical "security_issues" "dynamic-evaluation" PY_JS:
        "a string is executed as code" => "parse the text, or choose among functions by name",
        as "S102" "S307" "no-eval" "no-implied-eval" "no-new-func";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::code::lint::catalogue::{rule, rule_of_tool_message, rules};

    #[test]
    fn every_code_leads_to_the_rule_that_lists_it_and_to_no_other() {
        let mut seen = BTreeSet::new();
        for rule in rules() {
            for code in rule.codes {
                assert!(seen.insert(code), "{code} twice");
                let messages = match code.chars().next() {
                    Some(c) if c.is_ascii_uppercase() => {
                        vec![
                            format!("{code} text"),
                            format!("{code}: text"),
                            format!("[{code}]: x"),
                        ]
                    }
                    _ if code.contains(' ') => vec![format!("`a`{code}`b`")],
                    _ => vec![format!("text ({code})"), format!("text  [{code}]")],
                };
                for message in messages {
                    assert_eq!(rule_of_tool_message(&message), Some(rule.id), "{message}");
                }
                let longer = format!("{code}9 text");
                assert!(code.contains(' ') || rule_of_tool_message(&longer).is_none(), "{longer}");
            }
        }
    }

    #[test]
    fn only_rules_that_take_every_other_message_have_no_code() {
        let general = ["type-mismatch", "project-rule", "format"];
        for one in RULES.iter().filter(|one| matches!(one.detection, Detection::Tool(_))) {
            assert_eq!(one.codes.is_empty(), general.contains(&one.id), "{}", one.id);
            assert!(rule(one.id).is_some());
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
            (
                "S110 `try`-`except`-`pass` detected, consider logging the error",
                Some("empty-catch"),
            ),
            ("S105 Possible hardcoded password assigned to: \"x\"", Some("hard-coded-secret")),
            ("S307 Use of possibly insecure function", Some("dynamic-evaluation")),
            ("SIM115 Use a context manager for opening files", Some("unclosed-resource")),
            (
                "ANN401 Dynamically typed expressions (typing.Any) are disallowed",
                Some("escape-type"),
            ),
            ("N802 Function name `oneTwo` should be lowercase", Some("mixed-naming")),
            ("E501 Line too long", None),
            ("F4011 is another code", None),
            ("Name \"x\" is not defined  [name-defined]", Some("undefined-variable")),
            ("Name \"f\" already defined on line 1  [no-redef]", Some("redeclaration")),
            ("Cannot find module [import-not-found]", Some("unresolved-import")),
            (
                "missing library stubs or py.typed marker  [import-untyped]",
                Some("missing-type-definitions"),
            ),
            (
                "TS7016: Could not find a declaration file for module 'a'.",
                Some("missing-type-definitions"),
            ),
            ("TS7006: Parameter 'x' implicitly has an 'any' type.", Some("implicit-escape-type")),
            (
                "Function is missing a type annotation  [no-untyped-def]",
                Some("implicit-escape-type"),
            ),
            ("Value of type must be used  [unused-coroutine]", Some("async-not-awaited")),
            ("Incompatible types [assignment]", None),
            ("TS2304: Cannot find name 'x'.", Some("undefined-variable")),
            ("TS2307: Cannot find module './a'.", Some("unresolved-import")),
            ("TS2451: Cannot redeclare block-scoped variable 'a'.", Some("redeclaration")),
            ("TS6133: 'a' is declared but its value is never read.", Some("unused-variable")),
            ("TS7027: Unreachable code detected.", Some("unreachable-code")),
            ("TS2322: Type 'x' is not assignable to type 'y'.", None),
            ("'x' is not defined. (no-undef)", Some("undefined-variable")),
            ("'x' is already declared in the upper scope. (no-shadow)", Some("shadowing")),
            ("'./a' imported multiple times. (import/no-duplicates)", Some("duplicate-import")),
            ("Dependency cycle detected. (import/no-cycle)", Some("circular-import")),
            ("Unreachable code. (no-unreachable)", Some("unreachable-code")),
            ("Empty block statement. (no-empty)", Some("empty-catch")),
            ("eval can be harmful. (no-eval)", Some("dynamic-evaluation")),
            (
                "Promises must be awaited. (@typescript-eslint/no-floating-promises)",
                Some("async-not-awaited"),
            ),
            (
                "Forbidden non-null assertion. (@typescript-eslint/no-non-null-assertion)",
                Some("chained-assertion"),
            ),
            ("Expected '===' (eqeqeq)", None),
            ("[E0425]: cannot find value `x` in this scope", Some("undefined-variable")),
            ("[E0428]: the name `f` is defined multiple times", Some("redeclaration")),
            ("[E0583]: file not found for module `gone`", Some("unresolved-import")),
            ("[E0308]: mismatched types", None),
            ("unused import: `std::fs`", Some("unused-import")),
            ("unused variable: `x`", Some("unused-variable")),
            ("unreachable statement", Some("unreachable-code")),
            ("unreachable expression", Some("unreachable-code")),
            ("variable `oneTwo` should have a snake case name", Some("mixed-naming")),
            ("infinite loop detected", Some("endless-loop")),
            ("`x` is shadowed by itself in `x + 1`", Some("shadowing")),
            ("undefined: x", Some("undefined-variable")),
            ("f redeclared in this block", Some("redeclaration")),
            ("import cycle not allowed", Some("circular-import")),
            ("empty branch (SA9003)", Some("empty-catch")),
            ("SA9003: empty branch (staticcheck)", Some("empty-catch")),
            ("unreachable code", Some("unreachable-code")),
            ("declared and not used: x", None),
            ("", None),
        ];
        for (message, expected) in table {
            assert_eq!(rule_of_tool_message(message), expected, "{message}");
        }
    }
}
