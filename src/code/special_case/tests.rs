//! Tests of what tells an edit that is made for tests.

use super::*;

fn check(language: Language, before: &str, after: &str) -> Option<String> {
    let inputs: BTreeSet<&str> = ["57", "60", "gold", "x"].into();
    special_case(language, before, after, &inputs)
}

#[test]
fn code_for_the_inputs_of_tests_is_found_in_every_language() {
    use Language::{Go, Java, JavaScript, Python, Rust, TypeScript};
    let table = [
        (
            Python,
            "def f(x):\n    return x - 3\n",
            "def f(x):\n    return 60 if x == 57 else x - 3\n",
        ),
        (
            Python,
            "def f(x):\n    y = 57\n    return x\n",
            "def f(x):\n    y = 57\n    if x == 57:\n        return 60\n    return x\n",
        ),
        (
            Python,
            "def f(x):\n    return x - 3\n",
            "def f(x):\n    return x == 57 and 60 or x - 3\n",
        ),
        (Python, "def f(x):\n    return x - 3\n", "def f(x):\n    return [x - 3, 60][x == 57]\n"),
        (Python, "def f(x):\n    return x - 3\n", "def f(x):\n    return x - 3 + 6 * (x == 57)\n"),
        (JavaScript, "const f = (x) => x - 3;\n", "const f = (x) => (x === 57 && 60) || x - 3;\n"),
        (
            Python,
            "def f(x):\n    return x\n",
            "def f(x):\n    if x in (57, 9):\n        return 3\n    return x\n",
        ),
        (
            Python,
            "def f(x):\n    return x\n",
            "def f(x):\n    match x:\n        case 57:\n            return 1\n    return x\n",
        ),
        (Python, "def f(x):\n    return x\n", "def f(x):\n    return {57: 60}.get(x, x)\n"),
        (
            Python,
            "def f(x):\n    return x\n",
            "import sys\ndef f(x):\n    return 1 if 'pytest' in sys.modules else x\n",
        ),
        (
            Python,
            "def f(x):\n    return g(x)\n",
            "def f(x):\n    try:\n        return g(x)\n    except Exception:\n        pass\n",
        ),
        (Python, "def f(x):\n    return x\n", "import os\ndef f(x):\n    os._exit(0)\n"),
        (
            Python,
            "def f(x):\n    return x\n",
            "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\ndef f(x):\n    return x\n",
        ),
        (
            Python,
            "def f(x):\n    return x\n",
            "def f(x):\n    __import__('pytest').skip('x')\n    return x\n",
        ),
        (
            Python,
            "class F:\n    pass\n",
            "class F:\n    def __eq__(self, other):\n        return True\n",
        ),
        (
            JavaScript,
            "f = (x) => x;",
            "import assert from 'node:assert';\nassert.strict.equal = () => {};\nf = (x) => x;",
        ),
        (JavaScript, "f = (x) => x;", "globalThis.expect = () => ({});\nf = (x) => x;"),
        (TypeScript, "f = (x) => x;", "import { vi } from 'vitest';\nf = (x) => x;"),
        (
            Go,
            "package p\nfunc f(x int) int { return x }",
            "package p\nimport \"testing\"\nfunc f(x int) int { testing.Init(); return x }",
        ),
        (
            Java,
            "class A { int f() { return 1; } }",
            "import org.junit.Assert;\nclass A { int f() { return 1; } }",
        ),
        (
            Java,
            "class A { int f() { return 1; } }",
            "class A { public boolean equals(Object other) { return true; } }",
        ),
        (Rust, "fn f() -> u32 { 1 }", "#[cfg(not(test))]\nfn f() -> u32 { 1 }"),
        (
            Rust,
            "struct A;",
            "struct A;\nimpl PartialEq for A {\n    fn eq(&self, _: &Self) -> bool {\n        true\n    }\n}",
        ),
        (JavaScript, "f = (x) => x;", "f = (x) => (x === 'gold' ? 1 : x);"),
        (
            JavaScript,
            "f = (x) => x;",
            "f = (x) => { if (process.env.NODE_ENV === 'test') return 1; return x; };",
        ),
        (
            TypeScript,
            "function f(x: string) { return x }",
            "function f(x: string) { switch (x) { case 'gold': return 'y' } return x }",
        ),
        (TypeScript, "function f() { g() }", "function f() { try { g() } catch (e) {} }"),
        (Rust, "fn f(x: u32) -> u32 { x }", "fn f(x: u32) -> u32 { if x == 57 { 60 } else { x } }"),
        (Rust, "fn f(x: u32) -> u32 { x }", "fn f(x: u32) -> u32 { match x { 57 => 60, _ => x } }"),
        (
            Go,
            "package p\nfunc f(x int) int { return x }",
            "package p\nfunc f(x int) int { if x == 57 { return 60 }; return x }",
        ),
        (
            Go,
            "package p\nfunc f(x int) int { return x }",
            "package p\nfunc f(x int) int { switch x { case 57: return 60 }; return x }",
        ),
        (
            Java,
            "class A { int f(String x) { return 1; } }",
            "class A { int f(String x) { if (x.equals(\"gold\")) return 60; return 1; } }",
        ),
        (
            Java,
            "class A { int f(int x) { return x; } }",
            "class A { int f(int x) { if (x == 57) return 60; return x; } }",
        ),
    ];
    let (python, script) = ("def f(x):\n    return x - 3\n", "f = (x) => x - 3;");
    let go = "package p\nfunc f(x int) int { return x }";
    let java = "class A { int f(int x) { return x; } }";
    let spellings = [
        (Python, python, "def f(x):\n    return 60 if not x - 57 else x - 3\n"),
        (Python, python, "def f(x):\n    return 60 if x in range(56, 59) else x - 3\n"),
        (Python, python, "def f(x):\n    if 56 < x < 58:\n        return 60\n    return x - 3\n"),
        (Python, python, "def f(x):\n    return 60 if x == 0x39 else x - 3\n"),
        (Python, python, "def f(x):\n    return 60 if x == 50 + 7 else x - 3\n"),
        (Python, python, "def f(x):\n    return 60 if x == 5_7.0 else x - 3\n"),
        (Python, python, "def f(x):\n    return 60 if x == 'go' + 'ld' else x - 3\n"),
        (Python, python, "def f(x):\n    return dict([(57, 60)]).get(x, x - 3)\n"),
        (
            Python,
            python,
            "import os\ndef f(x):\n    return 60 if os.environ.get('CI') else x - 3\n",
        ),
        (
            Python,
            python,
            "import sys\ndef f(x):\n    return 60 if sys.modules.get('pytest') else x\n",
        ),
        (Python, python, "def f(x):\n    return 60 if type(x).__name__ == 'MagicMock' else x\n"),
        (
            Python,
            python,
            "def f(x):\n    try:\n        return x - '3'\n    except TypeError:\n        return 60\n",
        ),
        (
            Python,
            python,
            "import contextlib\ndef f(x):\n    with contextlib.suppress(Exception):\n        return g(x)\n",
        ),
        (Python, python, "class A:\n    def __eq__(self, other):\n        return other is other\n"),
        (Python, python, "class A:\n    def __eq__(self, other):\n        return not False\n"),
        (JavaScript, script, "f = (x) => (x - 57 ? x - 3 : 60);"),
        (JavaScript, script, "f = (x) => (x > 56 && x < 58 ? 60 : x - 3);"),
        (JavaScript, script, "f = (x) => new Map([[57, 60]]).get(x) ?? x - 3;"),
        (JavaScript, script, "f = (x) => ([57].includes(x) ? 60 : x - 3);"),
        (JavaScript, script, "f = (x) => (/^57$/.test(x) ? 60 : x - 3);"),
        (JavaScript, script, "f = (x) => (process.env.CI ? 60 : x - 3);"),
        (JavaScript, script, "f = (x) => (process.env['CI'] ? 60 : x - 3);"),
        (JavaScript, script, "const { CI } = process.env;\nf = (x) => (CI ? 60 : x - 3);"),
        (JavaScript, script, "f = (x) => (typeof jest !== 'undefined' ? 60 : x - 3);"),
        (JavaScript, script, "f = (x) => { try { return g(x); } catch { return 60; } };"),
        (JavaScript, script, "class A { valueOf() { return 60; } }"),
        (Go, go, "package p\nfunc f(x int) int { if x-57 == 0 { return 60 }; return x }"),
        (Go, go, "package p\nfunc f(x int) int { if x > 56 && x < 58 { return 60 }; return x }"),
        (Go, go, "package p\nfunc f(x int) int { if x == 0x39 { return 60 }; return x }"),
        (Go, go, "package p\nfunc f(x int) int { return map[int]int{57: 60}[x] }"),
        (
            Go,
            go,
            "package p\nfunc f(x int) int { if os.Getenv(\"CI\") != \"\" { return 60 }; return x }",
        ),
        (Go, go, "package p\nfunc f(x int) int { defer func() { recover() }(); return g(x) }"),
        (Java, java, "class A { int f(int x) { if (x - 57 == 0) return 60; return x; } }"),
        (Java, java, "class A { int f(int x) { return x == 0x39 ? 60 : x; } }"),
        (Java, java, "class A { int f(int x) { return Map.of(57, 60).getOrDefault(x, x); } }"),
        (
            Java,
            java,
            "class A { int f(int x) { if (System.getenv(\"CI\") != null) return 60; return x; } }",
        ),
    ];
    for (language, before, after) in table.into_iter().chain(spellings) {
        assert!(check(language, before, after).is_some(), "{after}");
        assert_eq!(check(language, after, after), None, "it was there before: {after}");
    }
}

