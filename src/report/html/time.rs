//! Where time and money went, iteration by iteration and question by question.

use crate::domain::budget::{Spending, dollars};
use crate::domain::chain::ProviderCall;
use crate::domain::event::IterationRow;

use super::writer::{Html, number, short, time};
use super::{PageData, left_out};

/// Questions that are listed, and bytes they may take.
const CALLS: usize = 300;
const BYTES: usize = 200_000;

/// Milliseconds of one iteration.
struct Spent {
    label: String,
    tests: u64,
    providers: u64,
    /// The search, and everything else.
    rest: u64,
}

impl Spent {
    fn all(&self) -> u64 {
        self.tests + self.providers + self.rest
    }
}

pub(super) fn applies(data: &PageData<'_>) -> bool {
    !data.rows.is_empty() || !data.view.calls.is_empty()
}

fn spent(data: &PageData<'_>) -> Vec<Spent> {
    let testing = |iteration: u32| data.view.testing.get(&iteration).copied().unwrap_or_default();
    let start = Spent { label: "start".into(), tests: testing(0), providers: 0, rest: 0 };
    let start = Some(start).filter(|start| data.earlier == 0 && start.tests > 0);
    let rows = data.rows.iter().map(|row| {
        let providers = providers(row).min(row.duration_ms);
        let tests = testing(row.iteration).min(row.duration_ms - providers);
        Spent {
            label: row.iteration.to_string(),
            tests,
            providers,
            rest: row.duration_ms - providers - tests,
        }
    });
    start.into_iter().chain(rows).collect()
}

fn providers(row: &IterationRow) -> u64 {
    row.calls.iter().map(|call| call.duration_ms).fold(0, u64::saturating_add)
}

/// Every question with its iteration: those of ended iterations, then those of the one at work.
fn questions<'a>(data: &PageData<'a>) -> Vec<(u32, &'a ProviderCall)> {
    let rows = &data.view.rows;
    let mut all: Vec<(u32, &ProviderCall)> =
        rows.iter().flat_map(|row| row.calls.iter().map(|call| (row.iteration, call))).collect();
    let seen = data.view.calls.iter().map(|(iteration, call)| (*iteration, call));
    all.extend(seen.filter(|(iteration, _)| rows.iter().all(|row| row.iteration != *iteration)));
    all
}

pub(super) fn draw(html: &mut Html, data: &PageData<'_>) {
    let spent = spent(data);
    let most = spent.iter().map(Spent::all).max().unwrap_or_default().max(1);
    let asked = spent.iter().any(|one| one.providers > 0);
    html.inside("ul", &[("class", "legend"), ("aria-hidden", "true")], |html| {
        for (class, text) in
            [("tests", "test runs"), ("ask", "providers"), ("rest", "search and the rest")]
        {
            if class != "ask" || asked {
                html.inside("li", &[], |html| {
                    html.leaf("span", &format!("key {class}"), "");
                    html.text(text);
                });
            }
        }
    });
    html.inside("ol", &[("class", "bars"), ("aria-hidden", "true")], |html| {
        for one in &spent {
            html.inside("li", &[], |html| {
                html.leaf("span", "n", &one.label);
                bar(html, one, most);
                html.leaf("span", "t", &time(one.all()));
            });
        }
    });
    html.inside("details", &[], |html| {
        html.leaf("summary", "", "All numbers");
        numbers(html, data);
    });
    let questions = questions(data);
    if !questions.is_empty() {
        html.leaf("h3", "", "Every question to a provider");
        calls(html, &questions);
    }
}

fn bar(html: &mut Html, one: &Spent, most: u64) {
    // Tenths of a percent are finer than a pixel.
    let share = |ms: u64| ms.saturating_mul(1000) / most;
    html.inside("svg", &[("class", "bar"), ("width", "100%"), ("height", "14")], |html| {
        let mut from = 0;
        for (class, ms) in [("tests", one.tests), ("ask", one.providers), ("rest", one.rest)] {
            let wide = share(ms);
            if wide > 0 {
                let percent = |tenths: u64| format!("{}.{}%", tenths / 10, tenths % 10);
                let (x, width) = (percent(from), percent(wide));
                html.void(
                    "rect",
                    &[("class", class), ("x", &x), ("y", "0"), ("width", &width), ("height", "14")],
                );
            }
            from += wide;
        }
    });
}

fn numbers(html: &mut Html, data: &PageData<'_>) {
    html.table("numbers", "Time and money by iteration", |html| {
        html.header(&[
            "#",
            "Strategy",
            "Before",
            "After",
            "Tests run",
            "Candidates",
            "Calls",
            "Tokens",
            "Cost",
            "Time",
        ]);
        html.inside("tbody", &[], |html| {
            for row in data.rows {
                let mut cost = Spending::default();
                for call in &row.calls {
                    cost.add(call.usage, call.micro_usd);
                }
                let unknown = if cost.unpriced > 0 { " and more" } else { "" };
                html.inside("tr", &[], |html| {
                    html.row_head(|html| html.text(&row.iteration.to_string()));
                    html.leaf("td", "word", row.strategy.word());
                    for text in [
                        format!("{} %", row.before),
                        format!("{} %", row.after),
                        format!(
                            "{} of {}",
                            number(row.tests_run.into()),
                            number(row.tests_of.into())
                        ),
                        number(row.tried.into()),
                        number(cost.calls),
                        number(cost.usage.tokens()),
                        format!("{}{unknown}", dollars(cost.micro_usd)),
                        time(row.duration_ms),
                    ] {
                        html.leaf("td", "", &text);
                    }
                });
            }
        });
    });
}

fn calls(html: &mut Html, questions: &[(u32, &ProviderCall)]) {
    let began = html.len();
    let mut drawn = 0;
    html.table("numbers", "Questions to providers", |html| {
        html.header(&["#", "Role", "Provider", "Answer", "Tokens in", "out", "Cost", "Time"]);
        html.inside("tbody", &[], |html| {
            for (iteration, call) in questions.iter().take(CALLS) {
                if html.len() - began > BYTES {
                    break;
                }
                drawn += 1;
                html.inside("tr", &[], |html| {
                    html.row_head(|html| html.text(&iteration.to_string()));
                    html.leaf("td", "word", &short(&format!("{} {}", call.role, call.turn), 40));
                    html.inside("td", &[("class", "word")], |html| {
                        html.text(&short(&call.provider, 60));
                        if !call.model.is_empty() && call.model != call.provider {
                            html.leaf("small", "", &short(&call.model, 80));
                        }
                    });
                    html.leaf("td", "word said", &answer(call));
                    for text in [
                        number(call.usage.input_tokens),
                        number(call.usage.output_tokens),
                        call.micro_usd.map_or_else(|| "not known".to_owned(), dollars),
                        time(call.duration_ms),
                    ] {
                        html.leaf("td", "", &text);
                    }
                });
            }
        });
    });
    left_out(html, questions.len() - drawn, "question", "the session's `.process/outcome.json`");
}

/// What came of a question, in words.
fn answer(call: &ProviderCall) -> String {
    let used = if call.used { "used" } else { "not used" };
    let sure = call.confidence.map(|sure| format!(", confidence {sure:.2}")).unwrap_or_default();
    let why = match call.trigger {
        Some(trigger) => format!(", {trigger}: {}", short(&call.reason, 200)),
        None => String::new(),
    };
    format!("{used}{sure}{why}")
}
