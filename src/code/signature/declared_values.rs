//! Values of the types that TypeScript declares for parameters: interfaces, aliases, unions of
//! literals, enums, collections and functions, as they are written in a call.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::parameter_names::typical_value;
use super::parameter_types::{Type, is_plain, split_union, stated_type, type_of_literal};
use crate::code::tree::{field_of, named_children, text_of};

/// The values that the declared type of a parameter allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeclaredValues {
    /// Examples, most typical first; the only ones that fit, beside those of `open`.
    pub values: Vec<String>,
    /// Types of which every value fits.
    pub open: Vec<Type>,
    /// Values of other types, which the code may reject.
    pub wrong: Vec<String>,
}

/// Values of one field, values of one object type, and their longest one; steps into types.
const EACH: usize = 4;
const OBJECT: usize = 40;
const LONGEST: usize = 160;
const DEPTH: usize = 6;

/// The types that a file declares, and those that its functions bind.
#[derive(Default)]
pub struct TypeScope<'t> {
    text: &'t str,
    declared: BTreeMap<&'t str, Node<'t>>,
}

/// A field of an object type.
struct Field {
    key: String,
    values: Vec<String>,
    optional: bool,
}

impl<'t> TypeScope<'t> {
    /// The declarations at the top level of a file.
    pub fn of_file(root: Node<'t>, text: &'t str) -> Self {
        let mut scope = Self { text, declared: BTreeMap::new() };
        for statement in named_children(root) {
            let inner = statement.child_by_field_name("declaration").unwrap_or(statement);
            let declares = ["interface_declaration", "type_alias_declaration", "enum_declaration"];
            if declares.contains(&inner.kind()) {
                scope.declared.insert(field_of(inner, "name", text), inner);
            }
        }
        scope
    }

    /// The scope inside a function, whose type parameters stand for what they extend.
    pub fn enter_function(&self, function: Node<'t>) -> Self {
        let mut declared = self.declared.clone();
        let list = function.child_by_field_name("type_parameters").map(named_children);
        for one in list.into_iter().flatten() {
            let bound = one.child_by_field_name("constraint").or(one.child_by_field_name("value"));
            let bound = bound.and_then(|bound| bound.named_child(0));
            if let Some(bound) = bound {
                declared.insert(field_of(one, "name", self.text), bound);
            }
        }
        Self { text: self.text, declared }
    }

