//! The lower parts: what a reader opens.

use crate::domain::budget::{SpendingLimits, dollars};
use crate::domain::chain::{ProviderCall, spent_by};
use crate::domain::event::{IterationRow, NeededHunk};
use crate::domain::id::TestId;
use crate::domain::text::count;

use super::final_state::FinalState;
use super::forge_page::ForgePage;
use super::markdown::{brief, code, grouped, link, prose};
use super::overview::SENTENCE;
use super::parts::{Body, Cell, Item, Part, Screen, Table};
use super::phrases::{
    cost, counted, is_skipped, made_smaller, result_of, result_word, sentence, time as time_of,
    tokens,
};
use super::todo::todo as list_of;
use super::view::View;

/// Tests that are named for one hunk.
const NAMED: usize = 5;

/// A column of a table of iterations.
#[derive(Clone, Copy)]
enum Column {
    Number,
    Strategy,
    Rate,
    Result,
    TestRuns,
    Candidates,
    Commit,
    By,
    Calls,
    Tokens,
    Cost,
    Time,
    Change,
}

impl Column {
    /// Its head, and whether it holds numbers.
    fn head(self) -> (&'static str, bool) {
        match self {
            Self::Number => ("#", true),
            Self::Strategy => ("strategy", false),
            Self::Rate => ("pass rate", false),
            Self::Result => ("result", false),
            Self::TestRuns => ("test runs", true),
            Self::Candidates => ("candidates", true),
            Self::Commit => ("commit", false),
            Self::By => ("by", false),
            Self::Calls => ("calls", true),
            Self::Tokens => ("tokens", true),
            Self::Cost => ("cost", true),
            Self::Time => ("time", true),
            Self::Change => ("change", false),
        }
    }

    fn cell(self, row: &IterationRow, view: &View, facts: &ForgePage<'_>) -> Cell {
        let calls =
            || view.calls.iter().filter(|(at, _)| *at == row.iteration).map(|(_, call)| call);
        let spent = spent_by(calls());
        let none = || "-".to_owned();
        Cell::Words(match self {
            Self::Number => row.iteration.to_string(),
            Self::Strategy => row.strategy.to_string(),
            Self::Rate => match row.reached.filter(|reached| *reached != row.after) {
                Some(reached) => format!("{} → {reached} ↩ {} %", row.before, row.after),
                None => format!("{} → {} %", row.before, row.after),
            },
            Self::Result => prose(&result_word(row), 40),
            Self::TestRuns if row.tests_run == 0 => none(),
            Self::TestRuns => {
                format!("{} of {}", grouped(row.tests_run.into()), grouped(row.tests_of.into()))
            }
            Self::Candidates => grouped(row.tried.into()),
            Self::Commit => row.commit.as_ref().map_or_else(none, |id| {
                let name = code(id.short());
                let is_pushed = facts.pushed.contains(id);
                if is_pushed { facts.link_into(&name, &format!("commit/{id}")) } else { name }
            }),
            Self::By => prose(&row.provider, 40),
            Self::Calls => calls().count().to_string(),
            Self::Tokens => tokens(spent.usage),
            Self::Cost => {
                let is_known = calls().any(|call| call.micro_usd.is_some());
                if is_known { cost(&spent) } else { none() }
            }
            Self::Time => time_of(row.duration_ms),
            Self::Change => return Cell::Name(row.summary.clone()),
        })
    }
}

fn table(columns: &[Column], view: &View, facts: &ForgePage<'_>) -> Table {
    let row = |row| columns.iter().map(|column| column.cell(row, view, facts)).collect();
    Table {
        columns: columns.iter().map(|column| column.head()).collect(),
        rows: view.rows.iter().map(row).collect(),
    }
}

