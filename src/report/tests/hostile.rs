//! Property tests: pages of sessions full of hostile text show nothing that is not ours.

use super::*;
use crate::report::explanation::samples;

/// A to-do plan of any shape.
fn plan() -> impl Strategy<Value = Vec<Step>> {
    let leaf = (any::<bool>(), "[a-z]{1,5}")
        .prop_map(|(done, text)| Step::new(text.clone(), text).done(done));
    let step = leaf.prop_recursive(3, 30, 4, |inner| {
        (any::<bool>(), prop::collection::vec(inner, 0..4))
            .prop_map(|(done, steps)| Step::new("x", "y").done(done).of(steps))
    });
    prop::collection::vec(step, 0..5)
}

fn leaves(steps: &[Step]) -> bool {
    steps.iter().any(|step| !step.done && (step.steps.is_empty() || leaves(&step.steps)))
}

proptest! {
    #[test]
    fn exactly_one_entry_of_each_level_is_in_progress(steps in plan()) {
        let list = Todo::lay(&steps);
        prop_assert_eq!(list.breaches(), Vec::<String>::new());
        prop_assert_eq!(!list.current().is_empty(), leaves(&steps));
    }
}

/// What a reader of rendered Markdown sees.
#[derive(Default)]
pub struct Seen {
    /// Text outside of folds and code.
    pub open: String,
}

/// Parses Markdown as GitHub does, and fails on the first thing that must not occur: HTML that is
/// not ours, a link to another site, an image, an unclosed fold, or words that GitHub turns into a
/// mention, a reference, an address or an emoji.
pub fn examine(text: &str, facts: &ForgePage<'_>) -> Result<Seen, String> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_MATH
        | Options::ENABLE_GFM
        | Options::ENABLE_FOOTNOTES;
    let marker = marker(facts.session);
    let (mut seen, mut folds, mut code, mut cells) = (Seen::default(), 0_i32, false, 0);
    for piece in TextMergeStream::new(Parser::new_ext(text, options)) {
        match piece {
            Piece::Html(html) | Piece::InlineHtml(html) => {
                for line in html.lines().map(str::trim) {
                    let title = line
                        .strip_prefix("<summary>")
                        .and_then(|rest| rest.strip_suffix("</summary>"));
                    match line {
                        "<details>" => folds += 1,
                        "</details>" => folds -= 1,
                        "" => {}
                        _ if line == marker => {}
                        _ if title.is_some_and(|title| !title.contains(['<', '`', '&'])) => {}
                        _ => return Err(format!("HTML: {line}")),
                    }
                }
                if folds < 0 {
                    return Err("a fold is closed twice".into());
                }
            }
            Piece::Start(Tag::CodeBlock(_)) => code = true,
            Piece::End(TagEnd::CodeBlock) => code = false,
            Piece::Start(Tag::Link { dest_url, .. }) if !dest_url.starts_with(SERVER) => {
                return Err(format!("link: {dest_url}"));
            }
            Piece::Start(Tag::Image { dest_url, .. }) => return Err(format!("image: {dest_url}")),
            Piece::Start(Tag::TableRow | Tag::TableHead) => cells = 0,
            Piece::End(TagEnd::TableCell) => cells += 1,
            Piece::End(TagEnd::TableRow) if cells != 8 => return Err(format!("{cells} cells")),
            Piece::InlineMath(_)
            | Piece::DisplayMath(_)
            | Piece::FootnoteReference(_)
            | Piece::TaskListMarker(_) => return Err(format!("{piece:?}")),
            Piece::Text(words) => {
                if words.chars().any(crate::report::markdown::is_invisible) {
                    return Err(format!("hidden characters: {words:?}"));
                }
                if !code {
                    speaks(&words)?;
                    if folds == 0 {
                        seen.open.push_str(&words);
                    }
                }
            }
            Piece::Code(words) if words.chars().any(char::is_control) => {
                return Err(format!("control characters: {words:?}"));
            }
            _ => {}
        }
    }
    if folds == 0 { Ok(seen) } else { Err(format!("{folds} folds are open")) }
}