    /// The text of the file.
    pub fn source_text(&self) -> &'t str {
        self.text
    }

    /// What the annotation of a parameter allows; `None` where the file does not tell. A parameter
    /// that takes the rest is given elements.
    pub fn values_of(
        &self,
        annotation: Node<'t>,
        name: &str,
        rest: bool,
    ) -> Option<DeclaredValues> {
        let mut found = DeclaredValues::default();
        let mut columns = Vec::new();
        let mut kind = annotation.named_child(0)?;
        if rest {
            kind = kind.named_child(0).filter(|_| kind.kind() == "array_type")?;
        }
        for one in self.alternatives(kind, DEPTH) {
            match (one.kind(), text_of(one, self.text)) {
                ("predefined_type", "string") => found.open.push(Type::Text),
                ("predefined_type", "number") => found.open.extend([Type::Int, Type::Float]),
                _ => {
                    columns.push(self.examples(one, name, DEPTH)?);
                    found.wrong.extend(self.wrong_values(one));
                }
            }
        }
        found.values = interleave_columns(&columns);
        (!found.values.is_empty() || !found.open.is_empty()).then_some(found)
    }

    /// Objects with one field of another type; for all else, a text and `null`.
    fn wrong_values(&self, kind: Node<'t>) -> Vec<String> {
        let Some(mut fields) = self.fields(kind, DEPTH) else {
            return vec!["\"x\"".into(), "null".into()];
        };
        let mut found = Vec::new();
        for place in 0..fields.len() {
            let Some(field) = fields.get_mut(place) else { continue };
            let is_open = field.values.iter().any(|one| one == "\"hello\"");
            let wrong = if is_open { "7" } else { "\"x\"" };
            field.values.insert(0, wrong.to_owned());
            let optional = std::mem::replace(&mut field.optional, false);
            found.extend(objects_of(&fields).into_iter().next());
            if let Some(field) = fields.get_mut(place) {
                field.optional = optional;
                field.values.remove(0);
            }
        }
        found
    }

    /// The alternatives of a union, through aliases.
    fn alternatives(&self, kind: Node<'t>, depth: usize) -> Vec<Node<'t>> {
        let inner = match kind.kind() {
            "union_type" => named_children(kind),
            "parenthesized_type" => kind.named_child(0).into_iter().collect(),
            "type_identifier" => match self.declared.get(text_of(kind, self.text)) {
                Some(alias) if alias.kind() == "type_alias_declaration" => {
                    alias.child_by_field_name("value").into_iter().collect()
                }
                Some(bound) if !bound.kind().ends_with("_declaration") => vec![*bound],
                _ => return vec![kind],
            },
            _ => return vec![kind],
        };
        if depth == 0 {
            return vec![kind];
        }
        inner.into_iter().flat_map(|one| self.alternatives(one, depth - 1)).collect()
    }

    /// Examples of a type; `None` where they are unknown. `name` is what they are given to.
    fn examples(&self, kind: Node<'t>, name: &str, depth: usize) -> Option<Vec<String>> {
        let depth = depth.checked_sub(1)?;
        let text = text_of(kind, self.text);
        let inner = |node: Node<'t>, name: &str| self.examples(node, name, depth);
        let first = || kind.named_child(0);
        match kind.kind() {
            "union_type" | "parenthesized_type" => {
                let all = self.alternatives(kind, depth);
                // What may be missing comes last.
                let (some, none): (Vec<_>, Vec<_>) = all.into_iter().partition(|one| {
                    !matches!(text_of(*one, self.text), "null" | "undefined" | "void")
                });
                let columns: Option<Vec<_>> =
                    some.into_iter().map(|one| inner(one, name)).collect();
                let last = none.into_iter().map(|one| text_of(one, self.text).to_owned());
                Some(interleave_columns(&columns?).into_iter().chain(last).collect())
            }
            "predefined_type" => plain_examples(text, name),
            "literal_type" => Some(vec![text.to_owned()]),
            "readonly_type" | "type_annotation" | "optional_type" => inner(first()?, name),
            "array_type" => Some(list_of(&inner(first()?, singular(name))?)),
            "tuple_type" => {
                let parts: Option<Vec<_>> =
                    named_children(kind).into_iter().map(|one| inner(one, name)).collect();
                Some(vec![format!("[{}]", firsts(&parts?).join(", "))])
            }
            "function_type" => {
                let result = inner(kind.child_by_field_name("return_type")?, name);
                Some(vec![function_example(kind, self.text, &result.unwrap_or_default())])
            }
            "object_type" | "interface_body" | "intersection_type" => {
                Some(objects_of(&self.fields(kind, depth)?))
            }
            "type_identifier" => match self.declared.get(text) {
                Some(found) if found.kind() == "enum_declaration" => Some(self.members(*found)),
                Some(found) if found.kind() == "interface_declaration" => {
                    Some(objects_of(&self.fields(*found, depth)?))
                }
                Some(found) => inner(found.child_by_field_name("value").unwrap_or(*found), name),
                None => built_in(text),
            },
            "generic_type" => self.generic_examples(kind, name, depth),
            _ => None,
        }
    }

    fn generic_examples(&self, kind: Node<'t>, name: &str, depth: usize) -> Option<Vec<String>> {
        let arguments = kind.child_by_field_name("type_arguments").map(named_children)?;
        let of = |index: usize, name: &str| self.examples(*arguments.get(index)?, name, depth);
        Some(match field_of(kind, "name", self.text) {
            "Array" | "ReadonlyArray" | "Iterable" => list_of(&of(0, singular(name))?),
            "Set" | "ReadonlySet" => wrapped("new Set", &list_of(&of(0, singular(name))?)),
            "Map" | "ReadonlyMap" => {
                let (keys, values) = (of(0, "key")?, of(1, "value")?);
                wrapped("new Map", &list_of(&[format!("[{}, {}]", keys.first()?, values.first()?)]))
            }
            "Record" => {
                let (keys, values) = (of(0, "key")?, of(1, "value")?);
                let is_closed = !self
                    .alternatives(*arguments.first()?, depth)
                    .iter()
                    .any(|one| one.kind() == "predefined_type");
                let keys = if is_closed { keys } else { vec!["\"a\"".into(), "\"b\"".into()] };
                let pair = |(index, key): (usize, &String)| {
                    Some(format!("{}: {}", unquoted_key(key), values.get(index % values.len())?))
                };
                let pairs: Vec<String> = keys.iter().enumerate().filter_map(pair).collect();
                let mut found = vec![format!("{{ {} }}", pairs.join(", "))];
                if !is_closed {
                    let single = |value: &String| format!("{{ {}: {value} }}", "a");
                    found.extend(values.iter().map(single));
                    found.push("{}".into());
                }
                found
            }
            "Readonly" | "NonNullable" | "Required" => of(0, name)?,
            "Partial" => {
                let mut fields = self.fields(*arguments.first()?, depth)?;
                for field in &mut fields {
                    field.optional = true;
                }
                objects_of(&fields)
            }
            _ => return None,
        })
    }

    /// The fields of an object type; `None` if a required one has no known value.
    fn fields(&self, kind: Node<'t>, depth: usize) -> Option<Vec<Field>> {
        let mut found: Vec<Field> = Vec::new();
        let mut add = |more: Vec<Field>| {
            found.retain(|known| !more.iter().any(|one| one.key == known.key));
            found.extend(more);
        };
        match kind.kind() {
            "intersection_type" => {
                for part in named_children(kind) {
                    add(self.fields(part, depth)?);
                }
            }
            "type_identifier" => {
                return self.fields(*self.declared.get(text_of(kind, self.text))?, depth);
            }
            "type_alias_declaration" => {
                return self.fields(kind.child_by_field_name("value")?, depth);
            }
            "interface_declaration" => {
                let clauses = named_children(kind);
                let bases = clauses.iter().filter(|one| one.kind() == "extends_type_clause");
                for base in bases.flat_map(|clause| named_children(*clause)) {
                    add(self.fields(base, depth)?);
                }
                add(self.fields(kind.child_by_field_name("body")?, depth)?);
            }
            "object_type" | "interface_body" => {
                for member in named_children(kind) {
                    let Some(name) = member.child_by_field_name("name") else { continue };
                    let key = text_of(name, self.text).to_owned();
                    let optional = text_of(member, self.text)
                        .get(..name.end_byte() + 1 - member.start_byte())
                        .is_some_and(|start| start.ends_with('?'));
                    let word = key.trim_matches(['"', '\'']).to_owned();
                    let values = match member.child_by_field_name("type") {
                        Some(kind) => self.examples(kind, &word, depth),
                        None if member.kind() == "method_signature" => {
                            Some(vec!["() => {}".into()])
                        }
                        None => None,
                    };
                    let values = values.map(|mut values| {
                        values.retain(|value| value.len() <= LONGEST);
                        values.truncate(EACH);
                        values
                    });
                    match values.filter(|values| !values.is_empty()) {
                        Some(values) => add(vec![Field { key, values, optional }]),
                        None if optional => {}
                        None => return None,
                    }
                }
            }
            _ => return None,
        }
        Some(found)
    }

    /// The values of an enum's members.
    fn members(&self, kind: Node<'t>) -> Vec<String> {
        let body = kind.child_by_field_name("body").map(named_children).unwrap_or_default();
        let mut next = 0;
        let mut found = Vec::new();
        for member in body.into_iter().filter(|member| member.kind() != "comment") {
            let value = member.child_by_field_name("value").map(|one| text_of(one, self.text));
            if let Some(number) = value.and_then(|value| value.parse::<i64>().ok()) {
                next = number;
            }
            let is_text = value.is_some_and(|value| value.starts_with(['"', '\'']));
            match value {
                Some(value) if is_text => found.push(value.to_owned()),
                _ => found.push(next.to_string()),
            }
            next += 1;
        }
        found
    }
}

