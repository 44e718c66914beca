//! Infers the types of parameters from annotations, documentation, default values and uses.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use crate::code::pattern::Pattern;

use super::example_variables::own_maker;
use super::{Callable, Class, Parameter};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Type {
    Int,
    Float,
    Bool,
    Text,
    Bytes,
    Nothing,
    List(&'static Type),
    Map,
    Set,
    /// A function or other callable.
    Function,
    Pattern,
    Date,
    DateTime,
    /// A duration, as the difference of two dates.
    Delta,
    /// An open file.
    File,
    Any,
}

/// Type names in annotations of Python, `JSDoc` and `TypeScript`.
const WORDS: &[(&[&str], Type)] = &[
    (&["int", "Int", "integer", "Integer", "bigint", "SupportsIndex", "SupportsInt"], Type::Int),
    (&["float", "number", "Number", "Decimal", "Real", "complex"], Type::Float),
    (&["bool", "boolean", "Boolean"], Type::Bool),
    (&["str", "string", "String", "AnyStr", "Text", "text", "unicode"], Type::Text),
    (&["bytes", "bytearray", "ByteString", "Buffer", "Uint8Array"], Type::Bytes),
    (&["None", "null", "undefined", "NoneType", "void"], Type::Nothing),
    (
        &["dict", "Dict", "Mapping", "MutableMapping", "Object", "object", "Record", "Map"],
        Type::Map,
    ),
    (&["set", "Set", "frozenset", "FrozenSet"], Type::Set),
    (&["Callable", "callable", "function", "Function"], Type::Function),
    (&["RegExp", "Pattern"], Type::Pattern),
    (&["date"], Type::Date),
    (&["datetime", "Date"], Type::DateTime),
    (&["timedelta"], Type::Delta),
    (&["IO", "BinaryIO", "TextIO", "StringIO", "BytesIO"], Type::File),
];

/// The type of a literal; `None` for other expressions.
pub fn type_of_literal(literal: &str) -> Option<Type> {
    match literal {
        "True" | "False" | "true" | "false" => return Some(Type::Bool),
        "None" | "null" | "undefined" | "nil" => return Some(Type::Nothing),
        _ if literal.starts_with("b\"") || literal.starts_with("b'") => return Some(Type::Bytes),
        _ => {}
    }
    let is_set = literal.starts_with('{') && literal.len() > 2 && !literal.contains(':');
    match literal.trim_start_matches('-').chars().next()? {
        '"' | '\'' => Some(Type::Text),
        '0'..='9' | '.' => Some(if literal.contains(['.', 'e']) { Type::Float } else { Type::Int }),
        '[' => Some(Type::List(&Type::Any)),
        '{' if is_set => Some(Type::Set),
        '{' => Some(Type::Map),
        _ => None,
    }
}

/// Names of list types in annotations.
const LISTS: &str = "list List Sequence MutableSequence Iterable Iterator Collection tuple \
    Tuple Array ReadonlyArray array iterable sequence";

/// The types in an annotation; empty if none of them is known.
pub fn annotated(text: &str) -> Vec<Type> {
    let text = text.trim().trim_matches(['"', '\'', '{', '}', '=', '!', '(', ')']).trim();
    let nullable = text.strip_prefix('?');
    let mut found: Vec<Type> = split_union(nullable.unwrap_or(text)).flat_map(single).collect();
    found.extend(nullable.map(|_| Type::Nothing));
    found.dedup();
    found
}

/// The alternatives of a union type at the top level.
pub(super) fn split_union(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    text.split(move |c: char| {
        depth += i32::from("[<({".contains(c)) - i32::from("]>)}".contains(c));
        c == '|' && depth == 0
    })
}

/// An element's type as a constant; the types inside an element that holds others are dropped.
fn shared(element: Option<Type>) -> &'static Type {
    match element {
        Some(Type::Int) => &Type::Int,
        Some(Type::Float) => &Type::Float,
        Some(Type::Bool) => &Type::Bool,
        Some(Type::Text) => &Type::Text,
        Some(Type::Map) => &Type::Map,
        Some(Type::List(Type::Int)) => &Type::List(&Type::Int),
        Some(Type::List(Type::Text)) => &Type::List(&Type::Text),
        Some(Type::List(_)) => &Type::List(&Type::Any),
        _ => &Type::Any,
    }
}

