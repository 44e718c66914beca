//! What a dry run explains: for each group of failures where, why, since when and how sure, and
//! what a fix would try.

use crate::domain::explanation::{
    Approach, ExplainedCluster, Explanation, LineOrigin, Spectrum, SuspectFunction, SuspiciousLine,
    ochiai,
};
use crate::domain::id::TestId;
use crate::domain::provider::EMBEDDED;
use crate::domain::text::count;

use super::markdown::{brief, code, grouped, line, prose};
use super::parts::{Item, Part, Screen};
use super::phrases::{sentence, time};
use super::view::View;

/// Tests of a cluster that are named.
const NAMED: usize = 3;

/// Clusters that an answer to a command shows.
const SHOWN: usize = 10;

/// Characters of a cause that a provider names.
const CAUSE: usize = 400;

/// Characters of a place.
const NAME: usize = 200;

/// Characters of a message.
const MESSAGE: usize = 200;

/// The explanation on a screen; empty without one.
pub fn part(view: &View, screen: Screen) -> Part<'static> {
    let Some(explanation) = of(view) else { return Part::default() };
    let entry = |cluster: &ExplainedCluster| {
        let answers = answers(cluster, screen.is_on_forge());
        let answers: Vec<String> =
            answers.iter().map(|(question, answer)| format!("{question}: {answer}")).collect();
        let ranked = ranked(&cluster.functions).map(|ranked| format!("Look at: {ranked}\n"));
        Item {
            name: cluster.place.as_ref().map_or_else(|| first(cluster), place),
            weight: String::new(),
            text: tests(cluster),
            more: format!("{}{}", ranked.unwrap_or_default(), answers.join(" ")),
        }
    };
    let part = Part::list("Where it may come from", explanation.clusters.iter(), entry);
    Part { tail: outlook(&explanation.approach), ..part }
}

/// The explanation alone, as the answer to a command.
pub fn markdown(view: &View) -> String {
    let reason = view.outcome.as_ref().map_or("the run gave no result", |end| &end.reason);
    let Some(explanation) = of(view) else {
        let done = view.outcome.as_ref().is_some_and(|outcome| outcome.result.is_done());
        let what = if done { "There is nothing to explain" } else { "No diagnosis was made" };
        return format!("{what}: {}.\n", prose(reason, CAUSE));
    };
    let clusters = &explanation.clusters;
    let failing: usize = clusters.iter().map(|cluster| cluster.tests.len()).sum();
    let mut text = format!(
        "{}, in {}. Nothing was changed.\n",
        count(failing, "failing test"),
        count(clusters.len(), "group")
    );
    for (cluster, number) in clusters.iter().take(SHOWN).zip(1..) {
        let name = cluster.place.as_ref().map_or_else(|| first(cluster), place);
        text.push_str(&format!("\n**{number}.** {}: {}\n\n", code(&name), tests(cluster)));
        if let Some(ranked) = ranked(&cluster.functions) {
            text.push_str(&format!("- Look at: {ranked}\n"));
        }
        for (question, answer) in answers(cluster, true) {
            text.push_str(&format!("- {question}: {answer}\n"));
        }
    }
    if clusters.len() > SHOWN {
        text.push_str(&format!("\nAnd {} more.\n", clusters.len() - SHOWN));
    }
    text.push_str(&format!("\n{}\n", outlook(&explanation.approach)));
    text
}

fn of(view: &View) -> Option<&Explanation> {
    let explanation = view.outcome.as_ref()?.explanation.as_ref()?;
    (!explanation.clusters.is_empty()).then_some(explanation)
}

fn first(cluster: &ExplainedCluster) -> String {
    cluster.tests.first().map_or_else(String::new, TestId::to_string)
}

fn place(place: &SuspiciousLine) -> String {
    let SuspiciousLine { file, line, function, .. } = place;
    match function.as_str() {
        "" | "<module>" => format!("{file}:{line}"),
        function => format!("{file}:{line} in {function}"),
    }
}

/// The functions that may hold the cause with their lines, most suspicious first.
fn ranked(functions: &[SuspectFunction]) -> Option<String> {
    let one = |(at, one): (usize, &SuspectFunction)| {
        let SuspectFunction { file, function, start, end, lines } = one;
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        let word = if lines.len() == 1 { "line" } else { "lines" };
        let name = match function.as_str() {
            "<module>" => format!("{file}:{start}"),
            function => format!("{file}:{start}-{end} {function}"),
        };
        format!("{}. {} ({word} {})", at + 1, code(&line(&name, NAME)), lines.join(", "))
    };
    let all: Vec<String> = functions.iter().enumerate().map(one).collect();
    (!all.is_empty()).then(|| format!("{}.", all.join("; ")))
}

/// Which tests fail.
fn tests(cluster: &ExplainedCluster) -> String {
    let names: Vec<String> =
        cluster.tests.iter().take(NAMED).map(|test| brief(test.as_str())).collect();
    let more = match cluster.tests.len().saturating_sub(NAMED) {
        0 => String::new(),
        some => format!(" and {some} more"),
    };
    let number = count(cluster.tests.len(), "failing test");
    format!("{number}, {}{more}", names.join(", "))
}