fn plain_examples(kind: &str, name: &str) -> Option<Vec<String>> {
    let (wanted, others): (&[Type], &[&str]) = match kind {
        "string" => (&[Type::Text], &["\"hello\"", "\"a b\"", "\"\""]),
        "number" => (&[Type::Int, Type::Float], &["3", "0", "1.5", "-1"]),
        "boolean" => (&[], &["true", "false"]),
        "object" => (&[], &["{ a: 1 }", "{}"]),
        "bigint" => (&[], &["2n", "0n"]),
        "null" | "undefined" | "void" => return Some(vec![kind.replace("void", "undefined")]),
        _ => return None,
    };
    let typical = typical_value(name).filter(|(kind, _)| wanted.contains(kind));
    let others = others.iter().map(|one| (*one).to_owned());
    Some(typical.map(|(_, value)| value.to_owned()).into_iter().chain(others).collect())
}

/// Values of the classes of the language.
fn built_in(name: &str) -> Option<Vec<String>> {
    let values: &[&str] = match name {
        "Date" => &["new Date(\"2024-02-29T12:30:00.000Z\")", "new Date(0)", "new Date(NaN)"],
        "RegExp" => &["/a+/", "/\\d+/g"],
        "Error" => &["new Error(\"hello\")", "new TypeError(\"bad value\")"],
        "ErrorConstructor" => &["Error", "TypeError"],
        "Map" => &["new Map([[\"a\", 1]])", "new Map()"],
        "Set" => &["new Set([1, 2, 3])", "new Set()"],
        "Promise" => &["Promise.resolve(1)"],
        "URL" => &["new URL(\"https://example.com/a?b=1\")"],
        "Buffer" => &["Buffer.from(\"hello\")", "Buffer.from(\"\")"],
        "Uint8Array" => &["new Uint8Array([0, 255, 7])", "new Uint8Array()"],
        "EvalError" | "RangeError" | "SyntaxError" | "TypeError" | "URIError" => {
            return Some(
                ["hello", "bad value"].map(|said| format!("new {name}(\"{said}\")")).into(),
            );
        }
        _ => return None,
    };
    Some(values.iter().map(|one| (*one).to_owned()).collect())
}

