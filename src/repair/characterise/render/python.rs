//! Renders cases as a Python test file for pytest or unittest.

use std::collections::BTreeSet;

use crate::code::language::Language;
use crate::code::signature::is_constant_name;
use crate::code::tree::{field_of, named_nodes};
use crate::domain::framework::Framework;
use crate::effect::{Call, CallOutcome, ResultKind};

use super::call_setup::{files_after, is_printed, lines_before, list_fixtures, list_modules};
use super::line_breaks::{BreakStyle, Layout, break_line};
use super::{
    Case, Draft, Naming, ObservedFunction, arguments, case_of, compared_message, is_awaited,
    is_long_float, object_name, setup_lines, upper_first, with_quotes,
};
use crate::code::signature::special_method_calls::{Expression, write_call};

/// The complete text of a test file.
pub fn write_file(naming: &Naming, functions: &[ObservedFunction], draft: &Draft) -> String {
    let unittest = is_unittest(naming);
    let mut text = import_lines(naming, functions, draft);
    if unittest {
        let name = class_name(&naming.subject);
        let base = if is_stored(functions, draft) { "TestCase" } else { "unittest.TestCase" };
        text.push_str(&format!("\n\nclass {name}({base}):\n"));
    }
    let (indent, own, depth) = if unittest { ("    ", "self", 2) } else { ("", "", 1) };
    let layout =
        Layout { width: naming.style.line_width(), step: "    ", style: BreakStyle::Black };
    for (number, test) in draft.tests.iter().enumerate() {
        text.push_str(match (unittest, number) {
            (false, _) => "\n\n",
            (true, 0) => "",
            (true, _) => "\n",
        });
        let result = if naming.style.is_annotated { " -> None" } else { "" };
        let case = case_of(functions, test);
        if !unittest && case.is_some_and(|(_, case)| case.seen.effects.uses_database) {
            text.push_str("@pytest.mark.django_db\n");
        }
        let fixtures = case.filter(|_| !unittest).map(|(_, case)| list_fixtures(case));
        let is_annotated = naming.style.is_annotated;
        let fixture = |(name, kind): (&str, &str)| {
            if is_annotated { format!("{name}: {kind}") } else { name.to_owned() }
        };
        let fixtures = fixtures.unwrap_or_default().into_iter().map(fixture).collect::<Vec<_>>();
        let given = if unittest { own.to_owned() } else { fixtures.join(", ") };
        text.push_str(&format!("{indent}def {}({given}){result}:\n", test.name));
        let lines = case.map(|(one, case)| lines(one, case, naming));
        for line in lines.into_iter().flatten() {
            let line = with_quotes(&line, Language::Python, naming.quote);
            text.push_str(&break_line(&line, depth, layout));
        }
    }
    // Tests of Django run by its own command alone.
    if naming.framework == Framework::Unittest && !text.contains("from django.test import ") {
        text.push_str("\n\nif __name__ == \"__main__\":\n    unittest.main()\n");
    }
    text
}

/// Whether a test of a file uses the database of Django.
fn is_stored(functions: &[ObservedFunction], draft: &Draft) -> bool {
    let mut used = draft.tests.iter().filter_map(|test| case_of(functions, test));
    used.any(|(_, case)| case.seen.effects.uses_database)
}

