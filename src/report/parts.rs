//! What a session shows, as one list of parts. A state is phrased once, in the file that fills its
//! part; a screen names the parts it shows, and one renderer for each kind of screen (Markdown,
//! terminal, HTML) writes them.

use serde::Serialize;

use super::forge_page::CommandReply;
use super::markdown::{SHORT, code, line};
use super::phrases::single_safe_line;
use super::todo::Todo;
use super::view::View;

/// Where parts are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Screen {
    /// The comment of a pull request and the summary of a job.
    Comment,
    /// The summary of a check run: what a person needs.
    CheckSummary,
    /// The text of a check run: the record.
    CheckText,
    /// The body of the pull request that offers a fix.
    PullRequest,
    /// `report.md` in the session's folder.
    Report,
    /// The closing lines of a run in a terminal.
    Terminal,
    /// The closing lines of the bot's run in the log of a job, whose machine nobody can reach.
    Log,
    /// The HTML page.
    Page,
}

/// One part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartId {
    Heading,
    Verdict,
    Figures,
    Chart,
    /// What the last full run says beside its tests.
    Objections,
    Failing,
    /// Where a search looked that found nothing.
    Searched,
    /// Where the failures come from, as a dry run sees it.
    Explanation,
    Change,
    /// An edit that was found and not confirmed.
    Unconfirmed,
    Next,
    Answers,
    /// The tests that failed at some time; drawn on the page only.
    Tests,
    Iterations,
    /// Time and money; on the page only, with a table of its own.
    Time,
    Attempts,
    Proof,
    /// What it cost for what it regained, and what stands behind that.
    Score,
    Todo,
    Asked,
    Notes,
    Used,
    Places,
}

impl Screen {
    /// Whether it stands on the forge, where links and commands work.
    pub fn is_on_forge(self) -> bool {
        matches!(self, Self::Comment | Self::CheckSummary | Self::CheckText | Self::PullRequest)
    }

    /// Its parts, in the order in which a reader meets them. What fails comes before the change
    /// when the gate was not met.
    pub fn parts(self, view: &View) -> Vec<PartId> {
        use PartId::{
            Answers, Asked, Attempts, Change, Chart, Explanation, Failing, Figures, Heading,
            Iterations, Next, Notes, Objections, Places, Proof, Score, Searched, Tests, Time, Todo,
            Unconfirmed, Used, Verdict,
        };
        let mut parts = match self {
            Self::Comment => vec![
                Heading,
                Verdict,
                Chart,
                Failing,
                Change,
                Unconfirmed,
                Explanation,
                Next,
                Answers,
                Iterations,
                Attempts,
                Proof,
                Score,
                Todo,
                Asked,
                Notes,
                Used,
            ],
            Self::CheckSummary => {
                vec![Verdict, Chart, Failing, Change, Unconfirmed, Explanation, Next, Used]
            }
            Self::CheckText => vec![Iterations, Attempts, Proof, Score, Todo, Asked, Notes],
            Self::PullRequest => vec![Heading, Verdict, Chart, Failing, Iterations, Proof],
            Self::Report => vec![
                Heading,
                Verdict,
                Figures,
                Chart,
                Iterations,
                Failing,
                Change,
                Unconfirmed,
                Explanation,
                Proof,
                Score,
                Attempts,
                Asked,
                Notes,
                Next,
                Places,
            ],
            Self::Terminal => {
                vec![
                    Heading,
                    Verdict,
                    Iterations,
                    Chart,
                    Failing,
                    Change,
                    Unconfirmed,
                    Explanation,
                    Places,
                    Next,
                ]
            }
            Self::Log => {
                vec![Heading, Verdict, Iterations, Chart, Failing, Change, Unconfirmed, Explanation]
            }
            Self::Page => vec![
                Chart,
                Failing,
                Explanation,
                Tests,
                Iterations,
                Time,
                Attempts,
                Change,
                Unconfirmed,
                Proof,
                Score,
                Asked,
                Notes,
                Next,
                Places,
            ],
        };
        // What fails the run beside its tests comes before what fails in it.
        if let Some(at) = parts.iter().position(|part| *part == Failing) {
            let is_searched = view.outcome.as_ref().is_some_and(|one| one.searched.is_some());
            parts.splice(at + 1..=at, is_searched.then_some(Searched));
            parts.insert(at, Objections);
        }
        let met = view.outcome.as_ref().is_some_and(|outcome| outcome.result.is_done());
        let on_forge = matches!(self, Self::Comment | Self::CheckSummary);
        if let Some(at) = parts.iter().position(|part| *part == Change).filter(|_| met && on_forge)
        {
            parts.swap(at - 1, at);
        }
        parts
    }
}

