//! Tests of the memory: its file, its limits, merging, and what a session takes from it.

use proptest::prelude::*;

use super::*;
use crate::domain::fix_loop::IterationResult;
use crate::domain::id::{CommitId, SessionId};

fn at(day: i64) -> Moment {
    Moment::from_second(1_800_000_000 + day * 86_400).unwrap()
}

fn head(letter: char) -> CommitId {
    CommitId::parse(letter.to_string().repeat(40)).unwrap()
}

fn fix(day: i64, iteration: u32, operator: &str, file: &str, kept: bool) -> FixMemory {
    FixMemory {
        at: at(day),
        head: head('a'),
        session: SessionId::parse("WFS-test-main").unwrap(),
        iteration,
        result: if kept { IterationResult::Improved } else { IterationResult::Regression },
        operators: vec![operator.into()],
        files: vec![RepoPath::parse(file).unwrap()],
        tests: vec!["t.py::T::test".into()],
        provider: "embedded".into(),
    }
}

fn flaky(day: i64, test: &str) -> FlakyMemory {
    FlakyMemory { at: at(day), test: test.into(), head: head('b'), evidence: "both".into() }
}

fn slow(day: i64, test: &str, ms: u64) -> SlowTestMemory {
    SlowTestMemory { at: at(day), test: test.into(), ms }
}

fn provider(at: Moment, name: &str, failure: Option<&str>) -> ProviderMemory {
    ProviderMemory { at, name: name.into(), failure: failure.map(str::to_owned) }
}

fn full() -> Memory {
    Memory {
        fixes: vec![fix(3, 2, "logic", "b.py", true), fix(1, 1, "constant", "a.py", true)],
        flaky: vec![flaky(2, "t.py::T::flaky")],
        slow_tests: vec![slow(2, "t.py::T::slow", 3_000)],
        providers: vec![provider(at(3), "gemini", Some("T6: down"))],
        facts: vec![FactMemory { at: at(3), name: "framework".into(), value: "pytest".into() }],
        lessons: vec![LessonMemory::new(at(3), "bug", "shop", "a.py was wrong").unwrap()],
    }
}

#[test]
fn a_memory_survives_its_file_and_expires_entry_by_entry() {
    let memory = full();
    assert_eq!(Memory::parse(memory.to_json().as_bytes(), at(4)), Ok(memory.clone()));
    let later = |day| Memory::parse(memory.to_json().as_bytes(), at(day)).unwrap();
    let counts = [4, 11, 70, 184, 370].map(|day| later(day).len());
    assert_eq!(counts, [7, 6, 4, 1, 0], "providers, tests, fixes and facts, lessons");
    assert_eq!(later(0).len(), 1, "what lies more than a day ahead is not believed");
}

#[test]
fn one_bad_entry_spoils_no_other() {
    let mut value: Value = serde_json::from_str(&full().to_json()).unwrap();
    let good = value["fixes"][0].clone();
    let bad = [
        ("files", serde_json::json!(["../../etc/passwd"])),
        ("files", serde_json::json!([".git/config"])),
        ("operators", serde_json::json!(["logic\u{1b}[31m"])),
        ("operators", serde_json::json!(["::error::x"])),
        ("operators", serde_json::json!(["a", "b", "c", "d"])),
        ("tests", serde_json::json!(["a\nb"])),
        ("tests", serde_json::json!(["a\u{202e}b"])),
        ("tests", serde_json::json!(["x".repeat(301)])),
        ("head", serde_json::json!("HEAD")),
        ("session", serde_json::json!("../x")),
        ("iteration", serde_json::json!(-1)),
        ("at", serde_json::json!("yesterday")),
        ("provider", serde_json::json!("")),
    ];
    for (number, (field, wrong)) in bad.into_iter().enumerate() {
        let mut entry = good.clone();
        entry["iteration"] = (100 + number).into();
        entry[field] = wrong;
        value["fixes"].as_array_mut().unwrap().push(entry);
    }
    value["flaky"].as_array_mut().unwrap().push(Value::Null);
    value["unknown"] = "kept by nobody".into();
    let read = Memory::parse(value.to_string().as_bytes(), at(4)).unwrap();
    assert_eq!(read, full());
}

