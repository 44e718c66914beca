//! What the code of one file requires of its tests, each requirement as a sentence with the line
//! behind it (specification.md 6.1).

use std::collections::BTreeSet;

use crate::code::behaviour::{self, Behaviour, Boundary, Condition, Guard, Raise, condition};
use crate::code::language::Language;
use crate::code::side_effects::{SideEffect, effect_of_callee};
use crate::domain::id::RepoPath;
use crate::domain::test_plan::layer::SubLayer;
use crate::domain::test_plan::requirement::{CODE, Requirement};
use crate::domain::test_plan::requirement_coverage::EMPTY_INPUT;
use crate::domain::text::{count, has_word};

use super::coverage::TestReach;
use super::survey::Survey;

/// Maximum number of conditions in a sentence, innermost first; the others are counted.
const CONDITIONS: usize = 3;

/// Packages that access databases.
const DATABASES: &str = "sqlite3 sqlalchemy psycopg2 psycopg pymongo pymysql django peewee pg mysql \
                         mysql2 knex sequelize typeorm mongoose @prisma/client better-sqlite3 diesel \
                         sqlx rusqlite database/sql gorm.io/gorm java.sql jakarta.persistence \
                         javax.persistence";

/// Names of calls that write to or read from a database.
const QUERIES: &str = "execute query commit rollback save insert update_one delete find_one create \
                       session.add Exec QueryRow";

/// Words in the types of collections and texts.
const KINDS: &str = "str list dict set tuple Iterable Sequence Mapping [] string Array Map Vec List \
                     Set Collection String map[";

/// Collects the requirements of one file that no test shows yet.
pub struct CodeRequirements<'a> {
    file: &'a RepoPath,
    language: Language,
    survey: &'a Survey,
    reach: TestReach<'a>,
    found: Vec<Requirement>,
}

impl<'a> CodeRequirements<'a> {
    /// All requirements of some functions of a file, without ids, in the order of their lines.
    pub fn of_functions(
        file: &'a RepoPath,
        functions: &[Behaviour],
        survey: &'a Survey,
        reach: TestReach<'a>,
    ) -> Vec<Requirement> {
        let Some(language) = Language::of(file) else { return Vec::new() };
        let mut own = Self { file, language, survey, reach, found: Vec::new() };
        for function in functions {
            own.unit(function);
            own.edges(function);
        }
        own.wiring(functions);
        let imported = behaviour::packages(language, survey.text(file));
        let has_database = DATABASES.split_whitespace().any(|name| imported.contains(name));
        for function in functions {
            own.outside(function, has_database);
        }
        own.found.sort_by(|a, b| a.line.cmp(&b.line).then(a.layer.cmp(&b.layer)));
        own.found.dedup();
        own.found
    }

    /// Adds a requirement, unless tests show it already.
    fn want(
        &mut self,
        (layer, function): (SubLayer, &Behaviour),
        line: u32,
        shown: bool,
        clause: &str,
    ) {
        if shown {
            return;
        }
        self.found.push(Requirement {
            id: String::new(),
            layer,
            function: function.name.clone(),
            line,
            text: format!("`{}` {clause} ({}:{line})", function.name, self.file),
            source: CODE.to_owned(),
            is_branch: false,
        });
    }

    /// L1.1, L1.2, L1.4 and L1.5 of one function.
    fn unit(&mut self, function: &Behaviour) {
        use SubLayer::{Async, Happy, Negative, State};
        let entered = self.reach.enters(function);
        let name = function.short_name();
        if function.returns.is_empty() && name != "__init__" {
            let clause = effect(function);
            self.want((Happy, function), function.start, entered, &clause);
        }
        for result in &function.returns {
            let shown =
                self.reach.line_ran(function, result.line) || entered && !self.reach.is_measured();
            let clause =
                format!("returns `{}` for {}", result.value, given(function, &result.guard));
            let known = self.found.len();
            self.want((Happy, function), result.line, shown, &clause);
            let others = function.returns.iter().filter(|one| one.line == result.line);
            let has_condition = [" if ", " ? "].iter().any(|word| result.value.contains(word));
            for one in self.found.iter_mut().skip(known) {
                one.is_branch = has_condition || others.clone().count() > 1;
            }
        }
        for raise in &function.raises {
            let shown = self.reach.line_ran(function, raise.line);
            let clause = self.error(function, raise);
            self.want((Negative, function), raise.line, shown, &clause);
        }
        let is_constructor = matches!(name, "__init__" | "constructor");
        for (line, field) in function.changes.iter().filter(|_| !is_constructor) {
            let shown = self.reach.line_ran(function, *line);
            let clause = format!("changes `{field}` of its object");
            self.want((State, function), *line, shown, &clause);
        }
        if function.is_async {
            let clause = "resolves when awaited and leaves nothing behind when cancelled";
            self.want((Async, function), function.start, entered, clause);
        }
    }

