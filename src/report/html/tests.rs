//! Properties of every page: well-formed, bounded, and without active content.

use std::collections::BTreeSet;

use proptest::prelude::*;
use quick_xml::Reader;
use quick_xml::events::Event as Xml;

use super::*;
use crate::domain::budget::{Spending, Usage};
use crate::domain::chain::{FallbackTrigger, ProviderCall};
use crate::domain::event::{
    Event, Minimised, NeededHunk, Outcome, Remaining, UnconfirmedEdit, UnfinishedIteration,
};
use crate::domain::id::{RepoPath, TestId};
use crate::domain::rate::PassRate;
use crate::domain::strategy::Strategy;
use crate::report::explanation::samples;

/// Texts that try to be read as markup.
const HOSTILE: &[&str] = &[
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "</title></style></pre></table><iframe src=//evil>",
    "]]><!--<svg/onload=alert(1)>-->",
    "&lt;script&gt; &#x3c;b&#x3e; &amp;",
    "a\u{0}b\u{1b}[31m\u{202e}gpj\u{200b}\u{feff}",
    "",
    "一二三 🦀 ünï",
];

fn rate(passed: u32, total: u32) -> PassRate {
    PassRate::of(passed, total).unwrap()
}

fn call(text: &str) -> ProviderCall {
    ProviderCall {
        role: "analyst".into(),
        provider: text.into(),
        model: text.into(),
        slot: 1,
        turn: 1,
        used: false,
        trigger: Some(FallbackTrigger::LowConfidence),
        reason: text.into(),
        confidence: Some(0.25),
        requests: 1,
        usage: Usage::new(12_345, 67),
        micro_usd: Some(4_200),
        duration_ms: 1_500,
        raw: text.into(),
    }
}

fn row(iteration: u32, text: &str, failing: &[TestId]) -> IterationRow {
    let regressed = iteration % 3 == 2;
    IterationRow {
        reason: String::new(),
        iteration,
        strategy: Strategy::Conservative,
        before: rate(7, 10),
        after: rate(8, 10),
        reached: regressed.then(|| rate(3, 10)),
        outcome: if regressed { "regression" } else { "improved" }.into(),
        tests_run: 12,
        tests_of: 20,
        tried: 31,
        summary: text.into(),
        files: vec![text.into()],
        commit: Some(CommitId::parse("a1".repeat(20)).unwrap()),
        provider: text.into(),
        calls: vec![call(text)],
        degraded: true,
        failing: failing.to_vec(),
        analysis: format!("## {text}\n\n- `{text}`\n\n{text}"),
        patch: format!("--- a/{text}\n+++ b/{text}\n@@ -1 +1 @@\n-{text} < 1\n+{text} <= 1\n"),
        duration_ms: 12_340,
    }
}

fn outcome(rows: Vec<IterationRow>, failing: &[TestId], text: &str) -> Outcome {
    Outcome {
        session: "WFS-test-main".into(),
        result: Ending::Failure,
        reason: text.into(),
        initial: Some(rate(7, 10)),
        last: Some(rate(8, 10)),
        estimated: true,
        iterations: rows,
        failing: failing
            .iter()
            .map(|test| Remaining {
                test: test.clone(),
                criticality: "medium".into(),
                evidence: text.into(),
                message: text.into(),
                file: Some(RepoPath::parse("src/a.py").unwrap()),
                line: Some(7),
            })
            .collect(),
        stuck: failing.to_vec(),
        flaky: failing.to_vec(),
        preexisting: failing.to_vec(),
        unfinished: Some(UnfinishedIteration {
            iteration: 5,
            strategy: Strategy::Surgical,
            candidates: 12,
            edit: Some(UnconfirmedEdit {
                author: text.into(),
                summary: text.into(),
                suspicion: Some(text.into()),
                patch: format!("--- a/{text}\n+++ b/{text}\n@@ -1 +1 @@\n-{text}\n+{text}\n"),
            }),
        }),
        degraded: true,
        spending: Spending { calls: 3, micro_usd: 4_200, unpriced: 1, ..Spending::default() },
        minimised: Some(Minimised {
            before: 9,
            after: 4,
            needed: vec![NeededHunk { place: text.into(), tests: failing.to_vec() }],
            ..Minimised::default()
        }),
        explanation: Some(samples::explanation(vec![samples::cluster(text)])),
        branch: text.into(),
        onto: Some(text.into()),
        tip: Some(CommitId::parse("b2".repeat(20)).unwrap()),
        patch: format!("--- a/{text}\n+++ b/{text}\n@@ -1 +1 @@\n-{text}\n+{text}\n"),
        report: text.into(),
        folder: text.into(),
        duration_ms: 61_000,
        testing_ms: 20_000,
        ..Outcome::default()
    }
}

