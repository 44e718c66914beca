//! Calls of a method after others on the same object: each further one stays only where the calls
//! before it changed what the last one gives.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::signature::Callable;
use crate::effect::{Call, CallOutcome, ResultKind};

use super::Case;
use super::case_rank::rank_case;
use super::case_selection::outcome_key;
use super::inputs::argument_values;

/// Maximum number of calls before the one that is observed.
const SETUP: usize = 3;

/// Calls of one method that may come before others.
const STEPS: usize = 2;

/// Calls of one method that others are put before.
const LAST: usize = 3;

/// Objects of one class that stories begin with.
const OBJECTS: usize = 2;

/// Maximum number of stories of one method in a round.
const STORIES: usize = 24;

/// How the reason ends for a call that went well and gave what no test can write: what it changed shows later.
const UNWRITABLE: &str = "cannot be written as a literal";

/// A call on an object that may come before another, and what it is called on.
struct Step {
    object: String,
    /// As it is written behind the object: `add("Ada", 250)`.
    text: String,
    /// Whether it gives nothing.
    is_silent: bool,
}

/// Stories one call longer than those seen, with the index of their last function.
pub fn extend_stories(callables: &[&Callable], seen: &[Vec<Case>]) -> Vec<(usize, Call)> {
    let mut classes: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, callable) in callables.iter().enumerate() {
        let class = callable.class.as_ref().filter(|class| !class.is_static);
        if let Some(class) = class.filter(|_| callable.unsupported.is_none()) {
            classes.entry(&class.name).or_default().push(index);
        }
    }
    let mut found = Vec::new();
    for members in classes.into_values() {
        let cases = |index: usize| seen.get(index).map(Vec::as_slice).unwrap_or_default();
        let steps: Vec<Step> = members
            .iter()
            .filter_map(|index| Some((callables.get(*index)?, cases(*index))))
            .flat_map(|(callable, known)| first_steps(callable, known))
            .collect();
        let all: Vec<&Case> = members.iter().flat_map(|index| cases(*index)).collect();
        let effective = effective_steps(&all);
        for index in members {
            let Some(callable) = callables.get(index) else { continue };
            let mut own = longer_stories(callable, cases(index), &steps, effective.as_ref());
            own.truncate(STORIES);
            found.extend(own.into_iter().map(|call| (index, call)));
        }
    }
    found
}

/// Stories of objects with room for two items: some are put in, one is looked at or taken out, one more is put in.
pub fn fill_objects(callables: &[&Callable], seen: &[Vec<Case>]) -> Vec<(usize, Call)> {
    let mut found = Vec::new();
    for (at, (put, known)) in callables.iter().zip(seen).enumerate() {
        let worked = |case: &&Case| matches!(case.seen.outcome, CallOutcome::Value { .. });
        let objects = known.iter().filter(worked).map(|case| &case.call.callee);
        let objects = objects.filter_map(|callee| callee.strip_suffix(".__setitem__"));
        let Some(object) = objects.min_by_key(|one| one.len()) else { continue };
        let items = [("a", 1), ("b", 2), ("c", 3)];
        let [a, b, c] = items.map(|(key, value)| format!("[{key:?}] = {value}"));
        let two = vec![a.clone(), b.clone()];
        let mut stories = vec![Vec::new(), vec![a.clone()], two.clone(), vec![a, b, c.clone()]];
        let own = callables.iter().enumerate().filter(|(_, one)| one.unsupported.is_none());
        let own: Vec<(usize, &&Callable, Vec<String>)> =
            own.filter_map(|(at, one)| Some((at, one, item_arguments(one, put)?))).collect();
        for (_, step, given) in &own {
            let given = given.concat();
            let text = match step.short_name() {
                "__getitem__" => format!("[{given}]"),
                "__delitem__" => format!("del [{given}]"),
                _ if step.is_operator() || step.is_property => continue,
                name => format!("{name}({given})"),
            };
            if stories.len() > STORIES {
                break;
            }
            let story = [two.as_slice(), &[text]].concat();
            let last = Some(c.clone()).filter(|_| step.short_name() == "__getitem__");
            stories.extend(last.map(|last| [story.as_slice(), &[last]].concat()));
            stories.push(story);
        }
        for (at, one, given) in own {
            let call = Call::new(format!("{}.{}", with_room(object, 2), one.short_name()), given);
            let longer = |setup: &Vec<String>| Call { setup: setup.clone(), ..call.clone() };
            found.extend(stories.iter().map(longer).map(|call| (at, call)));
        }
        let full = format!("{}.__setitem__", with_room(object, 0));
        found.push((at, Call::new(full, vec!["\"b\"".into(), "2".into()])));
    }
    found
}