/// What a test file imports.
fn import_lines(naming: &Naming, functions: &[ObservedFunction], draft: &Draft) -> String {
    let used: Vec<(&ObservedFunction, &Case)> =
        draft.tests.iter().filter_map(|test| case_of(functions, test)).collect();
    let mut modules: BTreeSet<&str> =
        used.iter().flat_map(|(_, case)| &case.seen.needs).map(String::as_str).collect();
    let is_math = |case: &Case| match case.expected_outcome() {
        CallOutcome::Value { literal, way } => *way == ResultKind::Nan || is_long_float(literal),
        CallOutcome::Raised { .. } | CallOutcome::Refused(_) => false,
    };
    // A class that only type checkers see in the module under test comes from its own.
    let mut named: Vec<(&str, &str)> =
        modules.iter().filter_map(|one| one.split_once(':')).collect();
    modules.retain(|one| !one.contains(':'));
    let (unittest, is_stored) = (is_unittest(naming), is_stored(functions, draft));
    named.extend((unittest && is_stored).then_some(("django.test", "TestCase")));
    let needs = |name, is_needed: bool| is_needed.then_some(name);
    modules.extend(needs("math", used.iter().any(|(_, case)| is_math(case))));
    modules.extend(needs("asyncio", used.iter().any(|(_, case)| is_awaited(case))));
    modules.extend(needs("unittest", unittest && !is_stored));
    let is_redirected = unittest && used.iter().any(|(_, case)| is_printed(case));
    modules.extend(["contextlib", "io"].into_iter().filter(|_| is_redirected));
    let around = |(_, case): &(_, &Case)| list_modules(case, unittest, naming.style.is_annotated);
    modules.extend(used.iter().flat_map(around));
    // What the module under test has itself comes with its other names.
    let needs_subject =
        |case: &&Case| case.seen.needs.contains(&naming.subject) && !case.is_contradicted();
    let mut needing = used.iter().map(|(_, case)| *case).filter(needs_subject);
    let of_subject = needing.all(|case| own_class(case, &naming.subject).is_some())
        && modules.remove(naming.subject.as_str());
    let raises = |case: &Case| matches!(case.expected_outcome(), CallOutcome::Raised { .. });
    let is_typed = |case: &Case| naming.style.is_annotated && !list_fixtures(case).is_empty();
    let needs_pytest =
        |case: &Case| raises(case) || is_typed(case) || case.seen.effects.uses_database;
    let raises = !unittest && used.iter().any(|(_, case)| needs_pytest(case));
    let text = module_lines(&modules, raises, naming);
    let mut subjects = called_subjects(&used, functions);
    let from = &naming.subject;
    if of_subject {
        subjects.extend(used.iter().filter_map(|(_, case)| own_class(case, from)));
    }
    let (own, named): (Vec<_>, Vec<_>) = named.into_iter().partition(|(module, _)| module == from);
    subjects.extend(own.into_iter().map(|(_, name)| name));
    subjects.retain(|one| named.iter().all(|(_, name)| name != one));
    let subjects: Vec<&str> = subjects.into_iter().collect();
    let width = naming.style.line_width();
    let mut from_lines = list_from_lines(&named, width);
    // All that is called may come from another file.
    let is_named = !subjects.is_empty();
    from_lines.extend(is_named.then(|| from_line(from, &subjects, width)));
    from_lines.sort();
    text + &from_lines.concat()
}

/// The imports of whole modules: the standard library first, the package under test last.
fn module_lines(modules: &BTreeSet<&str>, needs_pytest: bool, naming: &Naming) -> String {
    let root = naming.subject.split('.').next().unwrap_or_default();
    let is_own = |module: &&&str| module.split('.').next() == Some(root);
    let (own, others): (Vec<&&str>, Vec<&&str>) = modules.iter().partition(is_own);
    let lines =
        |list: &[&&str]| list.iter().map(|one| format!("import {one}\n")).collect::<String>();
    let foreign = if needs_pytest { "import pytest\n".to_owned() } else { String::new() };
    let mut text = String::new();
    for part in [lines(&others), foreign].iter().filter(|part| !part.is_empty()) {
        text.push_str(&format!("{part}\n"));
    }
    text + &lines(&own)
}

/// The imports of names from modules, with one line for each.
fn list_from_lines(named: &[(&str, &str)], width: usize) -> Vec<String> {
    let modules: BTreeSet<&str> = named.iter().map(|(module, _)| *module).collect();
    let line = |module: &str| {
        let names = named.iter().filter(|(one, _)| *one == module).map(|(_, name)| *name);
        from_line(module, &names.collect::<Vec<_>>(), width)
    };
    modules.into_iter().map(line).collect()
}

