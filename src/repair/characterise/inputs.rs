//! Generates arguments for calls: from types, literals of the function, boundaries, and existing
//! calls. The same sources always give the same arguments.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::code::language::Language;
use crate::code::signature::{
    Callable, Class, Parameter, Type, interleave_columns, type_of_literal, typical_value,
};
use crate::effect::Call;

use super::arguments::{Values, split_name, values_of, write_arguments};
use super::combinations::{combine_inputs, literal_combinations};
use super::documented_texts::{documented_texts, shorter_texts};
use super::literal_values::{
    indexed_characters, string_content, texts_around_code_point, texts_around_numbers,
    values_around,
};
use super::option_values::{NESTED_KEYS, NESTED_TEXTS, list_options, nested_options};
use super::parameter_fit::{SAME, accepts_value, kind_of, stands_for, takes_options};
use super::separated_texts::{named_kinds, separated_texts};
use super::typical_values::{further_texts, is_typical_text, typical_values};

/// Maximum number of calls of one function in the first round.
const FIRST: usize = 96;

/// The same for a method that only returns its object.
const FLUENT: usize = 24;

/// The most arguments that are tried for one parameter.
const POOL: usize = 16;

/// Maximum number of objects of one class on which methods are called.
const OBJECTS: usize = 6;

/// The same for a method without parameters, of which only its object tells.
const OBJECTS_ALONE: usize = 24;

/// Maximum number of texts that match and are put into lists.
const MATCHING_LISTS: usize = 20;

/// Calls in the repository that are tried of one function.
const EXAMPLES: usize = 16;

/// Calls that are made again with each setting of the environment.
const SET: usize = 4;

/// Objects among them that are made as documentation or the repository makes them.
const EXAMPLE_OBJECTS: usize = 3;

/// Values of what may be assigned to a property, most promising first.
pub fn argument_values(parameter: &Parameter, callable: &Callable) -> Vec<String> {
    value_pool(parameter, callable, true)
}

/// The types of the values that are tried for a parameter besides objects of its class.
fn known_types(parameter: &Parameter, has_class: bool, python: bool) -> Vec<Type> {
    // A TypeScript rest parameter has the type of a list, but its arguments are single values.
    let single = |kind: Type| match kind {
        Type::List(element) if parameter.rest && !python => *element,
        kind => kind,
    };
    if let Some(declared) = &parameter.declared {
        return declared.open.clone();
    }
    let is_unknown = parameter.types.is_empty() || parameter.types == [Type::Nothing];
    let mut known: Vec<Type> = parameter.types.iter().copied().map(single).collect();
    if has_class {
        known.retain(|kind| !matches!(kind, Type::List(_) | Type::Any));
    } else if takes_options(parameter) {
        // Keys that nobody reads mean nothing.
        known.clear();
    } else if is_unknown && parameter.declared_type.is_empty() {
        known.push(Type::Any);
    }
    known
}

/// What a function's text suggests: values around literals, parts of texts, kinds of objects.
fn values_of_source(
    (parameter, callable): (&Parameter, &Callable),
    fits: &dyn Fn(Type) -> bool,
    has_kinds: bool,
) -> Vec<Vec<String>> {
    let literals = &callable.literals;
    let near = literals.iter().filter(|literal| kind_of(literal).is_some_and(fits));
    let mut columns = vec![near.flat_map(|literal| values_around(literal)).collect()];
    if fits(Type::Text) {
        let shown = documented_values(parameter, callable);
        let shorter = shown.iter().flat_map(|text| shorter_texts(text, literals)).collect();
        let spelled = || separated_texts(literals, &callable.matching);
        columns.push(Some(shorter).filter(|all: &Vec<_>| !all.is_empty()).unwrap_or_else(spelled));
    }
    if has_kinds {
        columns.push(named_kinds(literals));
    }
    columns
}

/// Numbers beside 3 whose sum, product, difference and quotient with it and each other differ.
const APART: &[&str] = &["7", "5", "11"];