/// Each iteration.
pub fn iterations(view: &View, facts: &ForgePage<'_>, screen: Screen) -> Part<'static> {
    use Column::{
        By, Candidates, Change, Commit, Cost, Number, Rate, Result, Strategy, TestRuns, Time,
    };
    let columns: &[Column] = match screen {
        Screen::Terminal | Screen::Log => {
            &[Number, Strategy, Rate, Result, TestRuns, Candidates, Time]
        }
        Screen::Report => &[Number, Strategy, Rate, Result, TestRuns, Candidates, Time, Change],
        _ => &[Number, Strategy, Rate, TestRuns, Commit, By, Cost, Change],
    };
    let at_work = screen == Screen::Page && view.rows.is_empty() && view.current.is_some();
    Part {
        body: if at_work { Body::Drawing } else { Body::Table(table(columns, view, facts)) },
        ..Part::new("Iterations")
    }
}

/// Time and money by iteration.
pub fn time(view: &View, facts: &ForgePage<'_>) -> Part<'static> {
    use Column::{Calls, Candidates, Cost, Number, Rate, Strategy, TestRuns, Time, Tokens};
    let columns = [Number, Strategy, Rate, TestRuns, Candidates, Calls, Tokens, Cost, Time];
    Part { body: Body::Table(table(&columns, view, facts)), ..Part::new("Time and money") }
}

/// The tests that failed at some time.
pub fn tests(view: &View) -> Part<'static> {
    let any = !view.red.is_empty() || view.rows.iter().any(|row| !row.failing.is_empty());
    Part {
        body: if any { Body::Drawing } else { Body::Empty },
        ..Part::new(if any { "Tests" } else { "" })
    }
}

/// What was proposed and did not stay.
pub fn attempts(view: &View) -> Part<'static> {
    let mut items = Vec::new();
    let is_tried = |row: &&IterationRow| row.outcome != "improved" && !is_skipped(row);
    for row in view.rows.iter().filter(is_tried) {
        let (_, result) = result_of(row);
        let text = format!(
            "Iteration {}, {}: {}: {}",
            row.iteration,
            row.strategy,
            prose(&result, 100),
            code(&row.summary)
        );
        items.push((row.iteration, Item::text(text)));
    }
    for (iteration, reasons) in &view.refused {
        let reasons = prose(&reasons.join("; "), SENTENCE);
        let text = format!("Iteration {iteration}, refused by a guard: {reasons}");
        items.push((*iteration, Item::text(text)));
    }
    items.sort_by_key(|(iteration, _)| *iteration);
    Part::list("Tried and not kept", items.into_iter(), |(_, item)| item)
}

/// The proof that each hunk of the change is needed.
pub fn proof(view: &View) -> Part<'static> {
    let Some(minimised) = &view.minimised else { return Part::default() };
    let entry = |one: &NeededHunk| {
        let named: Vec<_> = one.tests.iter().take(NAMED).map(|test| brief(test.as_str())).collect();
        let more = one.tests.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let text = match named.as_slice() {
            [] => "no test was shown to need it".to_owned(),
            named => format!("without it these fail: {}{more}", named.join(", ")),
        };
        Item { name: one.place.clone(), text, ..Item::default() }
    };
    Part {
        intro: format!("{}.", sentence(&made_smaller(minimised))),
        ..Part::list("Proof that the change is needed", minimised.needed.iter(), entry)
    }
}

/// The nested to-do list, which is shown only while the session runs.
pub fn todo(view: &View, facts: &ForgePage<'_>) -> Part<'static> {
    if FinalState::of(view, facts).is_some() || view.session.is_empty() {
        return Part::default();
    }
    Part { body: Body::Todo(list_of(facts.phases, view)), ..Part::new("To do") }
}

/// Which providers were asked, and why the chain moved on.
pub fn asked(view: &View) -> Part<'static> {
    let calls = view.calls.iter().map(|(iteration, call)| (*iteration, call));
    Part { body: Body::Table(calls_table(calls)), ..Part::new("Who was asked") }
}