/// What a method is given to show an item: its key, or nothing; `None` where it needs more.
fn item_arguments(callable: &Callable, put: &Callable) -> Option<Vec<String>> {
    let key = &put.parameters.first()?.name;
    let is_own = callable.subject() == put.subject() && !callable.class.as_ref()?.is_static;
    let needed = callable.parameters.iter().filter(|one| !one.optional && !one.rest);
    let given = needed.map(|one| (one.name == *key).then(|| "\"a\"".to_owned()));
    given.collect::<Option<Vec<String>>>().filter(|_| is_own)
}

/// An object whose first argument, if that is a number, is this.
fn with_room(object: &str, room: u32) -> String {
    let (name, given) = object.split_once('(').unwrap_or((object, ""));
    let rest = given.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_number = rest != given && rest.starts_with([',', ')']);
    if is_number { format!("{name}({room}{rest}") } else { object.to_owned() }
}

/// The plainest calls of a method that ended well.
fn first_steps(callable: &Callable, known: &[Case]) -> Vec<Step> {
    let mut calls: Vec<&Case> = known
        .iter()
        .filter(|case| case.call.setup.is_empty())
        .filter(|case| match &case.seen.outcome {
            CallOutcome::Value { way, .. } => !matches!(
                way,
                ResultKind::Await
                    | ResultKind::List
                    | ResultKind::FirstItems
                    | ResultKind::Lists
                    | ResultKind::Entered
            ),
            CallOutcome::Refused(reason) => reason.ends_with(UNWRITABLE),
            CallOutcome::Raised { .. } => false,
        })
        .collect();
    calls.sort_by_key(|case| rank_case(callable, case));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found = Vec::new();
    let values = callable.assigned.as_ref().map(|value| argument_values(value, callable));
    let made = callable.class.as_ref().and_then(|class| class.construction.as_ref());
    let is_chained = made.is_some_and(|made| !made.fluent.is_empty());
    if is_chained && !callable.is_fluent() && !callable.results.is_empty() {
        return found;
    }
    if callable.is_operator() || callable.is_property && values.is_none() {
        return found;
    }
    for case in calls {
        let Some((object, method)) = case.call.callee.rsplit_once('.') else { continue };
        if !counts.contains_key(object) && counts.len() > OBJECTS {
            continue;
        }
        let count = counts.entry(object).or_default();
        *count += 1;
        if *count > STEPS {
            continue;
        }
        let texts = match &values {
            Some(values) => {
                values.iter().take(STEPS).map(|value| format!("{method} = {value}")).collect()
            }
            None => vec![format!("{method}({})", case.call.arguments.join(", "))],
        };
        let is_silent = matches!(&case.seen.outcome,
            CallOutcome::Value { literal, .. } if matches!(literal.as_str(), "undefined" | "None"));
        let object = object.to_owned();
        let steps = texts.into_iter().map(|text| Step { object: object.clone(), text, is_silent });
        found.extend(steps);
    }
    found
}