/// Arguments for each parameter. One that would begin with the number of another begins with one of its
/// own, so that results tell operators apart.
fn value_pools(parameters: &[Parameter], callable: &Callable, python: bool) -> Vec<Vec<String>> {
    let mut taken: Vec<String> = Vec::new();
    let mut pools = Vec::new();
    for parameter in parameters {
        let mut pool = value_pool(parameter, callable, python);
        if let Some(own) = pool.first().filter(|one| one.parse::<f64>().is_ok()).cloned() {
            let like =
                |one: &&str| if own.contains('.') { format!("{one}.5") } else { (*one).into() };
            let fits = |one: &String| !taken.contains(one) && accepts_value(parameter, one);
            let other = APART.iter().map(like).find(fits).filter(|_| taken.contains(&own));
            pool.retain(|one| Some(one) != other.as_ref());
            taken.push(other.clone().unwrap_or(own));
            pool.splice(0..0, other);
        }
        pools.push(pool);
    }
    pools
}

/// Arguments for one parameter, most promising first.
pub fn value_pool(parameter: &Parameter, callable: &Callable, python: bool) -> Vec<String> {
    let objects = parameter.class.as_ref().map(|class| list_objects(class, callable, python));
    let known = known_types(parameter, objects.is_some(), python);
    let fits = |kind: Type| {
        known.iter().any(|one| match (one, kind) {
            (Type::Any, _) | (Type::Float, Type::Int) | (Type::Int, Type::Float) => true,
            (one, kind) => *one == kind,
        })
    };
    let mut columns: Vec<Vec<String>> = if parameter.values.is_empty() {
        known.iter().map(|kind| typical_values(*kind, python)).collect()
    } else {
        vec![parameter.values.clone()]
    };
    columns.extend(values_of_source(
        (parameter, callable),
        &fits,
        !python && known.contains(&Type::Any),
    ));
    // What a reader expects for a parameter of this name.
    if let Some((kind, value)) = typical_value(&parameter.name).filter(|(kind, _)| fits(*kind)) {
        let is_first = callable.parameters.first().is_some_and(|one| one.name == parameter.name);
        let mut texts = callable.matching.iter().filter(|_| is_first && kind == Type::Text);
        let wide = texts.find(|text| !text.is_ascii());
        columns.insert(0, vec![wide.cloned().unwrap_or_else(|| value.to_owned())]);
        columns.insert(1, further_texts(&parameter.name));
    }
    let has_lists = known.contains(&Type::List(&Type::Text)) && !python;
    let lists = if has_lists { lists_of_matching(callable) } else { Vec::new() };
    let first = [lists, documented_values(parameter, callable)].into_iter();
    columns.splice(0..0, first.filter(|one| !one.is_empty()));
    // A parameter whose keys are read is an object, whatever else its uses suggest.
    let is_object = known.iter().any(|kind| {
        matches!(kind, Type::Date | Type::DateTime | Type::Delta | Type::File | Type::Pattern)
    });
    if let Some(objects) = objects {
        let is_list = parameter.types.iter().any(|kind| matches!(kind, Type::List(_)));
        columns.insert(0, if is_list { list_literals(&objects) } else { objects });
    } else if let Some(declared) = &parameter.declared {
        columns.insert(0, declared.values.clone());
    } else if !parameter.keys.is_empty() && !is_object {
        if !takes_options(parameter) {
            columns.insert(0, nested_options(&parameter.keys, &callable.matching, python));
        }
        columns.insert(0, list_options(parameter, python));
    }
    if let Some(parts) = values_of_other(parameter, callable, python) {
        columns.insert(usize::from(parameter.class.is_some()), parts);
    }
    let mut found = interleave_columns(&columns);
    let declared = parameter.declared.as_ref().map_or(0, |declared| declared.values.len());
    let nested = parameter.keys.len().min(NESTED_KEYS) * callable.matching.len().min(NESTED_TEXTS);
    let suggested = callable.literals.len() * 2 + parameter.keys.len() * 4 + nested * 4;
    let suggested = suggested + parameter.compared.len();
    found.truncate(POOL + declared + suggested);
    if fits(Type::Text) {
        found.extend(suggested_texts(parameter, callable, &found));
    }
    found
}

/// Lists of one text that matches regular expressions, with a word behind it, with the next.
fn lists_of_matching(callable: &Callable) -> Vec<String> {
    let texts = callable.matching.iter().filter(|one| string_content(one).is_some());
    let texts: Vec<&String> = texts.take(MATCHING_LISTS).collect();
    let alone = texts.iter().map(|one| format!("[{one}]"));
    let before_word = texts.iter().map(|one| format!("[{one}, \"beep\"]"));
    let pairs = texts.iter().zip(texts.iter().skip(1));
    let pairs = pairs.map(|(one, next)| format!("[{one}, {next}]"));
    alone.chain(before_word).chain(pairs).collect()
}

