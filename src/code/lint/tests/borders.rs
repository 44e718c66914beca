//! The borders of each rule: what it finds, and the nearest text in which it finds nothing. The
//! samples in `tests/data/lint` show each rule on whole files.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::domain::id::RepoPath;

use crate::code::lint::{Project, scan};

fn repository(files: &[(&str, &str)]) -> BTreeMap<RepoPath, String> {
    let parsed =
        |(name, text): &(&str, &str)| (RepoPath::parse(*name).unwrap(), (*text).to_owned());
    files.iter().map(parsed).collect()
}

/// The lines at which a rule has findings in the first of some files.
fn lines(rule: &str, files: &[(&str, &str)]) -> Vec<u32> {
    let repository = repository(files);
    let file = RepoPath::parse(files[0].0).unwrap();
    let result = scan(&[&file], &repository, &Project::of(&repository));
    result.findings.iter().filter(|one| one.id == rule).map(|one| one.line).collect()
}

/// Checks a rule on files that stand alone.
fn check(rule: &str, table: &[(&str, &str, &[u32])]) {
    for (name, text, expected) in table {
        assert_eq!(lines(rule, &[(name, text)]), *expected, "{rule} in {name}:\n{text}");
    }
}

#[test]
fn unresolved_import() {
    let table: &[(&str, &str, &[u32])] = &[
        ("a/b.py", "from .gone import x\n", &[1]),
        ("a/b.py", "from .there import x\n", &[]),
        ("a/b.py", "try:\n    from .gone import x\nexcept ImportError:\n    x = 1\n", &[]),
        ("a/b.py", "from ...above import x\n", &[1]),
        ("a/b.js", "import x from './gone';\n", &[1]),
        ("a/b.js", "import x from './sum.js';\n", &[]),
        ("a/b.js", "import x from './dist/gone';\n", &[]),
        ("a/b.js", "import x from 'gone';\n", &[]),
        ("a/b.js", "import x from './sum';\n", &[]),
        ("a/b.js", "import x from '../a';\n", &[]),
        ("a/b.js", "import x from './style.css?inline';\n", &[1]),
        ("a/b.js", "jest.mock('./gone');\n", &[]),
        ("src/lib.rs", "mod gone;\n", &[]),
    ];
    for (name, text, expected) in table {
        let files = [(*name, *text), ("a/there.py", ""), ("a/sum.ts", "")];
        assert_eq!(lines("unresolved-import", &files), *expected, "{name}: {text}");
    }
}

#[test]
fn packages() {
    let python = ("pyproject.toml", "[project]\ndependencies = [\"requests\", \"pyyaml\"]\n");
    let script = ("package.json", "{\"dependencies\": {\"react\": \"1\", \"@a/b\": \"1\"}}");
    let table: &[(&str, &str, &str, &str)] = &[
        ("a.py", "import requests, yaml, os, a\n", "", ""),
        ("a.py", "import inventedlib\n", "unknown-package", "1"),
        ("a.py", "import reqests\n", "misspelt-package", "1"),
        ("a.py", "def f():\n    import inventedlib\n", "", ""),
        (
            "a.js",
            "import r from 'react/jsx';\nimport b from '@a/b/c';\nimport 'node:fs';\n",
            "",
            "",
        ),
        ("a.js", "import r from 'invented-package';\n", "unknown-package", "1"),
        ("a.js", "import r from 'reactt';\n", "misspelt-package", "1"),
        ("a.rs", "use {std::fs, invented::Thing};\n", "", ""),
        ("a.go", "package a\nimport \"github.com/y/invented\"\n", "", ""),
    ];
    for (name, text, rule, line) in table {
        let files = repository(&[(name, text), python, script]);
        let file = RepoPath::parse(*name).unwrap();
        let found: Vec<String> = scan(&[&file], &files, &Project::of(&files))
            .findings
            .iter()
            .filter(|one| one.category == "hallucinated_imports")
            .map(|one| format!("{} {}", one.id, one.line))
            .collect();
        let expected = if rule.is_empty() { vec![] } else { vec![format!("{rule} {line}")] };
        assert_eq!(found, expected, "{name}: {text}");
    }
}

