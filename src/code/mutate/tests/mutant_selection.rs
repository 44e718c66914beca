//! Mutants: a selection of the candidates.

use super::*;

#[test]
fn every_mutant_of_every_language_parses_and_differs() {
    for (language, source) in SAMPLES {
        let mutants = mutants(*language, source, Depth::CHOICE, &|_| true);
        assert!(mutants.len() >= 9, "{language:?}: {}", mutants.len());
        let texts: BTreeSet<String> = mutants.iter().map(|one| one.apply(source)).collect();
        assert_eq!(texts.len(), mutants.len(), "{language:?}");
        for text in texts {
            assert_ne!(text, *source);
            assert_eq!(first_error(*language, &text), None, "{language:?}: {text}");
        }
    }
}

#[test]
fn mutants_of_languages_with_types_imitate_slips() {
    let table = [
        (Language::Rust, "fn f(a: i32) -> i32 { a + 1 }", vec!["a - 1", "a + 2"]),
        (
            Language::Rust,
            "fn f(a: bool) -> bool { if a { !a } else { true } }",
            vec!["if !a", "{ a }", "{ false }"],
        ),
        (Language::Go, "package a\nfunc f(a int) { a++ }", vec!["a--"]),
        (Language::Go, "package a\nfunc f(a int) int { return g(-a) }", vec!["g(a)"]),
        (
            Language::Java,
            "class A { int f(int a) { a += 2;\nreturn a % 3; } }",
            vec!["a -= 2", "a += 3", "a / 3", "a % 4"],
        ),
        (
            Language::Java,
            "class A { void f(boolean a) { while (a) { f(a); } } }",
            vec!["while (!a)"],
        ),
    ];
    for (language, source, expected) in table {
        let texts: Vec<String> = mutants(language, source, Depth::CHOICE, &|_| true)
            .iter()
            .map(|one| one.apply(source))
            .collect();
        for text in expected {
            assert!(texts.iter().any(|one| one.contains(text)), "{text}: {texts:#?}");
        }
    }
}

#[test]
fn what_no_test_can_notice_is_no_mutant() {
    let table = [
        (Language::Python, "def f():\n    log.debug('a %d', 1)\n"),
        (Language::Python, "__version__ = '1.2'\n"),
        (Language::Python, "def f():\n    raise ValueError('at least 3')\n"),
        (Language::JavaScript, "function f() {\n  console.log(1 + 2);\n}\n"),
        (Language::JavaScript, "function f() {\n  throw new Error('below ' + 3);\n}\n"),
        (Language::Rust, "#[cfg(test)]\nmod tests { fn f() -> bool { 1 < 2 } }\n"),
        (Language::Rust, "fn f() { println!(\"{}\", 1 + 2); }\n"),
    ];
    for (language, source) in table {
        let found = mutants(language, source, Depth::CHOICE, &|_| true);
        let kinds: Vec<&str> = found
            .iter()
            .filter(|one| {
                !matches!(one.operator, OperatorId::DropStatement | OperatorId::Exception)
            })
            .map(|one| one.operator.name())
            .collect();
        assert_eq!(kinds, Vec::<&str>::new(), "{source}: {found:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The limits of a depth hold for every line, and a deeper list contains no line that is not asked.
    #[test]
    fn mutants_keep_to_their_lines_and_their_number(
        only in 1u32..12, per_place in 1usize..4, per_line in 1usize..8,
        sample in prop::sample::select(SAMPLES.to_vec()),
    ) {
        let (language, source) = sample;
        let depth = Depth { per_place, per_line };
        let found = mutants(language, source, depth, &|line| line == only);
        prop_assert!(found.len() <= per_line, "{found:?}");
        prop_assert!(found.iter().all(|one| one.line.abs_diff(only) <= 1), "{found:?}");
    }

    /// Text that is not code is answered with edits that can be applied, or with none.
    #[test]
    fn any_text_can_be_mutated(text in "[ -~\\n]{0,60}") {
        for (language, _) in SAMPLES {
            for one in mutants(*language, &text, Depth::SCORE, &|_| true) {
                prop_assert!(text.get(one.range.clone()).is_some());
            }
        }
    }
}