/// What another object of the class is made of, where the parameter may be that too.
fn values_of_other(
    parameter: &Parameter,
    callable: &Callable,
    python: bool,
) -> Option<Vec<String>> {
    let is_open = parameter.class.is_none() || !python && parameter.declared_type.is_empty();
    let made_of = stands_for(parameter, callable).filter(|_| is_open)?;
    Some(value_pool(made_of, callable, python))
}

/// Texts that the code and its documentation suggest for a parameter, besides the known ones.
fn suggested_texts(parameter: &Parameter, callable: &Callable, known: &[String]) -> Vec<String> {
    let around_points = callable.literals.iter().flat_map(|one| texts_around_code_point(one));
    let numbers = texts_around_numbers(&shown_texts(callable), &callable.literals);
    let like = like_documented(parameter, callable);
    let words = callable.matching.iter().chain(&callable.around).chain(&like);
    let words = words.filter(|word| !known.contains(word)).cloned();
    around_points.chain(numbers).chain(words).collect()
}

/// What documented calls of a function pass for a parameter, and what its documentation shows for it.
fn documented_values(parameter: &Parameter, callable: &Callable) -> Vec<String> {
    let mut found: Vec<String> = parameter.shown.clone();
    let place = callable.parameters.iter().position(|one| one.name == parameter.name);
    let Some(place) = place else { return found };
    for example in &callable.examples {
        let values = values_of(&callable.parameters, &example.arguments);
        let value = values.get(place).cloned().flatten();
        let is_call = |value: &str| value.ends_with(')') && type_of_literal(value).is_none();
        found.extend(value.filter(|value| !found.contains(value) && !is_call(value)));
    }
    found
}

fn like_documented(parameter: &Parameter, callable: &Callable) -> Vec<String> {
    let shown = documented_values(parameter, callable);
    documented_texts(&shown, &callable.literals, &callable.matching)
}

/// Texts that documented calls pass, and those that match regular expressions.
fn shown_texts(callable: &Callable) -> Vec<String> {
    let documented = callable.examples.iter().flat_map(|one| &one.arguments);
    documented
        .chain(&callable.matching)
        .chain(&callable.around)
        .filter(|one| string_content(one).is_some())
        .cloned()
        .collect()
}

/// Leaves texts that say as much as the one that a reader expects, where its name asks for one.
fn keep_plausible(parameter: &Parameter, pool: &mut Vec<String>) {
    let typical = typical_value(&parameter.name).filter(|(kind, _)| *kind == Type::Text);
    if let Some((kind, value)) = typical.filter(|(_, value)| pool.iter().any(|one| one == value)) {
        let is_less = |one: &str| is_typical_text(one) && one.len() < value.len();
        pool.retain(|one| kind_of(one) == Some(kind) && !is_less(one));
    }
}

/// Objects of a class, as documentation makes them and by calls of its constructor.
fn list_objects(class: &Class, callable: &Callable, python: bool) -> Vec<String> {
    let language = if python { Language::Python } else { Language::JavaScript };
    let mut pools = value_pools(&class.parameters, callable, python);
    class.parameters.iter().zip(&mut pools).for_each(|(one, pool)| keep_plausible(one, pool));
    let new = if python { "" } else { "new " };
    let name = &class.name;
    let mut given: Vec<Vec<String>> = Vec::new();
    let is_alone = callable.parameters.is_empty();
    let most = if is_alone { OBJECTS_ALONE } else { OBJECTS };
    let combined = combine_inputs(language, &class.parameters, &pools, most);
    for one in class.examples.iter().take(EXAMPLE_OBJECTS).cloned().chain(combined) {
        if !given.contains(&one) {
            given.push(one);
        }
    }
    given.truncate(most);
    let made = |given: Vec<String>| match &class.construction {
        Some(made) if made.function.is_empty() => given.concat(),
        Some(made) => format!("{}({})", made.function, given.join(", ")),
        None => format!("{new}{name}({})", given.join(", ")),
    };
    let documented =
        class.makers.iter().take(EXAMPLE_OBJECTS).map(|maker| match maker.strip_prefix('.') {
            Some(method) => format!("{name}.{method}"),
            None => maker.clone(),
        });
    documented.chain(given.into_iter().map(made)).collect()
}