/// The import of names from a module.
fn from_line(module: &str, names: &[&str], width: usize) -> String {
    let line = format!("from {module} import {}", names.join(", "));
    if line.len() > width {
        format!("from {module} import (\n    {},\n)\n", names.join(",\n    "))
    } else {
        line + "\n"
    }
}

/// Whether tests are methods of a class: by the framework, or as in the neighbouring tests.
fn is_unittest(naming: &Naming) -> bool {
    naming.framework == Framework::Unittest || naming.style.grouped
}

/// The class that is raised, or of the result, if the module under test has it.
fn own_class<'a>(case: &'a Case, module: &str) -> Option<&'a str> {
    let class = match case.expected_outcome() {
        CallOutcome::Raised { class, .. } => class.as_str(),
        CallOutcome::Value { literal, .. } if literal.matches(module).count() == 1 => {
            literal.split_once('(')?.0
        }
        CallOutcome::Value { .. } | CallOutcome::Refused(_) => return None,
    };
    let name = class.strip_prefix(module)?.strip_prefix('.')?;
    (!name.contains('.')).then_some(name)
}

/// The names of the module under test that calls use: functions, classes and constants.
fn called_subjects<'a>(
    used: &[(&'a ObservedFunction, &'a Case)],
    functions: &'a [ObservedFunction],
) -> BTreeSet<&'a str> {
    let mut subjects: BTreeSet<&str> = used.iter().map(|(one, _)| one.local.as_str()).collect();
    subjects.extend(used.iter().flat_map(|(one, case)| argument_classes(one, case)));
    let made = || used.iter().flat_map(|(_, case)| expressions_of(case));
    let makers = functions.iter().map(|one| one.local.as_str());
    subjects.extend(makers.filter(|name| made().any(|text| calls_name(text, name))));
    let roots = made().map(|text| text.split('.').next().unwrap_or(text));
    subjects.extend(roots.filter(|root| is_constant_name(root)));
    subjects
}

/// What a call is written with: what it calls, its arguments, and the calls before it.
pub fn expressions_of(case: &Case) -> impl Iterator<Item = &String> {
    let Call { callee, arguments, setup, .. } = &case.call;
    arguments.iter().chain(setup).chain([callee])
}

/// Whether an expression calls a function of this name, and no method or longer name.
pub fn calls_name(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, found)| {
        let is_whole = !text
            .get(..at)
            .unwrap_or_default()
            .ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '\'' | '"'));
        is_whole && text.get(at + found.len()..).is_some_and(|rest| rest.starts_with('('))
    })
}

fn argument_classes<'a>(one: &'a ObservedFunction, case: &Case) -> Vec<&'a str> {
    let of_class = one.callable.class.iter().flat_map(|class| &class.parameters);
    let classes =
        one.callable.parameters.iter().chain(of_class).filter_map(|one| one.class.as_ref());
    let names = classes.map(|class| class.name.as_str());
    names
        .filter(|name| expressions_of(case).any(|text| text.contains(&format!("{name}("))))
        .collect()
}

/// The class of the tests of a module: `TestFeeTable` for `shop.fee_table`.
fn class_name(module: &str) -> String {
    let words = module.rsplit('.').next().unwrap_or(module).split('_');
    format!("Test{}", words.map(upper_first).collect::<String>())
}

/// The shortest part of a message that tells it from others.
const DISTINCTIVE: usize = 12;

