//! Tests of the functions, parameter types and unsuitability reasons read from source text.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::module_exports::{ScriptPackage, package_default};
use super::parameter_types::{annotated, defaulted, documented, keys, used_types};
use super::*;
use crate::domain::id::RepoPath;

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
    assert_eq!(
        shown(area),
        [("w", false, false), ("h", true, false), ("more", true, true), ("unit", true, false),]
    );
    assert_eq!(area.parameters[0].types, [Type::Int]);
    assert_eq!(area.parameters[1].types[0], Type::Float);
    assert_eq!(area.literals, ["0", "17"]);
    assert_eq!(area.examples[0].arguments, ["3", "4"]);
    assert_eq!(area.examples[0].result, Some(DocumentedResult::Value("12".into())));
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
    assert_eq!(
        found[2].unsupported.as_deref(),
        Some("its class is made by a base class that its file does not define")
    );
}

#[test]
fn operators_properties_and_constructors_of_python_classes_are_members() {
    let text = "class Box(dict):\n    def __init__(self, size: int, inner: 'Box' = None):\n        self.size = size\n\n    @property\n    def area(self):\n        return self.size ** 2\n\n    @area.setter\n    def area(self, value: int):\n        self.size = value\n\n    def __add__(self, other):\n        return Box(self.size + other.size)\n\n    def __hash__(self):\n        return 1\n\nclass Small(Box):\n    def half(self):\n        return self.size / 2\n\nclass Text(str):\n    def shout(self):\n        return self.upper()\n\ndef fill(box: Box):\n    return box.size\n";
    let found = callables(Language::Python, text);
    let rows: Vec<(&str, &str, bool, bool)> = found
        .iter()
        .map(|one| (one.name.as_str(), one.called_name(), one.is_property, one.assigned.is_some()))
        .collect();
    let expected = [
        ("Box.__init__", "Box", false, false),
        ("Box.area", "area", true, true),
        ("Box.__add__", "__add__", false, false),
        ("Small.half", "half", false, false),
        ("Text.shout", "shout", false, false),
        ("fill", "fill", false, false),
    ];
    assert_eq!(rows, expected);
    assert!(found.iter().all(|one| one.unsupported.is_none()));
    let class_of = |index: usize| found[index].class.as_ref().unwrap();
    assert_eq!(class_of(3).parameters[0].name, "size", "the base class is in the file");
    assert_eq!(class_of(4).parameters[0].types, [Type::Text]);
    let taken = |index: usize| found[index].parameters[0].class.as_ref().unwrap().name.clone();
    assert_eq!((taken(2), taken(5)), ("Box".to_owned(), "Box".to_owned()));
}