/// Lists of two of these, of one, and of none.
fn list_literals(elements: &[String]) -> Vec<String> {
    let lists = elements.windows(2).map(|pair| format!("[{}]", pair.join(", ")));
    let single = elements.first().map(|one| format!("[{one}]"));
    lists.chain(single).chain(["[]".to_owned()]).collect()
}

/// The expressions that are called: the function, or its method on several objects.
pub fn list_callees(language: Language, callable: &Callable, local: &str) -> Vec<String> {
    let python = language == Language::Python;
    let Some(class) = &callable.class else { return vec![local.to_owned()] };
    let method = callable.called_method();
    if callable.is_constructor() {
        return vec![if python { local.to_owned() } else { format!("new {local}") }];
    }
    if class.is_static {
        let dot = if language == Language::Rust { "::" } else { "." };
        return vec![format!("{local}{dot}{method}")];
    }
    let class = Class { name: local.to_owned(), ..class.clone() };
    let objects = list_objects(&class, callable, python);
    objects.into_iter().map(|object| format!("{object}.{method}")).collect()
}

/// One call for each required parameter with a value of a wrong type, to see what is
/// rejected (specification.md 6.2: null, undefined).
fn wrong_type_arguments(
    language: Language,
    parameters: &[Parameter],
    pools: &[Vec<String>],
) -> Vec<Vec<String>> {
    if parameters.iter().any(|one| !one.declared_type.is_empty()) {
        return Vec::new();
    }
    let nothing = if language == Language::Python { "None" } else { "null" };
    let plain: Values = parameters
        .iter()
        .zip(pools)
        .map(|(one, pool)| pool.first().cloned().filter(|_| !one.optional))
        .collect();
    let mut found = Vec::new();
    for (index, parameter) in
        parameters.iter().enumerate().filter(|(_, one)| !one.optional || one.declared.is_some())
    {
        let number = parameter.types.iter().any(|one| is_numeric(Some(*one)));
        let others = || [nothing, if number { "\"x\"" } else { "7" }].map(str::to_owned).to_vec();
        let wrong = parameter.declared.as_ref().map_or_else(others, |known| known.wrong.clone());
        for value in wrong {
            let mut values = plain.clone();
            if let Some(place) = values.get_mut(index) {
                *place = Some(value);
                found.push(write_arguments(language, parameters, &values));
            }
        }
    }
    found
}

/// One call for each text that matches a regular expression of the function, or is like a documented one.
fn matching_arguments(
    language: Language,
    callable: &Callable,
    pools: &[Vec<String>],
) -> Vec<Vec<String>> {
    let plain = |(one, pool): (&Parameter, &Vec<String>)| {
        pool.first().cloned().filter(|_| !one.optional && !one.rest)
    };
    let plain: Values = callable.parameters.iter().zip(pools).map(plain).collect();
    let mut found = Vec::new();
    let like = callable.parameters.iter().flat_map(|one| like_documented(one, callable));
    let like: Vec<String> = like.collect();
    for text in callable.matching.iter().chain(&like) {
        for index in
            (0..plain.len()).filter(|at| pools.get(*at).is_some_and(|all| all.contains(text)))
        {
            let mut values = plain.clone();
            values.splice(index..=index, [Some(text.clone())]);
            found.push(write_arguments(language, &callable.parameters, &values));
        }
    }
    found
}

/// Calls in the repository that a function of these parameters takes, those with most arguments first:
/// where several functions have one name, they are rarely those of another.
fn telling_examples(callable: &Callable, examples: &[Vec<String>]) -> Vec<Vec<String>> {
    let parameters = &callable.parameters;
    let takes_all = parameters.iter().any(|one| one.rest);
    let is_fitting = |given: &&Vec<String>| {
        let is_named = |name: &str| parameters.iter().any(|one| one.name == name);
        given.len() <= parameters.len()
            && given.iter().all(|one| split_name(one).0.is_none_or(is_named))
    };
    let mut found: Vec<Vec<String>> = Vec::new();
    for given in examples.iter().filter(|given| takes_all || is_fitting(given)) {
        if !found.contains(given) {
            found.push(given.clone());
        }
    }
    found.sort_by_key(|given| Reverse(given.len()));
    found.truncate(EXAMPLES);
    found
}