/// A session in which every field is filled, and every text is foreign.
fn full(iterations: u32, tests: &[TestId], text: &str) -> View {
    let mut view = View::of(&[
        Event::Opened {
            session: text.into(),
            repository: text.into(),
            head: CommitId::parse("c3".repeat(20)).unwrap(),
            branch: text.into(),
            framework: text.into(),
            command: text.into(),
            resumed: false,
        },
        Event::Notice { text: text.into() },
        Event::Ran { iteration: 0, run: 10, of: 10, failed: 3, duration_ms: 900 },
        Event::Baseline {
            rate: rate(7, 10),
            failing: tests.to_vec(),
            flaky: vec![],
            preexisting: vec![],
        },
    ]);
    let rows: Vec<IterationRow> = (1..=iterations).map(|number| row(number, text, tests)).collect();
    for row in &rows {
        view.add(&Event::IterationStarted {
            iteration: row.iteration,
            strategy: row.strategy,
            reason: text.into(),
            rate: row.before,
        });
        view.add(&Event::Rejected { iteration: row.iteration, reasons: vec![text.into()] });
        view.add(&Event::Ran {
            iteration: row.iteration,
            run: 1,
            of: 10,
            failed: 1,
            duration_ms: 99,
        });
        view.add(&Event::IterationEnded(row.clone()));
    }
    view.add(&Event::Closed(Box::new(outcome(rows, tests, text))));
    view
}

fn facts() -> PageFacts {
    PageFacts {
        version: "1.2.3".into(),
        made: "2026-01-02 03:04 UTC".into(),
        target: Some(95),
        repository: Some("https://github.com/ada/shop".into()),
        analyses: BTreeMap::new(),
    }
}

/// Elements, attributes and text that were found on a page.
#[derive(Debug, Default)]
struct Made {
    elements: BTreeSet<String>,
    attributes: BTreeSet<String>,
    /// Values that a browser may follow or load.
    addresses: BTreeSet<String>,
    ids: Vec<String>,
    text: String,
}

/// Reads a page strictly: every element is closed in order, every value quoted, no stray `<` or `&`.
fn read(page: &str) -> Made {
    let mut made = Made::default();
    let mut reader = Reader::from_str(page.strip_prefix("<!DOCTYPE html>\n").expect("a doctype"));
    reader.config_mut().check_end_names = true;
    let mut depth = 0;
    loop {
        let event = reader.read_event().unwrap_or_else(|error| {
            let at = usize::try_from(reader.error_position()).unwrap();
            panic!("{error} near {:?}", page.get(at.saturating_sub(99)..at + 99))
        });
        match event {
            Xml::Eof => break,
            Xml::Start(element) => {
                depth += 1;
                note(&element, &mut made);
            }
            Xml::Empty(element) => note(&element, &mut made),
            Xml::End(_) => depth -= 1,
            Xml::Text(text) => made.text.push_str(&text.decode().unwrap()),
            Xml::GeneralRef(name) => {
                let known = ["amp", "lt", "gt", "quot", "#39"];
                let name = name.decode().unwrap().into_owned();
                assert!(known.contains(&name.as_str()), "{name}");
                made.text.push_str(match name.as_str() {
                    "amp" => "&",
                    "lt" => "<",
                    "gt" => ">",
                    "quot" => "\"",
                    _ => "'",
                });
            }
            other => panic!("not made by the templates: {other:?}"),
        }
    }
    assert_eq!(depth, 0, "everything is closed");
    made
}

fn note(element: &quick_xml::events::BytesStart<'_>, made: &mut Made) {
    let name = String::from_utf8(element.name().as_ref().to_vec()).unwrap();
    for attribute in element.attributes() {
        let attribute = attribute.unwrap();
        let key = String::from_utf8(attribute.key.as_ref().to_vec()).unwrap();
        let value = String::from_utf8(attribute.value.to_vec()).unwrap();
        if ["href", "src", "action", "xlink:href"].contains(&key.as_str()) {
            made.addresses.insert(value.clone());
        }
        if key == "id" {
            made.ids.push(value);
        }
        made.attributes.insert(key);
    }
    made.elements.insert(name);
}

