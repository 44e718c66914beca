//! Functions, types and reasons against calls as they are read from sources.

use std::collections::BTreeSet;

use super::kind::annotated;
use super::*;

fn list(inner: Type) -> Type {
    match inner {
        Type::Int => Type::List(&Type::Int),
        Type::Float => Type::List(&Type::Float),
        _ => Type::List(&Type::Text),
    }
}

#[test]
fn annotations_of_three_languages_name_types() {
    let table = [
        ("int", vec![Type::Int]),
        ("list[int]", vec![list(Type::Int)]),
        ("Optional[str]", vec![Type::Text, Type::Nothing]),
        ("str | None", vec![Type::Text, Type::Nothing]),
        ("typing.Sequence[float]", vec![list(Type::Float)]),
        ("dict[str, int]", vec![Type::Map]),
        ("string[]", vec![list(Type::Text)]),
        ("{?string}", vec![Type::Text, Type::Nothing]),
        ("Array<number>", vec![list(Type::Float)]),
        ("(string|number)", vec![Type::Text, Type::Float]),
        ("Foo", vec![]),
        ("", vec![]),
    ];
    for (text, expected) in table {
        assert_eq!(annotated(text), expected, "{text}");
    }
}

#[test]
fn python_functions_come_with_parameters_literals_and_examples() {
    let text = "def area(w: int, h=2.5, *more, unit='m'):\n    '''Area.\n\n    >>> area(3, 4)\n    12\n    '''\n    if w < 0:\n        raise ValueError('below 0')\n    return w * h + 17\n\ndef _private(x):\n    return x\n";
    let found = callables(Language::Python, text);
    assert_eq!(found.len(), 1);
    let area = &found[0];
    let names: Vec<_> =
        area.parameters.iter().map(|one| (one.name.as_str(), one.optional, one.rest)).collect();
    assert_eq!(names, [("w", false, false), ("h", true, false), ("more", true, true)]);
    assert_eq!(area.parameters[0].types, [Type::Int]);
    assert_eq!(area.parameters[1].types[0], Type::Float);
    assert_eq!(area.literals, ["0", "17"]);
    assert_eq!(area.examples, [["3", "4"]]);
    assert_eq!(area.unsupported, None);
    assert_eq!((area.start, area.end), (1, 9));
}

#[test]
fn methods_come_with_their_class_and_its_constructor() {
    let text = "from dataclasses import dataclass\n\n@dataclass\nclass Money:\n    cents: int\n    name: str = 'EUR'\n\n    def half(self):\n        return self.cents // 2\n\n    @staticmethod\n    def parse(text: str):\n        return int(text)\n\nclass Odd(Base):\n    def f(self):\n        return 1\n";
    let found = callables(Language::Python, text);
    let half = &found[0];
    assert_eq!((half.name.as_str(), half.subject()), ("Money.half", "Money"));
    let class = half.class.as_ref().unwrap();
    assert_eq!(class.parameters.len(), 2);
    assert!(found[1].class.as_ref().unwrap().is_static);
    assert_eq!(found[2].unsupported.as_deref(), Some("its class cannot be made from its text"));
}

#[test]
fn what_speaks_against_pinning_is_named() {
    let python = [
        ("def f():\n    return open('x').read()\n", Some("opens a file")),
        ("def f():\n    return time.time()\n", Some("reads the clock")),
        ("def f():\n    return random.choice([1])\n", Some("uses random numbers")),
        ("def f():\n    print(1)\n", Some("prints")),
        ("def f():\n    global N\n    N = 1\n", Some("changes state outside of itself")),
        ("def f(x):\n    CACHE[x] = 1\n    return 1\n", Some("changes state outside of itself")),
        ("def f(x):\n    SEEN.append(x)\n", Some("changes state outside of itself")),
        ("def f(x):\n    seen = []\n    seen.append(x)\n    return seen\n", None),
        ("def f(open):\n    return open(1)\n", None),
        ("def f(*, a):\n    return a\n", Some("it must be called with named arguments")),
        ("@app.route('/')\ndef f():\n    return 1\n", Some("it is decorated with @app.route('/')")),
        ("@functools.lru_cache(maxsize=None)\ndef f():\n    return 1\n", None),
        ("def f(a):\n    for i, x in enumerate(a):\n        a[i] = x\n    return a\n", None),
    ];
    for (text, expected) in python {
        let found = callables(Language::Python, text);
        assert_eq!(found[0].unsupported.as_deref(), expected, "{text}");
    }
    let script = [
        ("export function f() { return Math.random(); }", Some("uses random numbers")),
        ("export function f() { return new Date(); }", Some("reads the clock")),
        ("export function f(x) { count += x; }", Some("changes state outside of itself")),
        ("export function f(x) { let count = 0; count += x; return count; }", None),
        (
            "export const f = (x) => { cache.set(x, 1); return 1; };",
            Some("changes state outside of itself"),
        ),
        ("function f(x) { return x; }", Some("it is not exported")),
        ("export function f(x) { console.log(x); }", Some("prints")),
        ("export default function f(a) { for (let i = 0; i < 3; i++) a[i] = i; return a; }", None),
    ];
    for (text, expected) in script {
        let found = callables(Language::JavaScript, text);
        assert_eq!(found[0].unsupported.as_deref(), expected, "{text}");
    }
}