#[test]
fn what_is_no_memory_is_refused() {
    let newer = format!(r#"{{"schema_version": {}}}"#, VERSION + 1);
    for text in ["", "[]", "garbage", "{\"fixes\": 3}", "\u{0}", &newer] {
        assert!(Memory::parse(text.as_bytes(), at(0)).is_err(), "{text:?}");
    }
    assert_eq!(Memory::parse(&vec![b' '; LIMIT + 1], at(0)), Err(MemoryError::TooLarge));
    assert_eq!(Memory::parse(b"{}", at(0)), Ok(Memory::default()));
}

#[test]
fn one_test_or_file_is_forgotten_alone() {
    let table = [
        (Forget::Test("t.py::T::flaky".into()), 6),
        (Forget::Test("t.py::T::test".into()), 5),
        (Forget::File(RepoPath::parse("a.py").unwrap()), 5),
        (Forget::File(RepoPath::parse("t.py").unwrap()), 5),
        (Forget::Test("t".into()), 7),
    ];
    for (forget, left) in table {
        assert_eq!(full().without(&forget).len(), left, "{forget:?}");
    }
}

#[test]
fn only_news_is_written() {
    let known = full();
    let again = |day| Memory { flaky: vec![flaky(day, "t.py::T::flaky")], ..Memory::default() };
    assert!(!again(3).is_news_to(&known), "the same a day later");
    assert!(again(10).is_news_to(&known), "the same a week later");
    assert!(full().is_news_to(&Memory::default()));
    assert!(!Memory::default().is_news_to(&known));
    let up = Memory { providers: vec![provider(at(3), "gemini", None)], ..Memory::default() };
    assert!(up.is_news_to(&known), "a provider is up again");
}

#[test]
fn operators_that_helped_more_often_than_not_are_preferred() {
    let memory = Memory {
        fixes: vec![
            fix(9, 1, "logic", "new.py", true),
            fix(8, 2, "logic", "old.py", true),
            fix(7, 3, "truth", "old.py", true),
            fix(6, 4, "negate", "bad.py", false),
            fix(5, 5, "slice", "old.py", true),
            fix(4, 6, "slice", "old.py", false),
        ],
        ..Memory::default()
    };
    let prior = Prior::of(&memory);
    assert_eq!(prior.operators, ["logic", "truth"]);
    let files: Vec<&str> = prior.files.iter().map(RepoPath::as_str).collect();
    assert_eq!(files, ["new.py", "old.py"]);
    assert!(Prior::of(&Memory::default()).is_empty());
}

#[test]
fn a_prior_is_bounded_whatever_the_memory_says() {
    let memory = Memory { slow_tests: vec![slow(1, "t", u64::MAX), slow(1, "u", 9)], ..full() };
    let prior = Prior::of(&memory);
    assert_eq!(prior.slow, [("t".into(), 20_000)].into());
    let failing = ["t".into(), "other".into()];
    let notice = prior.search_notice(failing.iter()).unwrap();
    assert_eq!(
        notice,
        "From earlier sessions: a search tries edits of the kinds that were kept first (`constant`, `logic`); between equal candidates, files that were repaired come first (`b.py`, `a.py`); edits get the time that `t` took when passing."
    );
    assert_eq!(Prior::default().search_notice(failing.iter()), None);
}

#[test]
fn a_provider_that_failed_within_the_hour_is_asked_last() {
    let now = at(3);
    let ago = |minutes: i64| now.checked_sub((minutes * 60).seconds()).unwrap();
    let chain = ["a", "b", "c"].map(str::to_owned);
    let order = |news: Vec<ProviderMemory>| {
        let memory = Memory { providers: news, ..Memory::default() };
        after_outages(&chain, &memory, now).map(|(order, _)| order.concat())
    };
    let table = [
        ("nothing is known", vec![], None),
        ("it failed", vec![provider(ago(59), "a", Some("T6"))], Some("bca")),
        ("an hour ago", vec![provider(ago(60), "a", Some("T6"))], None),
        ("it answers", vec![provider(ago(1), "a", None)], None),
        ("it is the last anyway", vec![provider(ago(1), "c", Some("T8"))], None),
        ("another one", vec![provider(ago(1), "z", Some("T8"))], None),
        (
            "all of them",
            chain.iter().map(|name| provider(ago(1), name, Some("T8"))).collect(),
            None,
        ),
        (
            "two of them",
            vec![provider(ago(5), "a", Some("T7")), provider(ago(9), "b", Some("T5"))],
            Some("cab"),
        ),
    ];
    for (why, news, expected) in table {
        assert_eq!(order(news).as_deref(), expected, "{why}");
    }
    let memory = Memory { providers: vec![provider(ago(1), "a", Some("T6"))], ..Memory::default() };
    assert_eq!(
        after_outages(&chain, &memory, now).unwrap().1,
        "From earlier sessions: `a` failed in a session that ended 1 minute ago, so the other providers are asked first."
    );
}

fn any_memory() -> impl Strategy<Value = Memory> {
    let fixes = prop::collection::vec((0i64..9, 0u32..4, any::<bool>()), 0..6);
    let flaky_tests = prop::collection::vec((0i64..9, 0u8..4), 0..6);
    let slow_tests = prop::collection::vec((0i64..9, 0u8..4, 250u64..9_999), 0..6);
    let providers = prop::collection::vec((0i64..9, 0u8..3, any::<bool>()), 0..4);
    (fixes, flaky_tests, slow_tests, providers).prop_map(|(fixes, flakes, slows, providers)| {
        let memory = Memory {
            fixes: fixes
                .iter()
                .map(|(day, n, kept)| fix(*day, *n, "logic", "a.py", *kept))
                .collect(),
            flaky: flakes.iter().map(|(day, n)| flaky(*day, &format!("t{n}"))).collect(),
            slow_tests: slows
                .iter()
                .map(|(day, n, ms)| slow(*day, &format!("t{n}"), *ms))
                .collect(),
            providers: providers
                .iter()
                .map(|(day, n, up)| provider(at(*day), &format!("p{n}"), (!up).then_some("T6")))
                .collect(),
            ..Memory::default()
        };
        memory.merge(&Memory::default())
    })
}

proptest! {
    #[test]
    fn concurrent_jobs_lose_nothing(a in any_memory(), b in any_memory(), c in any_memory()) {
        prop_assert_eq!(a.merge(&b), b.merge(&a));
        prop_assert_eq!(a.merge(&b).merge(&c), a.merge(&b.merge(&c)));
        prop_assert_eq!(a.merge(&b).merge(&b), a.merge(&b));
    }
}

#[test]
fn no_merge_outgrows_what_is_read() {
    // Each of these characters takes two bytes in JSON.
    let name = |n: usize| format!("{}{n:04}", "\"".repeat(290));
    let memory = Memory {
        fixes: (0..300)
            .map(|n| FixMemory {
                files: vec![RepoPath::parse(name(n)).unwrap(); 3],
                tests: vec![name(n).as_str().into(); 3],
                ..fix(1, u32::try_from(n).unwrap(), "logic", "a.py", true)
            })
            .collect(),
        flaky: (0..300).map(|n| FlakyMemory { evidence: name(n), ..flaky(1, &name(n)) }).collect(),
        slow_tests: (0..400).map(|n| slow(1, &name(n), u64::MAX)).collect(),
        providers: Vec::new(),
        facts: Vec::new(),
        lessons: (0..200)
            .filter_map(|n| LessonMemory::new(at(1), "bug", "x", &name(n).repeat(2)))
            .collect(),
    };
    let merged = memory.merge(&Memory::default());
    let text = merged.to_json();
    assert!(text.len() <= LIMIT && text.len() > LIMIT / 4, "{}", text.len());
    assert_eq!(Memory::parse(text.as_bytes(), at(2)), Ok(merged));
}