/// Fails on words that GitHub turns into a mention, a reference or an address.
fn speaks(words: &str) -> Result<(), String> {
    let lower = words.to_lowercase();
    let digits = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
    let found = [
        ("mention", lower.contains('@')),
        ("issue", lower.split('#').skip(1).any(digits) || lower.split("gh-").skip(1).any(digits)),
        ("address", lower.contains("://") || lower.contains("www.")),
        (
            "commit",
            lower
                .split(|c: char| !c.is_alphanumeric())
                .any(|run| run.len() >= 7 && run.bytes().all(|byte| byte.is_ascii_hexdigit())),
        ),
        (
            "emoji",
            words.split_whitespace().any(|word| {
                let parts: Vec<&str> = word.split(':').collect();
                let inner = parts.get(1..parts.len() - 1).unwrap_or_default();
                let is_sign = |c: char| c.is_ascii_alphanumeric() || "_+-".contains(c);
                inner.iter().any(|name| !name.is_empty() && name.chars().all(is_sign))
            }),
        ),
    ];
    match found.iter().find(|(_, holds)| *holds) {
        Some((what, _)) => Err(format!("{what}: {words}")),
        None => Ok(()),
    }
}

#[test]
fn the_examiner_sees_what_must_not_be_there() {
    let facts = facts();
    for text in [
        "<img src=x>",
        "a <b>x</b>",
        "[a](https://evil.example)",
        "![a](https://github.com/x)",
        "<details>\n\nx",
        "</details>",
        "thanks @octocat",
        "fixes #12",
        "GH-12",
        "https://evil.example",
        "www.evil.example",
        "0123abc",
        ":tada:",
        "$x$",
        "- [ ] a",
        "a\u{202e}b",
        "`\u{1b}[31m`",
        "<!-- regreen:other -->",
    ] {
        assert!(examine(text, &facts).is_err(), "{text}");
    }
    let fine = "`@octocat` `#1`\n\n<details>\n<summary>x</summary>\n\ny\n\n</details>\n\nz\n";
    assert_eq!(examine(fine, &facts).unwrap().open.trim(), "z");
}

const HOSTILE: &[&str] = &[
    "</details>",
    "<img src=x onerror=1>",
    "\n```\n",
    "~~~\n",
    "`",
    "``",
    "|",
    "\\",
    "\\|",
    " ",
    "@octocat",
    "fixes #12",
    "https://evil.example/a",
    "www.evil.example",
    "[a](https://evil.example)",
    "![x](https://evil.example)",
    "<!-- regreen:x -->",
    "-->",
    "\u{202e}",
    "\u{1b}[31m",
    "\n\n# h\n",
    "\n- [x] a",
    "$x$",
    ":tada:",
    "&lt;b&gt;",
    "&#64;octocat",
    "GH-9",
    "o/r#3",
    "\r\n",
    "***",
    "\t",
    "\n    code",
    "1. ",
    "[^1]",
    "é",
    "words of a test",
    "::error::x",
    "##[error]x",
    "==",
    "a_b_c",
    "~~",
    "0123456789abcdef0123456789abcdef01234567",
    "/regreen fix",
    "<https://evil.example>",
    "\u{2028}",
];

fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(HOSTILE).prop_map(str::to_owned),
        1 => "\\PC{0,12}",
        1 => (prop::sample::select(HOSTILE), 1usize..60).prop_map(|(text, times)| text.repeat(times)),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

/// Size and progress of a generated session.
#[derive(Clone, Debug)]
struct Shape {
    rows: u32,
    failing: usize,
    calls: usize,
    others: usize,
    answers: usize,
    result: Option<Ending>,
    pushed: bool,
    on_pull: bool,
}

