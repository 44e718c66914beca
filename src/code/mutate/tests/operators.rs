//! The texts that each operator writes.

use super::*;

#[test]
fn common_slips_are_among_the_candidates() {
    let table = [
        (Language::Python, "def f(a, b):\n    return a < b\n", "return a <= b"),
        (Language::Python, "def f(a):\n    return a[1]\n", "return a[:1]"),
        (Language::Python, "def f(a):\n    return sorted(a)\n", "sorted(a, reverse=True)"),
        (Language::Python, "def f(a, b):\n    return a / b\n", "return a // b"),
        (Language::Python, "def f(a):\n    if a:\n        a = 1\n    return a\n", "    while a:"),
        (Language::Python, "def f(a):\n    if a:\n        g()\n    return a\n", "        return a"),
        (Language::JavaScript, "function f(a, b) {\n  return a && b;\n}\n", "return a || b;"),
        (Language::JavaScript, "function f(a, b) {\n  return g(a, b);\n}\n", "g(b, a)"),
        (Language::JavaScript, "function f(a) {\n  return g(a);\n}\n", "return await g(a)"),
        (Language::JavaScript, "function f(a) {\n  return a.trim();\n}\n", "a.trimStart()"),
        (Language::TypeScript, "function f(a: number[]) {\n  return a[0];\n}\n", "return a[1]"),
        (Language::TypeScript, "function f(a: string) {\n  return a;\n}\n", "return a.slice(1)"),
    ];
    for (language, source, expected) in table {
        let found = all_of(language, source);
        assert!(
            found.iter().any(|one| one.apply(source).contains(expected)),
            "{language:?}: {expected}"
        );
    }
}

#[test]
fn what_answers_yes_or_no_gets_no_arithmetic() {
    let table = [
        (Language::Python, "def f(a):\n    return a.startswith('x')\n", "startswith('x')"),
        (
            Language::JavaScript,
            "function f(a, b) {\n  return a.filter((x) => b.some(x));\n}\n",
            "b.some(x)",
        ),
        (Language::JavaScript, "function f(a) {\n  return Array.isArray(a);\n}\n", "isArray(a)"),
    ];
    for (language, source, call) in table {
        for text in all_of(language, source).into_iter().map(|one| one.apply(source)) {
            let odd = ["+", "-", "*", "/", "%"].map(|sign| format!("{call} {sign}"));
            assert!(!odd.iter().any(|odd| text.contains(odd)), "{text}");
        }
    }
}

/// Checks that an operator writes each text out of the one before it. The function's head is
/// `def f(a, b, c):` or `async function f(a, b, c)`.
fn check(operator: OperatorId, language: Language, table: &[(&str, &str)]) {
    let around = |body: &str| match language {
        Language::Python => {
            let lines = body.lines().map(|line| format!("    {line}\n"));
            format!("def f(a, b, c):\n{}", lines.collect::<String>())
        }
        _ => format!("async function f(a, b, c) {{\n  {body}\n}}\n"),
    };
    for (before, after) in table {
        let (source, expected) = (around(before), around(after));
        let found = candidates(language, &source, &|_| true, &[]);
        let of: BTreeSet<&str> = found
            .iter()
            .filter(|one| one.apply(&source) == expected)
            .map(|one| one.operator.name())
            .collect();
        assert_eq!(of, BTreeSet::from([operator.name()]), "{language:?}: {before} -> {after}");
    }
}

#[test]
fn comparisons_are_exchanged_for_those_that_people_confuse() {
    let python = [
        ("return a < b", "return a <= b"),
        ("return a >= b", "return a > b"),
        ("return a == b", "return a != b"),
        ("return a in b", "return a not in b"),
        ("return a is not b", "return a is b"),
    ];
    check(OperatorId::Comparison, Language::Python, &python);
    let script = [
        ("return a < b;", "return a <= b;"),
        ("return a === b;", "return a !== b;"),
        ("return a == b;", "return a === b;"),
    ];
    check(OperatorId::Comparison, Language::JavaScript, &script);
    check(OperatorId::Comparison, Language::TypeScript, &script);
}

