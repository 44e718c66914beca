//! What a job asks of GitHub: how often, and what becomes of it when any request fails.

use std::collections::BTreeSet;
use std::time::Duration;

use super::harness::{Job, World};
use super::pull_request_life::{red, shown};
use crate::support::Ran;
use crate::support::fake_github::state::State;
use crate::support::fake_github::{Fault, Seen};
use crate::support::fake_model::{FakeModel, Reply};

/// Requests of a session of ten iterations: a job's token may make 1,000 an hour in a repository.
const MOST: usize = 120;

/// Modules with one bug each, and one more than a session can repair.
fn eleven_bugs() -> World {
    let module = |number: u32, high: &str| {
        let text = format!(
            "def clamp{number}(value, low, high):\n    if value < low:\n        return low\n    if value > high:\n        return {high}\n    return value\n"
        );
        (format!("m{number}.py"), text)
    };
    let test = |number: u32| {
        let text = format!(
            "import unittest\n\nfrom m{number} import clamp{number}\n\n\nclass T{number}(unittest.TestCase):\n    def test_high{number}(self):\n        self.assertEqual(clamp{number}(9, 0, {number}), {number})\n\n    def test_low{number}(self):\n        self.assertEqual(clamp{number}(-9, 0, {number}), 0)\n"
        );
        (format!("test_m{number}.py"), text)
    };
    let good: Vec<_> = (1..12).flat_map(|n| [module(n, "high"), test(n)]).collect();
    let bad: Vec<_> = (1..12).map(|n| module(n, "low")).collect();
    let borrowed = |files: &[(String, String)]| {
        files
            .iter()
            .map(|(name, text)| (name.clone().leak() as &str, text.clone().leak() as &str))
            .collect::<Vec<_>>()
    };
    World::new(&borrowed(&good), &borrowed(&bad))
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_session_of_ten_iterations_makes_few_requests_and_lists_the_comments_once() {
    let world = eleven_bugs();
    let number = world.pull();
    let job = world.pull_request(number, "opened");
    let mut command = world.action(&job);
    // As often as on GitHub.
    let ran = command.env_remove("REGREEN_PACE_MS").env_remove("REGREEN_LISTEN_MS").output();
    let ran = Ran::from(ran.expect("regreen starts"));
    let outputs = world.left("output");
    assert!(
        outputs.contains("iterations<<") && outputs.contains("\n10\n"),
        "{outputs}{}",
        shown(&ran)
    );
    let log = world.github.transcript();
    assert!(log.len() < MOST, "{}: {}", log.len(), log.join("\n"));
    let lists = |line: &&String| {
        line.starts_with("GET") && line.contains("/comments?") && !line.contains("since=")
    };
    assert_eq!(log.iter().filter(lists).count(), 1, "{}", log.join("\n"));
    world.github.assert_clean();
}

/// A push that waits for a rate limit does not keep anybody from stopping the run.
#[test]
fn a_stop_is_heard_while_a_push_waits() {
    let world = eleven_bugs();
    let number = world.pull();
    // It names no time, so the next attempt follows after a minute.
    world.git_fault("limited-unnamed", "POST", "receive");
    let mut child = world.start(&world.pull_request(number, "opened"));
    world.wait_for(|| world.git_faults_left().is_empty());
    world.comment(number, "ann", "/regreen stop");
    let began = std::time::Instant::now();
    assert_eq!(child.wait().expect("a child").code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    assert!(
        world.sticky(number).contains("ann asked to stop this run"),
        "{}",
        world.sticky(number)
    );
    assert!(world.has(&format!("regreen/WFS-test-pr-{number}")), "what was kept is pushed");
}

/// Every way in which one request can fail.
fn faults() -> Vec<(&'static str, Fault)> {
    let page = || "<html>unicorn</html>".to_owned();
    let wait = || vec![("retry-after", "1".to_owned())];
    vec![
        ("500", Fault::Status(500, vec![], page())),
        ("502", Fault::Status(502, vec![], page())),
        ("secondary limit", Fault::Limited(Some(1))),
        ("429", Fault::Status(429, wait(), "slow down".into())),
        ("reset", Fault::ResetAfter),
        ("cut", Fault::CutAfter),
        ("slow", Fault::Silence(Duration::from_secs(2))),
        ("page", Fault::Html),
    ]
}

/// The state of GitHub and of the git server, without times and the order in which things came.
fn state(world: &World, ran: &Ran) -> String {
    // A snapshot of a session is a commit with the time at which it was made.
    let refs = world.git(&["for-each-ref", "--format=%(refname) %(tree)"]);
    let mut state = world.github.state().clone();
    for comment in &mut state.comments {
        (comment.at, comment.writes) = (String::new(), 0);
    }
    let text = format!("{:?}\n{refs}\n{state:#?}", ran.code);
    let is_time = |word: &str| word.len() == 5 && word.as_bytes().get(2) == Some(&b':');
    let lines = text.lines().map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        words.into_iter().filter(|word| !is_time(word)).collect::<Vec<_>>().join(" ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Method and path of a request.
fn endpoint(seen: &Seen) -> (String, String) {
    (seen.method.clone(), seen.target.split('?').next().unwrap_or_default().to_owned())
}

/// An endpoint without numbers and commits.
fn template((method, path): &(String, String)) -> String {
    let names = path.split('/').map(|name| {
        let is_id = name.bytes().all(|byte| byte.is_ascii_hexdigit())
            && name.bytes().any(|byte| byte.is_ascii_digit());
        if is_id { "ID" } else { name }
    });
    format!("{method} {}", names.collect::<Vec<_>>().join("/"))
}

/// A job that is repeated in one world.
struct Repeated<'a> {
    world: &'a World,
    job: Job<'a>,
    github: State,
    refs: String,
}

impl<'a> Repeated<'a> {
    /// Repeats `job` in the world as it is now.
    fn new(world: &'a World, job: Job<'a>) -> Self {
        let refs = world.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
        Self { world, job, github: world.github.state().clone(), refs }
    }

    /// Makes the world what it was.
    fn restore(&self) {
        *self.world.github.state() = self.github.clone();
        for name in self.world.git(&["for-each-ref", "--format=%(refname)"]).lines() {
            if !self.refs.contains(&format!("{name} ")) {
                self.world.git(&["update-ref", "-d", name]);
            }
        }
        for (name, commit) in self.refs.lines().filter_map(|line| line.split_once(' ')) {
            self.world.git(&["update-ref", name, commit]);
        }
    }

    /// Runs the job, in which each of these requests fails once; returns the state at its end.
    fn run(&self, failing: &BTreeSet<(String, String)>, fault: &Fault) -> String {
        self.restore();
        for (method, path) in failing {
            self.world.github.fault(method, path, fault.clone());
        }
        let ran = self.world.run(&self.job);
        assert_eq!(self.world.github.faults_left(), 0, "{fault:?}: {}", shown(&ran));
        state(self.world, &ran)
    }

    /// Runs the job once with every fault at each of its requests; returns these requests.
    fn run_with_all_faults(&self) -> BTreeSet<(String, String)> {
        let before = self.world.github.log().len();
        let expected = self.run(&BTreeSet::new(), &Fault::Html);
        let requests: BTreeSet<_> =
            self.world.github.log().iter().skip(before).map(endpoint).collect();
        for (name, fault) in faults() {
            let found = self.run(&requests, &fault);
            assert!(found == expected, "{name}: {}", difference(&expected, &found));
        }
        requests
    }
}

/// The lines that only one of two texts has.
fn difference(expected: &str, found: &str) -> String {
    let only = |one: &str, other: &str, mark: char| {
        let lines = one.lines().filter(|line| !other.lines().any(|known| known == *line));
        lines.map(|line| format!("{mark} {line}\n")).collect::<String>()
    };
    only(expected, found, '-') + &only(found, expected, '+')
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "takes minutes, because every fault is waited for"]
fn every_request_of_a_run_may_fail_once_and_the_end_is_the_same() {
    let world = red();
    let number = world.pull();
    // The session is published again and again, without the seconds that its tests take.
    let bundle = world.bundle(number);
    assert!(bundle.ends_with("kept"));
    let mut publish = world.pull_request(number, "opened");
    publish.inputs = &[("mode", "publish"), ("bundle", "../kept")];
    publish.checkout = "main";
    let published = Repeated::new(&world, publish);
    let covered: BTreeSet<String> = published.run_with_all_faults().iter().map(template).collect();
    let status = world.comment(number, "ann", "/regreen status");
    let commanded = Repeated::new(&world, status).run_with_all_faults();
    assert!(
        commanded.iter().any(|(method, path)| method == "POST" && path.ends_with("/reactions"))
    );

    published.restore();
    let before = world.github.log().len();
    let ran = world.run(&world.pull_request(number, "opened"));
    let log = world.github.log();
    let whole: BTreeSet<_> =
        log.iter().skip(before).map(endpoint).map(|one| template(&one)).collect();
    assert!(whole.is_subset(&covered), "{whole:#?}\n{covered:#?}\n{}", shown(&ran));
}

/// The answers of a model cost dollars, of which a day may spend three.
#[cfg(feature = "slow-tests")]
#[test]
fn the_money_of_a_day_is_counted_across_jobs() {
    let world = red();
    let refusals = (0..40).map(|_| Reply::Text("I would rather not.".into())).collect();
    let model = FakeModel::serve(vec![("local", refusals)]);
    let provider = model.provider("local", ", price: { input: 1000, output: 1000 }");
    let settings =
        format!("providers: [local]\nbudget: {{ day-usd: 3.00 }}\nprovider:\n{provider}");
    world.commit("main", &[(".github/regreen.yml", &settings)], "Configure");
    let number = world.pull();
    let run = |job: &Job<'_>| {
        drop(std::fs::remove_dir_all(world.around().join("work")));
        Ran::from(world.action(job).env("LOCAL_KEY", "k").output().expect("regreen starts"))
    };
    let ran = run(&world.pull_request(number, "opened"));
    let comment = world.sticky(number).replace('`', "");
    assert!(comment.contains("$0.00 of the $3.00"), "{comment}\n{}", shown(&ran));
    let asked = model.asked().len();
    assert!((1..4).contains(&asked), "{asked}: {}", shown(&ran));
    let ran = run(&world.comment(number, "ann", "/regreen fix"));
    let comment = world.sticky(number).replace('`', "");
    let spent = format!("${}.{}0 of the $3.00", asked * 11 / 10, asked * 11 % 10);
    assert!(comment.contains(&spent), "{spent}: {comment}\n{}", shown(&ran));
    assert!(model.asked().len() < 4, "{comment}\n{}", shown(&ran));
    // A count that nobody can read is neither taken for zero nor written over.
    let list =
        world.git(&["for-each-ref", "--format=%(refname)", "refs/regreen/sessions/spending-*"]);
    let junk = world.git(&["rev-parse", "main"]);
    assert!(!list.is_empty());
    for name in list.lines() {
        world.git(&["update-ref", name, junk.trim()]);
    }
    let asked = model.asked().len();
    let ran = run(&world.comment(number, "ann", "/regreen fix"));
    let comment = world.sticky(number).replace('`', "");
    assert!(comment.contains("was spent today is unknown"), "{comment}\n{}", shown(&ran));
    assert_eq!(model.asked().len(), asked, "{}", shown(&ran));
    for name in list.lines() {
        assert_eq!(world.git(&["rev-parse", name]), junk);
    }
}