fn shape() -> impl Strategy<Value = Shape> {
    let result = prop::sample::select(&[
        None,
        Some(Ending::Success),
        Some(Ending::PartialSuccess),
        Some(Ending::Failure),
        Some(Ending::Blocked),
        Some(Ending::Planned),
    ]);
    let size = |most: usize| prop_oneof![Just(0), 0..8usize, 0..most];
    (0..60u32, size(400), size(150), size(150), size(12), result, any::<[bool; 2]>()).prop_map(
        |(rows, failing, calls, others, answers, result, [pushed, on_pull])| Shape {
            rows,
            failing,
            calls,
            others,
            answers,
            result,
            pushed,
            on_pull,
        },
    )
}

/// A session in which every foreign text is hostile.
fn session(shape: &Shape, pool: &[String]) -> View {
    let mut index = 0;
    let mut text = || {
        index += 1;
        pool.get(index * 7 % pool.len()).cloned().unwrap_or_default()
    };
    let mut events = vec![Event::Opened {
        session: text(),
        repository: text(),
        head: id('b'),
        branch: text(),
        framework: text(),
        command: text(),
        resumed: false,
    }];
    let tests: Vec<TestId> = (0..shape.failing).map(|_| TestId::from(text().as_str())).collect();
    events.push(Event::Baseline {
        rate: rate(1, 100_000),
        failing: tests.clone(),
        flaky: tests.iter().take(shape.others).cloned().collect(),
        preexisting: tests.iter().skip(3).take(shape.others).cloned().collect(),
    });
    for _ in 0..shape.others {
        events.push(Event::Notice { text: text() });
        events.push(Event::Rejected { iteration: 1, reasons: vec![text(), text()] });
    }
    for number in 0..shape.calls {
        let iteration = u32::try_from(number / 4).unwrap();
        let (_, mut call) = call(1, &text(), Some(FallbackTrigger::Server), &text());
        (call.role, call.model) = (text(), text());
        let spent = Spending { calls: 12_345, ..Spending::default() };
        events.push(Event::Asked { iteration, call, spent });
    }
    for number in 1..=shape.rows {
        let mut row = row(number, "regression", 56, Some(number), &text());
        (row.outcome, row.provider, row.tests_run) = (text(), text(), 1_234_567);
        row.failing.clone_from(&tests);
        events.push(Event::IterationEnded(row));
    }
    events.push(Event::IterationStarted {
        iteration: shape.rows + 1,
        strategy: Boldness::Reflective,
        reason: text(),
        rate: rate(3, 4),
    });
    events.push(Event::Step { iteration: Some(1), doing: text() });
    events.push(Event::Progress { done: 1, total: None, unit: text() });
    let mut view = View::of(&events);
    if let Some(result) = shape.result {
        let failing = tests.into_iter().map(|test| Remaining {
            test,
            criticality: text(),
            evidence: text(),
            message: text(),
            file: RepoPath::parse(text()).ok(),
            line: Some(7),
        });
        let failing = failing.collect();
        let mut outcome = outcome(&view, result, 58, failing, &text());
        (outcome.session, outcome.branch, outcome.report) = (text(), text(), text());
        outcome.onto = Some(text());
        outcome.patch = text().repeat(30);
        outcome.explanation = Some(samples::explanation(
            (0..shape.others).map(|_| samples::cluster(&text())).collect(),
        ));
        outcome.minimised = Some(Minimised {
            needed: (0..shape.others)
                .map(|_| NeededHunk { place: text(), tests: vec![TestId::from(text().as_str())] })
                .collect(),
            ..Minimised::default()
        });
        view.add(&Event::Closed(Box::new(outcome)));
    }
    view
}