#[test]
fn logic_and_negations_are_turned_around() {
    check(OperatorId::Logic, Language::Python, &[("return a and b", "return a or b")]);
    check(
        OperatorId::Logic,
        Language::JavaScript,
        &[("return a && b;", "return a || b;"), ("return a || b;", "return a && b;")],
    );
    check(OperatorId::DropNegation, Language::Python, &[("g(not a)", "g(a)")]);
    check(OperatorId::DropNegation, Language::JavaScript, &[("g(!a);", "g(a);")]);
    check(OperatorId::Negate, Language::Python, &[("if a:\n    b()", "if not a:\n    b()")]);
    check(OperatorId::Negate, Language::JavaScript, &[("if (a) b();", "if (!a) b();")]);
    let some = ("return a.filter((x) => b.some(x));", "return a.filter((x) => !b.some(x));");
    check(OperatorId::Negate, Language::JavaScript, &[some]);
    let starts = ("b = a.startswith('x')", "b = not a.startswith('x')");
    check(OperatorId::Negate, Language::Python, &[starts]);
    check(OperatorId::Sign, Language::Python, &[("g(-a)", "g(a)")]);
    check(OperatorId::Sign, Language::JavaScript, &[("g(-a);", "g(a);")]);
}

#[test]
fn a_condition_that_is_settled_is_turned_first() {
    let table = [
        (Language::JavaScript, "while (a === 'x' && a === 'y') b();", true),
        (Language::JavaScript, "if (a !== 'x' || a !== 'y') b();", true),
        (Language::JavaScript, "if (a === 'x' && b === 'y') b();", false),
        (Language::JavaScript, "if (a === 'x' || a === 'y') b();", false),
        (Language::Python, "if a == 'x' and a == 'y': b()", true),
        (Language::Python, "if a != 'x' and a != 'y': b()", false),
    ];
    for (language, body, expected) in table {
        let source = match language {
            Language::Python => format!("def f(a, b):\n    {body}\n"),
            _ => format!("function f(a, b) {{\n  {body}\n}}\n"),
        };
        let found = candidates(language, &source, &|_| true, &[]);
        let best = found.iter().max_by(|a, b| a.weight.total_cmp(&b.weight)).unwrap();
        assert_eq!(best.operator == OperatorId::Logic, expected, "{body}");
    }
}

#[test]
fn arithmetic_is_exchanged_swapped_and_cut() {
    let python = [
        ("return a + b", "return a - b"),
        ("return a / b", "return a // b"),
        ("return a ** b", "return a * b"),
        ("return a + b * c", "return (a + b) * c"),
        ("return (a + b) * c", "return a + b * c"),
    ];
    check(OperatorId::Arithmetic, Language::Python, &python);
    let script = [("return a + b;", "return a - b;"), ("return a << b;", "return a >> b;")];
    check(OperatorId::Arithmetic, Language::JavaScript, &script);
    check(OperatorId::SwapOperands, Language::Python, &[("return a - b", "return b - a")]);
    check(OperatorId::SwapOperands, Language::JavaScript, &[("return a - b;", "return b - a;")]);
    check(OperatorId::DropOperand, Language::Python, &[("g(a * b)", "g(b)")]);
    check(OperatorId::DropOperand, Language::JavaScript, &[("g(a * b);", "g(a);")]);
}

#[test]
fn constants_become_their_neighbours_and_strings_are_respelled() {
    check(
        OperatorId::Constant,
        Language::Python,
        &[
            ("return 7", "return 8"),
            ("return 7", "return 6"),
            ("return 7", "return 14"),
            ("return 2.5", "return 25.0"),
            ("x = None", "x = []"),
        ],
    );
    check(OperatorId::Constant, Language::JavaScript, &[("return 7;", "return 8;")]);
    check(
        OperatorId::Text,
        Language::Python,
        &[
            ("return 'Ab'", "return 'ab'"),
            ("return 'Ab'", "return ' Ab'"),
            ("return 'Ab'", "return 'b'"),
            ("return 'Ab'", "return ''"),
        ],
    );
    check(OperatorId::Text, Language::JavaScript, &[("return \"Ab\";", "return \"AB\";")]);
    check(OperatorId::Truth, Language::Python, &[("x = True", "x = False")]);
    check(OperatorId::Truth, Language::JavaScript, &[("let x = false;", "let x = true;")]);
}

#[test]
fn documentation_is_no_string_to_edit() {
    let source = "def f(a):\n    \"\"\"Adds one.\"\"\"\n    return a\n";
    let found = candidates(Language::Python, source, &|_| true, &[]);
    let strings: Vec<_> = found.iter().filter(|one| one.operator == OperatorId::Text).collect();
    assert!(strings.is_empty(), "{strings:?}");
}

