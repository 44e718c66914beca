//! Requests to applications and words for commands, made of what their entry points take.

use crate::code::pattern::Pattern;
use crate::code::signature::{Callable, EntryInput, EntryPoint, InputPlace, Type};
use crate::effect::{Call, CallOutcome};

use super::Case;
use super::inputs::value_pool;
use super::literal_values::string_content;
use super::parameter_fit::kind_of;
use super::wrong_shape::OTHER_SHAPE;

/// Values that are tried for one input.
const VALUES: usize = 5;

/// Methods of requests that need a path alone.
const READS: &[&str] = &["get", "delete"];

/// Words of the code that are tried for one text.
const WORDS: usize = 4;

/// The longest word.
const LONGEST: usize = 24;

/// Calls through the entry point of a function: with what it needs, with each other value in turn, and without one
/// that it needs.
pub fn list_entry_calls(callable: &Callable, entry: &EntryPoint) -> Vec<Call> {
    let pools: Vec<Vec<String>> =
        entry.inputs.iter().map(|one| list_values(one, entry, callable)).collect();
    let first = |(one, pool): (&EntryInput, &Vec<String>)| {
        pool.first().cloned().filter(|_| !one.parameter.optional)
    };
    let base: Vec<Option<String>> = entry.inputs.iter().zip(&pools).map(first).collect();
    let mut lists = vec![base.clone()];
    for (place, (one, pool)) in entry.inputs.iter().zip(&pools).enumerate() {
        let missing = (!one.parameter.optional && one.place != InputPlace::Path).then_some(None);
        for value in pool.iter().cloned().map(Some).chain(missing) {
            let mut list = base.clone();
            if let Some(given) = list.get_mut(place) {
                *given = value;
            }
            if !lists.contains(&list) {
                lists.push(list);
            }
        }
    }
    let is_script = is_script_request(&entry.callee);
    let write = |values: &Vec<Option<String>>| {
        if is_script {
            write_request(entry, values)
        } else {
            Call::new(&entry.callee, write_entry(entry, values))
        }
    };
    let others = entry.others.iter().flat_map(|other| list_entry_calls(callable, other));
    lists.iter().map(write).chain(others).collect()
}

/// Refuses requests of a script that leave out what their handler reads and are answered all the same: it went on with
/// `undefined`.
pub fn refuse_undefined(callable: &Callable, known: &mut [Case]) {
    let Some(entry) = callable.entry.as_ref().filter(|entry| is_script_request(&entry.callee))
    else {
        return;
    };
    let needed = entry.inputs.iter().filter(|one| !one.parameter.optional);
    let needed: Vec<&str> = needed.map(|one| one.parameter.name.as_str()).collect();
    for case in known {
        let given = case.call.arguments.concat();
        let lacks = |name: &&str| {
            !given.contains(&format!("{name}: ")) && !given.contains(&format!("{name}="))
        };
        let is_path = |name: &&str| {
            entry.route.as_ref().is_some_and(|one| one.contains(&format!("{{{name}}}")))
        };
        let is_answered = matches!(&case.seen.outcome, CallOutcome::Value { literal, .. } if literal.starts_with("{ status: 2"));
        if is_answered && needed.iter().any(|name| lacks(name) && !is_path(name)) {
            case.seen.outcome = CallOutcome::Refused(OTHER_SHAPE.into());
        }
    }
}

/// Drops requests that differ from an earlier one only in a value that the answer repeats or does not depend on.
pub fn drop_alike(callable: &Callable, known: &mut Vec<Case>) {
    let Some(entry) = callable.entry.as_ref().filter(|entry| entry.route.is_some()) else {
        return;
    };
    let mut seen: Vec<String> = Vec::new();
    known.retain(|case| {
        let CallOutcome::Value { literal, .. } = &case.seen.outcome else { return true };
        let mut asked = case.call.arguments.join(", ");
        let mut answer = literal.clone();
        let given = case.call.arguments.iter().flat_map(|one| list_fields(one));
        let given: Vec<(String, String)> = given
            .map(|(key, value)| (key.to_owned(), value.trim_matches('"').to_owned()))
            .chain(values_of_path(entry, &case.call))
            .collect();
        for (key, value) in given.iter().filter(|(_, value)| !value.is_empty()) {
            let name = format!("<{key}>");
            let word = format!(r"\b{}\b", regex::escape(value));
            if let Ok(word) = regex::Regex::new(&word) {
                asked = asked.replace(&format!(": \"{value}\""), &name);
                asked = asked.replace(&format!(": {value}"), &name);
                asked =
                    asked.replace(&format!("/{value}"), &name).replace(&format!("={value}"), &name);
                answer = word.replace_all(&answer, name.as_str()).into_owned();
            }
        }
        let setup = case.call.setup.join("; ");
        let shape = format!("{} {asked} {setup} {answer}", case.call.callee);
        let is_new = !seen.contains(&shape);
        seen.push(shape);
        is_new
    });
}