/// Values of several types, of which documentation names some.
const OTHERS: &[&str] = &["\"hello\"", "{}", "7", "null"];

/// What the documentation of a parameter of JavaScript allows; `None` where it names no class of the language, or
/// besides it what only the repository knows.
pub fn documented_values(documentation: &str, name: &str) -> Option<DeclaredValues> {
    let around = [' ', '(', ')', '?', '!', '=', '.'];
    let stated = stated_type(documentation, name)?.trim_matches(around);
    let mut found = DeclaredValues::default();
    let (mut columns, mut names_class) = (Vec::new(), false);
    for one in split_union(stated) {
        let one = one.trim_matches(around);
        let class = built_in(one.split(['<', '.']).next().unwrap_or(one));
        names_class |= class.is_some();
        match one.to_ascii_lowercase().as_str() {
            "string" => found.open.push(Type::Text),
            "number" => found.open.extend([Type::Int, Type::Float]),
            "function" => columns.push(vec!["(value) => value".into(), "() => true".into()]),
            "object" => return None,
            plain => columns.push(class.or_else(|| plain_examples(plain, name))?),
        }
    }
    found.values = interleave_columns(&columns);
    let is_open = |one: &str| type_of_literal(one).is_some_and(|kind| found.open.contains(&kind));
    let wrong =
        OTHERS.iter().filter(|one| !is_open(one) && !found.values.contains(&(**one).into()));
    found.wrong = wrong.map(|one| (*one).to_owned()).collect();
    names_class.then_some(found)
}