    /// L1.3 of one function: values on both sides of a comparison, and empty input.
    fn edges(&mut self, function: &Behaviour) {
        for edge in &function.boundaries {
            let about = |name: &str| has_word(&edge.left, name);
            // A counter of a loop decides nothing that a caller sees.
            let decides = |one: &Condition| one.mentions(&edge.left);
            let raised = function.raises.iter().flat_map(|raise| &raise.guard);
            let result = function.returns.iter().flat_map(|result| &result.guard);
            let known = function.parameters.iter().any(|one| about(&one.name))
                || raised.chain(result).any(decides);
            if known {
                let shown = self.reach.takes_both_sides(function, edge.line);
                self.want((SubLayer::Edge, function), edge.line, shown, &boundary(edge));
            }
        }
        for (line, parameter) in collections(function) {
            let shown = self.reach.line_ran(function, line);
            let clause = format!("{EMPTY_INPUT}`{parameter}`");
            self.want((SubLayer::Edge, function), line, shown, &clause);
        }
    }

    /// L2.1 of one file: calls of functions in other files of the project, three of them.
    fn wiring(&mut self, functions: &[Behaviour]) {
        let (survey, file) = (self.survey, self.file);
        let imports = survey.graph.imports_of(file);
        let others: Vec<&RepoPath> =
            imports.filter(|other| *other != file && survey.known.contains_key(other)).collect();
        let mut wired: BTreeSet<&RepoPath> = BTreeSet::new();
        for function in functions {
            for (line, call) in &function.calls {
                let last = call.rsplit(['.', ':']).next().unwrap_or(call);
                let defines = |other: &&&RepoPath| {
                    let names = survey.known.get(**other).into_iter().flatten();
                    names.into_iter().any(|name| name.rsplit('.').next() == Some(last))
                };
                if let Some(other) = others.iter().find(defines)
                    && wired.len() < 3
                    && wired.insert(other)
                {
                    let shown = self.reach.line_ran(function, *line);
                    let clause = format!("works with the real `{last}` of {other}");
                    self.want((SubLayer::Wiring, function), *line, shown, &clause);
                }
            }
        }
    }

    /// L2.2 to L3.1 of one function: route, database, service, handlers, the program itself.
    fn outside(&mut self, function: &Behaviour, has_database: bool) {
        use SubLayer::{Contract, Critical, Database, External, FailureMode};
        if let Some(mark) = function.marks.iter().find(|mark| is_route(mark)) {
            let clause = format!("answers the route `{mark}` with status, body and refusals");
            let shown = self.reach.enters(function);
            self.want((Contract, function), function.start, shown, &clause);
        }
        let query = function.calls.iter().find(|(_, call)| has_database && is_query(call));
        if let Some((line, call)) = query {
            let shown = self.reach.line_ran(function, *line);
            let clause = format!("leaves what it wrote by `{call}`, and nothing after a failure");
            self.want((Database, function), *line, shown, &clause);
        }
        let language = self.language;
        let uses_network =
            |call: &str| effect_of_callee(language, call) == Some(SideEffect::UsesNetwork);
        let requests = function.calls.iter().filter(|(_, call)| uses_network(call));
        // Of a chain of calls the first one leaves the machine.
        if let Some((line, call)) = requests.min_by_key(|(line, call)| (*line, call.len())) {
            let shown = self.reach.line_ran(function, *line);
            let clause = format!("copes with what `{call}` answers: success, refusal, timeout");
            self.want((External, function), *line, shown, &clause);
        }
        for handler in &function.handlers {
            let shown = self.reach.line_ran(function, handler.body);
            let caught = match handler.catches.as_str() {
                "" => "any error".to_owned(),
                class => format!("`{class}`"),
            };
            let clause = format!("does what its handler says when {caught} is caught");
            self.want((FailureMode, function), handler.body, shown, &clause);
        }
        if function.short_name() == "main" {
            let shown = self.reach.enters(function);
            let clause =
                "ends with exit code 0 and its output, and with another for wrong arguments";
            self.want((Critical, function), function.start, shown, clause);
        }
    }