/// The values that stand for parameters in the path and the query of a request.
fn values_of_path(entry: &EntryPoint, call: &Call) -> Vec<(String, String)> {
    let asked = call.arguments.first().map_or("", |one| one.trim_matches('"'));
    let (path, query) = asked.split_once('?').unwrap_or((asked, ""));
    let route = entry.route.as_deref().unwrap_or_default();
    let parts = route.split('/').zip(path.split('/'));
    let named = parts.filter_map(|(name, value)| {
        let name = name.strip_prefix('{')?.strip_suffix('}')?;
        Some((name.to_owned(), value.to_owned()))
    });
    let asked = query.split('&').filter_map(|one| one.split_once('='));
    named.chain(asked.map(|(key, value)| (key.to_owned(), value.to_owned()))).collect()
}

/// Whether a call asks an application of a script.
fn is_script_request(callee: &str) -> bool {
    callee.starts_with("request(")
}

/// A route with the requests that were made of it.
struct AskedRoute<'a> {
    /// The index of the function that answers.
    at: usize,
    stores: bool,
    client: &'a str,
    method: &'a str,
    path: &'a str,
    known: Vec<&'a Case>,
}

/// Requests after those of the same application that stored something; first those that read what its answer names.
pub fn list_later_requests(callables: &[&Callable], seen: &[Vec<Case>]) -> Vec<(usize, Call)> {
    let routes = callables.iter().zip(seen).enumerate().flat_map(|(at, (one, known))| {
        let entry = one.entry.as_ref().filter(|entry| entry.route.is_some());
        let entries = entry.into_iter().flat_map(|own| [own].into_iter().chain(&own.others));
        entries.filter_map(move |entry| {
            let (client, method) = entry.split_request()?;
            let own = known.iter().filter(|case| case.call.callee.starts_with(&entry.callee));
            Some(AskedRoute {
                at,
                stores: entry.stores_something(),
                client,
                method,
                path: entry.route.as_deref()?,
                known: own.collect(),
            })
        })
    });
    let routes: Vec<AskedRoute<'_>> = routes.collect();
    let mut found = Vec::new();
    for AskedRoute { client, method, known, path, stores, .. } in &routes {
        // The plainest request that stores something, and one that needs another before it.
        let stored = known.iter().filter(|case| *stores && is_stored(case));
        let (first, later): (Vec<&Case>, Vec<&Case>) =
            stored.copied().partition(|case| case.call.setup.is_empty());
        for stored in first.first().into_iter().chain(later.first()) {
            let asked = stored.call.callee.get(client.len() + 1..).unwrap_or(method);
            let step = format!("{asked}({})", stored.call.arguments.join(", "));
            let setup = [stored.call.setup.as_slice(), &[step]].concat();
            let is_other = |one: &&AskedRoute<'_>| {
                one.client == *client && (one.method != *method || one.path != *path)
            };
            for read in routes.iter().filter(is_other) {
                let named = named_path(read.path, stored).filter(|_| READS.contains(&read.method));
                let named = named.map(|path| {
                    Call::new(format!("{client}.{}", read.method), vec![format!("{path:?}")])
                });
                // Without the requests before it, it tells what these changed.
                found.extend(named.iter().map(|call| (read.at, call.clone())));
                let known = read.known.iter().filter(|case| case.call.setup.is_empty());
                let known: Vec<Call> = known
                    .take(VALUES)
                    .map(|case| Call::new(&case.call.callee, case.call.arguments.clone()))
                    .collect();
                let about = known.first().and_then(|call| name_stored(call, &setup));
                let calls = named.into_iter().chain(about).chain(known);
                found.extend(calls.map(|call| (read.at, Call { setup: setup.clone(), ..call })));
            }
        }
    }
    let mut new: Vec<(usize, Call)> = Vec::new();
    for (at, call) in found {
        let is_known = seen.get(at).is_some_and(|known| known.iter().any(|one| one.call == call));
        if !is_known && !new.contains(&(at, call.clone())) {
            new.push((at, call));
        }
    }
    new
}