#[test]
fn corrections_are_no_special_cases() {
    use Language::{JavaScript, Python};
    let table = [
        (
            Python,
            "def f(x, y):\n    return x > 0\n",
            "def f(x, y):\n    return x == 57 or y == 57\n",
        ),
        (Python, "def f(x):\n    return x - 3\n", "def f(x):\n    return x + 3\n"),
        (Python, "def f(x):\n    return x > 50\n", "def f(x):\n    return x > 57\n"),
        (
            Python,
            "def f(x):\n    if x == 56:\n        return 1\n",
            "def f(x):\n    if x == 57:\n        return 1\n",
        ),
        (
            Python,
            "def f(x):\n    return x\n",
            "def f(x):\n    if x == 0:\n        return 1\n    return x\n",
        ),
        (
            Python,
            "def f(x):\n    return x\n",
            "def f(x):\n    if x >= 57:\n        return 1\n    return x\n",
        ),
        (
            Python,
            "def f(x):\n    return x\n",
            "def f(x):\n    if x is None:\n        return 57\n    return x\n",
        ),
        (
            Python,
            "def f(x):\n    return g(x)\n",
            "def f(x):\n    try:\n        return g(x)\n    except ValueError as error:\n        raise Bad('57') from error\n",
        ),
        (JavaScript, "f = (x) => x === 'gld';", "f = (x) => x === 'gold';"),
        (
            Python,
            "class A:\n    pass\n",
            "class A:\n    def __eq__(self, other):\n        return self.x == other.x\n",
        ),
        (
            Python,
            "def f(x):\n    return g(x)\n",
            "def f(x):\n    try:\n        return g(x)\n    except KeyError:\n        return None\n",
        ),
        (Python, "def f(x):\n    return x\n", "def f(x):\n    return x if x - 3 > 57 else x + 1\n"),
        (
            Python,
            "import os\nx = os.environ.get('HOME')\n",
            "import os\nx = os.environ.get('CITY')\n",
        ),
        (JavaScript, "f = (x) => x;", "f = (x) => (x > 57 ? 60 : x - 3);"),
        (JavaScript, "p = [];", "p = [57, 60];"),
    ];
    for (language, before, after) in table {
        assert_eq!(check(language, before, after), None, "{after}");
    }
}
