//! Tests of the files that a test command runs.

use super::*;

/// The files of a repository that commands are about.
const FILES: &[(&str, &str)] = &[
    ("check.py", ""),
    ("calc.py", ""),
    ("calc.c", ""),
    ("check.ts", ""),
    ("check.go", ""),
    ("register.mjs", ""),
    ("stage/cmp.py", ""),
    ("stage/__main__.py", ""),
    ("src/deep/cmp.py", ""),
    (
        "go.sh",
        "set -e\n# python3 calc.py\nif true; then\n  python3 \"$(dirname \"$0\")/more/cmp.py\" 2>&1 | tee log\nfi\n",
    ),
    ("loop.sh", "sh loop.sh\nmake loop\n"),
    ("tools/run", "#!/usr/bin/env bash\n. ./lib.sh\n"),
    ("tools/py", "#!/usr/bin/env python3\npython3 calc.py\n"),
    ("lib.sh", "python3 check.py\n"),
    (
        "Makefile",
        "PY ?= python3\nCHECK := stage/cmp.py\n.PHONY: all check\nall: build\nbuild:\n\tcc -o calc calc.c\ncheck: build cmp\n\t@$(PY) $(CHECK) \\\n\t  --fast\ncmp: check.py; ${PY} $<\nother:\n\tsh go.sh\nloop:\n\t$(MAKE) loop other\n",
    ),
    ("sub/Makefile", "test:\n\tpython3 cmp.py\n"),
    (
        "package.json",
        r#"{"scripts": {"pretest": "node check.js", "test": "npm run all -- --fast", "all": "tsx check.ts", "go": "npm run go"}}"#,
    ),
    ("tox.ini", "[tox]\nenvlist = py\n[testenv]\ndeps = pytest\ncommands =\n  python check.py\n"),
];

fn found(text: &str) -> Vec<String> {
    scripts(text, &|path| {
        let file = FILES.iter().find(|(name, _)| *name == path);
        file.map(|(_, text)| (*text).to_owned())
    })
}

#[test]
fn files_that_a_command_runs_are_known() {
    let table: &[(&str, &[&str])] = &[
        ("python3 check.py --fast", &["check.py"]),
        ("CI=1 .venv/bin/python3.12 -B tools/check.py", &["tools/check.py"]),
        ("./check.sh && sh more/tests.sh", &["check.sh", "more/tests.sh"]),
        ("node --no-warnings 'a b.js' | tee log", &["a b.js"]),
        ("bash -e ./check.sh", &["check.sh"]),
        ("python3 -m pytest calc.py", &[]),
        ("pytest calc.py", &[]),
        ("ruff check calc.py", &[]),
        ("cc calc.c -o calc", &[]),
        ("python3 -c 'import calc' check.py", &[]),
        ("sh", &[]),
        ("", &[]),
        // Programs that are compiled first.
        ("go run ./cmd/check --fast", &["cmd/check/"]),
        ("go run -tags x check.go calc.go", &["check.go"]),
        ("go run .", &["main.go"]),
        ("cargo run -q --bin check -- x", &["src/bin/check.rs", "src/bin/check/"]),
        ("cargo run --release", &[]),
        ("java -cp out shop.Check", &["shop/Check.java"]),
        ("java -jar shop.jar", &[]),
        // Modules.
        ("python3 -m stage.cmp", &["stage/cmp.py"]),
        ("python3 -X dev -m stage", &["stage/__main__.py"]),
        ("python3 -m deep.cmp", &["deep/cmp.py"]),
        ("python3 -m coverage run check.py", &["check.py"]),
        ("coverage run --branch -m stage.cmp", &["stage/cmp.py"]),
        ("python3 -m cProfile check.py", &["check.py"]),
        // Options that take a word.
        ("python3 -W error check.py", &["check.py"]),
        ("node --import tsx check.ts", &["check.ts"]),
        ("node --loader ts-node/esm check.ts", &["check.ts"]),
        ("node --import ./register.mjs check.ts", &["check.ts", "register.mjs"]),
        ("python3 < check.py", &["check.py"]),
        ("node --test check.ts", &["check.ts"]),
        ("node -e 'run()'", &[]),
        // Programs that start others.
        ("uv run check.py", &["check.py"]),
        ("uv run --with x python check.py", &["check.py"]),
        ("npx tsx check.ts", &["check.ts"]),
        ("npx --yes -p x tsx check.ts", &["check.ts"]),
        ("env X=1 Y=2 python3 check.py", &["check.py"]),
        ("timeout -k 5 60 python3 check.py", &["check.py"]),
        ("exec python3 check.py", &["check.py"]),
        ("time nice -n 5 python3 check.py", &["check.py"]),
        ("c8 -r text node check.ts", &["check.ts"]),
        ("! python3 check.py", &["check.py"]),
        ("for x in 1 2; do python3 check.py $x; done", &["check.py"]),
        ("sh -c 'cd x; python3 check.py'", &["check.py"]),
        ("python3 \"$ROOT/stage/cmp.py\"", &["cmp.py"]),
        // What is unknown runs each script that it names.
        ("mystery --fast check.py", &["check.py"]),
        ("mystery check.py none.py calc.c", &["check.py"]),
        ("bash -eu", &[]),
        // Shell scripts, make, npm and tox.
        ("sh go.sh", &["cmp.py", "go.sh"]),
        ("tools/run", &["check.py", "lib.sh", "tools/run"]),
        ("tools/py", &["tools/py"]),
        ("make", &[]),
        ("make -j 4 check CI=1", &["check.py", "stage/cmp.py"]),
        ("make build", &[]),
        ("make loop", &["cmp.py", "go.sh"]),
        ("make unknown", &["check.py", "cmp.py", "go.sh", "stage/cmp.py"]),
        ("make -C sub test", &["cmp.py"]),
        ("cd sub && make test", &["cmp.py"]),
        ("sh loop.sh", &["cmp.py", "go.sh", "loop.sh"]),
        ("npm test", &["check.js", "check.ts"]),
        ("npm run --silent all", &["check.ts"]),
        ("yarn all", &["check.ts"]),
        ("npm run go", &[]),
        ("npm ci", &[]),
        ("tox -e py", &["check.py"]),
    ];
    for (text, expected) in table {
        assert_eq!(found(text), *expected, "{text}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(200))]

    #[test]
    fn no_text_makes_the_search_run_on(text in r#"([a-z'" $\\;|&<>*#()=\n-]|check\.py|make |sh ){0,30}"#) {
        for file in found(&text) {
            proptest::prop_assert!(!file.is_empty() && !file.contains('$'));
        }
        let makefile = Makefile::read(&text.replace(' ', "\n\t"));
        drop(makefile.recipes(&[text]));
    }
}