/// A request whose fields name what the requests before it stored: by the same key, or by the path that they went to.
fn name_stored(call: &Call, setup: &[String]) -> Option<Call> {
    let stored: Vec<(&str, Vec<(&str, &str)>)> = setup
        .iter()
        .map(|step| (step.split('"').nth(1).unwrap_or_default(), list_fields(step)))
        .collect();
    let value_of = |key: &str| {
        let is_path = |path: &str| {
            path.trim_matches('/').strip_suffix('s').is_some_and(|one| key.starts_with(one))
        };
        let all = stored.iter().flat_map(|(_, fields)| fields);
        let same = all.filter(|(name, _)| *name == key).map(|(_, value)| *value).next_back();
        let of_path = stored.iter().filter(|(path, _)| is_path(path));
        same.or_else(|| of_path.filter_map(|(_, fields)| Some(fields.first()?.1)).next_back())
    };
    let write = |argument: &String| {
        let replace = |argument: String, (key, old): (&str, &str)| match value_of(key) {
            Some(new) => ["\": ", ": "].into_iter().fold(argument, |text, between| {
                text.replace(&format!("{key}{between}{old}"), &format!("{key}{between}{new}"))
            }),
            None => argument,
        };
        list_fields(argument).into_iter().fold(argument.clone(), replace)
    };
    let arguments: Vec<String> = call.arguments.iter().map(write).collect();
    (arguments != call.arguments).then(|| Call::new(&call.callee, arguments))
}

/// The plain fields of an object, as keys and literals.
fn list_fields(text: &str) -> Vec<(&str, &str)> {
    let pairs = LITERAL_FIELD.captures(text);
    pairs.filter_map(|one| Some((one.get(1)?.as_str(), one.get(2)?.as_str()))).collect()
}