#[test]
fn names_are_exchanged_for_those_that_are_confused() {
    let methods = [("a.append(b)", "a.extend(b)"), ("return a.strip()", "return a.lstrip()")];
    check(OperatorId::Method, Language::Python, &methods);
    let methods = [("a.push(b);", "a.unshift(b);"), ("return a.some(b);", "return a.every(b);")];
    check(OperatorId::Method, Language::JavaScript, &methods);
    check(OperatorId::Callee, Language::Python, &[("return min(a, b)", "return max(a, b)")]);
    let raised = [("raise ValueError(a)", "raise KeyError(a)")];
    let source = "def f(a):\n    raise ValueError(a)\n";
    let found = candidates(Language::Python, source, &|_| true, &[]);
    assert!(found.iter().any(|one| one.apply(source).contains(raised[0].1)), "{found:?}");
    check(OperatorId::Variable, Language::Python, &[("return g(a, a)", "return g(b, a)")]);
    check(OperatorId::Variable, Language::JavaScript, &[("return g(a, a);", "return g(a, b);")]);
}

#[test]
fn calls_lose_gain_and_exchange_what_they_are_given() {
    check(OperatorId::SwapArguments, Language::Python, &[("g(a, b)", "g(b, a)")]);
    check(OperatorId::SwapArguments, Language::JavaScript, &[("g(a, b, c);", "g(a, c, b);")]);
    check(OperatorId::DropArgument, Language::Python, &[("g(a, b, c)", "g(a, c)")]);
    check(OperatorId::DropArgument, Language::JavaScript, &[("g(a, b, c);", "g(b, c);")]);
    check(OperatorId::AddArgument, Language::Python, &[("g(a)", "g(a, c)"), ("g(a)", "g(b, a)")]);
    check(
        OperatorId::AddArgument,
        Language::Python,
        &[("return sorted(a)", "return sorted(a, reverse=True)")],
    );
    check(OperatorId::UnwrapCall, Language::Python, &[("g(abs(a))", "g(a)")]);
    check(OperatorId::AssignmentTarget, Language::Python, &[("a.strip()", "a = a.strip()")]);
    check(OperatorId::AssignmentTarget, Language::JavaScript, &[("a.trim();", "a = a.trim();")]);
    check(OperatorId::UnwrapCall, Language::JavaScript, &[("g(a.trim());", "g(a);")]);
    check(
        OperatorId::WrapInCall,
        Language::Python,
        &[("return a", "return abs(a)"), ("return a", "return len(a)")],
    );
    check(OperatorId::WrapInCall, Language::JavaScript, &[("return a;", "return Math.abs(a);")]);
}

#[test]
fn elements_slices_and_bounds_are_confused() {
    check(
        OperatorId::Slice,
        Language::Python,
        &[("return a[b]", "return a[:b]"), ("g(a[b])", "g(a)")],
    );
    check(
        OperatorId::OffByOne,
        Language::Python,
        &[("return a[b]", "return a[b + 1]"), ("return a[b:c]", "return a[b:]")],
    );
    check(OperatorId::OffByOne, Language::JavaScript, &[("return a[b];", "return a[b - 1];")]);
    check(OperatorId::SwapElements, Language::Python, &[("return [a, b]", "return [b, a]")]);
    check(OperatorId::SwapElements, Language::JavaScript, &[("return [a, b];", "return [b, a];")]);
    check(
        OperatorId::SwapBranches,
        Language::Python,
        &[("return a if b else c", "return c if b else a")],
    );
    check(
        OperatorId::SwapBranches,
        Language::JavaScript,
        &[("return a ? b : c;", "return a ? c : b;")],
    );
}

#[test]
fn assignments_collect_and_count_the_other_way() {
    check(
        OperatorId::AugmentedAssignment,
        Language::Python,
        &[("a += b", "a -= b"), ("a = b", "a += b")],
    );
    check(
        OperatorId::AugmentedAssignment,
        Language::JavaScript,
        &[("a += b;", "a -= b;"), ("a += b;", "a = b;")],
    );
    check(OperatorId::Update, Language::JavaScript, &[("a++;", "a--;"), ("--a;", "++a;")]);
    check(
        OperatorId::Await,
        Language::JavaScript,
        &[("return await g(a);", "return g(a);"), ("return g(a);", "return await g(a);")],
    );
}

#[test]
fn statements_are_dropped_moved_and_return_something_else() {
    check(
        OperatorId::DropStatement,
        Language::Python,
        &[("g(a)\nreturn b", "return b"), ("if a:\n    b()", "b()")],
    );
    check(
        OperatorId::Guard,
        Language::Python,
        &[("if a:\n    b()", "while a:\n    b()"), ("if a:\n    b()", "if False:\n    b()")],
    );
    check(
        OperatorId::MoveStatement,
        Language::Python,
        &[("if a:\n    b()\n    c()", "if a:\n    b()\nc()")],
    );
    check(OperatorId::MoveStatement, Language::JavaScript, &[("g(); h();", "h(); g();")]);
    check(
        OperatorId::Return,
        Language::Python,
        &[("return g()", "return None"), ("return g()", "return a")],
    );
    check(OperatorId::Return, Language::JavaScript, &[("return g();", "return null;")]);
    let flipped =
        [("if a:\n    return True\nreturn False", "if a:\n    return False\nreturn True")];
    check(OperatorId::FlipReturns, Language::Python, &flipped);
}