/// Stories whose last call before the observed one changed nothing.
pub fn find_idle_stories(known: &[Case]) -> BTreeSet<Call> {
    let all: Vec<&Case> = known.iter().collect();
    let effective = effective_steps(&all);
    let is_idle_step = |step: &String| effective.as_ref().is_some_and(|list| !list.contains(step));
    let story = |case: &Case| (case.call.callee.clone(), case.call.setup.clone());
    let mut grown: BTreeMap<(String, Vec<String>), bool> = BTreeMap::new();
    for case in all.iter().filter(|case| is_grown(case, &all)) {
        *grown.entry(story(case)).or_default() |= proves_change(case, &all);
    }
    let is_idle = |case: &Case| match (shorter_story(case, &all), grown.get(&story(case))) {
        (Some(_), _) => !changes_result(case, &all),
        // With other arguments the same calls were seen to change something, or not.
        (None, Some(changes)) => !changes,
        (None, None) => case.call.setup.last().is_some_and(is_idle_step),
    };
    known.iter().filter(|case| is_idle(case)).map(|case| case.call.clone()).collect()
}

/// The last calls before the observed ones that changed a result; `None` while no story was seen.
fn effective_steps(known: &[&Case]) -> Option<BTreeSet<String>> {
    let mut found = None;
    for case in known.iter().filter(|case| is_grown(case, known)) {
        let steps: &mut BTreeSet<String> = found.get_or_insert_default();
        if let Some(last) = case.call.setup.last().filter(|_| proves_change(case, known)) {
            steps.insert(last.clone());
        }
    }
    found
}

/// Whether a story was made step by step, rather than taken whole from documentation.
fn is_grown(case: &Case, known: &[&Case]) -> bool {
    shorter_story(case, known).is_some()
}

/// Whether the last call before the observed one changed what this gives.
fn changes_result(case: &Case, known: &[&Case]) -> bool {
    shorter_story(case, known)
        .is_some_and(|other| outcome_key(&other.seen) != outcome_key(&case.seen))
}

/// The same where both calls gave something that can be compared.
fn proves_change(case: &Case, known: &[&Case]) -> bool {
    let is_seen = |case: &Case| !matches!(case.seen.outcome, CallOutcome::Refused(_));
    is_seen(case) && shorter_story(case, known).is_some_and(is_seen) && changes_result(case, known)
}

/// The same story without the last call before the observed one, where it was seen.
fn shorter_story<'a>(case: &Case, known: &[&'a Case]) -> Option<&'a Case> {
    let (_, before) = case.call.setup.split_last()?;
    let is_shorter = |other: &Call| {
        other.setup == before
            && other.callee == case.call.callee
            && other.arguments == case.call.arguments
    };
    known.iter().find(|other| is_shorter(&other.call)).copied()
}

