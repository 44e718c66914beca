//! The upper parts: what a reader sees without opening anything.

use std::collections::BTreeSet;

use crate::domain::event::{Ending, Outcome, Remaining, WrittenFile, WrittenWork};
use crate::domain::id::{CommitId, RepoPath, SessionId, TestId};
use crate::domain::rate::PassRate;
use crate::domain::test::Objection;
use crate::domain::text::count;

use super::chart;
use super::final_state::FinalState;
use super::forge_page::{ForgePage, JobFailure, Place};
use super::markdown::{code, grouped, link, prose};
use super::next_steps;
use super::parts::{Body, Cell, Fact, Item, Part, Screen};
use super::phrases::{capital, cost, describe_plausible_fix, sentence, time, usage};
use super::status_line::place_line;
use super::todo::doing;
use super::view::View;

/// Longest sentence that is shown, in characters.
pub const SENTENCE: usize = 400;

/// Cells of a bar: on the forge the line fits a phone.
const CELLS: u32 = 20;
/// Boundaries without a test that are named with their reasons.
const UNTESTED: usize = 3;

const CELLS_OF_A_TERMINAL: u32 = 40;

/// How it ended or what is done now.
pub fn heading(view: &View, facts: &ForgePage<'_>, screen: Screen) -> Part<'static> {
    if let Some(work) = written_work(view, screen) {
        return Part::new(&prose(&work, SENTENCE));
    }
    let icon = match FinalState::of(view, facts) {
        _ if !screen.is_on_forge() => "",
        None => "🔄 ",
        Some(_) if view.failing_before() > 0 => FinalState::NotGreen.icon(),
        Some(state) => state.icon(),
    };
    Part::new(&format!("{icon}{}", prose(&place_line(view, facts), SENTENCE)))
}

/// Why the session ended and where the fix is, or the running step.
pub fn verdict(view: &View, facts: &ForgePage<'_>, screen: Screen) -> Part<'static> {
    let suite = written_work(view, screen).map(|_| {
        let line = match FinalState::of(view, facts) {
            Some(FinalState::TestsWritten) => FinalState::Green.heading(view, facts),
            _ => place_line(view, facts),
        };
        format!("{}.", prose(&sentence(&line), SENTENCE))
    });
    let mut paragraphs = match (FinalState::of(view, facts), facts.failure) {
        (Some(_), Some(failure)) => {
            let page = facts.pull_url.or(facts.branch_url).map(|url| link("the fix branch", url));
            let kept = page.map(|page| format!("What was kept is in {page}."));
            vec![why_without_result(failure), kept.unwrap_or_default()]
        }
        (None, _) => {
            let doing = prose(&sentence(&doing(view)), SENTENCE);
            vec![if doing.is_empty() { doing } else { format!("{doing} …") }]
        }
        (Some(FinalState::Reverted), None) => {
            let rate = view.rate().map(rate_before);
            let page = facts.pull_url.map(|url| link("the fix", url));
            let page = page.or_else(|| facts.branch_url.map(|url| link("the fix branch", url)));
            let is_linked = screen != Screen::PullRequest && !view.is_taken_back();
            let page = page.filter(|_| is_linked);
            let left = page.map(|page| format!("What is left is in {page}."));
            vec![rate.unwrap_or_default(), left.unwrap_or_default()]
        }
        (Some(state), None) => match &view.outcome {
            Some(outcome) => {
                let place = change_place(state, (outcome, view), facts, screen);
                let is_untested = facts.incomplete.is_some() && facts.is_pushed();
                match view.rate().filter(|_| is_untested && state.meets_gate()) {
                    Some(rate) => vec![place, rate_before(rate)],
                    None => vec![why(outcome, view, screen), place],
                }
            }
            None => Vec::new(),
        },
    };
    for work in facts.earlier_work.iter().filter(|_| screen != Screen::PullRequest) {
        let (what, heading) = ("The result of an earlier run", prose(&work.heading, SENTENCE));
        paragraphs.push(match &work.place {
            Place::Page(url) => format!("**{} still waits:** {heading}.", link(what, url)),
            Place::Stored(tip) => {
                format!("**{what} still waits:** {heading}. `/regreen apply {tip}` publishes it.")
            }
        });
    }
    paragraphs.splice(0..0, suite);
    paragraphs.retain(|text| !text.is_empty());
    Part::text(paragraphs.join("\n\n"))
}

/// What a session that writes tests has written, which heads its end on a terminal, and which gates hold.
fn written_work(view: &View, screen: Screen) -> Option<String> {
    let work = view.outcome.as_ref()?.written.as_ref().filter(|_| !screen.is_on_forge())?;
    let tests: u64 = work.files.iter().map(|one| u64::from(one.tests)).sum();
    let files: Vec<&str> = work.files.iter().map(|one| one.file.as_str()).collect();
    let mut gates = match work.missed_gates.as_slice() {
        // Integration tests are held to their boundary, and not reviewed against requirements.
        [] if SessionId::parse(view.session.as_str()).is_ok_and(|id| id.is_integration()) => {
            "each crosses its boundary, code check passed".to_owned()
        }
        [] => "code check and test review passed".to_owned(),
        missed => format!("not met: {}", missed.join("; ")),
    };
    if !work.findings.is_empty() {
        gates += &format!("; {} of the code", count(work.findings.len() as u64, "finding"));
    }
    if says_shortfall(work) {
        gates += &format!("; not reached: {}", work.shortfall);
    }
    Some(match (files.as_slice(), work.obstacle.as_str()) {
        ([], "") => "No test was written".to_owned(),
        ([], obstacle) => format!("No test was written: {obstacle}"),
        ([file], _) => format!("{} written in {file}, {gates}", count(tests, "test")),
        (files, _) => {
            let files = count(files.len() as u64, "file");
            format!("{} written in {files}, {gates}", count(tests, "test"))
        }
    })
}

/// Whether the heading has room for the numbers that were not reached.
fn says_shortfall(work: &WrittenWork) -> bool {
    !work.shortfall.is_empty() && work.missed_gates.is_empty()
}

/// The pass rate of the last run, where something changed since.
fn rate_before(rate: PassRate) -> String {
    format!("Before that, {rate} % passed.")
}

/// Why a job has nothing to show, and what helps.
fn why_without_result(failure: &JobFailure) -> String {
    let text = |text: &str| prose(&sentence(text), SENTENCE);
    match failure {
        JobFailure::NoResult { message, hint } => format!("{}. {}.", text(message), text(hint)),
        JobFailure::Refused { reason } => {
            let why =
                "Nothing of it is on the server, so the result that it claims does not count.";
            format!("{}. {why}", text(reason))
        }
    }
}

/// Why the session ended, and what it changed.
fn why(outcome: &Outcome, view: &View, screen: Screen) -> String {
    let mut text = format!("{}.", prose(&sentence(&outcome.reason), SENTENCE));
    if view.regained() > 0 {
        text.push_str(&format!(" {} regained.", count(view.regained(), "test")));
    }
    if !view.written.is_empty() {
        let files: Vec<_> = view.written.iter().map(written_file).collect();
        text.push_str(&format!(" Tests were written: {}.", enumeration(&files)));
    }
    let untested: Vec<&String> = outcome.written.iter().flat_map(|work| &work.untested).collect();
    if !untested.is_empty() {
        let named: Vec<String> =
            untested.iter().take(UNTESTED).map(|one| prose(one, SENTENCE)).collect();
        let more = untested.len().saturating_sub(UNTESTED);
        let more = if more == 0 { String::new() } else { format!("; and {more} more") };
        text.push_str(&format!(" No test was written for {}{more}.", named.join("; ")));
    }
    let findings = outcome.written.iter().flat_map(|work| &work.findings);
    let findings: Vec<String> = findings.map(|one| prose(one, SENTENCE)).collect();
    if !findings.is_empty() {
        text.push_str(&format!(" Findings of the code: {}.", enumeration(&findings)));
    }
    let shortfall = outcome.written.as_ref().map_or("", |work| work.shortfall.as_str());
    let is_heading = outcome.written.as_ref().is_some_and(says_shortfall);
    if !shortfall.is_empty() && (screen.is_on_forge() || !is_heading) {
        text.push_str(&format!(" Not reached: {}.", prose(shortfall, SENTENCE)));
    }
    if outcome.degraded {
        text.push_str(" In some iteration no provider gave a good answer.");
    }
    text
}

/// Where the change is, and what holds of it; empty without a change.
fn change_place(
    state: FinalState,
    (outcome, view): (&Outcome, &View),
    facts: &ForgePage<'_>,
    screen: Screen,
) -> String {
    let no_patch = outcome.patch.trim().is_empty();
    if no_patch && view.written.is_empty() || !screen.is_on_forge() {
        return String::new();
    }
    let (subject, branch, evidence) = match state {
        FinalState::TestsWritten => (
            "the tests",
            "the branch with the tests",
            "Whether they test what you mean, you decide.".to_owned(),
        ),
        _ => ("the fix", "the fix branch", describe_plausible_fix(view, outcome)),
    };
    if let Some(head) = facts.on_head {
        return format!("{} is on {} now. {evidence}", capital(subject), code(head));
    }
    let pages = [(facts.pull_url, subject), (facts.branch_url, branch)];
    let page = pages.iter().find_map(|(url, words)| url.map(|url| link(words, url)));
    match page {
        // The body stands on the fix itself.
        _ if screen == Screen::PullRequest => match facts.incomplete {
            Some(why) => {
                let why = prose(&sentence(why), SENTENCE);
                format!("**This is not exactly what was tested.** {why}.")
            }
            None => evidence,
        },
        None => {
            let why = facts.incomplete.map(|why| format!(": {}", prose(why, SENTENCE)));
            let patch = if no_patch { "" } else { " The change is the patch below." };
            format!("Nothing was pushed{}.{patch}", why.unwrap_or_default())
        }
        Some(page) if facts.incomplete.is_some() => {
            let why = prose(&sentence(facts.incomplete.unwrap_or_default()), SENTENCE);
            format!("**Not all of it is tested on the server.** {why}. See {page}.")
        }
        Some(page) if state.meets_gate() || state == FinalState::Objected => {
            format!("**Review {page}.** {evidence}")
        }
        Some(page) => format!("What was kept is in {page}."),
    }
}

/// A test file with its tests and the source that it tests.
fn written_file(one: &WrittenFile) -> String {
    let tests = count(one.tests, "test");
    format!("{} ({tests} of {})", code(one.file.as_str()), code(one.subject.as_str()))
}

/// Words with commas between them; those beyond the first ten are counted.
fn enumeration(words: &[String]) -> String {
    const NAMED: usize = 10;
    let more = words.len().saturating_sub(NAMED);
    let named = words.get(..NAMED).unwrap_or(words).join(", ");
    if more == 0 { named } else { format!("{named} and {more} more") }
}

/// Rates, time and money.
pub fn figures(view: &View) -> Part<'static> {
    let fact = |name, value: String, note| Fact { name, value: Cell::Words(value), note };
    let mut facts = Vec::new();
    if let Some(last) = view.rate() {
        let from = view.baseline.map(|first| format!("from {first} %")).unwrap_or_default();
        let about = view.outcome.as_ref().is_some_and(|outcome| outcome.estimated);
        let rate = format!("{}{last} %", if about { "about " } else { "" });
        facts.push(fact("Pass rate", rate, from));
        let back = match view.regained() {
            0 => String::new(),
            some => format!("{} regained", grouped(some.into())),
        };
        let passed = format!("{} of {}", grouped(last.passed.into()), grouped(last.total.into()));
        facts.push(fact("Tests that pass", passed, back));
    }
    let improved = view.improvements();
    facts.push(fact("Iterations", view.rows.len().to_string(), format!("{improved} kept")));
    if let Some(outcome) = &view.outcome {
        let testing = format!("{} in test runs", time(outcome.testing_ms));
        facts.push(fact("Time of the fix loop", time(outcome.duration_ms), testing));
    }
    let asked = view.spent.calls > 0;
    let note = if asked { usage(&view.spent) } else { "no provider asked".to_owned() };
    facts.push(fact("Spent", cost(&view.spent), note));
    Part { body: Body::Facts(facts), ..Part::default() }
}

/// Where the result is.
pub fn places(view: &View) -> Part<'static> {
    let Some(outcome) = &view.outcome else { return Part::default() };
    let branch = outcome.tip.as_ref().map(|_| ("Fix branch", &outcome.branch));
    let places = [("Session", &outcome.session), ("Report", &outcome.report)];
    let all = branch.into_iter().chain(places).chain([("Folder", &outcome.folder)]);
    let facts = all.filter(|(_, value)| !value.is_empty()).map(|(name, value)| Fact {
        name,
        value: Cell::Name(value.clone()),
        note: String::new(),
    });
    Part { body: Body::Facts(facts.collect()), ..Part::new("Where to find it") }
}