/// Asserts that a page has only elements and attributes that neither run nor load anything.
fn is_harmless(made: &Made) {
    let elements = "a article b body caption circle code dd del desc details div dl dt figcaption figure footer h1 h2 h3 h4 head header html ins li line link main meta nav ol p polygon polyline pre rect section small span style summary svg table tbody td text th thead title tr ul wbr";
    let attributes = "aria-hidden aria-label aria-labelledby charset class content cx cy height href http-equiv id lang name open points preserveAspectRatio r rel role scope tabindex text-anchor title viewBox width x x1 x2 y y1 y2";
    let allowed = |list: &str| list.split(' ').map(str::to_owned).collect::<BTreeSet<_>>();
    let more = &made.elements - &allowed(elements);
    assert!(more.is_empty(), "{more:?}");
    let more = &made.attributes - &allowed(attributes);
    assert!(more.is_empty(), "{more:?}");
    for address in &made.addresses {
        let ours = address.starts_with('#')
            || address == "data:,"
            || address.starts_with("https://github.com/ada/shop/commit/");
        assert!(ours, "{address}");
    }
    let unique: BTreeSet<_> = made.ids.iter().collect();
    assert_eq!(unique.len(), made.ids.len(), "{:?}", made.ids);
    for address in made.addresses.iter().filter_map(|address| address.strip_prefix('#')) {
        assert!(made.ids.iter().any(|id| id == address), "{address} leads nowhere");
    }
}

#[test]
fn hostile_text_stays_text_in_every_place() {
    for hostile in HOSTILE {
        let tests = vec![TestId::from(*hostile), TestId::from("other")];
        let made = read(&page(&full(4, &tests, hostile), &facts()));
        is_harmless(&made);
    }
    let made = read(&page(&full(1, &[TestId::from(HOSTILE[0])], HOSTILE[1]), &facts()));
    assert!(made.text.contains(HOSTILE[0]) && made.text.contains(HOSTILE[1]), "{}", made.text);
}

#[test]
fn every_part_is_there_and_the_navigation_leads_to_it() {
    let view = full(4, &[TestId::from("a.b")], "some words");
    let made = read(&page(&view, &facts()));
    for part in Screen::Page.parts(&view).into_iter().map(anchor) {
        assert!(made.ids.iter().any(|id| id == part), "{part}");
        assert!(made.addresses.contains(&format!("#{part}")), "{part}");
    }
    for text in [
        "Not green: about 80.0 % pass after 4 iterations",
        "target 95 %",
        "taken back: fell to 30.0 %",
    ] {
        assert!(made.text.contains(text), "{text}");
    }
    assert!(
        made.addresses.contains(&format!("https://github.com/ada/shop/commit/{}", "a1".repeat(20)))
    );
}

#[test]
fn an_empty_stream_and_a_running_session_are_pages_too() {
    let made = read(&page(&View::default(), &PageFacts::default()));
    assert!(made.text.contains("Waiting to begin"), "{}", made.text);
    let mut view = full(2, &[TestId::from("a")], "words");
    view.outcome = None;
    let made = read(&page(&view, &facts()));
    is_harmless(&made);
    assert!(made.text.contains("In progress: 80.0 % pass after 2 iterations"), "{}", made.text);
    assert!(made.text.contains("regreen fix --resume words"));
}

#[test]
fn only_addresses_of_the_web_become_links() {
    let table = [
        ("https://github.com/ada/shop", true),
        ("http://forge.local:3000/ada/shop/", true),
        ("javascript:alert(1)//https://", false),
        ("https://x/\"onclick=", false),
        ("https://user@evil/", false),
        ("file:///etc/passwd", false),
        ("", false),
    ];
    for (text, expected) in table {
        let facts = PageFacts { repository: Some(text.into()), ..facts() };
        let commit = link_commit(&facts, &CommitId::parse("a1".repeat(20)).unwrap());
        assert_eq!(commit["url"].is_string(), expected, "{text}");
    }
}

