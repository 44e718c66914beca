//! What the code of one file requires of its tests (specification.md 6.1).

use std::collections::BTreeSet;

use crate::code::behaviour::{self, Behaviour};
use crate::domain::id::RepoPath;
use crate::domain::test_plan::layer::SubLayer;
use crate::domain::text::has_word;

use super::coverage::TestReach;
use super::external_calls;
use super::requirement_text::{RequirementDraft, RequirementWriter};
use super::survey::Survey;

/// What the code of one file requires.
#[derive(Default)]
pub struct Found {
    pub drafts: Vec<RequirementDraft>,
    pub covered: u32,
}

impl Found {
    fn want(&mut self, draft: RequirementDraft, shown: bool) {
        if shown {
            self.covered += 1;
        } else {
            self.drafts.push(draft);
        }
    }

    /// L1.1 to L1.5 of one function; what tests show already is counted instead.
    pub fn unit(
        &mut self,
        writer: RequirementWriter<'_>,
        function: &Behaviour,
        reach: &TestReach<'_>,
    ) {
        if function.returns.is_empty() && function.short_name() != "__init__" {
            self.want(writer.effect(function), reach.enters(function));
        }
        for result in &function.returns {
            let shown = reach.shows(function, result.line, &[function.short_name()]);
            self.want(writer.happy(function, result), shown);
        }
        for raise in &function.raises {
            let class =
                raise.class.rsplit([':', '.']).next().unwrap_or_default().trim_end_matches(')');
            let message = raise.message.as_deref().unwrap_or_default();
            let twice = function.raises.iter().filter(|one| one.class == raise.class).count() > 1;
            let generic = twice || matches!(class, "panic" | "an error" | "Err");
            let words = if generic { [message, ""] } else { [class, message] };
            self.want(writer.error(function, raise), reach.shows(function, raise.line, &words));
        }
        for edge in &function.boundaries {
            let about = |name: &str| has_word(&edge.left, name);
            // A counter of a loop decides nothing that a caller sees.
            let decides = |one: &behaviour::Condition| one.mentions(&edge.left);
            let raised = function.raises.iter().flat_map(|raise| &raise.guard);
            let given = function.returns.iter().flat_map(|result| &result.guard);
            let known = function.parameters.iter().any(|one| about(&one.name))
                || raised.chain(given).any(decides);
            if known {
                self.want(
                    writer.boundary(function, edge),
                    reach.decides(function, edge.line, &[&edge.right]),
                );
            }
        }
        for (line, parameter) in collections(function) {
            let words = ["[]", "\"\"", "''", "{}", "nil", "None", "null", "vec![]"];
            let shown = reach.shows(function, line, &words);
            self.want(writer.empty(function, &parameter, line), shown);
        }
        for (line, field) in &function.changes {
            if function.short_name() != "__init__" && function.short_name() != "constructor" {
                self.want(
                    writer.change(function, *line, field),
                    reach.shows(function, *line, &[field]),
                );
            }
        }
        if function.is_async {
            self.want(writer.asynchronous(function), reach.enters(function));
        }
    }

    /// L2.1 to L2.5 of one file.
    pub fn integration(
        &mut self,
        writer: RequirementWriter<'_>,
        functions: &[Behaviour],
        survey: &Survey,
        reach: &TestReach<'_>,
    ) {
        let others: Vec<&RepoPath> = survey
            .graph
            .imports_of(writer.file)
            .filter(|other| *other != writer.file && survey.known.contains_key(other))
            .collect();
        let mut wired: BTreeSet<&RepoPath> = BTreeSet::new();
        let imported = behaviour::packages(writer.language, survey.text(writer.file));
        let (database, service) =
            (external_calls::has_database(&imported), external_calls::has_service(&imported));
        for function in functions {
            for (line, call) in &function.calls {
                let last = call.rsplit(['.', ':']).next().unwrap_or(call);
                let other = others.iter().find(|other| {
                    survey.known.get(**other).is_some_and(|names| {
                        names.iter().any(|name| name.rsplit('.').next() == Some(last))
                    })
                });
                if let Some(other) = other
                    && wired.len() < 3
                    && wired.insert(other)
                {
                    self.want(
                        writer.wiring(function, *line, last, other),
                        reach.shows(function, *line, &[last]),
                    );
                }
            }
            if let Some(mark) = function.marks.iter().find(|mark| is_route(mark)) {
                self.want(writer.route(function, mark), reach.enters(function));
            }
            let query =
                function.calls.iter().find(|(_, call)| database && external_calls::is_query(call));
            if let Some((line, call)) = query {
                self.want(
                    writer.database(function, *line, call),
                    reach.shows(function, *line, &["rollback"]),
                );
            }
            let requests =
                function.calls.iter().filter(|(_, call)| external_calls::is_request(call, service));
            // Of a chain of calls the first one leaves the machine.
            let request = requests.min_by_key(|(line, call)| (*line, call.len()));
            if let Some((line, call)) = request {
                self.want(
                    writer.service(function, *line, call),
                    reach.shows(function, *line, &["timeout", "Timeout"]),
                );
            }
            for handler in &function.handlers {
                let class: String = handler
                    .catches
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '.')
                    .collect();
                // The body of the handler, not the line that names the error.
                self.want(
                    writer.failure(function, handler),
                    reach.shows(function, handler.line + 1, &[&class]),
                );
            }
            if function.short_name() == "main" {
                let text = format!(
                    "the program ends well when `main` is started ({}:{})",
                    writer.file, function.start
                );
                let draft = RequirementDraft {
                    layer: SubLayer::Critical,
                    function: function.name.clone(),
                    line: function.start,
                    text,
                    given: "the arguments of its shortest useful run".into(),
                    expect: "exit code 0 and the promised output; 2 for wrong arguments".into(),
                };
                self.want(draft, reach.enters(function));
            }
        }
    }
}

/// Parameters that hold several things or a text, and are not asked about already.
fn collections(function: &Behaviour) -> Vec<(u32, String)> {
    const KINDS: &str = "str list dict set tuple Iterable Sequence Mapping [] string Array Map Vec List \
                         Set Collection String map[";
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
        if (over.is_some() || typed) && !asked {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::language::Language;

    #[test]
    fn a_word_is_found_as_a_whole() {
        let table = [
            ("price < 0", "price", true),
            ("prices < 0", "price", false),
            ("self.price", "price", true),
            ("", "price", false),
        ];
        for (text, name, expected) in table {
            assert_eq!(has_word(text, name), expected, "{text}");
        }
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
            let functions = behaviour::read(Language::Python, source);
            collections(&functions[0]).into_iter().map(|(_, name)| name).collect::<Vec<_>>()
        };
        let table: [(&str, &[&str]); 4] = [
            ("def f(names: list):\n    return 1\n", &["names"]),
            ("def f(names):\n    for one in names:\n        g(one)\n    return 1\n", &["names"]),
            ("def f(count: int):\n    return 1\n", &[]),
            ("def f(names: list = None):\n    return 1\n", &[]),
        ];
        for (source, expected) in table {
            assert_eq!(of(source), expected, "{source}");
        }
    }
}