fn longer_stories(
    callable: &Callable,
    known: &[Case],
    steps: &[Step],
    effective: Option<&BTreeSet<String>>,
) -> Vec<Call> {
    let made: BTreeSet<&Call> = known.iter().map(|case| &case.call).collect();
    let all: Vec<&Case> = known.iter().collect();
    let grown = all.iter().filter(|case| is_grown(case, &all));
    let longest = grown.map(|case| case.call.setup.len()).max().unwrap_or_default();
    if longest >= SETUP {
        return Vec::new();
    }
    // Documented stories of others say nothing of what changes this one.
    let effective = effective.filter(|_| longest > 0);
    let mut bases: Vec<&Case> = all
        .iter()
        .copied()
        .filter(|case| !matches!(case.seen.outcome, CallOutcome::Refused(_)))
        .filter(|case| match effective {
            None => true,
            Some(_) => case.call.setup.len() == longest && changes_result(case, &all),
        })
        .collect();
    bases.sort_by_key(|case| rank_case(callable, case));
    bases.truncate(LAST.max(STORIES / steps.len().max(1)));
    // What gives nothing, and at first changes nothing, may undo what others did.
    let is_effective = |step: &&Step| {
        step.is_silent && longest == 1 || effective.is_none_or(|list| list.contains(&step.text))
    };
    let mut found = Vec::new();
    for base in bases {
        let Some((object, _)) = base.call.callee.rsplit_once('.') else { continue };
        for step in steps.iter().filter(is_effective).filter(|step| step.object == object) {
            let mut call = base.call.clone();
            call.setup.push(step.text.clone());
            if !made.contains(&call) && !found.contains(&call) {
                found.push(call);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::language::Language;
    use crate::code::signature::callables;
    use crate::effect::Observation;

    const CART: &str = "class Cart:\n    def __init__(self):\n        self.items = []\n\n    def add(self, name):\n        self.items.append(name)\n        return self\n\n    def size(self):\n        return len(self.items)\n";

    fn case(call: Call, literal: &str) -> Case {
        let outcome = CallOutcome::Value { literal: literal.into(), way: ResultKind::Plain };
        Case { call, seen: Observation { outcome, ..Observation::refused("") }, documented: None }
    }

    fn shown(call: &Call) -> String {
        let arguments = call.arguments.join(", ");
        format!("{} | {}({arguments})", call.setup.join("; "), call.callee)
    }

    #[test]
    fn a_story_grows_by_calls_that_changed_what_the_last_one_gives() {
        let found = callables(Language::Python, CART);
        let callables: Vec<&Callable> = found.iter().skip(1).collect();
        let add = || Call::new("Cart().add", vec!["\"Ada\"".into()]);
        let size = || Call::new("Cart().size", Vec::new());
        let mut seen = vec![vec![case(add(), "[1]")], vec![case(size(), "0")]];
        let first = extend_stories(&callables, &seen);
        let texts: Vec<String> = first.iter().map(|(_, call)| shown(call)).collect();
        let expected = [
            "add(\"Ada\") | Cart().add(\"Ada\")",
            "size() | Cart().add(\"Ada\")",
            "add(\"Ada\") | Cart().size()",
            "size() | Cart().size()",
        ];
        assert_eq!(texts, expected);
        for ((index, call), literal) in first.into_iter().zip(["[1, 1]", "[1]", "1", "0"]) {
            seen[index].push(case(call, literal));
        }
        let second = extend_stories(&callables, &seen);
        let texts: Vec<String> = second.iter().map(|(_, call)| shown(call)).collect();
        let expected = [
            "add(\"Ada\"); add(\"Ada\") | Cart().add(\"Ada\")",
            "add(\"Ada\"); add(\"Ada\") | Cart().size()",
        ];
        assert_eq!(texts, expected);
        let idle = find_idle_stories(&seen[1]);
        seen[1].retain(|case| !idle.contains(&case.call));
        let kept: Vec<String> = seen[1].iter().map(|one| shown(&one.call)).collect();
        assert_eq!(kept, [" | Cart().size()", "add(\"Ada\") | Cart().size()"]);
        let find = |given: &str, setup: &[&str], literal: &str| {
            let setup = setup.iter().map(|one| (*one).to_owned()).collect();
            case(Call { setup, ..Call::new("Cart().has", vec![given.into()]) }, literal)
        };
        let mut known = vec![
            find("1", &[], "false"),
            find("1", &["clear()"], "false"),
            find("2", &["clear()"], "false"),
            find("1", &["add(1)"], "true"),
            find("1", &["add(1)", "clear()"], "false"),
            find("3", &[], ""),
            find("3", &["size()"], "false"),
            find("4", &["size()"], "false"),
        ];
        // Its process was ended, which no call before it changes.
        known[5].seen = Observation::refused("other calls of it take too long");
        let idle = find_idle_stories(&known);
        known.retain(|case| !idle.contains(&case.call));
        let kept: Vec<String> = known.iter().map(|one| shown(&one.call)).collect();
        let expected = [
            " | Cart().has(1)",
            "add(1) | Cart().has(1)",
            "add(1); clear() | Cart().has(1)",
            " | Cart().has(3)",
            "size() | Cart().has(3)",
        ];
        assert_eq!(kept, expected);
    }

    #[test]
    fn what_gives_nothing_follows_what_changed_the_object() {
        let text = "export class Counter { next() { return 1; } reset() { this.n = 0; } }";
        let found = callables(Language::JavaScript, text);
        let callables: Vec<&Callable> = found.iter().collect();
        let next = |setup: &[&str]| Call {
            setup: setup.iter().map(|one| (*one).to_owned()).collect(),
            ..Call::new("new Counter().next", Vec::new())
        };
        let known = [(next(&[]), "1"), (next(&["next()"]), "2"), (next(&["reset()"]), "1")];
        let reset = case(Call::new("new Counter().reset", Vec::new()), "undefined");
        let seen = vec![known.map(|(call, literal)| case(call, literal)).into(), vec![reset]];
        let made = extend_stories(&callables, &seen);
        assert!(made.contains(&(0, next(&["next()", "reset()"]))), "{made:?}");
    }

    #[test]
    fn what_no_literal_shows_may_come_before_others_and_an_error_may_not() {
        let text =
            "export class Queue { push(v) { return this.add(v); } size() { return this.n; } }";
        let found = callables(Language::JavaScript, text);
        let callables: Vec<&Callable> = found.iter().collect();
        let table = [
            ("an object of Node cannot be written as a literal", true),
            ("other calls of it take too long", false),
        ];
        for (reason, expected) in table {
            let call = Call::new("new Queue().push", vec!["7".into()]);
            let push = Case { seen: Observation::refused(reason), ..case(call, "") };
            let size = Call::new("new Queue().size", Vec::new());
            let seen = vec![vec![push], vec![case(size.clone(), "0")]];
            let grown = Call { setup: vec!["push(7)".into()], ..size };
            assert_eq!(
                extend_stories(&callables, &seen).contains(&(1, grown)),
                expected,
                "{reason}"
            );
        }
    }

    #[test]
    fn a_documented_story_does_not_end_the_search_for_others() {
        let found = callables(Language::Python, CART);
        let callables: Vec<&Callable> = found.iter().skip(1).collect();
        let add = || Call::new("Cart().add", vec!["\"Ada\"".into()]);
        let size = || Call::new("Cart().size", Vec::new());
        let shown_case = case(Call { setup: vec!["add(\"Ada\")".into(); 3], ..size() }, "3");
        let seen = vec![vec![case(add(), "[1]")], vec![case(size(), "0"), shown_case]];
        let texts: Vec<String> =
            extend_stories(&callables, &seen).iter().map(|(_, call)| shown(call)).collect();
        assert!(texts.contains(&"add(\"Ada\") | Cart().size()".into()), "{texts:?}");
    }

    #[test]
    fn an_object_that_remembers_nothing_has_no_stories() {
        let found = callables(Language::Python, CART);
        let callables: Vec<&Callable> = found.iter().skip(1).collect();
        let size = Call::new("Cart().size", Vec::new());
        let after = Call { setup: vec!["size()".into()], ..size.clone() };
        let seen = vec![Vec::new(), vec![case(size, "0"), case(after, "0")]];
        assert!(extend_stories(&callables, &seen).is_empty());
    }

    #[test]
    fn objects_that_keep_items_are_filled_beyond_their_room() {
        let text = "class Box:\n    def __init__(self, maxsize):\n        self.items = {}\n\n    def __setitem__(self, key, value):\n        self.items[key] = value\n\n    def __getitem__(self, key):\n        return self.items[key]\n\n    def __iter__(self):\n        return iter(self.items)\n\n    def pop(self, key):\n        return self.items.pop(key)\n\n\nclass Small(Box):\n    def clear(self):\n        self.items = {}\n";
        let found = callables(Language::Python, text);
        let callables: Vec<&Callable> =
            found.iter().filter(|one| one.subject() == "Small").collect();
        let names: Vec<&str> = callables.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["Small.clear", "Small.__setitem__", "Small.__iter__"]);
        let put = Call::new("Small(10).__setitem__", vec!["\"hello\"".into(), "3".into()]);
        let seen = [Vec::new(), vec![case(put, "None")], Vec::new()];
        let shown: Vec<String> =
            fill_objects(&callables, &seen).iter().map(|(_, call)| shown(call)).collect();
        for setup in ["[\"a\"] = 1; [\"b\"] = 2; [\"c\"] = 3", "[\"a\"] = 1; [\"b\"] = 2; clear()"]
        {
            let expected = format!("{setup} | Small(2).__iter__()");
            assert!(shown.contains(&expected), "{expected} among {shown:?}");
        }
    }
}