#[test]
fn wrong_sub_path() {
    let package = [("shop/__init__.py", ""), ("shop/cart.py", "")];
    let in_shop = |text| lines("wrong-sub-path", &[("a.py", text), package[0], package[1]]);
    assert_eq!(in_shop("import shop.gone\n"), [1]);
    assert!(in_shop("import shop.cart\nimport elsewhere.gone\n").is_empty());
}

#[test]
fn placeholders() {
    check(
        "todo-code",
        &[
            ("a.py", "def f():\n    # TODO: implement\n    pass\n", &[2]),
            ("a.py", "def f(x):\n    # TODO: implement rounding\n    y = x\n    return y\n", &[]),
            ("a.js", "function f() {\n  // ... existing code ...\n}\n", &[2]),
            ("a.js", "/** Add your code here. */\nfunction f() { return 1; }\n", &[]),
        ],
    );
    check(
        "not-implemented",
        &[
            ("a.py", "def f():\n    raise NotImplementedError\n", &[2]),
            ("a.py", "class A:\n    def f(self):\n        raise NotImplementedError\n", &[]),
            ("a.rs", "fn f() { todo!() }\n", &[1]),
            (
                "a.rs",
                "fn f() { unimplemented!(\"the caller checks that this is never so\") }\n",
                &[],
            ),
            ("a.go", "package a\nfunc f() { panic(\"not implemented\") }\n", &[2]),
            ("a.js", "function f() { throw new Error('not implemented yet'); }\n", &[1]),
            ("a.js", "function f() { throw new Error('no such item'); }\n", &[]),
        ],
    );
    check(
        "bare-pass",
        &[
            ("a.py", "def f():\n    pass\n", &[2]),
            ("a.py", "def f():\n    # nothing to do here\n    pass\n", &[]),
            ("a.py", "def noop():\n    pass\n", &[]),
            ("a.py", "class A:\n    def f(self):\n        pass\n", &[]),
            ("a.py", "def f():\n    g()\n    pass\n", &[]),
        ],
    );
    check(
        "ellipsis-statement",
        &[("a.py", "def f():\n    ...\n", &[2]), ("a.pyi", "def f(): ...\n", &[])],
    );
}

#[test]
fn doubles_in_product_code() {
    check(
        "mock-in-production",
        &[
            ("shop/a.py", "x = MagicMock()\n", &[1]),
            ("shop/mocks/a.py", "x = MagicMock()\n", &[]),
            ("tests/test_a.py", "x = MagicMock()\n", &[]),
            ("src/a.js", "const f = jest.fn();\n", &[1]),
            ("src/a.js", "jest.spyOn(a, 'b');\n", &[1]),
            ("src/a.js", "spyOn(a, 'b');\n", &[]),
            ("shop/a.py", "patch('a')\n", &[]),
            ("shop/a.py", "mock.patch('a')\n", &[1]),
            ("shop/a.py", "patch.object(a, 'b')\n", &[1]),
            ("src/a.rs", "fn f() { let s = wiremock::MockServer::start(); }\n", &[1]),
            ("a.go", "package a\nfunc f() { gock.New(1) }\n", &[2]),
            ("src/a/A.java", "class A { void f() { Mockito.verify(o); } }\n", &[1]),
        ],
    );
    check(
        "test-import-in-production",
        &[
            ("shop/a.py", "import pytest\n", &[1]),
            ("shop/a.py", "if __name__ == '__main__':\n    import pytest\n", &[]),
            ("src/a.rs", "use proptest::prelude::*;\n", &[1]),
            ("src/a.rs", "#[cfg(test)]\nmod tests {\n    use proptest::prelude::*;\n}\n", &[]),
            ("a.go", "package a\nimport \"testing\"\n", &[2]),
            ("a_test.go", "package a\nimport \"testing\"\n", &[]),
        ],
    );
}