#[test]
fn what_speaks_against_pinning_is_named() {
    let python = [
        ("def f():\n    return open('x').read()\n", None),
        ("def f():\n    return np.load('x')\n", Some("opens a file")),
        ("def f():\n    os.remove('x')\n    return os.environ.get('X')\n", None),
        ("def f():\n    os.symlink('x', 'y')\n", Some("makes links")),
        ("def f():\n    return time.time()\n", None),
        ("def f():\n    return random.choice([1])\n", Some("uses random numbers")),
        ("def f():\n    print(1)\n", None),
        ("def f():\n    global N\n    N = 1\n", Some("changes state outside of itself")),
        ("def f(x):\n    CACHE[x] = 1\n    return 1\n", Some("changes state outside of itself")),
        ("def f(x):\n    SEEN.append(x)\n", Some("changes state outside of itself")),
        ("def f(x):\n    seen = []\n    seen.append(x)\n    return seen\n", None),
        ("def f(open):\n    return open(1)\n", None),
        ("def f(*, a):\n    return a\n", None),
        ("@app.route('/')\ndef f():\n    return 1\n", Some("it is decorated with @app.route('/')")),
        ("@functools.lru_cache(maxsize=None)\ndef f():\n    return 1\n", None),
        ("def f(a):\n    for i, x in enumerate(a):\n        a[i] = x\n    return a\n", None),
    ];
    for (text, expected) in python {
        let found = callables(Language::Python, text);
        assert_eq!(found[0].unsupported.as_deref(), expected, "{text}");
    }
    let script = [
        (
            "module.exports = f;\nf.add = function (x) { rules.push(x); };\nfunction f(x) { return x; }",
            Some("changes state outside of itself"),
        ),
        (
            "export function f(x) { Object.assign(TABLE, x); }",
            Some("changes state outside of itself"),
        ),
        ("export function f(x) { return Object.assign({}, TABLE, x); }", None),
        ("export function f() { return Math.random(); }", Some("uses random numbers")),
        ("export function f() { return new Date(); }", Some("reads the clock")),
        ("export function f(x) { count += x; }", Some("changes state outside of itself")),
        ("export function f(x) { PATTERN.lastIndex = x; return PATTERN.exec(x); }", None),
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
        ("exports = module.exports = f;\nfunction f() { return 1; }", vec![("f", Some("default"))]),
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
        (
            "(function (root, factory) {\n  module.exports = factory();\n})(this, function () {\n  function swap(rules) {\n    return function (word) { return rules[word]; };\n  }\n  function f(a) { return a; }\n  f.one = swap({});\n  f.other = function (b) { return b; };\n  swap.own = function (c) { return c; };\n  f.table = { a: 1 };\n  return f;\n});",
            vec![
                ("swap", None),
                ("f.one", Some("default")),
                ("f", Some("default")),
                ("f.other", Some("default")),
            ],
        ),
        (
            "function f(a) { return a; }\nif (typeof module !== 'undefined') {\n  module.exports = f;\n}",
            vec![("f", Some("default"))],
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
fn a_function_set_on_an_exported_one_is_called_on_it() {
    let text = "export default f;\nfunction f(a) { return a; }\nf.half = (n) => n / 2;\n";
    let mut found = callables(Language::JavaScript, text);
    let example = Example {
        name: "half".into(),
        receiver: Some("f".into()),
        arguments: vec!["4".into()],
        ..Example::default()
    };
    assign_examples(Language::JavaScript, &mut found, &[example]);
    let half = &found[1];
    assert_eq!((half.name.as_str(), half.subject(), half.examples.len()), ("f.half", "f", 1));
    assert_eq!(half.parameters[0].name, "n");
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
    let text = "a = total([1, 2], 'x')\nb = shop.total(c)\nd = total(-1)\ne = 'a'.total(4)\n";
    let names = BTreeSet::from(["total".to_owned()]);
    let found = call_arguments(Language::Python, text, &names);
    assert_eq!(found["total"], [vec!["[1, 2]", "'x'"], vec!["-1"]]);
}

#[test]
fn methods_of_java_have_values_for_their_types_and_objects_of_their_class() {
    let text = "package a;\n\npublic class Cart<T extends Item> {\n  enum Kind { LOW, HIGH; int rank() { return 1; } }\n  record Point(int x, int y) { int sum() { return x + y; } }\n  private final String owner;\n  Cart(String owner) { this.owner = Objects.requireNonNull(owner); }\n  public int total(final List<@NonNull T> items, char mark, int... more) throws IOException { return mark == '#' ? 3 : 4; }\n  private int hidden() { return 1; }\n  static void show() { System.out.println(1); }\n  static void late() { show(); }\n  static long when() { return System.nanoTime(); }\n  static void from(Socket socket) { }\n  class Inner { int f() { return 1; } }\n}\nabstract class Base { int own() { return 1; } static int of() { return 1; } }\n";
    let sibling = "package a;\n\npublic final class Item {\n  private Item() {}\n  static Item of(long cents) { return new Item(); }\n}\n";
    let found = callables_among(Language::Java, text, &[sibling.to_owned()]);
    let by_name = |name: &str| found.iter().find(|one| one.name == name).unwrap();
    let total = by_name("Cart.total");
    let declared: Vec<&str> =
        total.parameters.iter().map(|one| one.declared_type.as_str()).collect();
    assert_eq!(declared, ["List<Item>", "char", "int"]);
    assert_eq!(
        (total.results.join(" "), total.parameters[2].rest),
        ("int IOException".into(), true)
    );
    let values = |at: usize| total.parameters[at].values[..2].join(" ");
    let lists = "Arrays.asList(Item.of(3), Item.of(1), Item.of(3)) Collections.emptyList()";
    assert_eq!([values(0), values(1)], [lists, "'a' '#'"]);
    assert_eq!(total.literals, ["\"#\"", "3", "4"]);
    let made = |name: &str| {
        let class = by_name(name).class.as_ref().unwrap();
        let made = class.construction.as_ref().unwrap();
        (made.function.as_str(), made.declared.as_str())
    };
    assert_eq!(made("Cart.total"), ("new Cart<>", "Cart<String>"));
    assert_eq!(made("Cart.Point.sum"), ("new Cart.Point", "Cart.Point"));
    assert_eq!(made("Cart.Kind.rank"), ("", "Cart.Kind"));
    let table = [
        ("Cart.Cart", None),
        ("Cart.show", Some("prints")),
        ("Cart.late", Some("prints")),
        ("Cart.when", Some("reads the clock")),
        ("Cart.from", Some("no value of `Socket` can be written")),
        ("Base.of", None),
    ];
    for (name, reason) in table {
        assert_eq!(by_name(name).unsupported.as_deref(), reason, "{name}");
    }
    assert_eq!(found.len(), table.len() + 3, "{found:#?}");
}

#[test]
fn objects_of_imported_classes_of_java_are_made_by_what_is_public_there() {
    let text = "package a.b;\n\nimport a.Point;\n\npublic class Move {\n  public static int from(Point start) { return 1; }\n  public static int to(Secret end) { return 1; }\n}\n";
    let point = "package a;\n\npublic class Point {\n  Point(String text) {}\n  public Point(double x, double y) {}\n  static Point of(int x) { return null; }\n}\n";
    let secret = "package a;\n\npublic class Secret {\n  Secret() {}\n}\n";
    let found = callables_among(Language::Java, text, &[point.to_owned(), secret.to_owned()]);
    let by_name = |name: &str| found.iter().find(|one| one.name == name).unwrap();
    let values = &by_name("Move.from").parameters[0].values;
    assert!(values.contains(&"new Point(1.5, 1.5)".to_owned()), "{values:?}");
    assert!(!values.iter().any(|one| one.contains("of(") || one.contains('"')), "{values:?}");
    let reason = by_name("Move.to").unsupported.as_deref();
    assert_eq!(reason, Some("no value of `Secret` can be written"));
}

#[test]
fn java_prefers_public_makers_knows_chains_and_tells_methods_with_one_name_apart() {
    let text = "package a;\n\npublic class Wrap {\n  public static Builder read(Reader in) { return null; }\n  public static Builder load(String path) { return null; }\n  public static Builder from(CharSequence text) { return null; }\n  public static class Builder {\n    Builder(long size) {}\n    public Builder width(int width) { return this; }\n    public String wrap() { StringWriter out = new StringWriter(); wrap(out); return out.toString(); }\n    public void wrap(Writer out) {}\n    public void wrap(File file) { new FileOutputStream(file); }\n    public void save(String name) { wrap(new File(name)); }\n  }\n}\n";
    let found = callables(Language::Java, text);
    let class = found.iter().find(|one| one.name == "Wrap.Builder.width").unwrap().class.as_ref();
    let made = class.unwrap().construction.as_ref().unwrap();
    assert_eq!(made.function, "Wrap.from");
    assert!(made.is_fluent("width(3)") && !made.is_fluent("wrap()"), "{made:?}");
    let with_empty =
        text.replace("Builder(long size) {}", "Builder(long size) {}\n    public Builder() {}");
    let found = callables(Language::Java, &with_empty);
    let class = found.iter().find(|one| one.name == "Wrap.Builder.width").unwrap().class.as_ref();
    let made = class.unwrap().construction.as_ref().unwrap();
    assert_eq!(made.function, "new Wrap.Builder");
    let table = [("wrap", 0, false), ("wrap", 1, false), ("save", 1, true)];
    for (name, count, has_effect) in table {
        let mut named =
            found.iter().filter(|one| one.short_name() == name && one.parameters.len() == count);
        assert_eq!(named.next().unwrap().unsupported.is_some(), has_effect, "{name}");
    }
}

#[test]
fn functions_of_go_have_values_for_their_types_and_objects_for_their_receivers() {
    let text = "package a\n\nimport (\"fmt\"; \"time\")\n\nvar seen = 0\n\ntype Level int\n\nconst (\n\tLow Level = iota\n\tHigh\n)\n\nfunc Total[T any](prices []T, unit string, more ...Point) (T, error) { return 0, nil }\n\nfunc (l Level) Name() string { return \"\" }\n\nfunc (c *Cart) add(p Point) { c.sum = p.X }\n\nvar Loud bool\n\nfunc shown() { if Loud { show() } }\n\nfunc show() { fmt.Println() }\n\nfunc late() { show() }\n\nfunc count() { seen++ }\n\nfunc wait(c chan int) time.Time { return time.Time{} }\n";
    let sibling = "package a\n\ntype Point struct{ X, Y int }\n\ntype Cart struct{ sum int }\n\nfunc NewCart(owner string) *Cart { return &Cart{} }\n";
    let found = callables_among(Language::Go, text, &[sibling.to_owned()]);
    let by_name = |name: &str| found.iter().find(|one| one.name == name).unwrap();
    let total = by_name("Total");
    let declared: Vec<&str> =
        total.parameters.iter().map(|one| one.declared_type.as_str()).collect();
    assert_eq!(declared, ["[]int", "string", "Point"]);
    assert_eq!(total.results, ["int", "error"]);
    assert!(total.parameters[2].rest);
    let first = |at: usize| total.parameters[at].values[0].as_str();
    assert_eq!([first(0), first(2)], ["[]int{3, 0, 1}", "Point{X: 3, Y: 3}"]);
    let objects = &by_name("Level.Name").class.as_ref().unwrap().parameters[0].values;
    assert_eq!(objects[..3], ["Low", "High", "Level(3)"]);
    let class = by_name("Cart.add").class.as_ref().unwrap();
    assert_eq!(class.construction.as_ref().unwrap().function, "NewCart");
    let table = [
        ("Total", None),
        ("Cart.add", None),
        ("show", Some("prints")),
        ("late", Some("prints")),
        ("shown", None),
        ("count", Some("changes state outside of itself")),
        ("wait", Some("no value of `chan int` can be written")),
    ];
    for (name, reason) in table {
        assert_eq!(by_name(name).unsupported.as_deref(), reason, "{name}");
    }
}

#[test]
fn what_an_object_keeps_of_a_parameter_tells_its_type() {
    let text = "class Cache:\n    def __init__(self, ttu, getsizeof=None):\n        self.__ttu = ttu\n        self.size = getsizeof\n\n    def expire(self, key):\n        return self.__ttu(key) + self.size(2)\n";
    let found = callables(Language::Python, text);
    let class = found.iter().find(|one| one.name == "Cache.expire").unwrap().class.as_ref();
    let types: Vec<&[Type]> =
        class.unwrap().parameters.iter().map(|one| one.types.as_slice()).collect();
    assert_eq!(types, [&[Type::Function][..], &[Type::Nothing, Type::Function]]);
}

#[test]
fn go_knows_the_literals_that_calls_of_the_package_pass() {
    let text = "package a\n\nfunc Join(s string, mark uint8, skip string) string { return s }\n";
    let sibling = "package a\n\nfunc Snake(s string) string { return Join(s, '_', \"\") }\n\nfunc Dots(s string) string { return Join(s, '.', \"-\") + Join(s, '_', s) }\n";
    let found = callables_among(Language::Go, text, &[sibling.to_owned()]);
    let shown: Vec<&[String]> =
        found[0].parameters.iter().map(|one| one.shown.as_slice()).collect();
    let expected: [&[String]; 3] = [&[], &["'_'".into(), "'.'".into()], &["\"-\"".into()]];
    assert_eq!(shown, expected);
    assert_eq!(found[0].parameters[1].values[..2], ["'_'", "'.'"]);
    let text = "package a\n\nfunc Pad(s string, c int) string { return s }\n\nfunc Wide(s string) string { return Pad(s, ' ') }\n";
    assert_eq!(callables(Language::Go, text)[0].unsupported, None, "a number may be a character");
}

#[test]
fn functions_of_rust_have_values_that_fit_their_bounds() {
    let text = "pub struct Low<T: AsRef<str>>(pub T);\n\npub struct Point { pub x: i32, pub y: u8 }\n\nimpl Point {\n    pub fn sum(&self) -> i32 { self.x }\n}\n\nimpl<T: AsRef<str>> fmt::Display for Low<T> {\n    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { Ok(()) }\n}\n\nimpl Shout for str {\n    fn shout(&self) -> String { String::new() }\n}\n\npub trait Shout { fn shout(&self) -> String; }\n\npub fn join<'a, I, F>(words: I, rule: F, all: &[&'a str]) -> String\nwhere\n    I: IntoIterator<Item = &'a str>,\n    F: Fn(&str, usize) -> usize,\n{\n    String::new()\n}\n\npub fn most<T: Ord, D: Display>(all: &[T], by: impl Iterator<Item = char>, shown: D) {}\n\nfn own() {}\n";
    let found = callables(Language::Rust, text);
    let made = |one: &Callable| {
        let class = one.class.as_ref().and_then(|class| class.parameters.first());
        let all = class.into_iter().chain(&one.parameters);
        all.map(|one| one.values.first().cloned().unwrap_or_default())
            .collect::<Vec<_>>()
            .join("; ")
    };
    let shown: Vec<(&str, String)> =
        found.iter().map(|one| (one.name.as_str(), made(one))).collect();
    let words = "[\"hello\", \"Hello World\", \"a\"]";
    let expected = [
        ("Point.sum", "Point { x: 3, y: 3 }".to_owned()),
        ("Low<T>.fmt", "\"hello\"".into()),
        ("str.shout", "\"hello\"".into()),
        ("join", format!("vec!{words}; |_, a| a; &{words}")),
        ("most", "&[3, 1, 2]; vec!['a', ' ', '7'].into_iter(); \"hello\"".into()),
    ];
    assert_eq!(shown, expected);
    assert!(found.iter().all(|one| one.unsupported.is_none()), "{found:#?}");
    assert_eq!(found[1].called_method(), "to_string");
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

#[test]
fn uses_of_a_parameter_tell_its_type() {
    let table: &[(&str, Option<Type>)] = &[
        ("return x.split(',')", Some(Type::Text)),
        ("return x.toUpperCase()", Some(Type::Text)),
        ("if isinstance(x, str): pass", Some(Type::Text)),
        ("if (typeof x === 'number') {}", Some(Type::Int)),
        ("return Math.floor(x)", Some(Type::Int)),
        ("return x * 2", Some(Type::Int)),
        ("return range(x)", Some(Type::Int)),
        ("return x(1)", Some(Type::Function)),
        ("return Object.keys(x)", Some(Type::Map)),
        ("return x.items()", Some(Type::Map)),
        ("if x is True: pass", Some(Type::Bool)),
        ("return Array.isArray(x)", Some(Type::List(&Type::Int))),
        ("for y in x: pass", Some(Type::List(&Type::Int))),
        ("return re.match('a', x)", Some(Type::Text)),
        ("if x is None: pass", Some(Type::Nothing)),
        ("if (x === undefined) {}", Some(Type::Nothing)),
        ("for (const y of x) z.push(y.trim());", Some(list(Type::Text))),
        ("return x.map(y => y.toLowerCase())", Some(list(Type::Text))),
        (
            "return x.filter(function (y) { return y.length > 2 && y.split('') })",
            Some(list(Type::Text)),
        ),
        ("while (i < x.length) sum += x[i].price - x[i] * 2;", Some(list(Type::Int))),
        ("for c in x:\n        n += c.isdigit()", Some(Type::Text)),
        ("while (i < x.length) if (x[i] === '-') i++;", Some(Type::Text)),
        ("return read(x || '')", Some(Type::Text)),
        ("if (x === 'a') return", Some(Type::Text)),
        ("if (typeof x === 'function') return", Some(Type::Function)),
        ("return axe.split(',')", None),
        ("return y", None),
    ];
    for (text, expected) in table {
        assert_eq!(used_types(text, "x").first().copied(), *expected, "{text}");
    }
}

#[test]
fn a_parameter_whose_absence_has_an_answer_may_be_left_out() {
    let table = [
        ("if (!all) { return text; }", true),
        ("if (!all) {\n  // Everything is accepted.\n  return text;\n}", true),
        ("if (!all) throw new TypeError('no list');", false),
        ("if (!all) {\n  throw new TypeError('no list');\n}", false),
    ];
    for (line, expected) in table {
        let text =
            format!("export function prefer(text, all) {{\n{line}\nreturn all.includes(text);\n}}");
        let found = callables(Language::JavaScript, &text);
        assert_eq!(found[0].parameters[1].optional, expected, "{line}");
    }
}

#[test]
fn default_values_tell_their_type() {
    let table = [
        ("None", vec![Type::Nothing]),
        ("null", vec![Type::Nothing]),
        ("True", vec![Type::Bool]),
        ("false", vec![Type::Bool]),
        ("'a'", vec![Type::Text]),
        ("`a`", vec![Type::Text]),
        ("b'a'", vec![Type::Bytes]),
        ("[]", vec![Type::List(&Type::Any)]),
        ("()", vec![Type::List(&Type::Any)]),
        ("{}", vec![Type::Map]),
        ("3", vec![Type::Int]),
        ("-3", vec![Type::Int]),
        ("0.5", vec![Type::Float]),
        ("LIMIT", vec![]),
        ("", vec![]),
    ];
    for (text, expected) in table {
        assert_eq!(defaulted(text), expected, "{text}");
    }
    let text = "class Code:\n    LETTERS = 'abc'\n\n    def __init__(self, of=LETTERS):\n        self.of = len(of)\n";
    let found = callables(Language::Python, text);
    let types = &found[0].parameters[0].types;
    assert_eq!((types[0], types.contains(&Type::List(&Type::Text))), (Type::Text, false));
}

#[test]
fn documentation_of_the_only_parameter_shows_texts_and_dates() {
    let table = [
        (
            "Reads a week like \"2011W08\" or '2011-W08'.",
            "text: str",
            vec!["\"2011W08\"", "'2011-W08'"],
            false,
        ),
        ("Reads a number like \"7\".", "count: int", vec![], false),
        ("Whether the datetime.date falls into it.", "day", vec![], true),
        ("Whether the datetime.datetime falls into it.", "day", vec![], false),
        ("Whether the datetime.date falls into it.", "day: str", vec![], false),
    ];
    for (documentation, parameter, shown, is_date) in table {
        let text =
            format!("def f({parameter}):\n    \"\"\"{documentation}\"\"\"\n    return parameter\n");
        let only = callables(Language::Python, &text).remove(0).parameters.remove(0);
        assert_eq!(
            (only.shown, only.types.first() == Some(&Type::Date)),
            (shown.iter().map(ToString::to_string).collect(), is_date),
            "{documentation}"
        );
    }
}

#[test]
fn documentation_in_five_styles_tells_types() {
    let table = [
        (":type x: int", vec![Type::Int]),
        (":param str x: the text", vec![Type::Text]),
        ("Args:\n    x (float): a share", vec![Type::Float]),
        ("Parameters\n----------\nx : bool\n    whether", vec![Type::Bool]),
        ("@param {string|null} x", vec![Type::Text, Type::Nothing]),
        ("@param {number} [x]", vec![Type::Float]),
        ("Args:\n    x (int or str): either", vec![Type::Int, Type::Text]),
        (":type y: int", vec![]),
        ("", vec![]),
    ];
    for (text, expected) in table {
        assert_eq!(documented(text, "x"), expected, "{text}");
    }
}

#[test]
fn keys_that_a_function_reads_are_listed_once() {
    let table: &[(&str, &[&str])] = &[
        ("return x.width + x.height + x.width", &["width", "height"]),
        ("return x['a'] + x.get('b')", &["a", "b"]),
        ("const { a, b: c, d = 1 } = x;", &["a", "b", "d"]),
        ("return x.length + x.name", &[]),
        ("return x.run()", &[]),
        ("return y.width", &[]),
        ("return x?.size_of;", &["size_of"]),
        ("return x['if-none-match']", &["if-none-match"]),
    ];
    for (text, expected) in table {
        assert_eq!(keys(text, "x"), *expected, "{text}");
    }
}

/// Name, whether it is optional, whether it receives the remaining arguments.
type ExpectedParameter = (&'static str, bool, bool);

fn shown(callable: &Callable) -> Vec<(&str, bool, bool)> {
    callable.parameters.iter().map(|one| (one.name.as_str(), one.optional, one.rest)).collect()
}

#[test]
fn parameters_of_python_come_in_every_form() {
    let table: &[(&str, &[ExpectedParameter])] = &[
        ("def f(): pass", &[]),
        ("def f(a, b: int): pass", &[("a", false, false), ("b", false, false)]),
        ("def f(a=1, b: int = 2): pass", &[("a", true, false), ("b", true, false)]),
        ("def f(a, /, b): pass", &[("a", false, false), ("b", false, false)]),
        ("def f(*a): pass", &[("a", true, true)]),
        ("def f(a, **more): pass", &[("a", false, false)]),
        ("def f(a, *, b=1): pass", &[("a", false, false), ("b", true, false)]),
    ];
    for (text, expected) in table {
        let found = callables(Language::Python, text);
        assert_eq!(shown(&found[0]), *expected, "{text}");
        assert_eq!(found[0].unsupported, None, "{text}");
    }
}

#[test]
fn parameters_of_scripts_come_in_every_form() {
    let table: &[(&str, &[ExpectedParameter])] = &[
        ("export const f = a => a;", &[("a", false, false)]),
        ("export function f(a, b = 2) {}", &[("a", false, false), ("b", true, false)]),
        ("export function f(...a) {}", &[("a", true, true)]),
        ("export function f(a /* the first */) {}", &[("a", false, false)]),
        ("export async function f(a) {}", &[("a", false, false)]),
        ("export function* f(a) {}", &[("a", false, false)]),
    ];
    for (text, expected) in table {
        let found = callables(Language::JavaScript, text);
        assert_eq!(shown(&found[0]), *expected, "{text}");
    }
    let typed =
        callables(Language::TypeScript, "export function f(a: number, b?: string, c = 1) {}");
    let optional: Vec<bool> = typed[0].parameters.iter().map(|one| one.optional).collect();
    assert_eq!(optional, [false, true, true]);
    let pattern =
        callables(Language::JavaScript, "export function f({ a, b = 1, c: d }) { return a; }");
    assert_eq!(pattern[0].parameters[0].types, [Type::Map]);
    assert_eq!(pattern[0].parameters[0].keys, ["a", "b", "c"]);
}

#[test]
fn private_names_and_tests_are_not_called() {
    let python = "def _a(): pass\ndef test_a(): pass\ndef main(): pass\nclass _B:\n    def f(self): pass\nclass TestC:\n    def f(self): pass\nclass D:\n    def _f(self): pass\n    def g(self): pass\n";
    let names: Vec<String> =
        callables(Language::Python, python).into_iter().map(|one| one.name).collect();
    assert_eq!(names, ["D.g"]);
    let script = "export function _a() {}\nexport class B {\n  constructor(x) {}\n  _f() {}\n  #g() {}\n  h() {}\n}\n";
    let names: Vec<String> =
        callables(Language::JavaScript, script).into_iter().map(|one| one.name).collect();
    assert_eq!(names, ["B.constructor", "B.h"]);
}

#[test]
fn methods_of_scripts_know_how_they_are_called() {
    let text = "export class A {\n  constructor(a, b = 1) {}\n  static make(x) { return x; }\n  get size() { return 1; }\n  f() { return 1; }\n}\nexport class B extends A {\n  g() { return 1; }\n}\n";
    let found = callables(Language::JavaScript, text);
    let shown: Vec<_> = found
        .iter()
        .map(|one| {
            let class = one.class.as_ref().unwrap();
            (one.name.as_str(), class.is_static, class.parameters.len(), one.unsupported.as_deref())
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("A.constructor", true, 0, None),
            ("A.make", true, 0, None),
            ("A.size", false, 2, None),
            ("A.f", false, 2, None),
            (
                "B.g",
                false,
                0,
                Some("its class is made by a base class that its file does not define")
            ),
        ]
    );
}

#[test]
fn a_function_with_methods_on_its_prototype_is_a_class() {
    let queue = "function Queue(items, limit) { if (limit) { this.limit = limit; } }\nfunction half(n) { return n / 2; }\nQueue.prototype.push = function push(item) { return item; };\nQueue.prototype._grow = function () {};\nObject.defineProperty(Queue.prototype, 'length', { get: function () { return 1; } });\nOther.prototype.f = function () {};\nvar Hidden = function () {};\nHidden.prototype = { g: function (a) {} };\n";
    let common = format!("{queue}module.exports = Queue;\n");
    let wrapped = format!("module.exports = (function () {{\n{queue}return Queue;\n}})();\n");
    for text in [common, wrapped] {
        let found = callables(Language::JavaScript, &text);
        let shown: Vec<_> = found
            .iter()
            .map(|one| {
                let class = one.class.clone().unwrap_or_default();
                let made =
                    (class.name.as_str() == "Queue", class.is_static, class.parameters.len());
                (one.name.as_str(), made, one.is_property, one.export.as_deref())
            })
            .collect();
        let whole = Some("default");
        let expected = [
            ("Queue.constructor", (true, true, 0), false, whole),
            ("half", (false, false, 0), false, None),
            ("Queue.push", (true, false, 2), false, whole),
            ("Queue.length", (true, false, 2), true, whole),
            ("Hidden.constructor", (false, true, 0), false, None),
            ("Hidden.g", (false, false, 0), false, None),
        ];
        assert_eq!(shown, expected, "{text}");
        let constructor = found.iter().find(|one| one.is_constructor()).unwrap();
        assert_eq!(constructor.called_name(), "Queue");
        let package = ScriptPackage::parse(r#"{ "main": "queue.js" }"#);
        let file = RepoPath::parse("queue.js").unwrap();
        let name = package_default(&found, (&file, &package));
        assert_eq!(name.as_deref(), Some("Queue"));
    }
}

#[test]
fn names_that_leave_a_script_are_listed_with_their_outer_names() {
    let table: &[(&str, &[(&str, &str)])] = &[
        ("export { a as b, c }; function a() {} function c() {}", &[("a", "b"), ("c", "c")]),
        ("export { a } from './other';", &[]),
        ("export default a; function a() {}", &[("a", "default")]),
        ("export const a = 1, b = () => 1;", &[("a", "a"), ("b", "b")]),
        (
            "export const api = { run() {}, stop: () => 1 };",
            &[("api", "api"), ("run", "run"), ("stop", "stop")],
        ),
        ("module.exports = exports = a; function a() {}", &[("a", "default")]),
        ("exports.a = b; function b() {}", &[("b", "a")]),
        ("exports.a.b = c;", &[]),
        ("const a = 1;", &[]),
    ];
    for (text, expected) in table {
        let tree = Language::JavaScript.parse(text).unwrap();
        let found = exports(tree.root_node(), text);
        let found: Vec<_> = found.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(found, *expected, "{text}");
    }
}

#[test]
fn more_of_what_speaks_against_pinning() {
    let table = [
        (Language::Python, "def f(x):\n    requests.get(x)\n", Some("uses the network")),
        (Language::Python, "def f():\n    return input()\n", Some("asks a person")),
        (Language::Python, "def f(url):\n    return fetch(url)\n", None),
        (Language::Python, "def f(name):\n    return fs.read(confirm(name))\n", None),
        (Language::JavaScript, "export function f(a) { return input(a) + open(a); }", None),
        (Language::Python, "def f():\n    return os.getcwd()\n", Some("asks about its machine")),
        (Language::Python, "def f():\n    subprocess.run([])\n", Some("starts or ends processes")),
        (Language::Python, "def f(x):\n    x.items.append(1)\n    return x\n", None),
        (Language::Python, "def f(x):\n    with lock as held:\n        held.add(x)\n", None),
        (Language::Python, "def f(self_, x):\n    Set.add(x)\n    return 1\n", None),
        (
            Language::JavaScript,
            "export function f() { return process.cwd(); }",
            Some("asks about its machine"),
        ),
        (
            Language::JavaScript,
            "export function f(x) { window.x = x; }",
            Some("changes state outside of itself"),
        ),
        (
            Language::JavaScript,
            "export function f(x) { total++; return x; }",
            Some("changes state outside of itself"),
        ),
        (
            Language::JavaScript,
            "export function f(x) { try { g(x); } catch (e) { e.a = 1; } return 1; }",
            None,
        ),
        (Language::JavaScript, "export function f(fetch) { return fetch(1); }", None),
    ];
    for (language, text, expected) in table {
        let found = callables(language, text);
        assert_eq!(found[0].unsupported.as_deref(), expected, "{text}");
    }
}

proptest! {
    /// Reading never fails, and the range of every function is inside the text.
    #[test]
    fn callables_lie_in_their_text(
        text in "(def f\\(a, \\*b\\):|class A:|    def g\\(self\\):|        return a|export (default )?|function f\\(\\{a\\}\\) \\{|\\}|module.exports = |exports.a = |[ -~]{0,16}|\\n){0,14}",
    ) {
        let lines = u32::try_from(text.lines().count()).unwrap().max(1);
        for language in [Language::Python, Language::JavaScript, Language::TypeScript, Language::Tsx] {
            for one in callables(language, &text) {
                prop_assert!(1 <= one.start && one.start <= one.end && one.end <= lines + 1, "{one:?}");
                prop_assert!(!one.name.is_empty() && !one.name.starts_with('_'), "{one:?}");
            }
        }
    }

    /// A union has the types of its parts, in order and without adjacent duplicates.
    #[test]
    fn a_union_has_the_types_of_its_parts(
        parts in prop::collection::vec(prop::sample::select(vec!["int", "str", "bool", "None", "dict[str, int]", "Foo"]), 1..4),
    ) {
        let mut expected: Vec<Type> = parts.iter().flat_map(|part| annotated(part)).collect();
        expected.dedup();
        prop_assert_eq!(annotated(&parts.join(" | ")), expected);
    }
}

#[test]
fn classes_and_patterns_of_imported_files_are_known() {
    let text = "import re\nfrom ._url import URL\nfrom ._re import DIGITS\n\n\ndef host(url: URL, text):\n    return DIGITS.match(text)\n\n\nclass Page(URL):\n    def title(self):\n        return 1\n";
    let url = "if TYPE_CHECKING:\n    class URL(NamedTuple):\n        host: str\n        port: int = 1\nelse:\n    URL = namedtuple('URL', ['host', 'port'])\n";
    let patterns = "import re\nDIGITS: Final = re.compile(r\"[0-9]{2}\")\n";
    let found = callables_among(Language::Python, text, &[url.into(), patterns.into()]);
    let [host, title] = found.as_slice() else { panic!("{found:?}") };
    let class = host.parameters[0].class.as_ref().unwrap();
    let fields: Vec<&str> = class.parameters.iter().map(|one| one.name.as_str()).collect();
    assert_eq!((class.name.as_str(), fields), ("URL", vec!["host", "port"]));
    assert_eq!(host.matching, ["\"12\""]);
    assert_eq!(title.unsupported, None);
    let alone = callables(Language::Python, text);
    assert!(alone[0].parameters[0].class.is_none() && alone[0].matching.is_empty());
    assert!(alone[1].unsupported.is_some());
}

#[test]
fn values_in_the_documentation_of_a_parameter_are_known() {
    let python = "def f(mode, sep, text):\n    \"\"\"Joins.\n\n    :param str mode: ``'fast'`` or \"slow\", isn't 'x'.\n    sep (str): What's put between, like '-'.\n    text: the caller's 'a\n    \"\"\"\n    return mode\n";
    let script = "/**\n * @param {'low'|'high'} level - one of \"low\" and \"high\"\n * @param [unit='s'] the unit\n */\nexport function f(level, unit) {\n  return level;\n}\n";
    let table: [(Language, &str, &[&[&str]]); 2] = [
        (Language::Python, python, &[&["'fast'", "\"slow\"", "'x'"], &["'-'"], &[]]),
        (Language::JavaScript, script, &[&["\"low\"", "\"high\""], &["'s'"]]),
    ];
    for (language, text, expected) in table {
        let parameters = callables(language, text).remove(0).parameters;
        let shown: Vec<&Vec<String>> = parameters.iter().map(|one| &one.shown).collect();
        assert_eq!(shown, expected, "{text}");
    }
}

#[test]
fn what_a_function_of_javascript_does_without_may_be_left_out() {
    let text = "export function f(a, unused, kind, base, b, c, more, { left }) {\n  if (kind === 'x') return a + b;\n  g({ ...more });\n  return base === false ? a === c : b + c;\n}\n";
    let found = callables(Language::JavaScript, text).remove(0);
    let optional: Vec<bool> = found.parameters.iter().map(|one| one.optional).collect();
    assert_eq!(optional, [false, true, true, true, false, false, true, false]);
}

#[test]
fn a_method_of_javascript_that_asks_for_its_own_class_gets_objects_made_without_options() {
    let text = "export class Version {\n  constructor(version, options) {\n    options = parse(options);\n    this.text = version;\n  }\n  compare(other, base) {\n    if (!(other instanceof Version)) other = new Version(other);\n    return this.text > other.text;\n  }\n}\n";
    let found = callables(Language::JavaScript, text);
    let compare = found.iter().find(|one| one.name == "Version.compare").unwrap();
    let classes: Vec<bool> = compare.parameters.iter().map(|one| one.class.is_some()).collect();
    assert_eq!(classes, [true, false]);
    let made = &compare.class.as_ref().unwrap().parameters;
    let optional: Vec<bool> = made.iter().map(|one| one.optional).collect();
    assert_eq!(optional, [false, true]);
}

#[test]
fn what_a_package_does_not_offer_is_internal() {
    let text = "def loads(s):\n    return parse(s)\n\ndef parse(s):\n    return s\n";
    let listed = format!("__all__ = ['loads', \"word\"]\n{text}");
    let package = "from ._parser import loads\nfrom ._other import parse\n";
    let table = [
        ("_parser", text, package, vec!["parse"]),
        ("parser", text, package, vec![]),
        ("_utils", text, "from ._parser import loads\n", vec![]),
        ("parser", listed.as_str(), "", vec!["parse"]),
        ("_parser", text, "from ._parser import *\n", vec![]),
    ];
    for (stem, text, package, expected) in table {
        let mut found = callables(Language::Python, text);
        mark_internal(&mut found, stem, text, package);
        let internal = found.iter().filter(|one| one.is_internal).map(|one| one.name.as_str());
        assert_eq!(internal.collect::<Vec<_>>(), expected, "{stem} {package}");
        assert!(found.iter().all(|one| one.around.is_empty()), "a list of names is no input");
    }
}

#[test]
fn a_class_of_texts_is_made_of_texts() {
    let text = "class Markup(str):\n    def __new__(cls, object=1):\n        return super().__new__(cls, object)\n\n    def twice(self):\n        return self + self\n";
    let found = callables(Language::Python, text);
    let twice = found.iter().find(|one| one.name == "Markup.twice").unwrap();
    let made = &twice.class.as_ref().unwrap().parameters[0];
    assert_eq!(made.types, [Type::Text, Type::Int]);
}

#[test]
fn a_parameter_takes_objects_of_the_class_that_documentation_gives_it() {
    let source = "class Kilo:\n    def __init__(self, n):\n        self.n = n\n    def half(self):\n        return self.n / 2\n\n\nclass Box:\n    \"\"\"A box.\n\n    >>> Box(limit=Kilo(5)).size()\n    5\n    \"\"\"\n    def __init__(self, limit, name=''):\n        self.limit = limit\n    def size(self):\n        return self.limit.n\n";
    let all = callables(Language::Python, source);
    let size = all.iter().find(|one| one.name == "Box.size").unwrap();
    let init = all.iter().find(|one| one.name == "Box.__init__").unwrap();
    for parameters in [&init.parameters, &size.class.as_ref().unwrap().parameters] {
        assert_eq!(parameters[0].class.as_ref().unwrap().name, "Kilo");
        assert!(parameters[0].has_shown_types && parameters[0].types.is_empty());
        assert!(parameters[1].class.is_none());
    }
    let mixed = source.replace("5\n    \"", "5\n    >>> Box(7).size()\n    7\n    \"");
    let all = callables(Language::Python, &mixed);
    let init = all.iter().find(|one| one.name == "Box.__init__").unwrap();
    assert!(init.parameters[0].class.is_none());
}