#[test]
fn exports_of_both_kinds_of_modules_are_seen() {
    let table = [
        (
            "module.exports = { f, g: h };\nfunction f() { return 1; }\nfunction h() { return 2; }",
            vec![("f", Some("f")), ("h", Some("g"))],
        ),
        ("module.exports = f;\nfunction f() { return 1; }", vec![("f", Some("default"))]),
        ("module.exports = function f() { return 1; };", vec![("f", Some("default"))]),
        (
            "exports.f = (a) => a;\nmodule.exports.g = function (b) { return b; };",
            vec![("f", Some("f")), ("g", Some("g"))],
        ),
        ("export default (a) => a;", vec![("default", Some("default"))]),
        ("const f = (a) => a;\nexport { f as g };", vec![("f", Some("g"))]),
        ("module.exports = { f(a) { return a; } };", vec![("f", Some("f"))]),
        (
            ";(function (name, root, factory) {\n  if (typeof exports === 'object') {\n    module.exports = factory()\n  } else { root[name] = factory() }\n}('slug', this, function () {\n  function replace(text) { return text }\n  function own(a) { return a }\n  return replace\n}))",
            vec![("replace", Some("default")), ("own", None)],
        ),
        (
            "(function (global, factory) {\n  typeof exports === 'object' && typeof module !== 'undefined' ? factory(exports) : factory(global.x = {});\n})(this, (function (exports) { 'use strict';\n  function f(a) { return a; }\n  exports.f = f;\n}));",
            vec![("f", Some("f"))],
        ),
        (
            "(function () {\n  const f = (a) => a;\n  module.exports = f;\n}).call(this);",
            vec![("f", Some("default"))],
        ),
        (
            "module.exports = make();\nfunction make() {\n  function f(a) { return a; }\n  return { g: f };\n}",
            vec![("make", None), ("f", Some("g"))],
        ),
        ("setTimeout(function () { module.exports = f; function f(a) { return a; } }, 1);", vec![]),
    ];
    for (text, expected) in table {
        let found = callables(Language::JavaScript, text);
        let short: Vec<_> =
            found.iter().map(|one| (one.name.as_str(), one.export.as_deref())).collect();
        assert_eq!(short, expected, "{text}");
    }
}

#[test]
fn types_come_from_documentation_and_use() {
    let text = "/**\n * @param {string} name\n * @param {number[]} [sizes]\n */\nexport function f(name, sizes, other, g) { return other.split(name) + g(sizes); }";
    let found = callables(Language::JavaScript, text);
    let types: Vec<_> = found[0].parameters.iter().map(|one| one.types.first().copied()).collect();
    assert_eq!(
        types,
        [Some(Type::Text), Some(list(Type::Float)), Some(Type::Text), Some(Type::Function)]
    );
}

#[test]
fn only_calls_with_literals_are_examples() {
    let text = "a = total([1, 2], 'x')\nb = shop.total(c)\nd = total(-1)\n";
    let names = BTreeSet::from(["total".to_owned()]);
    let found = calls(Language::Python, text, &names);
    assert_eq!(found["total"], [vec!["[1, 2]", "'x'"], vec!["-1"]]);
}

#[test]
fn languages_that_are_not_called_have_no_callables() {
    let table = [
        (Language::Rust, "pub fn f(a: u8) -> u8 { a }\n"),
        (Language::Go, "package a\n\nfunc F(a int) int { return a }\n"),
        (Language::Java, "public class A { public int f(int a) { return a; } }\n"),
    ];
    for (language, text) in table {
        assert_eq!(callables(language, text), [], "{language:?}");
    }
}

#[test]
fn typescript_annotations_give_the_types_of_parameters() {
    let text = "export function f(a: string, b: number[], c?: boolean): string {\n  return a;\n}\n";
    for language in [Language::TypeScript, Language::Tsx] {
        let found = callables(language, text);
        let types: Vec<_> =
            found[0].parameters.iter().map(|one| one.types.first().copied()).collect();
        let expected = [Some(Type::Text), Some(list(Type::Float)), Some(Type::Bool)];
        assert_eq!(types, expected, "{language:?}");
        assert_eq!(found[0].unsupported, None, "{language:?}");
    }
}

#[test]
fn an_import_or_an_export_makes_a_script_a_module() {
    let table = [
        ("import a from 'a';\n", true),
        ("export const a = 1;\n", true),
        ("const a = require('a');\n", false),
        ("const text = 'export default';\n", false),
        ("", false),
    ];
    for (text, expected) in table {
        assert_eq!(is_module(text), expected, "{text}");
    }
}

#[test]
fn words_outside_of_functions_are_inputs_for_all_of_them() {
    let text = "KINDS = ['wide', 'tall']\n\ndef f(a):\n    return a == 'inner'\n\ndef g(b):\n    return b\n";
    for one in callables(Language::Python, text) {
        assert_eq!(one.around, ["'wide'", "'tall'"], "{}", one.name);
    }
}

#[test]
fn ranges_of_callables_are_ordered_and_inside_the_text() {
    let table = [
        (
            Language::Python,
            "def f(a):\n    return a\n\n\nclass A:\n    def g(self):\n        return 1\n",
        ),
        (
            Language::JavaScript,
            "export const f = (a) => a;\nexport class A {\n  g() { return 1; }\n}\n",
        ),
    ];
    for (language, text) in table {
        let found = callables(language, text);
        assert_eq!(found.len(), 2, "{language:?}");
        let lines = u32::try_from(text.lines().count()).unwrap();
        assert!(found.iter().all(|one| 1 <= one.start && one.start <= one.end && one.end <= lines));
        assert!(found.windows(2).all(|pair| pair[0].end < pair[1].start), "{language:?}");
        assert_eq!(found[1].subject(), "A", "{language:?}");
    }
}