/// A function of a type: the identity where that fits, or else one with a constant result.
fn function_example(kind: Node<'_>, text: &str, results: &[String]) -> String {
    let list = kind.child_by_field_name("parameters").map(named_children).unwrap_or_default();
    let types: Vec<&str> = list.iter().map(|one| field_of(*one, "type", text)).collect();
    let result = field_of(kind, "return_type", text);
    let is_identity = |given: &&str| {
        let given = given.trim_start_matches([':', ' ']);
        result.split('|').any(|one| one.trim() == given)
    };
    match types.first().filter(|given| is_identity(given)) {
        Some(_) if types.len() == 1 => "(value) => value".into(),
        _ => results.first().map_or_else(
            || "() => {}".into(),
            |value| {
                let value =
                    if value.starts_with('{') { format!("({value})") } else { value.clone() };
                format!("() => {value}")
            },
        ),
    }
}

/// Objects with the required fields, then with each other one, with all, and with other values.
fn objects_of(fields: &[Field]) -> Vec<String> {
    let base = |field: &Field| (!field.optional).then_some(0);
    let written = |chosen: &dyn Fn(usize, &Field) -> Option<usize>| {
        let pairs: Vec<String> = fields
            .iter()
            .enumerate()
            .filter_map(|(index, field)| {
                let value = field.values.get(chosen(index, field)?)?;
                Some(format!("{}: {value}", field.key))
            })
            .collect();
        if pairs.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", pairs.join(", ")) }
    };
    let mut found = vec![written(&|_, field| base(field))];
    for row in 0..EACH {
        for (place, _) in fields.iter().enumerate().filter(|(_, field)| row < field.values.len()) {
            let with = |index, field: &Field| if index == place { Some(row) } else { base(field) };
            found.push(written(&with));
        }
        if row == 0 && fields.iter().any(|field| field.optional) {
            found.push(written(&|_, _| Some(0)));
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|one| seen.insert(one.clone()));
    found.truncate(OBJECT);
    found
}

fn list_of(values: &[String]) -> Vec<String> {
    let some: Vec<&str> = values.iter().take(2).map(String::as_str).collect();
    let mut found = vec![format!("[{}]", some.join(", ")), "[]".into()];
    found.extend(values.iter().skip(2).take(EACH).map(|value| format!("[{value}]")));
    found
}

fn wrapped(class: &str, lists: &[String]) -> Vec<String> {
    lists.iter().map(|list| format!("{class}({list})")).collect()
}

fn firsts(lists: &[Vec<String>]) -> Vec<String> {
    lists.iter().filter_map(|list| list.first().cloned()).collect()
}

/// A key without quotes where it needs none.
fn unquoted_key(literal: &str) -> &str {
    let inner = literal.trim_matches(['"', '\'']);
    if is_plain(inner) && !inner.starts_with(|c: char| c.is_ascii_digit()) {
        inner
    } else {
        literal
    }
}

/// The name of an element of a list: `name` of `names`.
fn singular(name: &str) -> &str {
    name.strip_suffix('s').unwrap_or(name)
}

/// The first of each list, then the second of each, without repetitions.
pub fn interleave_columns(columns: &[Vec<String>]) -> Vec<String> {
    let longest = columns.iter().map(Vec::len).max().unwrap_or_default();
    let rows = (0..longest).flat_map(|row| columns.iter().filter_map(move |list| list.get(row)));
    let mut found: Vec<String> = Vec::new();
    for value in rows {
        if !found.contains(value) {
            found.push(value.clone());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::language::Language;
    use crate::code::signature::callables;

    const TYPES: &str = "
interface Named { name: string }
export interface Cookie extends Named { value: string | undefined; sameSite?: boolean | 'lax'; maxAge?: number; readonly tags?: readonly string[] }
type Level = 'low' | 'high';
enum Shade { Dark, Light = 5, Grey }
const enum Mode { On = 'on', Off = 'off' }
type Counts = Record<string, number>;
type Point = { x: number; y: number };
";

    #[test]
    fn values_follow_the_declared_type_and_required_fields_are_always_given() {
        let table: [(&str, &[&str]); 14] = [
            (
                "one: Cookie",
                &[
                    "{ name: \"Ada\", value: \"hello\" }",
                    "{ name: \"Ada\", value: \"hello\", sameSite: true }",
                    "{ name: \"Ada\", value: undefined }",
                    "{ name: \"Ada\", value: \"hello\", sameSite: 'lax' }",
                ],
            ),
            ("one: Level", &["'low'", "'high'"]),
            ("one: Level | null", &["'low'", "'high'", "null"]),
            ("one: Shade", &["0", "5", "6"]),
            ("one: Mode", &["'on'", "'off'"]),
            ("one: Counts", &["{ a: 3, b: 0 }", "{}"]),
            ("one: Record<Level, boolean>", &["{ low: true, high: false }"]),
            ("one: Level[]", &["['low', 'high']", "[]"]),
            ("one: Partial<Point>", &["{}", "{ x: 3 }", "{ x: 3, y: 3 }"]),
            ("one: [Level, number]", &["['low', 3]"]),
            ("one: Map<string, Point>", &["new Map([[\"hello\", { x: 3, y: 3 }]])"]),
            ("one: (text: string) => string | undefined", &["(value) => value"]),
            ("one: Named & Point", &["{ name: \"Ada\", x: 3, y: 3 }"]),
            ("one: T", &["'low'"]),
        ];
        for (parameter, expected) in table {
            let text = format!(
                "{TYPES}export function f<T extends Level>({parameter}) {{ return one; }}\n"
            );
            let found = callables(Language::TypeScript, &text).remove(0).parameters.remove(0);
            let values = found.declared.map(|declared| declared.values).unwrap_or_default();
            for value in expected {
                assert!(
                    values.iter().any(|one| one == value),
                    "{parameter}: {value} in {values:?}"
                );
            }
        }
    }

    #[test]
    fn documented_classes_of_the_language_have_values() {
        let table: [(&str, &[&str], &[Type]); 5] = [
            (
                "Error|number",
                &["new Error(\"hello\")", "new TypeError(\"bad value\")"],
                &[Type::Int, Type::Float],
            ),
            ("Error", &["new Error(\"hello\")", "new TypeError(\"bad value\")"], &[]),
            ("?RangeError", &["new RangeError(\"hello\")", "new RangeError(\"bad value\")"], &[]),
            ("(String|RegExp)", &["/a+/", "/\\d+/g"], &[Type::Text]),
            ("Promise<string>|null", &["Promise.resolve(1)", "null"], &[]),
        ];
        for (stated, values, open) in table {
            let text = format!(
                "/**\n * @param {{{stated}}} one it\n */\nexport function f(one) {{ return one; }}\n"
            );
            let found = callables(Language::JavaScript, &text).remove(0).parameters.remove(0);
            let declared = found.declared.unwrap();
            let is_allowed = |one: &String| {
                declared.values.contains(one) || one == "\"hello\"" && open.contains(&Type::Text)
            };
            assert!(!declared.wrong.iter().any(is_allowed), "{stated}");
            assert_eq!(
                (declared.values, declared.open),
                (owned(values), open.to_vec()),
                "{stated}"
            );
        }
        for stated in
            ["string", "Elsewhere", "Object|null", "ErrorConstructor|Elsewhere", "Map|Object"]
        {
            assert_eq!(documented_values(&format!("@param {{{stated}}} one"), "one"), None);
        }
    }

    fn owned(list: &[&str]) -> Vec<String> {
        list.iter().map(|one| (*one).to_owned()).collect()
    }

    #[test]
    fn a_type_that_the_file_does_not_declare_says_nothing() {
        for parameter in
            ["one: Elsewhere", "one: unknown", "one: { a: Elsewhere }", "one", "one: typeof x"]
        {
            let text = format!("{TYPES}export function f({parameter}) {{ return one; }}\n");
            let found = callables(Language::TypeScript, &text).remove(0).parameters.remove(0);
            assert_eq!(found.declared, None, "{parameter}");
        }
        let text = "export function f(one: string | number | boolean) { return one; }\n";
        let found = callables(Language::TypeScript, text).remove(0).parameters.remove(0);
        let open = vec![Type::Text, Type::Int, Type::Float];
        let values = vec!["true".to_owned(), "false".into()];
        assert_eq!(
            found.declared,
            Some(DeclaredValues { values, open, wrong: vec!["\"x\"".into(), "null".into()] })
        );
    }
}