#[test]
fn an_analysis_from_elsewhere_fills_in() {
    let mut view = full(1, &[TestId::from("a")], "words");
    view.rows[0].analysis = String::new();
    let analyses = BTreeMap::from([(1, "---\na: b\n---\nThe `loop` ends early.".to_owned())]);
    let made = read(&page(&view, &PageFacts { analyses, ..facts() }));
    assert!(made.text.contains("The loop ends early."), "{}", made.text);
    assert!(!made.text.contains("a: b"), "{}", made.text);
}

#[test]
fn a_huge_session_gives_a_small_page() {
    let long = "x".repeat(400);
    let tests: Vec<TestId> =
        (0..100_000).map(|number| TestId(format!("tests.test_{number}.{long}"))).collect();
    let mut view = full(1, &tests, "words");
    let patch =
        format!("--- a/x\n+++ b/x\n@@ -1 +1 @@\n{}", "+<&>\"' a changed line\n".repeat(500_000));
    let big = row(1, "<&>", &tests[..500]);
    for number in 2..=50 {
        let patch = patch.get(..100_000).unwrap().to_owned();
        let analysis = "`<&>` ".repeat(40_000);
        view.rows.push(IterationRow { iteration: number, patch, analysis, ..big.clone() });
    }
    view.rows[0].patch.clone_from(&patch);
    view.rows[0].calls = vec![call(&"\"&".repeat(5_000)); 1_000];
    view.outcome.as_mut().unwrap().patch = patch;
    let page = page(&view, &facts());
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    let made = read(&page);
    is_harmless(&made);
    for text in [
        "99\u{a0}800 tests more, not drawn here",
        "more lines are not drawn here: the session's `patches/all.patch`",
    ] {
        assert!(made.text.contains(text), "{text}");
    }
}

#[test]
fn many_iterations_are_drawn_up_to_a_limit() {
    let view = full(200, &[TestId::from("a"), TestId::from("b")], "words");
    let page = page(&view, &facts());
    let made = read(&page);
    is_harmless(&made);
    assert!(made.text.contains("And 137 earlier iterations more, not drawn here"), "{}", made.text);
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
}

/// Relative luminance of a colour such as `#0a7347`, as WCAG defines it.
fn luminance(colour: &str) -> f64 {
    let part = |at: usize| {
        let value = u8::from_str_radix(colour.get(at..at + 2).unwrap(), 16).unwrap();
        let share = f64::from(value) / 255.0;
        if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
}

#[test]
fn text_is_readable_by_day_and_by_night() {
    let (day, night) = STYLE.split_once("prefers-color-scheme: dark").unwrap();
    let night = night.split_once("* {").unwrap().0;
    for (time, style) in [("day", day), ("night", night)] {
        let colour = |name: &str| {
            let (_, rest) =
                style.split_once(&format!("--{name}: ")).unwrap_or_else(|| panic!("{name}"));
            luminance(rest.get(..7).unwrap())
        };
        let pairs = [
            ("ink", "paper"),
            ("ink", "card"),
            ("soft", "paper"),
            ("soft", "card"),
            ("soft", "open-tint"),
            ("ink", "open-tint"),
            ("accent", "paper"),
            ("accent", "card"),
            ("accent", "tint"),
            ("on-accent", "accent"),
            ("bad", "bad-tint"),
            ("bad", "card"),
            ("warn", "warn-tint"),
            ("warn", "card"),
        ];
        for (text, behind) in pairs {
            let (a, b) = (colour(text), colour(behind));
            let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
            assert!(contrast >= 4.5, "{time}: {text} on {behind} has {contrast:.2}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_session_is_a_well_formed_page(
        text in "\\PC{0,40}|[<>&\"'`/=:;\\-+@ \n\t\u{0}-\u{1f}]{0,40}",
        patch in "([-+@ ]?[a-z<&`]{0,9}\n?){0,30}",
        iterations in 0u32..6,
        names in prop::collection::vec("[a-z.:<>\"& ]{0,12}", 0..5),
        ended: bool,
    ) {
        let tests: Vec<TestId> = names.iter().map(|name| TestId::from(name.as_str())).collect();
        let mut view = full(iterations, &tests, &text);
        for row in &mut view.rows {
            row.patch.clone_from(&patch);
        }
        if !ended {
            view.outcome = None;
        }
        is_harmless(&read(&page(&view, &facts())));
    }
}