/// A plain field of an object that is sent: its key and its literal.
static LITERAL_FIELD: Pattern = Pattern::new(r#"["']?\b(\w+)["']?\s*:\s*("[^"]*"|\d+)"#);

/// The path of a route with what an answer names in the place of its parameters, the only one or all by their names.
fn named_path(route: &str, answer: &Case) -> Option<String> {
    let CallOutcome::Value { literal, .. } = &answer.seen.outcome else { return None };
    let fields: Vec<(String, String)> = FIELD
        .captures(literal)
        .filter_map(|one| {
            let value = one.get(2).or(one.get(3))?;
            Some((one.get(1)?.as_str().to_lowercase(), value.as_str().to_owned()))
        })
        .collect();
    let mut path = route.to_owned();
    for name in route.split('{').skip(1).filter_map(|rest| rest.split('}').next()) {
        let lower = name.to_lowercase();
        let is_id = |key: &str| key == "id" && lower.ends_with("id");
        let named = fields.iter().find(|(key, _)| *key == lower);
        let (_, value) = named.or_else(|| fields.iter().find(|(key, _)| is_id(key)))?;
        path = path.replace(&format!("{{{name}}}"), value);
    }
    (path != route).then_some(path)
}

/// A plain field of an answer: its key and its value.
static FIELD: Pattern =
    Pattern::new(r#"["']?\b(\w+)["']?\s*:\s*(?:["']([\w.-]{1,40})["']|(\d{1,18}))"#);

/// Whether a request was answered with a status of success; one of Django must have used its database, since all views
/// of a site have the same client, and one of Express asks an application of its own: others are shared by tests.
fn is_stored(case: &Case) -> bool {
    if is_script_request(&case.call.callee) && !case.call.callee.contains("())") {
        return false;
    }
    let is_idle = !case.seen.effects.uses_database && case.seen.effects.folder.is_none();
    if case.call.callee.starts_with("Client()") && is_idle {
        return false;
    }
    let CallOutcome::Value { literal, .. } = &case.seen.outcome else { return false };
    ["status_code\": 20", "status_code': 20", "{ status: 20"]
        .iter()
        .any(|one| literal.contains(one))
}

/// The values of an input, without quotes.
fn list_values(one: &EntryInput, entry: &EntryPoint, callable: &Callable) -> Vec<String> {
    if matches!(one.place, InputPlace::Flag(_)) {
        return vec![String::new()];
    }
    let mut pool = value_pool(&one.parameter, callable, true);
    // What names an input is no value of one.
    let is_name = |word: &str| {
        let mut names = entry.inputs.iter().map(|one| one.parameter.name.as_str());
        names.any(|name| name == word || name.len() > 2 && word.contains(name))
    };
    // Neither is the status of an answer.
    let is_status = |text: &str| {
        text.parse().is_ok_and(|one: u16| entry.route.is_some() && one / 100 < 6 && one > 199)
    };
    if one.parameter.declared.is_none() {
        let is_word = |text: &String| string_content(text).is_some_and(is_plain);
        let is_number = |text: &String| text.parse::<i64>().is_ok() && !is_status(text);
        let is_count = one.parameter.types.first() == Some(&Type::Int);
        let literals = callable.literals.iter();
        let words: Vec<String> = literals
            .filter(|text| if is_count { is_number(text) } else { is_word(text) })
            .take(WORDS)
            .cloned()
            .collect();
        // Where nothing tells the type, all values are like the first one.
        let is_other =
            |value: &String| pool.first().is_some_and(|one| kind_of(one) != kind_of(value));
        let words: Vec<String> = words.into_iter().filter(|one| !is_other(one)).collect();
        let mut alike: Vec<String> = pool.iter().filter(|one| !is_other(one)).cloned().collect();
        let at = alike.len().min(1);
        alike.splice(at..at, words);
        pool = alike;
    }
    let plain = pool.iter().filter_map(|value| {
        let text = string_content(value).unwrap_or(value);
        let text = text
            .strip_prefix("pathlib.Path(\"")
            .and_then(|one| one.strip_suffix("\")"))
            .unwrap_or(text);
        is_plain(text).then(|| text.to_owned())
    });
    let mut found: Vec<String> = Vec::new();
    for value in plain.filter(|value| !is_name(value) && !is_status(value)) {
        if !found.contains(&value) && found.len() < VALUES {
            found.push(value);
        }
    }
    found
}

/// Whether a text may stand in an address and on a command line as it is.
fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= LONGEST
        && !text.starts_with('-')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

/// A request of a script: `request(app).get("/orders/3")`, `request(app).post("/orders").send({ sku: "A-1" })`.
fn write_request(entry: &EntryPoint, values: &[Option<String>]) -> Call {
    let (path, body) = write_parts(entry, values);
    let fields: Vec<String> =
        body.into_iter().map(|(name, literal)| format!("{name}: {literal}")).collect();
    if entry.inputs.iter().any(|one| one.place == InputPlace::Json) {
        let body = format!("{{ {} }}", fields.join(", ")).replace("{  }", "{}");
        return Call::new(format!("{}({path:?}).send", entry.callee), vec![body]);
    }
    Call::new(&entry.callee, vec![format!("{path:?}")])
}

/// The arguments of a call through an entry point.
fn write_entry(entry: &EntryPoint, values: &[Option<String>]) -> Vec<String> {
    let given: Vec<(&EntryInput, &String)> = entry
        .inputs
        .iter()
        .zip(values)
        .filter_map(|(one, value)| Some((one, value.as_ref()?)))
        .collect();
    if entry.route.is_none() {
        let mut words = entry.words.clone();
        for (one, value) in given {
            match &one.place {
                InputPlace::Flag(name) => words.push(name.clone()),
                InputPlace::Option(name) => words.extend([name.clone(), value.clone()]),
                _ => words.push(value.clone()),
            }
        }
        let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
        return [entry.first.clone(), vec![format!("[{}]", words.join(", "))]].concat();
    }
    let (path, json) = write_parts(entry, values);
    let form = given.iter().filter(|(one, _)| one.place == InputPlace::Form);
    let form: Vec<String> =
        form.map(|(one, value)| format!("\"{}\": {value:?}", one.parameter.name)).collect();
    let json: Vec<String> =
        json.into_iter().map(|(name, literal)| format!("\"{name}\": {literal}")).collect();
    let takes = |place: &InputPlace| entry.inputs.iter().any(|one| one.place == *place);
    let json = takes(&InputPlace::Json).then(|| format!("{{{}}}", json.join(", ")));
    let form = takes(&InputPlace::Form).then(|| format!("{{{}}}", form.join(", ")));
    let sent = if entry.is_django() {
        let kind = json.as_ref().map(|_| "content_type=\"application/json\"".to_owned());
        [json.or(form), kind]
    } else {
        [json.map(|one| format!("json={one}")), form.map(|one| format!("data={one}"))]
    };
    std::iter::once(format!("{path:?}")).chain(sent.into_iter().flatten()).collect()
}

/// The path of a request with its query, and the names and literals of its JSON.
fn write_parts<'a>(
    entry: &'a EntryPoint,
    values: &[Option<String>],
) -> (String, Vec<(&'a str, String)>) {
    let mut path = entry.route.clone().unwrap_or_default();
    let (mut query, mut json) = (Vec::new(), Vec::new());
    let truths =
        if is_script_request(&entry.callee) { ["true", "false"] } else { ["True", "False"] };
    for (one, value) in entry.inputs.iter().zip(values) {
        let (name, Some(value)) = (one.parameter.name.as_str(), value) else { continue };
        let is_text = one.parameter.types.first() == Some(&Type::Text);
        let is_plain = value.parse::<f64>().is_ok() || truths.contains(&value.as_str());
        let literal = if is_plain && !is_text { value.clone() } else { format!("{value:?}") };
        match one.place {
            InputPlace::Path => path = path.replace(&format!("{{{name}}}"), value),
            InputPlace::Query => query.push(format!("{name}={value}")),
            InputPlace::Form => {}
            _ => json.push((name, literal)),
        }
    }
    if !query.is_empty() {
        path = format!("{path}?{}", query.join("&"));
    }
    (path, json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::signature::express_routes::add_routes;
    use crate::code::signature::{add_django_views, add_entry_points};
    use crate::effect::{Observation, ResultKind};

    #[test]
    fn a_request_of_a_script_sends_an_object_and_needs_what_its_handler_reads() {
        let text = "const app = express();\napp.post('/orders/:id', (req, res) => {\n  const { sku, count = 1 } = req.body;\n  res.json(sku);\n});\nmodule.exports = app;\n";
        let mut found = Vec::new();
        let language = crate::code::language::Language::JavaScript;
        add_routes(&mut found, ("app.js", text), language, &[]);
        let calls = list_entry_calls(&found[0], found[0].entry.as_ref().unwrap());
        let callee = &calls[0].callee;
        assert!(callee.starts_with("request(app).post(\"/orders/"), "{callee}");
        assert!(callee.ends_with("\").send") && !callee.contains('{'), "{callee}");
        assert!(calls[0].arguments[0].starts_with("{ sku: "), "{calls:?}");
        let answer = |status: u16| CallOutcome::Value {
            literal: format!("{{ status: {status}, body: {{}} }}"),
            way: ResultKind::Members,
        };
        let case = |given: &str, status: u16| {
            let call = Call::new(&calls[0].callee, vec![given.to_owned()]);
            Case {
                call,
                seen: Observation { outcome: answer(status), ..Observation::refused("") },
                documented: None,
            }
        };
        let mut known = [case("{ sku: \"A-1\" }", 200), case("{ count: 3 }", 200), case("{}", 400)];
        refuse_undefined(&found[0], &mut known);
        let is_refused = |case: &Case| matches!(case.seen.outcome, CallOutcome::Refused(_));
        assert_eq!(known.iter().map(is_refused).collect::<Vec<_>>(), [false, true, false]);
    }

    #[test]
    fn what_an_answer_names_is_asked_for_next() {
        let answer = |literal: &str| Case {
            call: Call::new("request(make()).post", vec![]),
            seen: Observation {
                outcome: CallOutcome::Value { literal: literal.into(), way: ResultKind::Members },
                ..Observation::refused("")
            },
            documented: None,
        };
        let table = [
            ("/orders/{id}", "{ status: 201, body: { id: \"1\", sku: \"A\" } }", Some("/orders/1")),
            ("/orders/{orderId}", "{ status: 201, body: { id: 7 } }", Some("/orders/7")),
            ("/{sku}/{id}", "{'json()': {'id': 'x-2', 'sku': 'A-1'}}", Some("/A-1/x-2")),
            ("/orders/{sku}", "{ status: 201, body: { id: 7 } }", None),
            ("/orders", "{ status: 201, body: { id: 7 } }", None),
        ];
        for (route, literal, expected) in table {
            assert_eq!(named_path(route, &answer(literal)).as_deref(), expected, "{route}");
        }
    }

    #[test]
    fn a_request_names_what_those_before_it_stored() {
        let setup = [
            "post(\"/books\", json={\"isbn\": \"b-1\", \"title\": \"x\"})",
            "post(\"/members\").send({ number: 3, name: \"Ada\" })",
        ];
        let setup: Vec<String> = setup.map(str::to_owned).to_vec();
        let table = [
            (
                "json={\"isbn\": \"a\", \"member\": \"a\"}",
                "json={\"isbn\": \"b-1\", \"member\": 3}",
            ),
            ("{ isbn: \"a\", member_id: 9 }", "{ isbn: \"b-1\", member_id: 3 }"),
        ];
        for (given, expected) in table {
            let call = name_stored(&Call::new("c.post", vec![given.to_owned()]), &setup).unwrap();
            assert_eq!(call.arguments, [expected]);
        }
        assert!(name_stored(&Call::new("c.get", vec!["\"/loans\"".to_owned()]), &setup).is_none());
    }

    #[test]
    fn of_requests_that_differ_in_a_value_that_comes_back_one_is_kept() {
        let route = "app = Flask(__name__)\n\n@app.post('/loans')\ndef add():\n    return request.get_json()['isbn']\n";
        let mut found = Vec::new();
        add_entry_points(&mut found, route, &[]);
        let case = |isbn: &str, answer: &str| Case {
            call: Call::new(
                "app.post",
                vec!["\"/loans\"".into(), format!("json={{\"isbn\": \"{isbn}\"}}")],
            ),
            seen: Observation {
                outcome: CallOutcome::Value { literal: answer.into(), way: ResultKind::Members },
                ..Observation::refused("")
            },
            documented: None,
        };
        let mut known = vec![
            case("a", "{'error': 'no book a'}"),
            case("b-2", "{'error': 'no book b-2'}"),
            case("c", "{'due': '2024-03-21'}"),
        ];
        drop_alike(&found[0], &mut known);
        let kept: Vec<&str> = known.iter().map(|one| one.call.arguments[1].as_str()).collect();
        assert_eq!(kept, ["json={\"isbn\": \"a\"}", "json={\"isbn\": \"c\"}"]);
    }

    #[test]
    fn requests_and_words_hold_what_is_needed_and_each_other_value_in_turn() {
        let route = "app = Flask(__name__)\n\n@app.post('/orders/<int:id>')\ndef add(id):\n    page = request.args.get('page', 'x')\n    return request.get_json()['country'] + page\n";
        let main = "def main(argv=None):\n    parser = argparse.ArgumentParser()\n    parser.add_argument('number', type=int)\n    parser.add_argument('--format', choices=['text', 'json'])\n    parser.add_argument('--loud', action='store_true')\n    return parser.parse_args(argv)\n";
        let table: [(&str, &[&str]); 2] = [
            (
                route,
                &[
                    "\"/orders/3\", json={\"country\": \"DE\"}",
                    "\"/orders/3?page=x\", json={\"country\": \"DE\"}",
                    "\"/orders/3\", json={}",
                ],
            ),
            (
                main,
                &[
                    "[\"3\"]",
                    "[\"3\", \"--format\", \"text\"]",
                    "[\"3\", \"--format\", \"json\"]",
                    "[\"3\", \"--loud\"]",
                    "[]",
                ],
            ),
        ];
        for (text, expected) in table {
            let mut found = Vec::new();
            add_entry_points(&mut found, text, &[]);
            let calls = list_entry_calls(&found[0], found[0].entry.as_ref().unwrap());
            let calls: Vec<String> = calls.iter().map(|one| one.arguments.join(", ")).collect();
            for one in expected {
                assert!(calls.iter().any(|call| call == one), "{one} among {calls:?}");
            }
            assert_eq!(calls[0], expected[0]);
        }
    }

    #[test]
    fn requests_of_django_send_json_by_its_content_type_and_forms_as_they_are() {
        let table = [
            (
                "json.loads(request.body)\n    given['sku']",
                "{\"sku\": \"A-1\"}, content_type=\"application/json\"",
            ),
            ("request.POST['sku']", "{\"sku\": \"A-1\"}"),
        ];
        for (code, sent) in table {
            let text = format!("def add(request):\n    {code}\n");
            let urls = "from .views import add\npath('orders/', add)".to_owned();
            let mut found = Vec::new();
            add_django_views(
                &mut found,
                ("shop/views.py", &text),
                &[("shop.urls".to_owned(), urls)],
            );
            let calls = list_entry_calls(&found[0], found[0].entry.as_ref().unwrap());
            assert_eq!(calls[0].callee, "Client().post");
            assert_eq!(calls[0].arguments.join(", "), format!("\"/orders/\", {sent}"));
        }
    }
}