/// The questions that a reader has, with their answers as Markdown.
fn answers(cluster: &ExplainedCluster, on_forge: bool) -> [(&'static str, String); 3] {
    [
        ("Why", why(cluster)),
        ("Since", since(cluster, on_forge)),
        ("How sure", how_sure(cluster.place.as_ref())),
    ]
}

fn why(cluster: &ExplainedCluster) -> String {
    let message = line(&cluster.message, MESSAGE);
    let mut text = if message.is_empty() { "no message".to_owned() } else { code(&message) };
    text.push('.');
    if let Some(analysis) = &cluster.analysis {
        let (author, place) = (brief(&analysis.author), brief(&analysis.place));
        let cause = prose(&sentence(&analysis.cause), CAUSE);
        text.push_str(&format!(" {author} at {place}: {cause}"));
        text.push_str(if text.ends_with(['.', '!', '?']) { "" } else { "." });
    }
    text
}

/// Since when the tests fail, as far as the merge base and the history of the lines say.
fn since(cluster: &ExplainedCluster, on_forge: bool) -> String {
    let before = if on_forge { "before this pull request" } else { "before the merge base" };
    let all = u32::try_from(cluster.tests.len()).unwrap_or(u32::MAX);
    let on_base = match (cluster.preexisting, cluster.introduced) {
        (0, 0) => "no run on a merge base compares".to_owned(),
        (old, 0) if old == all => "the tests fail on the merge base too".to_owned(),
        (0, new) if new == all => "the tests pass on the merge base".to_owned(),
        (old, new) => format!("on the merge base {old} of {all} tests fail and {new} pass"),
    };
    match &cluster.origin {
        // What fails on the base is older than any commit that is not part of it.
        _ if cluster.preexisting == all => format!("{before}; {on_base}."),
        LineOrigin::Commit { id, title } => {
            let likely = if cluster.introduced > 0 { "probably " } else { "" };
            let commit = format!("{likely}{} ({})", code(id.short()), brief(title));
            format!("{commit}, the last commit to change this place; {on_base}.")
        }
        LineOrigin::BeforeBase => format!("this place is as it was {before}; {on_base}."),
        LineOrigin::Unknown => format!("unknown; {on_base}."),
    }
}

/// The evidence for a place, and what it is worth.
fn how_sure(place: Option<&SuspiciousLine>) -> String {
    let Some(place) = place else {
        return "not at all; neither coverage nor a stack trace points at a line of the sources."
            .into();
    };
    let mut facts = Vec::new();
    if place.in_stack {
        facts.push("the stack trace names this line".to_owned());
    }
    if place.is_changed {
        facts.push("the line differs from the merge base".to_owned());
    }
    let Some(spectrum) = place.spectrum else {
        return format!("a guess without coverage; {}.", facts.join(", "));
    };
    let Spectrum { failing, failing_of, passing, passing_of } = spectrum;
    let runs = count(failing_of, "failing run");
    let verb = if failing == 1 { "executes" } else { "execute" };
    let does = if passing == 1 { "does" } else { "do" };
    facts.insert(
        0,
        format!(
            "{failing} of {runs} {verb} this line, {passing} of {passing_of} passing ones {does}"
        ),
    );
    if place.equals > 1 {
        facts.push(format!("{} of the function share this rank", count(place.equals, "line")));
    }
    if let Some(raised_at) = &place.raised_at {
        facts.push(format!("the message comes from {}", code(raised_at)));
    }
    let strength = match ochiai(failing, failing_of, passing) {
        0.9.. if place.raised_at.is_none() => "strong evidence",
        0.6.. => "fair evidence",
        _ => "weak evidence",
    };
    format!("{strength}; {}.", facts.join(", "))
}

/// What a fix would try first.
fn outlook(approach: &Approach) -> String {
    let search = approach.search;
    let engine = format!(
        "the built-in engine ({}, at most {} candidates and {} a search)",
        count(search.kinds, "kind of edit").replace("kind of edits", "kinds of edit"),
        grouped(search.candidates.into()),
        time(search.seconds.saturating_mul(1000))
    );
    let names: Vec<String> = approach
        .chain
        .iter()
        .map(|name| if name == EMBEDDED { engine.clone() } else { brief(name) })
        .collect();
    let who = if names.is_empty() { "nobody".to_owned() } else { names.join(", then ") };
    format!(
        "A fix would begin with the {} strategy ({}) and try {who}, in at most {}.",
        approach.strategy,
        prose(&approach.reason, CAUSE),
        count(approach.max_iterations, "iteration")
    )
}

#[cfg(test)]
pub mod samples {
    use super::*;
    use crate::domain::explanation::{ProviderAnalysis, SearchBudget};
    use crate::domain::id::{CommitId, RepoPath};
    use crate::domain::strategy::Strategy;

    /// A cluster of four tests with everything that can be known, in foreign words.
    pub fn cluster(text: &str) -> ExplainedCluster {
        let tests = ["a", "b", "c", "d"].map(|name| TestId(format!("{name}{text}")));
        ExplainedCluster {
            tests: tests.into(),
            place: Some(SuspiciousLine {
                file: RepoPath::parse("shop/price.py").unwrap(),
                function: "discount".into(),
                start: 10,
                end: 14,
                line: 12,
                equals: 1,
                spectrum: Some(Spectrum { failing: 4, failing_of: 4, passing: 1, passing_of: 40 }),
                in_stack: true,
                is_changed: true,
                raised_at: None,
            }),
            functions: vec![
                SuspectFunction {
                    file: RepoPath::parse("shop/price.py").unwrap(),
                    function: format!("discount{text}"),
                    start: 10,
                    end: 14,
                    lines: vec![12, 13],
                },
                SuspectFunction {
                    file: RepoPath::parse("shop/cart.py").unwrap(),
                    function: "Cart.total".into(),
                    start: 3,
                    end: 9,
                    lines: vec![7],
                },
            ],
            message: format!("assert 90 == 95{text}"),
            analysis: Some(ProviderAnalysis {
                author: "gemini".into(),
                cause: format!("the discount is lost{text}"),
                place: "shop/price.py:discount:10-14".into(),
            }),
            preexisting: 0,
            introduced: 4,
            origin: LineOrigin::Commit {
                id: CommitId::parse("c".repeat(40)).unwrap(),
                title: format!("Round prices{text}"),
            },
        }
    }

    pub fn explanation(clusters: Vec<ExplainedCluster>) -> Explanation {
        let approach = Approach {
            strategy: Strategy::Conservative,
            reason: "the first iterations are conservative".into(),
            chain: vec!["gemini".into(), "embedded".into()],
            search: SearchBudget { kinds: 41, candidates: 6_000, seconds: 120 },
            max_iterations: 10,
        };
        Explanation { clusters, approach }
    }
}

#[cfg(test)]
mod tests {
    use super::samples::{cluster, explanation};
    use super::*;
    use crate::domain::event::Ending;

    #[test]
    fn evidence_is_not_strong_where_the_message_comes_from_another_file() {
        let spectrum = Some(Spectrum { failing: 1, failing_of: 1, passing: 0, passing_of: 3 });
        let place = SuspiciousLine { spectrum, ..cluster("").place.unwrap() };
        assert!(how_sure(Some(&place)).starts_with("strong evidence"));
        let raised_at = Some("tests/conftest.py:7".to_owned());
        let sure = how_sure(Some(&SuspiciousLine { raised_at, ..place }));
        assert!(sure.starts_with("fair evidence"), "{sure}");
        assert!(sure.contains("the message comes from `tests/conftest.py:7`"), "{sure}");
    }

    #[test]
    fn an_answer_says_where_why_since_when_how_sure_and_what_next() {
        let bare = ExplainedCluster {
            place: None,
            functions: Vec::new(),
            analysis: None,
            introduced: 0,
            origin: LineOrigin::Unknown,
            ..cluster("")
        };
        let hostile = cluster("`@octocat` <img src=x>\n## end https://evil.example/x #12");
        let mut view = crate::report::tests::closed(Ending::Planned);
        let outcome = view.outcome.as_mut().unwrap();
        outcome.explanation = Some(explanation(vec![hostile, bare]));
        insta::assert_snapshot!(markdown(&view), @r"
        8 failing tests, in 2 groups. Nothing was changed.

        **1.** `shop/price.py:12 in discount`: 4 failing tests, ``a`@octocat` <img src=x> ## end https://evil.example/x #12``, ``b`@octocat` <img src=x> ## end https://evil.example/x #12``, ``c`@octocat` <img src=x> ## end https://evil.example/x #12`` and 1 more

        - Look at: 1. ``shop/price.py:10-14 discount`@octocat` <img src=x> ## end https://evil.example/x #12`` (lines 12, 13); 2. `shop/cart.py:3-9 Cart.total` (line 7).
        - Why: ``assert 90 == 95`@octocat` <img src=x> ## end https://evil.example/x #12``. `gemini` at `shop/price.py:discount:10-14`: The discount is lost`@octocat` `<img src=x> ##` end `https://evil.example/x #12`.
        - Since: probably `cccccccc` (``Round prices`@octocat` <img src=x> ## end https://evil.example/x #12``), the last commit to change this place; the tests pass on the merge base.
        - How sure: fair evidence; 4 of 4 failing runs execute this line, 1 of 40 passing ones does, the stack trace names this line, the line differs from the merge base.

        **2.** `a`: 4 failing tests, `a`, `b`, `c` and 1 more

        - Why: `assert 90 == 95`.
        - Since: unknown; no run on a merge base compares.
        - How sure: not at all; neither coverage nor a stack trace points at a line of the sources.

        A fix would begin with the conservative strategy (the first iterations are conservative) and try `gemini`, then the built-in engine (41 kinds of edit, at most 6,000 candidates and 2 min a search), in at most 10 iterations.
        ");
    }
}