#[test]
fn secrets() {
    let key = ["AKIA", "QYLPMN5HHHFPZAM2"].concat();
    let text = format!("x = '{key}'\n");
    assert_eq!(lines("hard-coded-secret", &[("a.py", &text)]), [1]);
    assert!(lines("hard-coded-secret", &[("tests/test_a.py", &text)]).is_empty());
    check(
        "hard-coded-secret",
        &[
            ("a.py", "password = 'aZ8kQ2mX9vT4bL7w'\n", &[1]),
            ("a.py", "colour = 'aZ8kQ2mX9vT4bL7w'\n", &[]),
            ("a.py", "password = 'your-password-here'\n", &[]),
        ],
    );
}

#[test]
fn secrets_in_logs() {
    check(
        "sensitive-log",
        &[
            ("a.py", "print(user.password)\n", &[1]),
            ("a.py", "print(user.name)\n", &[]),
            ("a.py", "logger.info(f'{user} came with {password}')\n", &[1]),
            ("a.py", "logger.info('{}'.format(api_key))\n", &[1]),
            ("a.py", "print(len(password))\n", &[]),
            ("a.py", "print(password is not None)\n", &[]),
            ("a.py", "print(secret.name)\n", &[]),
            ("a.py", "print('x', secret='y')\n", &[]),
            ("a.py", "save(password)\n", &[]),
            ("tests/test_a.py", "print(password)\n", &[]),
            ("a.js", "console.log(apiKey);\n", &[1]),
            ("a.js", "console.log(`in ${user.accessToken}`);\n", &[1]),
            ("a.js", "console.log({ password: '***' });\n", &[]),
            ("a.js", "console.log({ password });\n", &[1]),
            ("a.js", "console.log(mask(password), !password, password ? 1 : 2);\n", &[]),
            ("a.ts", "this.logger.debug('in', password);\n", &[1]),
            ("a.rs", "fn f() { info!(\"{}\", user.password) }\n", &[1]),
            ("a.rs", "fn f() { info!(\"{}\", password.len()) }\n", &[]),
            ("a.rs", "fn f() { info!(\"{}\", hide(password)) }\n", &[]),
            ("a.go", "package a\nfunc f() { log.Printf(\"%s\", u.Password) }\n", &[2]),
            ("a.go", "package a\nfunc f() { log.Printf(\"%d\", len(password)) }\n", &[]),
            ("A.java", "class A { void f() { log.info(\"in \" + password); } }\n", &[1]),
            ("A.java", "class A { void f() { log.info(password.isEmpty()); } }\n", &[]),
        ],
    );
}

#[test]
fn names_that_mislead() {
    check(
        "misleading-predicate",
        &[
            ("a.py", "def is_open() -> str: return 'x'\n", &[1]),
            ("a.py", "def is_open() -> bool: return True\n", &[]),
            ("a.py", "def island() -> str: return 'x'\n", &[]),
            ("a.py", "def is_open():\n    return 'yes'\n", &[1]),
            ("a.py", "def is_open(x):\n    if x:\n        return 'yes'\n    return x.open\n", &[]),
            ("a.py", "def is_open():\n    pass\n", &[]),
            ("a.js", "const isOpen = () => 'yes';\n", &[1]),
            ("a.js", "const isOpen = () => door.open;\n", &[]),
            ("a.js", "function isOpen() { return `${door}`; }\n", &[1]),
            ("a.ts", "function hasDoor(): number { return 1; }\n", &[1]),
            ("a.ts", "function hasDoor(a: unknown): a is Door { return true; }\n", &[]),
            ("a.ts", "function hasDoor(): Promise<boolean> { return go(); }\n", &[]),
            ("a.rs", "fn is_open() -> u32 { 1 }\n", &[1]),
            ("a.rs", "fn is_open() -> Result<bool, E> { Ok(true) }\n", &[]),
            ("a.go", "package a\nfunc IsOpen() int { return 1 }\n", &[2]),
            ("a.go", "package a\nfunc IsOpen() (bool, error) { return true, nil }\n", &[]),
            ("A.java", "class A { int isOpen() { return 1; } }\n", &[1]),
            ("A.java", "class A { void isOpen(boolean b) { g(b); } }\n", &[]),
        ],
    );
}

