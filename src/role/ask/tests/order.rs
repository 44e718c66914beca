//! Tests of which provider's answer is used, and what is sent back.

use std::time::Duration;

use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

use crate::domain::budget::SpendingLimits;
use crate::domain::chain::FallbackTrigger;
use crate::effect::{ModelErrorKind, Question, UsageMeter};
use crate::role::prompt::Role;

use super::{ScriptedModel, World, settings, summary};
use crate::role::ask::conversation::Narrowed;
use crate::role::ask::{Reading, Reply};

#[test]
fn the_chain_ends_at_the_first_good_answer() {
    let table = [
        ("the first is good", vec![Ok("good 0.9")], vec![], "good by a; asked a"),
        ("the first is vague", vec![Ok("vague")], vec![Ok("good 0.5")], "good by b; asked a b"),
        (
            "an unreadable answer is sent back once",
            vec![Ok("no"), Ok("good 0.5")],
            vec![],
            "good by a; asked a a",
        ),
        (
            "and not twice",
            vec![Ok("no"), Ok("no"), Ok("good 0.5")],
            vec![Ok("good 0.5")],
            "good by b; asked a a b",
        ),
        (
            "a question that is too long is asked again, shorter",
            vec![Err(ModelErrorKind::TooLong), Ok("good 0.5")],
            vec![],
            "good by a; asked a a",
        ),
        (
            "and not twice",
            vec![Err(ModelErrorKind::TooLong), Err(ModelErrorKind::TooLong), Ok("good 0.5")],
            vec![Ok("good 0.5")],
            "good by b; asked a a b",
        ),
        ("weak loses to good", vec![Ok("weak 0.9")], vec![Ok("good 0.5")], "good by b; asked a b"),
        ("only weak", vec![Ok("weak 0.3")], vec![Ok("weak 0.2")], "degraded by a; asked a b"),
        ("weak and vague", vec![Ok("vague")], vec![Ok("weak 0.1")], "degraded by b; asked a b"),
        ("nothing", vec![Ok("vague")], vec![Ok("vague")], "none; asked a b"),
        (
            "an error moves on",
            vec![Err(ModelErrorKind::Unauthorised)],
            vec![Ok("good 0.5")],
            "good by b; asked a b",
        ),
        (
            "sent back twice, then good",
            vec![Ok("back"), Ok("back"), Ok("good 0.8")],
            vec![],
            "good by a; asked a a a",
        ),
        (
            "sent back three times",
            vec![Ok("back"), Ok("back"), Ok("back"), Ok("good 0.8")],
            vec![Ok("good 0.5")],
            "good by b; asked a a a b",
        ),
    ];
    for (why, first, second, expected) in table {
        let world = World::new(settings());
        let (a, b) = (ScriptedModel::new("a", first), ScriptedModel::new("b", second));
        let (reply, calls) = world.ask(&[&a, &b], false);
        assert_eq!(summary(&reply, &calls), expected, "{why}");
    }
}

#[test]
fn a_careful_question_goes_on_and_takes_the_highest_confidence() {
    let table = [
        ("sure enough", "good 0.7", "good 0.9", "good by a; asked a"),
        ("the second is surer", "good 0.6", "good 0.65", "good by b; asked a b"),
        ("the first stays surer", "good 0.6", "good 0.5", "good by a; asked a b"),
        ("a weak one never wins", "good 0.1", "weak 0.9", "good by a; asked a b"),
        ("an agent is not unsure", "edited", "good 0.9", "good by a; asked a"),
        ("nor behind one that is", "good 0.6", "edited", "good by b; asked a b"),
    ];
    for (why, first, second, expected) in table {
        let world = World::new(settings());
        let (a, b) = (ScriptedModel::new("a", [Ok(first)]), ScriptedModel::new("b", [Ok(second)]));
        let (reply, calls) = world.ask(&[&a, &b], true);
        assert_eq!(summary(&reply, &calls), expected, "{why}");
        assert_eq!(calls.iter().filter(|call| call.used).count(), 1, "{why}");
    }
}