/// The pass rate of each iteration as a bar.
pub fn climb(view: &View, facts: &ForgePage<'_>, screen: Screen) -> Part<'static> {
    if FinalState::of(view, facts) == Some(FinalState::NoSession) {
        return Part::default();
    }
    let cells =
        if matches!(screen, Screen::Terminal | Screen::Log) { CELLS_OF_A_TERMINAL } else { CELLS };
    let title = if screen == Screen::Page { "Pass rate" } else { "" };
    Part { body: Body::Chart(chart::bars(view, facts.target, cells)), ..Part::new(title) }
}

/// The change itself.
pub fn change<'a>(view: &'a View, facts: &ForgePage<'_>, screen: Screen) -> Part<'a> {
    let outcome = view.outcome.as_ref().filter(|outcome| !outcome.patch.trim().is_empty());
    // After a fix is taken back, the patch is no longer what the branch holds.
    let Some(outcome) = outcome.filter(|_| view.reverted.is_empty()) else {
        return Part::default();
    };
    let intro = match screen.is_on_forge() {
        true if facts.is_pushed() => String::new(),
        true => "Save it and apply it with `git apply`.".to_owned(),
        false => describe_plausible_fix(view, outcome),
    };
    Part { intro, body: Body::Patch(&outcome.patch), ..Part::new("The change") }
}

/// The edit whose test run the run did not live to see.
pub fn unconfirmed(view: &View) -> Part<'_> {
    let unfinished = view.outcome.as_ref().and_then(|outcome| outcome.unfinished.as_ref());
    let Some(edit) = unfinished.and_then(|unfinished| unfinished.edit.as_ref()) else {
        return Part::default();
    };
    let suspicion =
        edit.suspicion.as_ref().map(|why| format!(" It is suspicious: {}.", prose(why, SENTENCE)));
    let intro = format!(
        "The run stopped before the tests had confirmed this edit, so it is in no commit. A run that \
         continues the session begins with it.{}",
        suspicion.unwrap_or_default()
    );
    Part { intro, body: Body::Patch(&edit.patch), ..Part::new("Found, not confirmed") }
}