#[test]
fn set_ups_that_nothing_undoes() {
    let set_up = "def setup_method():\n    os.chdir('x')\n\ndef test_a():\n    assert f() == 1\n";
    let undone = format!("{set_up}\ndef teardown_method():\n    os.chdir('..')\n");
    check(
        "missing-cleanup",
        &[
            ("test_a.py", set_up, &[1]),
            ("test_a.py", &undone, &[]),
            ("test_a.py", "def setup_method():\n    f()\n", &[]),
            ("a.test.js", "beforeEach(() => { process.env.MODE = 'x'; });\n", &[1]),
            ("a.test.js", "beforeEach(() => { client.listen('x'); });\n", &[]),
            ("a.js", "beforeEach(() => { process.env.MODE = 'x'; });\n", &[]),
        ],
    );
}

#[test]
fn snapshots_that_replace_assertions() {
    let test = |snapshots: usize, others: usize| {
        let text = "  expect(f(1)).toMatchSnapshot();\n".repeat(snapshots);
        format!("it('a', () => {{\n{text}{}}});\n", "  expect(f(1)).toBe(2);\n".repeat(others))
    };
    let found = |all, others| lines("snapshot-overuse", &[("a.test.js", &test(all, others))]);
    assert_eq!(found(6, 0), [2]);
    assert_eq!(found(7, 6), [2]);
    assert!(found(5, 0).is_empty(), "a few are fine");
    assert!(found(6, 6).is_empty(), "half of the assertions say more");
}

#[test]
fn tests_that_check_nothing() {
    check(
        "empty-test",
        &[
            ("test_a.py", "def test_a():\n    pass\n", &[1]),
            ("test_a.py", "def test_a():\n    \"\"\"Only words.\"\"\"\n", &[1]),
            ("test_a.py", "@pytest.mark.skip\ndef test_a():\n    pass\n", &[]),
            ("a.test.js", "it('a', () => {});\n", &[1]),
            ("a.test.js", "it('a', () => expect(f()).toBe(1));\n", &[]),
        ],
    );
    check(
        "setup-only",
        &[
            ("test_a.py", "def test_a():\n    x = f()\ndef test_b():\n    assert f()\n", &[1]),
            ("test_a.py", "def test_a():\n    x = f()\n", &[]),
        ],
    );
    check(
        "nothing-asserted",
        &[
            ("test_a.py", "def test_a():\n    x = f()\ndef test_b():\n    assert f()\n", &[]),
            ("test_a.py", "@pytest.mark.skip\ndef test_a():\n    x = f()\n", &[]),
            ("test_a.py", "def test_a():\n    x = f()\n", &[1]),
            ("test_a.py", "def check(x):\n    assert x\ndef test_a():\n    check(f())\n", &[]),
            ("a_test.go", "package a\nfunc TestA(t *testing.T) { f() }\n", &[2]),
            ("a_test.go", "package a\nfunc TestA(t *testing.T) { helper(t) }\n", &[]),
            ("a_test.go", "package a\nfunc TestA(t *testing.T) { New(Config{T: t}) }\n", &[]),
            ("a.test.js", "it('a', (done) => { setTimeout(done, 10); });\n", &[1]),
            ("a.test.js", "it('a', (done) => { stream.on('end', done); });\n", &[]),
        ],
    );
    let hollow = ("test_a.py", "def test_a():\n    x = f()\n");
    let beside = ("test_b.py", "def test_b():\n    assert f()\n");
    let files = repository(&[hollow, beside]);
    let chosen: Vec<&RepoPath> = files.keys().collect();
    let found = scan(&chosen, &files, &Project::of(&files)).findings;
    let ids: Vec<&str> = found.iter().map(|one| one.id.as_str()).collect();
    assert!(ids.contains(&"setup-only") && !ids.contains(&"nothing-asserted"), "{ids:?}");
}