/// The first calls: examples, then values by type; `further` times as many as usual.
pub fn first(
    language: Language,
    callable: &Callable,
    local: &str,
    (documented, examples): (&[Call], &[Vec<String>]),
    further: usize,
) -> Vec<Call> {
    let python = language == Language::Python;
    let mut callees = list_callees(language, callable, local);
    let indexed = indexed_characters(&callable.parameters, &callable.literals, &callable.around);
    callees.truncate(if callable.is_fluent() { FLUENT / 8 } else { callees.len() });
    let mut pools = value_pools(&callable.parameters, callable, python);
    if language.is_script() {
        add_same_objects(&mut pools);
    }
    let matching = matching_arguments(language, callable, &pools);
    let most = FIRST * further + matching.len() + indexed.len();
    let most = if callable.is_fluent() { FLUENT } else { most };
    let mut found: Vec<Call> = Vec::new();
    for call in documented {
        if !found.contains(call) {
            found.push(call.clone());
        }
    }
    let mut lists = telling_examples(callable, examples);
    let own: BTreeSet<String> =
        callable.literals.iter().flat_map(|literal| values_around(literal)).collect();
    lists.extend(literal_combinations(language, &callable.parameters, &own, &pools));
    lists.extend(indexed);
    lists.extend(matching);
    lists.extend(wrong_type_arguments(language, &callable.parameters, &pools));
    let share = most / callees.len().min(3);
    lists.extend(combine_inputs(language, &callable.parameters, &pools, share));
    for arguments in lists {
        for callee in &callees {
            let call = Call::new(callee, arguments.clone());
            if found.len() < most && !found.contains(&call) {
                found.push(call);
            }
        }
    }
    let first = found.clone().into_iter().take(SET);
    let set = |call: Call, one: &(String, String)| Call { environment: vec![one.clone()], ..call };
    let set =
        first.flat_map(|call| callable.settings.iter().map(move |one| set(call.clone(), one)));
    found.extend(set.collect::<Vec<_>>());
    found
}

/// Beside equal objects for two parameters, the same one for both.
fn add_same_objects(pools: &mut [Vec<String>]) {
    for place in 1..pools.len() {
        let (before, rest) = pools.split_at_mut(place);
        let Some(pool) = rest.first_mut() else { continue };
        let object = pool.first().filter(|one| one.starts_with("new "));
        let same = object.and_then(|one| before.iter().position(|other| other.contains(one)));
        if let Some(same) = same {
            pool.insert(1, format!("{SAME}{same}]"));
        }
    }
}