fn single(text: &str) -> Vec<Type> {
    let text = text.trim().trim_matches(['(', ')']);
    if let Some(element) = text.strip_suffix("[]") {
        return vec![Type::List(shared(annotated(element).first().copied()))];
    }
    let cut = text.find(['[', '<']).unwrap_or(text.len());
    let head = text.get(..cut).unwrap_or_default().trim_end_matches('.');
    let head = head.rsplit('.').next().unwrap_or_default().trim();
    let inside = text.get(cut + 1..text.len().saturating_sub(1).max(cut + 1)).unwrap_or_default();
    match head {
        "Optional" => [annotated(inside), vec![Type::Nothing]].concat(),
        "Union" => inside.split(',').flat_map(annotated).collect(),
        "Any" | "any" | "unknown" | "*" => vec![Type::Any],
        _ if LISTS.split(' ').any(|one| one == head) => {
            let element = inside.split(',').next().map(annotated).unwrap_or_default();
            vec![Type::List(shared(element.first().copied()))]
        }
        _ => WORDS.iter().filter(|row| row.0.contains(&head)).map(|(_, kind)| *kind).collect(),
    }
}

/// The types that documentation states for a parameter: `:type x: int`, `:param int x:`, `x
/// (int):`, `x : int`, `@param {string} x`.
pub fn documented(text: &str, name: &str) -> Vec<Type> {
    let script = stated_type(text, name);
    let name = regex::escape(name);
    let forms = [
        format!(r":type\s+{name}\s*:\s*([^\n]+)"),
        format!(r":param\s+([\w.\[\], |]+?)\s+{name}\s*:"),
        format!(r"(?m)^\s*{name}\s*\(([^)\n]+)\)\s*:"),
        format!(r"(?m)^\s*{name}\s+:\s+([\w.\[\], |]+)$"),
    ];
    let stated = |form: &String| Some(Regex::new(form).ok()?.captures(text)?.get(1)?.as_str());
    let types = |named: &str| -> Vec<Type> {
        let named = named.replace(" or ", " | ");
        named.trim_end_matches(", optional").split(", ").flat_map(annotated).collect()
    };
    let mut all = forms.iter().filter_map(stated).chain(script).map(types);
    all.find(|types| !types.is_empty()).unwrap_or_default()
}

/// The type of a parameter in `JSDoc`, as it is written there.
pub(super) fn stated_type<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let form = format!(r"@param\s+\{{([^}}\n]+)\}}\s+\[?{}\b", regex::escape(name));
    Some(Regex::new(&form).ok()?.captures(text)?.get(1)?.as_str())
}