#[test]
fn a_problem_is_sent_back_with_the_question() {
    let world = World::new(settings());
    let a = ScriptedModel::new("a", [Ok("back"), Ok("good 0.9")]);
    let (_, calls) = world.ask(&[&a], false);
    let asked = a.asked.lock().unwrap();
    assert_eq!(asked[0], "question");
    assert!(asked[1].starts_with("question") && asked[1].contains("the problem"), "{}", asked[1]);
    assert!(asked[1].contains("\nback\n"), "its own answer: {}", asked[1]);
    assert_eq!(calls[0].trigger, Some(FallbackTrigger::Vetoed));
}

#[test]
fn the_problems_of_all_answers_are_sent_back() {
    let world = World::new(settings());
    let a = ScriptedModel::new("a", [Ok("no"), Ok("back"), Ok("good 0.9")]);
    let (reply, calls) = world.ask(&[&a], false);
    assert_eq!(summary(&reply, &calls), "good by a; asked a a a");
    let asked = a.asked.lock().unwrap();
    for words in ["\nno\n", "it is useless", "\nback\n", "the problem"] {
        assert!(asked[2].contains(words), "{words}: {}", asked[2]);
    }
    assert_eq!(asked[2].matches("which was refused").count(), 2);
}

#[test]
fn a_repeated_question_fits_into_a_small_window() {
    for context in [6_000, 10_000, 40_000] {
        let world = World::new(settings());
        let long: &'static str = Box::leak(format!("back {}", "x".repeat(90_000)).into_boxed_str());
        let mut a = ScriptedModel::new("a", [Ok(long), Ok(long), Ok("good 0.9")]);
        a.facts.context = context;
        world.ask(&[&a], false);
        let asked = a.asked.lock().unwrap();
        let quarter =
            usize::try_from(context / 4).unwrap() * crate::domain::budget::BYTES_PER_TOKEN;
        assert_eq!(asked.len(), 3);
        for text in asked.iter() {
            assert!(text.len() <= "question".len() + quarter, "{context}: {}", text.len());
        }
        assert!(asked[2].contains("the problem"));
    }
}

#[test]
fn a_prompt_that_is_too_long_is_rebuilt_at_half_the_size() {
    let question = |bytes: usize| Question {
        id: String::new(),
        system: String::new(),
        prompt: "x".repeat(bytes),
        form: None,
        temperature: None,
        max_output_tokens: 1,
        limit: Duration::ZERO,
        left: SpendingLimits::default(),
        checkout: None,
        meter: UsageMeter::default(),
    };
    let model = ScriptedModel::new("a", []);
    for bytes in [0, 2, 300, 3_000, 90_000] {
        let room = crate::role::prompt::room(
            &Narrowed::after(&question(bytes), &model),
            Role::Analyst,
            None,
        );
        let tokens = u32::try_from(bytes / crate::domain::budget::BYTES_PER_TOKEN).unwrap();
        assert!(room <= tokens / 2, "{bytes}: {room}");
        assert!(tokens / 2 > 7_500 || room >= tokens / 4, "{bytes}: {room}");
    }
}

proptest! {
    #[test]
    fn a_good_answer_wins_over_any_weak_one(weak in 0.0f64..=1.0, good in 0.0f64..=1.0) {
        let confidence = |value: f64| Reading::by_confidence((), value, 0.4);
        prop_assert_eq!(matches!(confidence(weak), Reading::Weak(..)), weak < 0.4);
        prop_assert_eq!(matches!(confidence(good), Reading::Good(..)), good >= 0.4);
    }

    #[test]
    fn at_most_three_turns_are_asked_of_one_provider(backs in 0usize..6) {
        let world = World::new(settings());
        let script = std::iter::repeat_n(Ok("back"), backs).chain([Ok("good 0.9")]);
        let a = ScriptedModel::new("a", script);
        let (reply, calls) = world.ask(&[&a], false);
        prop_assert!(calls.len() <= 3);
        prop_assert_eq!(matches!(reply, Reply::Good(_)), backs < 3);
    }
}