pub fn is_numeric(kind: Option<Type>) -> bool {
    matches!(kind, Some(Type::Int | Type::Float))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::code::signature::callables;

    fn only(language: Language, text: &str) -> Callable {
        let mut found = callables(language, text);
        found.remove(usize::from(found[0].called_name() != found[0].short_name()))
    }

    #[test]
    fn calls_begin_with_examples_and_hold_literals_and_boundaries() {
        let text = "def fee(kind: str, cents: int):\n    '''>>> fee('gift', 3)'''\n    if kind == 'gift' and cents > 500:\n        return 0\n    return cents\n";
        let callable = only(Language::Python, text);
        let documented = Call::new("fee", vec!["'gift'".into(), "3".into()]);
        let documented = [documented];
        let known = (&documented[..], &[vec!["'x'".to_owned(), "9".into()]][..]);
        let found = first(Language::Python, &callable, "fee", known, 1);
        assert_eq!(found[0].arguments, ["'gift'", "3"]);
        assert_eq!(found[1].arguments, ["'x'", "9"]);
        let holds = |index: usize, value: &str| {
            found.iter().any(|call| call.arguments.get(index).is_some_and(|one| one == value))
        };
        for (index, value) in
            [(0, "'gift'"), (0, "\"\""), (1, "500"), (1, "501"), (1, "0"), (1, "-1")]
        {
            assert!(holds(index, value), "{value} among {found:?}");
        }
        assert!(found.len() <= FIRST);
        let again = first(Language::Python, &callable, "fee", known, 1);
        assert_eq!(found, again);
    }

    #[test]
    fn values_that_documentation_shows_come_first() {
        let text = "def f(mode: str, kind: str):\n    \"\"\"Runs.\n\n    :param mode: such as 'fast'\n\n    >>> f('quick', kind='loud')\n    \"\"\"\n    return mode + 'slow'\n";
        let callable = only(Language::Python, text);
        let first_value =
            |at: usize| value_pool(&callable.parameters[at], &callable, true).remove(0);
        assert_eq!((first_value(0), first_value(1)), ("'fast'".into(), "'loud'".into()));
    }

    #[test]
    fn optional_parameters_are_left_out_and_given() {
        let callable =
            only(Language::JavaScript, "export function f(a, b = 2, ...c) { return a * b; }");
        let lengths: BTreeSet<usize> = first(Language::JavaScript, &callable, "f", (&[], &[]), 1)
            .iter()
            .map(|call| call.arguments.len())
            .collect();
        assert_eq!(lengths.into_iter().collect::<Vec<_>>(), [1, 2, 3, 4]);
    }

    #[test]
    fn what_takes_the_rest_is_given_single_values() {
        let text = "export function f(a: number, ...more: string[]) { return more[a]; }";
        let callable = only(Language::TypeScript, text);
        let calls = first(Language::TypeScript, &callable, "f", (&[], &[]), 1);
        let given: BTreeSet<&String> =
            calls.iter().filter_map(|call| call.arguments.get(1)).collect();
        assert!(given.contains(&"\"hello\"".to_owned()), "{given:?}");
        assert!(given.iter().all(|one| !one.starts_with('[')), "{given:?}");
    }

    #[test]
    fn numbers_tell_operators_apart() {
        let table = [
            ("def f(a: int, b: int):\n    return a + b\n", "3, 7"),
            ("def f(a: float, b: float):\n    return a + b\n", "1.5, 7.5"),
            ("def f(price: int, cost: int):\n    return price - cost\n", "250, 7"),
            ("def f(price: int, count: int):\n    return price * count\n", "250, 3"),
            ("def f(a: int):\n    return a * a\n", "3"),
        ];
        for (text, expected) in table {
            let callable = only(Language::Python, text);
            let calls = first(Language::Python, &callable, "f", (&[], &[]), 1);
            let given = calls.iter().map(|call| call.arguments.join(", "));
            let plain = given.clone().find(|one| !one.contains(['"', 'N']));
            assert_eq!(plain.as_deref(), Some(expected), "{text}: {:?}", given.collect::<Vec<_>>());
        }
    }

    #[test]
    fn texts_are_in_the_notation_that_the_code_reads() {
        let decode = "import re\n\ndef decode(text: str):\n    return re.sub('(%[a-f0-9]{2})+', str, text)\n";
        let reverse = "package p\n\nimport \"unicode/utf8\"\n\nfunc Reverse(str string) int {\n\t_, size := utf8.DecodeRuneInString(str)\n\treturn size\n}\n";
        let version = "def read(version: str):\n    return version.split('.')\n";
        let table = [
            (Language::Python, decode, "\"a%20b%C3%A9\""),
            (Language::Go, reverse, "\"a\\xffb\""),
            (Language::Python, version, "\"1.2.3-beta.4\""),
        ];
        for (language, text, expected) in table {
            let callable = only(language, text);
            let calls = first(language, &callable, "f", (&[], &[]), 1);
            assert!(calls.iter().any(|one| one.arguments == [expected]), "{expected}: {calls:?}");
        }
        let callable = only(Language::Go, reverse);
        assert_eq!(value_pool(&callable.parameters[0], &callable, false)[0], "\"piña\"");
    }

    #[test]
    fn lists_of_texts_hold_those_that_the_code_looks_for() {
        let text =
            "export function f(args) { return args.map((one) => (/^--.+=/).test(one)).join(''); }";
        let callable = only(Language::JavaScript, text);
        let pool = value_pool(&callable.parameters[0], &callable, false);
        let is_matching = |one: &&String| one.starts_with("[\"--") && one.contains('=');
        let found: Vec<&String> = pool.iter().filter(is_matching).collect();
        assert!(found.iter().any(|one| one.ends_with(", \"beep\"]")), "{pool:?}");
        assert!(found.iter().any(|one| !one.contains(", ")), "{pool:?}");
    }

    #[test]
    fn methods_are_called_on_several_objects() {
        let python = only(
            Language::Python,
            "class A:\n    def __init__(self, n: int):\n        self.n = n\n    def f(self):\n        return self.n\n",
        );
        let callees: BTreeSet<String> = first(Language::Python, &python, "A", (&[], &[]), 1)
            .into_iter()
            .map(|call| call.callee)
            .collect();
        assert!(callees.contains("A(3).f") && callees.len() > OBJECTS, "{callees:?}");
        let made = BTreeMap::from([("A".to_owned(), vec![vec!["12".to_owned()]])]);
        let mut learnt = python.clone();
        learnt.learn_objects(&made);
        assert_eq!(list_callees(Language::Python, &learnt, "A")[0], "A(12).f");
        learnt.class.as_mut().unwrap().makers.push(".parse(\"12\")".to_owned());
        assert_eq!(list_callees(Language::Python, &learnt, "A")[0], "A.parse(\"12\").f");
        let script = only(Language::JavaScript, "export class A { f(x) { return x; } }");
        assert_eq!(first(Language::JavaScript, &script, "A", (&[], &[]), 1)[0].callee, "new A().f");
    }

    #[test]
    fn documented_texts_stand_for_those_of_the_signs_of_the_code() {
        let text = "/**\n * @example\n * read('bytes=5-9,0-1') // => 2\n */\nexport function read(text) {\n  return text.split('=')[1].split(',').map((one) => one.indexOf('-'));\n}\n";
        let callable = only(Language::JavaScript, text);
        let pool = value_pool(&callable.parameters[0], &callable, false);
        assert!(pool.contains(&"\"bytes=-9\"".to_owned()), "{pool:?}");
        assert!(!pool.contains(&"\"a=b,c-d\"".to_owned()), "{pool:?}");
    }

    #[test]
    fn one_object_is_given_twice_beside_equal_ones() {
        let text = "/**\n * @param {Error} thrown it\n * @param {Error} other it\n */\nexport function same(thrown, other) {\n  return thrown === other;\n}\n";
        let callable = only(Language::JavaScript, text);
        let calls = first(Language::JavaScript, &callable, "same", (&[], &[]), 1);
        let one = "new Error(\"hello\")";
        for second in [one, "arguments[0]", "new TypeError(\"bad value\")"] {
            assert!(calls.iter().any(|call| call.arguments == [one, second]), "{second}");
        }
    }

    #[test]
    fn objects_are_made_of_plausible_texts() {
        let text = "export class Cart { constructor(currency) { this.currency = currency; } total() { return 1; } }";
        let found = callables(Language::JavaScript, text);
        let total = found.iter().find(|one| one.name == "Cart.total").unwrap();
        let callees = list_callees(Language::JavaScript, total, "Cart");
        assert_eq!(callees[0], "new Cart(\"EUR\").total");
        assert!(callees.iter().all(|one| one.len() >= callees[0].len()), "{callees:?}");
    }

    #[test]
    fn objects_hold_texts_that_match() {
        let text = "const TYPE = /^[a-z]+\\/[a-z]+$/;\nexport function format(given) {\n  if (!TYPE.test(given.type)) throw new TypeError('x');\n  return given.type + Object.keys(given.parameters).length;\n}\n";
        let callable = only(Language::JavaScript, text);
        let calls = first(Language::JavaScript, &callable, "format", (&[], &[]), 1);
        for value in [
            r#"{ type: "a/a", parameters: { a: "a/a" } }"#,
            r#"{ type: "a/a", parameters: { "a b": "a/a" } }"#,
        ] {
            assert!(calls.iter().any(|one| one.arguments == [value]), "{value} among {calls:?}");
        }
    }

    #[test]
    fn a_method_without_parameters_is_called_on_many_objects() {
        let text = "class A:\n    def __init__(self, text=''):\n        self.text = text\n\n    def clean(self):\n        return self.text.find('<!--') + self.text.find('>')\n";
        let callable =
            callables(Language::Python, text).into_iter().find(|one| one.name == "A.clean");
        let callees = list_callees(Language::Python, &callable.unwrap(), "A");
        assert!(callees.iter().any(|one| one == "A(\"a<!--b>c\").clean"), "{callees:?}");
    }
}