    /// What a function does instead of a result.
    fn error(&self, function: &Behaviour, raise: &Raise) -> String {
        let message =
            raise.message.as_ref().map(|text| format!(" (\"{text}\")")).unwrap_or_default();
        let (class, given) = (raise.class.as_str(), given(function, &raise.guard));
        let does = match (self.language, class) {
            (_, "panic") => "panics".to_owned(),
            (Language::Python, class) => format!("raises {class}"),
            (Language::Rust | Language::Go, class) => format!("returns {class}"),
            (_, class) => format!("throws {class}"),
        };
        format!("{does}{message} for {given}")
    }
}

/// What a function is called for that returns nothing.
fn effect(function: &Behaviour) -> String {
    let does = match (function.changes.first(), function.calls.first()) {
        (Some((_, field)), _) => format!("changes `{field}`"),
        (None, Some((_, callee))) => format!("calls `{callee}`"),
        (None, None) => "ends without an error".to_owned(),
    };
    format!("{does} for {}", given(function, &Vec::new()))
}

/// The conditions that lead to a place, or ordinary arguments; omitted ones are counted.
fn given(function: &Behaviour, guard: &Guard) -> String {
    // A loop condition is implied by any condition inside the loop.
    let deepest = guard.iter().rposition(|one| !one.is_loop_entry());
    let needed = |(at, one): &(usize, &Condition)| {
        !one.is_loop_entry() || deepest.is_none_or(|last| *at > last)
    };
    let mut own: Vec<String> = Vec::new();
    for clause in guard.iter().enumerate().filter(needed).map(|(_, one)| condition(one)) {
        if !own.contains(&clause) {
            own.push(clause);
        }
    }
    let more = own.len().saturating_sub(CONDITIONS);
    let mut clause = own.split_off(more).join(" and ");
    if more > 0 {
        clause.push_str(&format!(", behind {}", count(more, "more condition")));
    }
    if !clause.is_empty() {
        return clause;
    }
    let required = function.parameters.iter().filter(|one| !one.optional);
    let names: Vec<String> = required.map(|one| format!("`{}`", one.name)).collect();
    if names.is_empty() { "a plain call".into() } else { format!("ordinary {}", names.join(", ")) }
}

/// Values on both sides of a comparison with a constant.
fn boundary(edge: &Boundary) -> String {
    let Boundary { left, operator, right, .. } = edge;
    let values = sides(operator, right).join(" and ");
    format!("keeps the edge `{left} {operator} {right}`: `{left}` of {values} differ")
}

/// Values on both sides of a comparison, closest first.
fn sides(operator: &str, value: &str) -> Vec<String> {
    let Ok(number) = value.replace('_', "").parse::<i64>() else {
        return ["", "just below ", "just above "].map(|place| format!("{place}{value}")).to_vec();
    };
    let (less, more) = (number.saturating_sub(1), number.saturating_add(1));
    let list = match operator {
        "<" | ">=" => vec![less, number],
        ">" | "<=" => vec![number, more],
        _ => vec![less, number, more],
    };
    list.into_iter().map(|value| value.to_string()).collect()
}

/// Parameters declared to hold several things or a text, and not asked about already: where no type tells,
/// a loop over nothing does nothing.
fn collections(function: &Behaviour) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    for parameter in function.parameters.iter().filter(|one| !one.optional) {
        let over = function.loops.iter().find(|(_, over)| has_word(over, &parameter.name));
        let typed = KINDS.split_whitespace().any(|kind| parameter.kind.contains(kind));
        let asked = function
            .raises
            .iter()
            .map(|raise| &raise.guard)
            .chain(function.returns.iter().map(|result| &result.guard))
            .flatten()
            .any(|one| !one.is_loop_entry() && one.mentions(&parameter.name));
        if typed && !asked {
            let line = over.map_or(function.start, |(line, _)| *line);
            found.push((line, parameter.name.clone()));
        }
    }
    found
}

fn is_route(mark: &str) -> bool {
    [".get(", ".post(", ".put(", ".delete(", ".patch(", ".route(", "Mapping("]
        .iter()
        .any(|sign| mark.contains(sign))
}