#[test]
fn skipped_tests() {
    let silent = "skipped-without-reason";
    check(
        silent,
        &[
            ("test_a.py", "@pytest.mark.skip\ndef test_a():\n    assert 1\n", &[2]),
            ("a.test.js", "it.skip('a', () => { expect(f()).toBe(1); });\n", &[1]),
            ("a.test.js", "// waits for a new server\nit.skip('a', () => {});\n", &[]),
        ],
    );
    check(
        "skipped-test",
        &[
            ("test_a.py", "@pytest.mark.skip(reason='x')\ndef test_a():\n    assert 1\n", &[2]),
            ("a.test.js", "it.skip('a', () => {}); // needs a server\n", &[1]),
        ],
    );
    check("focused-test", &[("a.test.js", "it.only('a', () => {});\n", &[1])]);
    check("todo-test", &[("a.test.js", "it.todo('a');\n", &[1])]);
}

#[test]
fn weak_assertions() {
    check(
        "defined-only",
        &[
            ("test_a.py", "def test_a():\n    assert f() is not None\n", &[2]),
            ("test_a.py", "def test_a():\n    assert f() is not None\n    assert f() == 1\n", &[]),
        ],
    );
    check(
        "truthy-only",
        &[
            ("test_a.py", "def test_a():\n    result = f()\n    assert result\n", &[3]),
            ("test_a.py", "def test_a():\n    assert is_open()\n", &[]),
        ],
    );
    check(
        "tautology",
        &[
            ("test_a.py", "def test_a():\n    assert True\n", &[2]),
            ("test_a.py", "def test_a():\n    assert 1 == 1\n", &[2]),
            ("test_a.py", "def test_a():\n    assert 1 == 2\n", &[]),
            ("a.test.js", "it('a', () => { expect(2).toBe(2); });\n", &[1]),
        ],
    );
    check(
        "mock-only",
        &[
            (
                "test_a.py",
                "def test_a():\n    mock = Mock()\n    f(mock)\n    mock.assert_called_once()\n",
                &[4],
            ),
            ("test_a.py", "def test_a():\n    assert bell.called\n", &[]),
        ],
    );
}

#[test]
fn state_that_tests_share() {
    let state = "items = []\ndef test_a():\n    items.append(1)\n    assert items\ndef test_b():\n    assert items\n";
    assert_eq!(lines("shared-mutable-state", &[("test_a.py", state)]), [1]);
    let reset = format!("{state}def setup_function():\n    items.clear()\n");
    assert!(lines("shared-mutable-state", &[("test_a.py", &reset)]).is_empty());
    let read = state.replace("items.append(1)", "len(items)");
    assert!(lines("shared-mutable-state", &[("test_a.py", &read)]).is_empty());
}

#[test]
fn tests_that_need_another_test() {
    let text = "let id;\nit('makes', () => { id = make(); expect(id).toBe(1); });\nit('reads', () => { expect(read(id)).toBe(2); });\n";
    let found = |text: &str| lines("shared-mutable-state", &[("a.test.js", text)]);
    assert_eq!(found(text), [1]);
    let own = text.replace("expect(read(id))", "id = make(); expect(read(id))");
    assert!(found(&own).is_empty(), "each test gives its own value");
    let local = text.replace("expect(read(id))", "let id = make(); expect(read(id))");
    assert!(found(&local).is_empty(), "a local hides the shared name");
    for hook in ["beforeEach", "beforeAll", "before"] {
        let set_up = format!("{text}{hook}(() => {{ id = make(); }});\n");
        assert!(found(&set_up).is_empty(), "{hook}");
    }
    let fixed = text.replace("let id", "const id = 1");
    assert!(found(&fixed).is_empty());
    check(
        "order-dependence",
        &[
            ("test_a.py", "@pytest.mark.order(2)\ndef test_a():\n    assert f() == 1\n", &[2]),
            ("test_a.py", "@pytest.mark.slow\ndef test_a():\n    assert f() == 1\n", &[]),
            ("a.test.js", "test.describe.serial('a', () => {\n  test('b', () => {});\n});\n", &[1]),
            ("a.test.js", "test.describe('a', () => {\n  test('b', () => {});\n});\n", &[]),
        ],
    );
}