/// A table of calls to providers with their iterations.
pub fn calls_table<'c>(calls: impl Iterator<Item = (u32, &'c ProviderCall)>) -> Table {
    let words = Cell::Words;
    let row = |(iteration, call): (u32, &ProviderCall)| {
        let model = if call.model == call.provider { "" } else { &call.model };
        let moved_on = match call.trigger {
            Some(trigger) => Cell::Name(format!("{trigger}: {}", call.reason)),
            None if call.reason.is_empty() => words("-".to_owned()),
            None => Cell::Name(call.reason.clone()),
        };
        let (input, output) = (call.usage.input_tokens, call.usage.output_tokens);
        let sure =
            call.confidence.map_or_else(String::new, |sure| format!(", confidence {sure:.2}"));
        vec![
            words(iteration.to_string()),
            words(format!("{} {}", prose(&call.role, 40), call.turn)),
            Cell::Name(format!("{} {model}", call.provider).trim_end().to_owned()),
            words(format!("{}{sure}", if call.used { "yes" } else { "no" })),
            moved_on,
            words(counted(format!("{} / {}", grouped(input), grouped(output)), call.usage)),
            words(
                call.micro_usd
                    .map_or_else(|| "-".to_owned(), |price| counted(dollars(price), call.usage)),
            ),
            words(time_of(call.duration_ms)),
        ]
    };
    let columns = [
        ("#", true),
        ("role", false),
        ("provider, model", false),
        ("used", false),
        ("moved on", false),
        ("tokens in / out", true),
        ("cost", true),
        ("time", true),
    ];
    Table { columns: columns.into(), rows: calls.map(row).collect() }
}

/// What a person should know, and tests that do not count.
pub fn notes<'a>(view: &'a View) -> Part<'static> {
    let notices = view.notices.iter().map(|text| ("", text.as_str()));
    let name = |words: &'static str| move |test: &'a TestId| (words, test.as_str());
    let sources = notices
        .chain(view.flaky.iter().map(name("Flaky, counts as the final run ends")))
        .chain(view.preexisting.iter().map(name("Fails on the base too")));
    Part::list("Notes", sources, |(words, text)| {
        Item::text(match words {
            "" => prose(text, SENTENCE),
            words => format!("{words}: {}", code(text)),
        })
    })
}

/// How much of each budget was used, and a link to the full report.
pub fn used(view: &View, facts: &ForgePage<'_>) -> Part<'static> {
    let of = |used: String, limit: Option<String>| match limit {
        Some(limit) => format!("{used} of {limit}"),
        None => used,
    };
    let (spent, limits) = (&view.spent, &facts.budget.providers);
    let rows = view.rows.len();
    let mut items = vec![match facts.budget.iterations {
        Some(limit) => format!("{rows} of {limit} iterations"),
        None => count(rows, "iteration"),
    }];
    let ms = match &view.outcome {
        Some(outcome) => outcome.duration_ms,
        None => view.rows.iter().map(|row| row.duration_ms).fold(0, u64::saturating_add),
    };
    let took = if ms < 120_000 { time_of(ms) } else { format!("{} min", grouped(ms / 60_000)) };
    items.push(of(took, facts.budget.minutes.map(|limit| format!("{limit} min"))));
    if spent.calls > 0 || *limits != SpendingLimits::default() {
        let calls = of(grouped(spent.calls), limits.calls.map(grouped));
        items.push(format!("{calls} provider calls"));
        let tokens = of(tokens(spent.usage), limits.tokens.map(grouped));
        items.push(format!("{tokens} tokens"));
        items.push(of(cost(spent), limits.micro_usd.map(dollars)));
        if spent.unpriced > 0 {
            items.push(format!("{} without a known price", count(spent.unpriced, "call")));
        }
    }
    let mut pages = Vec::new();
    for (url, words) in [(facts.report_url, "full report"), (facts.run_url, "run")] {
        pages.extend(url.map(|url| link(words, url)).filter(|linked| linked != words));
    }
    if pages.is_empty() {
        pages.push(facts.full_report());
    }
    let session = if view.session.is_empty() { facts.session } else { &view.session };
    if !session.is_empty() {
        pages.push(format!("session {}", brief(session)));
    }
    if facts.pull.is_some() {
        pages.push("`/regreen help`".to_owned());
    }
    if !facts.now.is_empty() {
        pages.push(format!("updated {}", prose(facts.now, 40)));
    }
    let used = match FinalState::of(view, facts) {
        Some(FinalState::NoSession) => String::new(),
        _ => format!("Used: {}\n\n", items.join(" · ")),
    };
    Part::text(format!("{used}{}", pages.join(" · ")))
}