/// The longest part of a message without signs of regular expressions, within the room.
fn distinctive_part(message: &str, room: usize) -> Option<String> {
    let pieces = message.split(|c: char| "\\^$.|?*+()[]{}\"".contains(c));
    let longest = pieces.max_by_key(|one| one.len())?;
    let (_, rest) = message.split_once(longest)?;
    let mut words: Vec<&str> = longest.split_whitespace().collect();
    if rest.starts_with('.') && !rest.starts_with(". ") && rest.len() > 1 {
        words.pop();
    }
    while words.join(" ").len() > room {
        words.pop();
    }
    let part = words.join(" ").trim_end_matches([',', ':', ';']).to_owned();
    (part.len() >= DISTINCTIVE && message.contains(&part)).then_some(part)
}

struct Assertions {
    is_unittest: bool,
    /// The longest line.
    width: usize,
}

impl Assertions {
    fn holds(&self, condition: &str) -> String {
        if self.is_unittest {
            format!("self.assertTrue({condition})")
        } else {
            format!("assert {condition}")
        }
    }

    fn compare(&self, method: &str, operator: &str, value: &str, expected: &str) -> String {
        if self.is_unittest {
            format!("self.{method}({value}, {expected})")
        } else {
            format!("assert {value} {operator} {expected}")
        }
    }

    fn equal(&self, value: &str, expected: &str) -> String {
        self.compare("assertEqual", "==", value, expected)
    }

    /// That a value is what a literal says.
    fn is_value(&self, value: &str, literal: &str) -> String {
        if matches!(literal, "None" | "True" | "False") {
            self.compare("assertIs", "is", value, literal)
        } else if is_long_float(literal) {
            self.holds(&format!("math.isclose({value}, {literal}, rel_tol=1e-12)"))
        } else {
            self.equal(value, literal)
        }
    }

    /// That members of a result are what a dictionary says.
    fn compare_members(
        &self,
        call: &str,
        literal: &str,
        imported: &dyn Fn(&str) -> String,
    ) -> Vec<String> {
        let result = if literal.contains("status_code") { "response" } else { "result" };
        let compare = |(name, value): (String, String)| {
            self.is_value(&format!("{result}.{name}"), &imported(&value))
        };
        let compared = dictionary_items(Language::Python, literal).into_iter().map(compare);
        std::iter::once(format!("{result} = {call}")).chain(compared).collect()
    }

    /// That a call prints a text.
    fn prints(&self, call: String, literal: &str) -> Vec<String> {
        if self.is_unittest {
            let printed = self.equal(printed_text(true), literal);
            [redirected(&[call]), vec![printed]].concat()
        } else {
            vec![call, self.equal(printed_text(false), literal)]
        }
    }

    /// That a call raises, with its message where `says` is a literal of it: all of it, or what is
    /// distinctive of one that is too long for a line.
    fn raises(
        &self,
        class: &str,
        call: &str,
        way: ResultKind,
        (message, says): (&str, Option<String>),
    ) -> Vec<String> {
        let (opener, matching, caught, indent) = if self.is_unittest {
            ("self.assertRaises", "self.assertRaisesRegex", "str(caught.exception)", 8)
        } else {
            ("pytest.raises", "pytest.raises", "str(caught.value)", 4)
        };
        let named = if self.is_unittest { "" } else { "match=" };
        let compared = says.map(|says| self.equal(caught, &says));
        let is_long = |line: &String| indent + line.chars().count() > self.width;
        let taken = indent + format!("with {matching}({class}, {named}\"\"):").len();
        let room = self.width.saturating_sub(taken);
        let part = compared
            .as_ref()
            .filter(|one| is_long(one))
            .and_then(|_| distinctive_part(message, room));
        let (first, compared) = match (part, compared) {
            (Some(part), _) => (format!("with {matching}({class}, {named}\"{part}\"):"), None),
            (None, None) => (format!("with {opener}({class}):"), None),
            (None, compared) => (format!("with {opener}({class}) as caught:"), compared),
        };
        let mut lines = vec![first];
        if way == ResultKind::Entered {
            lines.extend([format!("    with {call}:"), "        pass".into()]);
        } else {
            lines.push(format!("    {}", observed_expression(call, way)));
        }
        lines.extend(compared);
        lines
    }
}