impl PartId {
    /// Its name in the note about what was shortened; empty for what always stays.
    pub fn name(self) -> &'static str {
        match self {
            Self::Failing => "failing tests",
            Self::Searched => "places that were searched",
            Self::Explanation => "explanation",
            Self::Change => "patch",
            Self::Unconfirmed => "unconfirmed edit",
            Self::Answers => "answers",
            Self::Iterations => "iterations",
            Self::Attempts => "attempts",
            Self::Proof => "proof",
            Self::Score => "scoreboard",
            Self::Todo => "to-do list",
            Self::Asked => "who was asked",
            Self::Notes => "notes",
            _ => "",
        }
    }

    /// When it is shortened where room is scarce (0 is never, 1 is first), and how. The last form
    /// of each is small.
    pub fn forms(self) -> (u8, &'static [Form]) {
        match self {
            Self::Asked | Self::Searched => (1, FEWER),
            Self::Todo => (2, WHOLE),
            Self::Change | Self::Unconfirmed => (3, WHOLE),
            Self::Notes => (4, FEWER),
            Self::Attempts => (5, FEWER),
            Self::Proof | Self::Score => (6, FEWER),
            Self::Iterations => (7, &[(50, LONG), (50, SHORT), (20, SHORT), (5, 40)]),
            Self::Answers => (8, WHOLE),
            Self::Explanation => (9, FEWER),
            Self::Failing => (10, FAILING),
            _ => (0, WHOLE),
        }
    }

    /// Entries that stand open on the forge; the others are folded.
    pub fn open(self) -> usize {
        match self {
            Self::Failing | Self::Explanation => 5,
            Self::Searched => 2,
            Self::Next => usize::MAX,
            _ => 0,
        }
    }
}

/// So many entries, and so many characters of a name.
pub type Form = (usize, usize);

/// Characters of a name where there is room.
const LONG: usize = 300;

/// Entries of a list at most.
const MOST: usize = 1_000;

const ALL: usize = MOST;
const WHOLE: &[Form] = &[(ALL, LONG)];
const FEWER: &[Form] = &[(ALL, LONG), (100, LONG), (20, LONG), (5, SHORT), (0, SHORT)];
const FAILING: &[Form] =
    &[(ALL, LONG), (500, LONG), (200, LONG), (50, LONG), (10, LONG), (50, SHORT), (0, SHORT)];

/// What a part says, in Markdown of ours with everything foreign in code spans.
#[derive(Default)]
pub struct Part<'a> {
    /// Empty for a part that needs none.
    pub title: String,
    /// Paragraphs before the body.
    pub intro: String,
    pub body: Body<'a>,
    /// Entries that the body does not list.
    pub more: usize,
    /// A sentence after the body.
    pub tail: String,
}

/// The main thing of a part.
#[derive(Default)]
pub enum Body<'a> {
    #[default]
    Empty,
    /// A picture made of characters.
    Chart(Vec<String>),
    List(Vec<Item>),
    Table(Table),
    Facts(Vec<Fact>),
    Patch(&'a str),
    Output(&'a str),
    Answers(&'a [CommandReply]),
    Todo(Todo),
    Drawing,
}

impl Part<'_> {
    /// A part with nothing but a title.
    pub fn new(title: &str) -> Self {
        Self { title: title.to_owned(), ..Self::default() }
    }

    /// A part of paragraphs.
    pub fn text(intro: String) -> Self {
        Self { intro, ..Self::new("") }
    }

    /// A titled list with an entry for each source. A session may have 100,000 failing tests, so
    /// only the first entries are written; the others are counted.
    pub fn list<T>(
        title: &str,
        mut sources: impl Iterator<Item = T>,
        entry: impl FnMut(T) -> Item,
    ) -> Self {
        let items = sources.by_ref().take(MOST).map(entry).collect();
        Self { body: Body::List(items), more: sources.count(), ..Self::new(title) }
    }

    /// How many entries it has.
    pub fn len(&self) -> usize {
        match &self.body {
            Body::List(items) => items.len() + self.more,
            Body::Table(table) => table.rows.len(),
            Body::Facts(facts) => facts.len(),
            Body::Chart(lines) => lines.len(),
            Body::Answers(answers) => answers.len(),
            Body::Todo(todo) => todo.entries.len(),
            Body::Patch(text) | Body::Output(text) => text.trim().len(),
            Body::Drawing => 1,
            Body::Empty => 0,
        }
    }

    /// Whether a screen leaves it out.
    pub fn is_empty(&self) -> bool {
        let titled = matches!(self.body, Body::Empty) && !self.title.is_empty();
        self.len() == 0 && self.intro.is_empty() && !titled
    }
}

/// An entry of a list.
#[derive(Default, Serialize)]
pub struct Item {
    /// A foreign name, such as a test or a command; empty when the text says all.
    pub name: String,
    /// How much it weighs, in a word.
    pub weight: String,
    pub text: String,
    /// What stands on lines of its own.
    pub more: String,
}

impl Item {
    /// An entry that is a sentence.
    pub fn text(text: String) -> Self {
        Self { text, ..Self::default() }
    }

    /// What follows the name.
    pub fn words(&self) -> String {
        match (self.weight.as_str(), self.text.as_str()) {
            ("", text) => text.to_owned(),
            (weight, "") => weight.to_owned(),
            (weight, text) => format!("{weight} ({text})"),
        }
    }
}

/// A table; columns of numbers stand to the right.
pub struct Table {
    pub columns: Vec<(&'static str, bool)>,
    pub rows: Vec<Vec<Cell>>,
}

/// A value: words of ours, or a foreign name.
#[derive(Clone, Debug, Serialize)]
pub enum Cell {
    Words(String),
    Name(String),
}

impl Cell {
    /// As Markdown, a name within `width` characters.
    pub fn markdown(&self, width: usize) -> String {
        match self {
            Self::Words(text) => text.clone(),
            Self::Name(name) => code(&line(name, width)),
        }
    }

    /// As plain text.
    pub fn plain(&self) -> String {
        match self {
            Self::Words(text) | Self::Name(text) => single_safe_line(text, 400),
        }
    }
}

/// A named value with a remark.
#[derive(Serialize)]
pub struct Fact {
    pub name: &'static str,
    pub value: Cell,
    pub note: String,
}