/// Whether the last lines of a command tell that it may not write in `node_modules`.
fn is_write_refused(tail: &str) -> bool {
    let is_refused = |line: &str| ["EACCES", "EROFS"].iter().any(|code| line.contains(code));
    tail.lines().any(|line| is_refused(line) && line.contains("node_modules"))
}

/// What the last full run says beside its tests, and what to do about it.
pub fn list_objections(view: &View) -> Part<'_> {
    // After a fix is taken back, the last run says nothing of what the branch holds.
    let is_said = |one: &&Outcome| one.result == Ending::Failure && view.reverted.is_empty();
    let outcome = view.outcome.iter().filter(is_said);
    let mut part = Part::new("Beside the tests");
    for objection in outcome.flat_map(|outcome| &outcome.objections) {
        let next_step = match objection {
            Objection::Command { tail, .. } if is_write_refused(tail) => {
                "The command could not write in an installed package, which regreen keeps unchanged. \
                 Run it yourself before you correct anything.\n\n"
            }
            Objection::Command { .. } if objection.missing_program().is_some() => {
                "The command needs a program that is not there. Install it where regreen runs, or take it out of \
                 the command.\n\n"
            }
            Objection::Command { .. } => {
                "The command fails, or says that tests fail, although every test that regreen read \
                 passes. regreen repairs tests only: correct what the command adds, or take it out of \
                 the command.\n\n"
            }
            Objection::Report(_) => {
                "A report that does not agree with itself may lack tests: find out why before you rely \
                 on it.\n\n"
            }
        };
        if !part.intro.contains(next_step) {
            part.intro.push_str(next_step);
        }
        if let Objection::Command { tail, .. } = objection
            && !tail.is_empty()
        {
            part.intro.push_str("Its last lines:\n\n");
            part.body = Body::Output(tail);
        }
    }
    if part.intro.is_empty() { Part::default() } else { part }
}