/// A text in quotes, which no letter precedes.
static QUOTED: Pattern = Pattern::new(r#"(?:^|[\s({\[|,=`])("[^"\\]{1,24}"|'[^'\\]{1,24}')"#);

/// Values that the line of documentation about a parameter shows in quotes.
pub fn shown_values(text: &str, name: &str) -> Vec<String> {
    let name = regex::escape(name);
    let line = format!(
        r"(?m)^[\s*]*(?::param\s[^:\n]*\b{name}\s*:|{name}\s*(?:\([^)\n]*\))?\s*:|@param\s+(?:\{{[^}}\n]*\}}\s*)?\[?{name}\b)(.*)$"
    );
    let line = Regex::new(&line).ok().and_then(|line| Some(line.captures(text)?.get(1)?.as_str()));
    quoted_texts(line.unwrap_or_default())
}

/// The short texts in quotes.
pub fn quoted_texts(text: &str) -> Vec<String> {
    let quoted = QUOTED.captures(text);
    quoted.filter_map(|one| Some(one.get(1)?.as_str().to_owned())).collect()
}

/// What documentation sets off.
static SET_OFF: Pattern = Pattern::new(r"`([\w:;,./=%#@+-]{1,24})`");

/// Values that documentation sets off before it speaks of what is returned, for the only parameter of a function:
/// numbers, or texts of more than a word.
pub fn set_off_values(text: &str, types: &[Type]) -> Vec<String> {
    let given = text.split("eturn").next().unwrap_or_default();
    let found = SET_OFF.captures(given).filter_map(|one| Some(one.get(1)?.as_str().to_owned()));
    let is_number = |one: &String| one.parse::<f64>().is_ok_and(f64::is_finite);
    if types.contains(&Type::Text) {
        let is_word = |one: &String| one.chars().all(|c| c.is_alphabetic() || "._".contains(c));
        return found.filter(|one| !is_word(one)).map(|one| format!("\"{one}\"")).collect();
    }
    found.filter(|one| types.contains(&Type::Float) && is_number(one)).collect()
}

/// Methods that only lists have.
const LIST_METHODS: &str = r"\bNAME\.(?:append|extend|sort|push|pop|shift|unshift|map|filter|forEach|reduce|some|every|flat|flatMap|splice|reverse|findIndex)\(";

/// Uses in the text that imply a type; `NAME` stands for the parameter.
const USES: &[(&str, &[Type])] = &[
    (r"isinstance\(\s*NAME\s*,[^)]*\bdatetime\.datetime\b", &[Type::DateTime]),
    (r"isinstance\(\s*NAME\s*,[^)]*\b(?:datetime\.)?date\b", &[Type::Date, Type::DateTime]),
    (r"isinstance\(\s*NAME\s*,[^)]*\btimedelta\b", &[Type::Delta]),
    (
        r"\bNAME\.(?:toordinal|weekday|isoweekday|isocalendar|strftime)\b",
        &[Type::Date, Type::DateTime],
    ),
    (r"\bNAME\.(?:tzinfo|utcoffset|astimezone|timestamp)\b", &[Type::DateTime]),
    (
        r"\bNAME\.(?:toUTCString|toISOString|getTime|getFullYear)\(|\b[iI]sDate\(\s*NAME\b|\bNAME\s+instanceof\s+Date\b",
        &[Type::DateTime],
    ),
    (r"\bNAME\.(?:read|readline|readlines)\(", &[Type::File]),
    (
        r"\b(?:map|filter|filterfalse|starmap|takewhile|dropwhile|reduce)\(\s*NAME\b|\bkey\s*=\s*NAME\b",
        &[Type::Function],
    ),
    (
        r"\bNAME\.(?:split|rsplit|strip|lstrip|rstrip|lower|upper|startswith|endswith|splitlines|encode|format|isdigit|isalpha|isspace|isupper|title|capitalize|casefold|partition|zfill|trim|trimStart|trimEnd|toLowerCase|toUpperCase|charAt|charCodeAt|codePointAt|startsWith|endsWith|substring|substr|padStart|padEnd|match|matchAll|normalize|localeCompare|replace|replaceAll)\b",
        &[Type::Text],
    ),
    (
        r#"(?:typeof\s+NAME\s*[!=]==?\s*["']string|isinstance\(\s*NAME\s*,\s*str|\bNAME\s*(?:\|\||\?\?|or\b)\s*["']|(?:^|[^f]\s|[^.\w\s])NAME\s*[!=]==?\s*["']|\bDate\.parse\(\s*NAME\b|\b(?:strptime|fromisoformat)\(\s*NAME\b)"#,
        &[Type::Text],
    ),
    (
        r#"(?:typeof\s+NAME\s*[!=]==?\s*["']number|Number\.\w+\(\s*NAME|isinstance\(\s*NAME\s*,\s*\(?(?:int|float)|Math\.\w+\([^)]*\bNAME\b|math\.\w+\(\s*NAME|isNaN\(\s*NAME)"#,
        &[Type::Int, Type::Float],
    ),
    (r#"typeof\s+NAME\s*[!=]==?\s*["']function|\bNAME\("#, &[Type::Function]),
    (
        r#"(?:typeof\s+NAME\s*[!=]==?\s*["']object|Object\.(?:keys|entries|values|assign)\([^)]*\bNAME\b|isinstance\(\s*NAME\s*,\s*\(?dict|\bNAME\.(?:items|keys|values|get|setdefault)\()"#,
        &[Type::Map],
    ),
    (
        r#"typeof\s+NAME\s*[!=]==?\s*["']boolean|isinstance\(\s*NAME\s*,\s*bool|\bNAME\s+is\s+(?:True|False)"#,
        &[Type::Bool],
    ),
    (
        r"(?:Array\.isArray\(\s*NAME|isinstance\(\s*NAME\s*,\s*\(?(?:list|tuple)|\bNAME\.(?:join|find)\()",
        &[Type::List(&Type::Int), Type::List(&Type::Text)],
    ),
    (LIST_METHODS, &[Type::List(&Type::Int), Type::List(&Type::Text)]),
    (
        r"(?:\bin\s+NAME\s*[:\])]|\bof\s+NAME\s*\)|(?:^|[^.\w])(?:len|sorted|sum|enumerate|zip|max|min|set|list|tuple|iter|reversed|map)\([^()]*\bNAME\b|\bNAME\[|\bNAME\.(?:length|slice|indexOf|includes)\b)",
        &[Type::List(&Type::Int), Type::Text, Type::List(&Type::Text)],
    ),
    (
        r"(?:\bNAME\s*(?:[-*/%]|\+\+|--|<=?|>=?|[-+*/]=|<<|>>|&\s)\s*|[-*/%<>]=?\s*NAME\b|\b(?:range|int|float|abs|round|divmod|chr)\([^()]*\bNAME\b)",
        &[Type::Int, Type::Float],
    ),
    (
        r"(?:\.test\(\s*NAME\s*\)|\.exec\(\s*NAME\s*\)|\.(?:match|search|sub|findall|fullmatch)\([^()]*\bNAME\b)",
        &[Type::Text],
    ),
    (r"\bNAME\s+is\s+(?:not\s+)?None|\bNAME\s*[!=]==?\s*(?:null|undefined)", &[Type::Nothing]),
];

/// Names of what a loop over a list, or a function that its method calls, gives to each item; `NAME` stands
/// for the list.
const ITEMS: &[&str] = &[
    r"\bNAME\.(?:map|filter|forEach|some|every|find|findIndex|flatMap|sort)\(\s*(?:async\s+)?(?:function\b\s*\w*\s*)?\(?\s*([A-Za-z_$][\w$]*)\s*(?:[,)]|=>)",
    r"\bfor\s*\(?\s*(?:(?:const|let|var)\s+)?(\w+)\s+(?:of|in)\s+NAME\s*[:)]",
    r"\b(NAME\[[ijk]\])",
];

/// The names of the items of a list in some text.
pub fn item_names(text: &str, name: &str) -> Vec<String> {
    let escaped = regex::escape(name);
    let forms = ITEMS.iter().filter_map(|form| Regex::new(&form.replace("NAME", &escaped)).ok());
    let found = forms.flat_map(|form| -> Vec<String> {
        let names = form.captures_iter(text).filter_map(|one| one.get(1));
        names.map(|one| one.as_str().to_owned()).filter(|one| one != name).collect()
    });
    found.collect()
}

/// The type of a list whose items are of a type, where that tells lists apart.
pub fn list_of(item: Type) -> Option<Type> {
    match item {
        Type::Int | Type::Float => Some(Type::List(&Type::Int)),
        Type::Text => Some(Type::List(&Type::Text)),
        Type::List(_) => Some(Type::List(&Type::List(&Type::Any))),
        _ => None,
    }
}

/// What shows that an item is a character of a text.
const CHARACTERS: &str = r#"\bNAME\.(?:charCodeAt|codePointAt|is[a-z]+\(\))|\bord\(\s*NAME\b|\bNAME\s*[!=]==?\s*(?:'.'|".")"#;

/// The types that the uses of a parameter and of its items imply, strongest evidence first.
pub fn used_types(text: &str, name: &str) -> Vec<Type> {
    let mut own = used_itself(text, name);
    if !matches!(own.first(), Some(Type::List(_))) {
        return own;
    }
    let form = |item: &str| Regex::new(&CHARACTERS.replace("NAME", &regex::escape(item)));
    let is_character = |item: &String| form(item).is_ok_and(|one| one.is_match(text));
    let items = item_names(text, name);
    let likely = if own.contains(&Type::Text) && items.iter().any(is_character) {
        Some(Type::Text)
    } else {
        items.iter().find_map(|one| {
            let types = used_itself(text, one);
            let is_text = types.contains(&Type::Text).then_some(Type::Text);
            is_text.into_iter().chain(types).find_map(list_of)
        })
    };
    prefer_type(&mut own, likely);
    own
}

/// Puts a type before the others.
pub fn prefer_type(types: &mut Vec<Type>, likely: Option<Type>) {
    types.retain(|one| Some(*one) != likely);
    types.splice(0..0, likely);
}

fn used_itself(text: &str, name: &str) -> Vec<Type> {
    let mut found: Vec<&Type> = Vec::new();
    let escaped = regex::escape(name);
    let mut is_list = false;
    for (form, types) in USES {
        let own = form.replace("NAME", &escaped);
        if Regex::new(&own).is_ok_and(|form| form.is_match(text)) {
            is_list |= *form == LIST_METHODS;
            // What a text has in common with lists shows none then.
            let shown = types.iter().filter(|kind| !is_list || **kind != Type::Text);
            found.extend(shown.filter(|kind| !found.contains(kind)).collect::<Vec<_>>());
        }
    }
    found.into_iter().copied().collect()
}

/// Properties of common types, whose use does not suggest an object with options.
const METHODS: &str = "length size name message constructor prototype toString valueOf then \
    next call apply bind source flags lastIndex default get items keys values";

/// Maximum number of keys kept for a parameter.
const KEYS: usize = 20;

/// Whether a key needs no quotes in any language.
pub fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.len() <= 40 && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The keys that a function reads from a parameter: `NAME.key` without a call, `NAME["key"]`,
/// `NAME.get("key")`, `{ key } = NAME`.
pub fn keys(text: &str, name: &str) -> Vec<String> {
    let escaped = regex::escape(name);
    let forms = [
        format!(r"\b{escaped}\??\.([A-Za-z_]\w*)\b\s*(?:[^\w\s(]|$|\s\w)"),
        format!(r#"\b{escaped}(?:\.get\(|\[)\s*["']([\w-]+)["']"#),
    ];
    let mut found: Vec<String> = Vec::new();
    for form in forms.iter().filter_map(|form| Regex::new(form).ok()) {
        for key in form.captures_iter(text).filter_map(|one| one.get(1)) {
            let key = key.as_str();
            if is_plain(&key.replace('-', "_"))
                && !key.starts_with('_')
                && !METHODS.split(' ').any(|one| one == key)
                && found.len() < KEYS
                && !found.iter().any(|known| known == key)
            {
                found.push(key.to_owned());
            }
        }
    }
    let pattern = Regex::new(&format!(r"\{{([^{{}}]{{1,200}})\}}\s*=\s*{escaped}\b")).ok();
    if let Some(inside) = pattern.and_then(|form| Some(form.captures(text)?.get(1)?.as_str())) {
        let parts = inside.split(',').filter_map(|part| part.split([':', '=']).next());
        let plain = parts.map(str::trim).filter(|key| is_plain(key)).map(str::to_owned);
        found.extend(plain.take(KEYS.saturating_sub(found.len())));
    }
    found
}

/// The type of a default value: a literal, a function of its file, or a constant that is set to a literal there.
pub fn default_types(value: &str, text: &str) -> Vec<Type> {
    let is_name = value.chars().all(|c| c.is_alphanumeric() || c == '_');
    let heads = ["def", "function"].map(|word| format!("{word} {value}("));
    if is_name && heads.iter().any(|head| text.contains(head.as_str())) {
        return vec![Type::Function];
    }
    let start = format!("{value} = ");
    let is_constant = is_name && !value.contains(char::is_lowercase);
    let set_to = |line: &'_ str| -> Option<String> {
        let line = line.trim().trim_start_matches("const ").strip_prefix(&start)?;
        Some(line.trim_end_matches(';').to_owned())
    };
    let found = is_constant.then(|| text.lines().find_map(set_to)).flatten();
    defaulted(found.as_deref().unwrap_or(value))
}

/// The type of a default value, given as source text.
pub fn defaulted(text: &str) -> Vec<Type> {
    match text {
        "bool" | "float" | "int" | "len" | "repr" | "str" => vec![Type::Function],
        _ if text.starts_with('`') => vec![Type::Text],
        _ if text.starts_with('(') => vec![Type::List(&Type::Any)],
        _ => type_of_literal(text).into_iter().collect(),
    }
}

/// What a call gives to a parameter, by its name or its place.
fn given_value<'a>(arguments: &'a [String], (index, name): (usize, &str)) -> Option<&'a str> {
    let named = format!("{name}=");
    let by_name = arguments.iter().find_map(|one| one.strip_prefix(&named));
    let has_name = |one: &&str| {
        let name = one.split_once('=').map_or("", |(name, _)| name);
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    let by_place = arguments.get(index).map(String::as_str);
    by_name.or_else(|| by_place.filter(|one| !has_name(one)))
}

/// Lets parameters of which nothing is known take objects of the class that all documented calls give them.
fn learn_classes(
    parameters: &mut [Parameter],
    calls: &[Vec<String>],
    classes: &BTreeMap<String, Class>,
) {
    for (index, parameter) in parameters.iter_mut().enumerate() {
        let values = calls.iter().filter_map(|one| given_value(one, (index, &parameter.name)));
        let made: BTreeSet<&str> = values.map(own_maker).collect();
        let is_open = parameter.is_guessed && parameter.class.is_none() && !parameter.rest;
        let only = made.first().filter(|_| is_open && made.len() == 1);
        if let Some(class) = only.and_then(|name| classes.get(*name)) {
            (parameter.class, parameter.has_shown_types) = (Some(class.clone()), true);
            parameter.types.retain(|one| *one == Type::Nothing);
        }
    }
}

impl Callable {
    /// Lets it and its class take objects of these classes where all documented calls give such.
    pub(super) fn learn_classes(
        &mut self,
        made: &BTreeMap<String, Vec<Vec<String>>>,
        classes: &BTreeMap<String, Class>,
    ) {
        let own = self.called_name().to_owned();
        let of_class = self.class.iter_mut().map(|one| (one.name.clone(), &mut one.parameters));
        for (name, parameters) in of_class.chain([(own, &mut self.parameters)]) {
            if let Some(calls) = made.get(&name) {
                learn_classes(parameters, calls, classes);
            }
        }
    }

    /// Gives parameters of which nothing is known the types of the arguments that documentation and the
    /// repository pass, if all of these are literals.
    pub fn learn_types(&mut self, calls: &[Vec<String>]) {
        let documented = self.examples.iter().map(|one| &one.arguments);
        let given: Vec<&Vec<String>> = documented.chain(calls).collect();
        for (index, parameter) in self.parameters.iter_mut().enumerate() {
            let is_unknown = parameter.is_guessed && parameter.declared_type.is_empty();
            let is_other = parameter.declared.is_some() || parameter.class.is_some();
            if !is_unknown || is_other || parameter.rest || !parameter.keys.is_empty() {
                continue;
            }
            let values = given.iter().filter_map(|one| given_value(one, (index, &parameter.name)));
            let types: Option<Vec<Type>> = values.map(type_of_literal).collect();
            let types = types.filter(|types| !types.is_empty());
            let nothing = parameter.types.iter().copied().filter(|kind| *kind == Type::Nothing);
            let mut shown: Vec<Type> = Vec::new();
            for kind in types.iter().flatten().copied().chain(nothing) {
                if types.is_some() && !shown.contains(&kind) {
                    shown.push(kind);
                }
            }
            if types.is_some() {
                (parameter.types, parameter.has_shown_types) = (shown, true);
            }
        }
    }
}