#[test]
fn a_page_that_is_too_long_gives_up_what_matters_least_and_says_so() {
    let shape = Shape {
        rows: 50,
        failing: 400,
        calls: 100,
        others: 200,
        answers: 0,
        result: Some(Ending::Failure),
        pushed: false,
        on_pull: true,
    };
    let view = session(&shape, &["a name of a test that goes on for some length\n".repeat(4)]);
    let text = comment(&view, &facts());
    assert!((40_000..=COMMENT_LIMIT).contains(&text.len()), "{}", text.len());
    let seen = examine(&text, &facts()).unwrap();
    for kept in
        ["Not green", "Still failing (400)", "Next", "Used: 50 of 10 iterations", "full report"]
    {
        assert!(seen.open.contains(kept), "{kept}");
    }
    let note = text.lines().last().unwrap();
    assert_eq!(
        note,
        "Shortened to fit: failing tests, patch, explanation, iterations, attempts, proof, scoreboard, who was asked, notes. \
         All of it: [full report](https://github.com/octo/shop/actions/runs/9/artifacts/3)."
    );
    let whole = job_summary(&view, &facts());
    assert!(!whole.contains("Shortened to fit") && whole.len() > 200_000, "{}", whole.len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, ..ProptestConfig::default() })]

    #[test]
    fn hostile_sessions_give_whole_pages_within_the_limits(
        shape in shape(),
        pool in prop::collection::vec(hostile(), 12..40),
    ) {
        let view = session(&shape, &pool);
        let answers: Vec<CommandReply> = (0..shape.answers)
            .map(|number| CommandReply {
                asker: pool[number % pool.len()].clone(),
                command: pool[(number + 3) % pool.len()].clone(),
                reply: "It goes on. ".repeat(1 + number * 400),
            })
            .collect();
        let tip = id('d');
        let facts = ForgePage {
            answers: &answers,
            branch_url: shape.pushed.then_some("https://github.com/octo/shop/tree/x"),
            stored: Some(&tip),
            pull: shape.on_pull.then_some(7),
            ..facts()
        };
        let about = About {
            name: &pool[0],
            head_sha: &tip,
            commit: CheckedCommit::Head,
            partial: Conclusion::Success,
        };
        let run = check(&view, &facts, &about);
        let pages = [
            ("comment", comment(&view, &facts), COMMENT_LIMIT),
            ("job summary", job_summary(&view, &facts), SUMMARY_LIMIT),
            ("check summary", run.summary, CHECK_LIMIT),
        ];
        for (name, text, limit) in &pages {
            prop_assert!(text.len() <= *limit, "{name} holds {} bytes", text.len());
            let seen = examine(text, &facts);
            prop_assert!(seen.is_ok(), "{name}: {:?}\n{text}", seen.err());
            let open = seen.unwrap().open;
            prop_assert!(open.contains("Used: "), "{name} has no end\n{text}");
            prop_assert!(text.contains(" goal 95 %"), "{name} has no chart");
            prop_assert!(text.contains("artifacts/3"), "{name} has no link to the report");
            // Commands need a comment to be written in, and some ends need nobody to do anything.
            let ended = matches!(shape.result, Some(Ending::Success | Ending::Planned));
            let next = open.contains("Next") || ended || !shape.on_pull;
            prop_assert!(next || shape.result.is_none(), "{name} has no next step");
        }
        prop_assert!(run.text.len() <= CHECK_LIMIT);
        let seen = examine(&run.text, &facts);
        prop_assert!(seen.is_ok(), "text: {:?}\n{}", seen.err(), run.text);
        for line in [&run.title, &run.name, &current_line(&view, &facts)] {
            prop_assert!(line.len() <= TITLE_LIMIT && !line.chars().any(char::is_control));
        }
        for one in annotations(&view) {
            prop_assert!(one.message.len() <= 16_000 && one.title.len() <= TITLE_LIMIT);
            prop_assert!(!one.message.trim().is_empty() && one.start_line >= 1);
        }
        let shown = outputs(&view, &facts, None, None);
        prop_assert!(shown.iter().map(|(_, value)| value.len()).sum::<usize>() < 1_000_000);
        prop_assert_eq!(todo(&[], &view).breaches(), Vec::<String>::new());
    }
}