/// Tests that fail now, with criticality and evidence.
pub fn failing(view: &View, facts: &ForgePage<'_>) -> Part<'static> {
    let marks = Marks::new(view);
    if !view.reverted.is_empty() {
        return Part::default();
    }
    if view.outcome.is_some() {
        let tests = gravest(view).into_iter();
        return Part::list("Still failing", tests, |one| remaining(one, view, &marks, facts));
    }
    Part::list("Failing now", view.failing().into_iter(), |test| {
        let text = marks.of(&test).join("; ");
        Item { name: test.0, text, ..Item::default() }
    })
}

/// Tests that fail at the end, most critical first, otherwise in the order of the outcome.
pub fn gravest(view: &View) -> Vec<&Remaining> {
    let mut failing: Vec<_> =
        view.outcome.iter().flat_map(|outcome| outcome.failing.iter()).collect();
    failing.sort_by_key(|one| match one.criticality.as_str() {
        "low" => 2,
        "medium" => 1,
        _ => 0,
    });
    failing
}

fn remaining(one: &Remaining, view: &View, marks: &Marks<'_>, facts: &ForgePage<'_>) -> Item {
    let mut text = vec![prose(&one.evidence, SENTENCE)];
    text.extend(marks.of(&one.test).into_iter().map(str::to_owned));
    text.retain(|part| !part.is_empty());
    let message = (!one.message.trim().is_empty()).then(|| code(&one.message));
    let place =
        one.file.as_ref().map(|file| source_line(file, one.line, view.head.as_ref(), facts));
    let place = place.map(|place| format!("at {place}"));
    Item {
        name: one.test.to_string(),
        weight: prose(&one.criticality, 20),
        text: text.join("; "),
        more: message.into_iter().chain(place).collect::<Vec<_>>().join(" "),
    }
}

/// What is known of failing tests beside that they fail.
struct Marks<'a>([(BTreeSet<&'a TestId>, &'static str); 3]);

impl<'a> Marks<'a> {
    fn new(view: &'a View) -> Self {
        let stuck = view.outcome.iter().flat_map(|outcome| &outcome.stuck).collect();
        Self([
            (stuck, "stuck: failed in each of its latest results"),
            (view.flaky.iter().collect(), "flaky"),
            (view.preexisting.iter().collect(), "fails on the base too"),
        ])
    }

    fn of(&self, test: &TestId) -> Vec<&'static str> {
        self.0.iter().filter(|(tests, _)| tests.contains(test)).map(|(_, words)| *words).collect()
    }
}