/// Whether a call writes to or reads from a database.
fn is_query(call: &str) -> bool {
    QUERIES.split_whitespace().any(|name| {
        call.rsplit('.').next() == Some(name) || name.contains('.') && call.ends_with(name)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::role::test_plan::coverage::ExecutedLines;

    #[test]
    fn both_sides_of_a_comparison_are_named() {
        let table = [
            (">", "100", "100 101"),
            (">=", "50", "49 50"),
            ("<", "0", "-1 0"),
            ("==", "1_000", "999 1000 1001"),
        ];
        for (operator, value, expected) in table {
            assert_eq!(sides(operator, value).join(" "), expected, "{operator} {value}");
        }
        assert_eq!(sides("<", "0.5").len(), 3);
    }

    #[test]
    fn every_sentence_names_its_function_file_and_line() {
        let file = RepoPath::parse("a.py").unwrap();
        let text = "import sqlite3\nimport requests\n\n\n@app.get('/x')\nasync def price(x):\n    if x < 3:\n        raise ValueError('low')\n    self.total = x\n    db.execute('x')\n    requests.get('y')\n    return x\n\n\ndef main():\n    price(1)\n";
        let texts: BTreeMap<RepoPath, String> = [(file.clone(), text.to_owned())].into();
        let survey = Survey::of(vec![file.clone()], texts);
        let ran = ExecutedLines::default();
        let functions = behaviour::read(Language::Python, text);
        let reach = TestReach::of(&file, &[], &survey, &ran);
        let found = CodeRequirements::of_functions(&file, &functions, &survey, reach);
        let layers: BTreeSet<&str> = found.iter().map(|one| one.layer.code()).collect();
        let expected = ["L1.1", "L1.2", "L1.3", "L1.4", "L1.5", "L2.2", "L2.3", "L2.4", "L3.1"];
        assert_eq!(layers.into_iter().collect::<Vec<_>>(), expected, "{found:#?}");
        for one in &found {
            assert!(one.text.starts_with(&format!("`{}` ", one.function)), "{one:?}");
            assert!(one.text.ends_with(&format!("(a.py:{})", one.line)), "{one:?}");
            assert!(one.is_derived(), "{one:?}");
        }
    }

    fn function(text: &str) -> Behaviour {
        behaviour::read(Language::Python, text).remove(0)
    }

    #[test]
    fn conditions_that_are_left_out_are_counted() {
        let depth = 5;
        let mut text = "def price(a, b, c, d, e):\n".to_owned();
        for (at, name) in ["a", "b", "c", "d", "e"].iter().enumerate() {
            text.push_str(&format!("{}if {name} > {at}:\n", "    ".repeat(at + 1)));
        }
        text.push_str(&format!("{}return 1\n", "    ".repeat(depth + 1)));
        let own = function(&text);
        let words = given(&own, &own.returns[0].guard);
        assert!(words.ends_with(", behind 2 more conditions"), "{words}");
        let plain = function("def price(a, b=1):\n    return a\n");
        assert_eq!(given(&plain, &plain.returns[0].guard), "ordinary `a`");
        let bare = function("def price():\n    return 1\n");
        assert_eq!(given(&bare, &bare.returns[0].guard), "a plain call");
    }

    #[test]
    fn routes_are_known_by_their_marks() {
        let table = [
            ("@app.get('/x')", true),
            ("@app.route('/x')", true),
            ("@GetMapping(\"/x\")", true),
            ("@cache", false),
            ("@target", false),
        ];
        for (mark, expected) in table {
            assert_eq!(is_route(mark), expected, "{mark}");
        }
    }

    #[test]
    fn collections_are_asked_about_when_nothing_else_does() {
        let of = |source: &str| {
            collections(&function(source)).into_iter().map(|(_, name)| name).collect::<Vec<_>>()
        };
        let table: [(&str, &[&str]); 4] = [
            ("def f(names: list):\n    return 1\n", &["names"]),
            ("def f(names):\n    for one in names:\n        g(one)\n    return 1\n", &[]),
            ("def f(count: int):\n    return 1\n", &[]),
            ("def f(names: list = None):\n    return 1\n", &[]),
        ];
        for (source, expected) in table {
            assert_eq!(of(source), expected, "{source}");
        }
    }
}