/// Lines whose output is kept, in unittest.
fn redirected(lines: &[String]) -> Vec<String> {
    let opener = "with contextlib.redirect_stdout(io.StringIO()) as printed:".to_owned();
    std::iter::once(opener).chain(lines.iter().map(|line| format!("    {line}"))).collect()
}

/// What a call has printed.
fn printed_text(is_unittest: bool) -> &'static str {
    if is_unittest { "printed.getvalue()" } else { "capsys.readouterr().out" }
}

/// The denial of a condition: `a not in b`, as linters ask for.
fn denied(condition: &str) -> String {
    let parts = condition.split_once(" in ").filter(|(value, _)| !value.contains([' ', '(']));
    parts.map_or_else(
        || format!("not {condition}"),
        |(value, whole)| format!("{value} not in {whole}"),
    )
}

/// The lines of code of one case.
fn lines(one: &ObservedFunction, case: &Case, naming: &Naming) -> Vec<String> {
    let assertions =
        Assertions { is_unittest: is_unittest(naming), width: naming.style.line_width() };
    let (given, named) = arguments(one, case);
    let mut lines = lines_before(case, assertions.is_unittest);
    lines.extend(named.iter().map(|(name, value)| format!("{name} = {value}")));
    let (setup, callee) = setup_lines(naming, one, case);
    lines.extend(setup);
    lines.extend(lines_of_outcome((one, case), naming, &assertions, (&callee, &given)));
    let output = case.seen.effects.output.iter();
    lines.extend(output.map(|text| assertions.equal(printed_text(assertions.is_unittest), text)));
    let changed = named.iter().zip(&case.seen.after);
    lines.extend(changed.map(|((name, _), (_, after))| assertions.equal(name, after)));
    let files = files_after(case, assertions.is_unittest).into_iter();
    lines.extend(files.map(|(place, text)| match text {
        Some(text) => assertions.equal(&place, text),
        None => assertions.holds(&format!("not {place}")),
    }));
    lines
}

/// The lines that make the call of a case and compare its outcome.
fn lines_of_outcome(
    (one, case): (&ObservedFunction, &Case),
    naming: &Naming,
    assertions: &Assertions,
    (callee, given): (&str, &[String]),
) -> Vec<String> {
    let mut lines = Vec::new();
    let Expression { text: call, is_condition } = write_call(&one.callable, callee, given);
    // A class of the module under test is imported by its name.
    let imported = |literal: &str| match own_class(case, &naming.subject) {
        Some(_) => literal.split_at(naming.subject.len() + 1).1.to_owned(),
        None => literal.to_owned(),
    };
    let is_redirected = assertions.is_unittest && case.seen.effects.output.is_some();
    let has_effect = case.seen.effects.shows_effect();
    match case.expected_outcome() {
        CallOutcome::Value { way: ResultKind::Nan, .. } => {
            lines.push(assertions.holds(&format!("math.isnan({call})")));
        }
        CallOutcome::Value { literal, .. } if is_condition && literal == "True" => {
            lines.push(assertions.holds(&call));
        }
        CallOutcome::Value { literal, .. } if is_condition && literal == "False" => {
            lines.push(assertions.holds(&denied(&call)));
        }
        CallOutcome::Value { literal, way } if way.is_entered() => {
            let class = one.callable.class.as_ref();
            let name = class.map_or("value".to_owned(), |_| object_name(naming, one, case));
            let kept =
                if *way == ResultKind::Entered { name.clone() } else { format!("vars({name})") };
            lines.push(format!("with {call} as {name}:"));
            lines.push(format!("    {}", assertions.is_value(&kept, literal)));
        }
        CallOutcome::Value { literal, way: ResultKind::Printed } => {
            lines.extend(assertions.prints(call, literal));
        }
        CallOutcome::Value { literal, way: ResultKind::Members } => {
            lines.extend(assertions.compare_members(&call, literal, &imported));
        }
        CallOutcome::Value { literal, .. } if is_redirected => {
            lines.extend(redirected(&[format!("result = {call}")]));
            lines.push(assertions.is_value("result", literal));
        }
        CallOutcome::Value { literal, .. } if has_effect && literal == "None" => lines.push(call),
        CallOutcome::Value { literal, way } => {
            let expected = imported(literal);
            lines.push(assertions.is_value(&observed_expression(&call, *way), &expected));
        }
        CallOutcome::Raised { class, message, explicit, way } => {
            let says = compared_message(message, *explicit && !message.contains('\n'));
            let class = own_class(case, &naming.subject).unwrap_or(class);
            let raised = assertions.raises(class, &call, *way, (message, says));
            lines.extend(if is_redirected { redirected(&raised) } else { raised });
        }
        CallOutcome::Refused(_) => {}
    }
    lines
}