#[test]
fn what_is_missing_around_a_value_or_beside_a_statement_is_added() {
    let wrapped = [
        ("a = a + b", "a = max(0, a + b)"),
        ("return a + b", "return min(c, a + b)"),
        ("return a * b", "return a * max(1, b)"),
    ];
    let used = |body: &str| format!("{body}\nc = 1");
    let wrapped: Vec<_> = wrapped.iter().map(|(a, b)| (used(a), used(b))).collect();
    let wrapped: Vec<_> = wrapped.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    check(OperatorId::WrapInCall, Language::Python, &wrapped);
    let script = [
        ("a = a + b;", "a = Math.max(0, a + b);"),
        ("a[1] = b[1];", "a[1] = Math.max(a[1], b[1]);"),
    ];
    check(OperatorId::WrapInCall, Language::JavaScript, &script);
    let joined = [
        ("return [a for a in b]", "return b + [a for a in b]"),
        ("return [a, b]", "return [a, b] + a"),
    ];
    check(OperatorId::Ingredient, Language::Python, &joined);
    let joined = [("return [a, b];", "return a.concat([a, b]);")];
    check(OperatorId::Ingredient, Language::JavaScript, &joined);
    check(OperatorId::Constant, Language::Python, &[("return []", "return [[]]")]);
    check(OperatorId::Constant, Language::JavaScript, &[("return [];", "return [[]];")]);
    let targets = [("a[b, c] = min(a[b, c], b[c])", "b[c] = min(a[b, c], b[c])")];
    check(OperatorId::AssignmentTarget, Language::Python, &targets);
    let targets = [("a.x = b.y + 1;", "b.y = b.y + 1;")];
    check(OperatorId::AssignmentTarget, Language::JavaScript, &targets);
    let inserted = [
        ("while a:\n    a = b", "while a:\n    b = a\n    a = b"),
        ("a[b] = g(c)\nreturn a", "a[b] = g(c)\na[c] = g(c)\nreturn a"),
        (
            "while a < b:\n    if c:\n        a += 1\n    else:\n        g(c)",
            "while a < b:\n    if c:\n        a += 1\n    else:\n        g(c)\n        a += 1",
        ),
        ("while a < b:\n    c.x = a", "while a < b:\n    c.x = a\n    a = a.x"),
    ];
    check(OperatorId::InsertStatement, Language::Python, &inserted);
    let inserted = [
        ("a = b;\n  return c;", "a = b;\n  c = b;\n  return c;"),
        (
            "while (a > b) {\n    let c = a >> 1;\n    g(c);\n  }",
            "while (a > b) {\n    let c = a >> 1;\n    g(c);\n    a = c;\n  }",
        ),
    ];
    check(OperatorId::InsertStatement, Language::JavaScript, &inserted);
    let changed = |source: &str| {
        let found = all_of(Language::Python, source).into_iter();
        found
            .filter(|edit| edit.operator == OperatorId::InsertStatement && edit.weight > 3.0)
            .count()
    };
    let body = |text: &str| format!("def f(a, b):\n    while {text}\n    return b\n");
    for settled in [
        "a < b:\n        g(b)\n        a += 1",
        "a:\n        b = a.pop()",
        "a.next():\n        g(b)",
    ] {
        assert_eq!(changed(&body(settled)), 0, "{settled}");
    }
    assert!(changed(&body("a < b:\n        g(b)")) > 3);
}

#[test]
fn assertions_stay_as_they_are() {
    let table = [
        (Language::Python, "def f(a):\n    assert a > 1, a\n    return a > 1\n", 2),
        (
            Language::JavaScript,
            "function f(a) {\n  assert.equal(a > 1, b);\n  console.assert(a);\n}\n",
            2,
        ),
        (Language::TypeScript, "function f(a) {\n  assert(a > 1);\n}\n", 2),
    ];
    for (language, source, line) in table {
        let assertion = source.lines().nth(1).unwrap().trim();
        for edit in candidates(language, source, &|one| one == line, &[]) {
            assert!(edit.apply(source).contains(assertion), "{edit:?}");
        }
        let source = source.replace("assert", "check").replace("check a", "check(a)");
        let found = candidates(language, &source, &|one| one == line, &[]);
        assert!(found.iter().any(|edit| edit.range.start > 14), "{source}");
    }
}