#[test]
fn four_doubles_and_fewer_assertions_are_too_many() {
    let test = |doubles: usize, assertions: usize| {
        let doubles = "    m = Mock()\n".repeat(doubles);
        format!("def test_a():\n{doubles}{}", "    assert f(m) == 1\n".repeat(assertions))
    };
    let found =
        |doubles, assertions| lines("over-mocked", &[("test_a.py", &test(doubles, assertions))]);
    assert!(found(3, 1).is_empty());
    assert_eq!(found(4, 3), [1]);
    assert!(found(4, 4).is_empty());
}

#[test]
fn three_tests_must_try_what_fails_and_an_edge() {
    let test = |name: &str| format!("def test_{name}():\n    assert f(2) == 4\n");
    let plain = test("a") + &test("b");
    let three = format!("{plain}{}", test("c"));
    for rule in ["no-negative-path", "no-edge-case"] {
        assert!(lines(rule, &[("test_a.py", &plain)]).is_empty(), "{rule}");
        assert_eq!(lines(rule, &[("test_a.py", &three)]), [1], "{rule}");
    }
    let negative = format!("{plain}{}", test("rejects"));
    assert!(lines("no-negative-path", &[("test_a.py", &negative)]).is_empty());
    let edge = format!("{plain}{}", test("empty"));
    assert!(lines("no-edge-case", &[("test_a.py", &edge)]).is_empty());
}

#[test]
fn a_test_loads_its_subject() {
    let product = ("shop/price.py", "def price():\n    return 1\n");
    let found = |import: &str| {
        let text = format!("{import}\ndef test_a():\n    assert 1 + 1 == 2\n");
        lines("subject-not-imported", &[("tests/test_price.py", &text), product])
    };
    assert_eq!(found("import os"), [2]);
    assert!(found("from shop.price import price").is_empty());
    assert!(found("import subprocess").is_empty());
}

#[test]
fn what_is_never_closed_is_found_in_the_last_line() {
    assert_eq!(lines("syntax-error", &[("a_test.go", "import A`\n")]), [1]);
    assert_eq!(lines("syntax-error", &[("a.py", "f(\n\n")]), [1]);
}

proptest! {
    /// No text makes a scan fail, and no finding lies outside its file.
    #[test]
    fn findings_lie_inside_their_file(
        text in "(def test_a\\(\\):|class A:|import \\w|    pass|    assert True|it\\('a'\\)|[ -~]{0,20}|\\n){0,12}",
        name in prop::sample::select(vec!["a.py", "test_a.py", "a.test.js", "a.ts", "a.rs", "a_test.go", "A.java"]),
    ) {
        let files = repository(&[(name, &text)]);
        let file = RepoPath::parse(name).unwrap();
        let count = u32::try_from(text.lines().count()).unwrap();
        for one in scan(&[&file], &files, &Project::of(&files)).findings {
            prop_assert!(1 <= one.line && one.line <= count.max(1), "{} in {text:?}", one.line);
        }
    }

    /// Empty lines before the code move findings and change nothing else.
    #[test]
    fn empty_lines_move_findings(count in 0usize..5) {
        let code = "def f():\n    pass\n\n\ndef g():\n    raise NotImplementedError\n";
        let text = "\n".repeat(count) + code;
        let shift = u32::try_from(count).unwrap();
        prop_assert_eq!(lines("bare-pass", &[("a.py", &text)]), [2 + shift]);
        prop_assert_eq!(lines("not-implemented", &[("a.py", &text)]), [6 + shift]);
    }
}