/// The names and values of a dictionary whose keys are texts.
pub fn dictionary_items(language: Language, literal: &str) -> Vec<(String, String)> {
    // A brace that begins a statement opens a block of a script.
    let literal = &if language.is_script() { format!("({literal})") } else { literal.to_owned() };
    let Some(tree) = language.parse(literal) else { return Vec::new() };
    let pairs = named_nodes(tree.root_node()).into_iter();
    let outer = pairs.filter(|one| {
        let holder = one.parent().and_then(|one| one.parent());
        let whole = ["expression_statement", "parenthesized_expression"];
        one.kind() == "pair" && holder.is_some_and(|one| whole.contains(&one.kind()))
    });
    outer
        .map(|one| {
            let name = field_of(one, "key", literal).trim_matches(['"', '\'']);
            (name.to_owned(), field_of(one, "value", literal).to_owned())
        })
        .collect()
}

/// What a test compares of a call.
fn observed_expression(call: &str, way: ResultKind) -> String {
    match way {
        ResultKind::Await => format!("asyncio.run({call})"),
        ResultKind::List => format!("list({call})"),
        ResultKind::FirstItems => format!("list(itertools.islice({call}, 5))"),
        ResultKind::Lists => format!("[list(one) for one in {call}]"),
        ResultKind::Text => format!("str({call})"),
        ResultKind::Texts => format!("[str(one) for one in {call}]"),
        ResultKind::Attributes => format!("vars({call})"),
        ResultKind::Entered
        | ResultKind::EnteredAttributes
        | ResultKind::Members
        | ResultKind::Printed
        | ResultKind::Plain
        | ResultKind::Nan
        | ResultKind::None => call.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_called_by_its_whole_name() {
        let table = [
            ("full(2).get(1)", true),
            ("max(full(2), 1)", true),
            ("box.full(2)", false),
            ("half_full(2)", false),
            ("fuller(2)", false),
            ("'full(2)'", false),
        ];
        for (text, expected) in table {
            assert_eq!(calls_name(text, "full"), expected, "{text}");
        }
    }

    #[test]
    fn members_are_the_outer_items_of_their_dictionary() {
        let items =
            dictionary_items(Language::Python, "{'size': 2, 'parts': {'a': [1, {'b': 2}]}}");
        let expected = [("size", "2"), ("parts", "{'a': [1, {'b': 2}]}")];
        assert_eq!(items, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn long_messages_are_matched_by_what_is_distinctive_of_them() {
        let table = [
            (
                "Expected '=' after a key (at line 1, column 4)",
                60,
                Some("Expected '=' after a key"),
            ),
            ("Expected '=' after a key (at line 1, column 4)", 20, Some("Expected '=' after a")),
            (
                "must be opened in binary mode, e.g. use `rb`",
                60,
                Some("must be opened in binary mode"),
            ),
            ("no (a) [b] {c}", 60, None),
        ];
        for (message, room, expected) in table {
            assert_eq!(distinctive_part(message, room).as_deref(), expected, "{message}");
        }
    }
}