/// A line of a file, linked at the commit under test.
fn source_line(
    file: &RepoPath,
    at: Option<u32>,
    head: Option<&CommitId>,
    facts: &ForgePage<'_>,
) -> String {
    let at = at.filter(|at| *at > 0);
    let words = at.map_or_else(|| code(file.as_str()), |at| code(&format!("{file}:{at}")));
    let anchor = at.map_or_else(String::new, |at| format!("#L{at}"));
    head.map_or(words.clone(), |head| {
        facts.link_into(&words, &format!("blob/{head}/{}{anchor}", encoded(file.as_str())))
    })
}

fn encoded(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// What a person can do next, most useful first.
pub fn next(view: &View, page: &ForgePage<'_>) -> Part<'static> {
    let steps = match (&view.outcome, page.pull) {
        (_, Some(_)) => next_steps::in_comment(view, page),
        // A job without a pull request has no folder that a person could work in.
        (Some(outcome), None) if page.server_url.is_empty() => next_steps::in_terminal(outcome),
        (None, None) if page.server_url.is_empty() && !view.session.is_empty() => {
            vec![next_steps::resume_session(&view.session)]
        }
        (_, None) => Vec::new(),
    };
    Part::list("Next", steps.into_iter(), |step| Item {
        name: step.command,
        text: step.purpose.to_owned(),
        ..Item::default()
    })
}
