//! The memory on the server: what one job leaves for the next, who may write it, and what hostile
//! content can do.

use super::harness::World;
use super::pull_request_life::{red, red_twice, shown};
use crate::support::{Ran, write_program};

/// The reference that holds the memory.
const REFERENCE: &str = "refs/regreen/memory";

fn memory(world: &World) -> serde_json::Value {
    let text = world.git(&["show", &format!("{REFERENCE}:memory.json")]);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A commit on the server with one file, made as by a job of ours if it is named `memory.json`.
pub fn commit(world: &World, name: &str, text: &[u8]) -> String {
    let file = world.around().join("content");
    std::fs::write(&file, text).expect("a file");
    let blob = world.git(&["hash-object", "-w", &file.display().to_string()]);
    let index = world.around().join("index");
    let line = format!(
        "export GIT_INDEX_FILE='{}'; rm -f \"$GIT_INDEX_FILE\"; git update-index --add --cacheinfo 100644,{blob},{name} && \
         git -c user.name=x -c user.email=x@y commit-tree $(git write-tree) -m 'test-cycle: record memory' -m 'Regreen-Session: memory\nRegreen-Kind: record'",
        index.display()
    );
    let made = std::process::Command::new("sh")
        .args(["-c", &line])
        .current_dir(world.bare())
        .output()
        .expect("sh starts");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    String::from_utf8_lossy(&made.stdout).trim().to_owned()
}

/// A memory that says that a test is flaky.
fn flaky(world: &World, test: &str) -> Vec<u8> {
    let head = world.git(&["rev-parse", "main"]);
    let now = std::process::Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]).output();
    let now = String::from_utf8(now.expect("date starts").stdout).expect("text");
    let entry = serde_json::json!({
        "at": now.trim(), "test": test, "head": head, "evidence": "seen by another job",
    });
    serde_json::json!({ "schema_version": 1, "flaky": [entry] }).to_string().into_bytes()
}

fn opened(world: &World, number: u64) -> Ran {
    world.run(&world.pull_request(number, "opened"))
}

#[test]
fn the_next_run_begins_with_what_the_last_one_learned() {
    let world = red_twice();
    let number = world.pull();
    let ran = opened(&world, number);
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let known = memory(&world);
    assert_eq!(known["fixes"].as_array().map(Vec::len), Some(2), "{known}");
    assert!(!world.sticky(number).contains("earlier sessions"), "{}", world.sticky(number));

    world.commit("topic", &[("notes.txt", "x\n")], "Move on");
    let ran = world.run(&world.pull_request(number, "synchronize"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let comment = world.sticky(number);
    assert!(comment.contains("From earlier sessions: a search tries edits"), "{comment}");
    assert_eq!(world.git(&["rev-list", "--count", REFERENCE]), "1", "there is no history");
    let both = memory(&world);
    assert_eq!(both["fixes"].as_array().map(Vec::len), Some(4), "{both}");
    world.github.assert_clean();
    world.assert_no_token(&ran);
}

#[test]
fn a_job_that_writes_at_the_same_time_loses_nothing() {
    let world = red_twice();
    let number = world.pull();
    let other = commit(&world, "memory.json", &flaky(&world, "other.py::test_other"));
    // Another job is quicker: it writes between the reading and the writing of this one.
    let hook = world.bare().join("hooks/pre-receive");
    let script = format!(
        "#!/bin/sh\ngrep -q {REFERENCE} || exit 0\nrm \"$0\"\n\
         env -u GIT_QUARANTINE_PATH git update-ref {REFERENCE} {other}\n"
    );
    write_program(&hook, &script);
    let ran = opened(&world, number);
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert!(!hook.exists(), "the other job wrote in between");
    let both = memory(&world);
    assert_eq!(both["flaky"][0]["test"], "other.py::test_other", "{both}");
    assert_eq!(both["fixes"].as_array().map(Vec::len), Some(2), "{both}");
    world.github.assert_clean();
}

#[cfg(feature = "slow-tests")]
#[test]
fn the_code_of_a_fork_writes_no_memory() {
    let world = red();
    let number = world.pull();
    let known = commit(&world, "memory.json", &flaky(&world, "other.py::test_other"));
    world.git(&["update-ref", REFERENCE, &known]);
    {
        let mut state = world.github.state();
        let pull = state.pulls.iter_mut().find(|pull| pull.number == number).expect("it is there");
        pull.head_repository = Some("mallory/demo".into());
    }
    let mut job = world.pull_request(number, "opened");
    job.payload["pull_request"]["head"]["repo"]["full_name"] = "mallory/demo".into();
    job.inputs = &[("mode", "work"), ("bundle", "bundle")];
    let ran = world.run(&job);
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let kept = world.around().join("kept");
    std::fs::rename(world.around().join("workspace/bundle"), &kept).expect("a bundle");
    std::fs::write(kept.join("memory.json"), flaky(&world, "mallory.py::test_all"))
        .expect("a file");

    let ran = world.run(&world.comment(number, "ann", "/regreen fix"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert!(world.sticky(number).contains("/regreen apply"), "{}", world.sticky(number));
    assert_eq!(world.git(&["rev-parse", REFERENCE]), known);

    // Nor does a publishing job, whatever is in the bundle.
    let mut job = world.comment(number, "ann", "/regreen fix");
    job.inputs = &[("mode", "publish"), ("bundle", "../kept")];
    let ran = world.run(&job);
    assert!(ran.code.is_some(), "{}", shown(&ran));
    assert_eq!(world.git(&["rev-parse", REFERENCE]), known);
}

#[cfg(feature = "slow-tests")]
#[test]
fn what_a_worker_claims_to_have_learned_is_checked() {
    let world = red();
    let number = world.pull();
    let bundle = world.bundle(number);
    let mut claimed: serde_json::Value =
        serde_json::from_slice(&std::fs::read(bundle.join("memory.json")).expect("a memory"))
            .expect("JSON");
    let at = claimed["fixes"][0]["at"].clone();
    let lesson = serde_json::json!({ "at": at, "kind": "bug", "tag": "x", "text": "x" });
    let list = claimed["lessons"].as_array_mut().expect("a list");
    for text in [format!("use {}", world.token), "a\u{1b}[2Jb".into(), "x".repeat(5_000)] {
        let mut bad = lesson.clone();
        bad["text"] = text.into();
        list.push(bad);
    }
    std::fs::write(bundle.join("memory.json"), claimed.to_string()).expect("a file");
    let mut job = world.pull_request(number, "opened");
    job.inputs = &[("mode", "publish"), ("bundle", "../kept")];
    job.checkout = "main";
    let ran = world.run(&job);
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let text = memory(&world).to_string();
    assert!(text.contains("use [redacted]"), "{text}");
    assert!(!text.contains("2Jb") && !text.contains("xxxxxxxx"), "{text}");
    world.assert_no_token(&ran);

    // Garbage leaves what is known as it was.
    let known = world.git(&["rev-parse", REFERENCE]);
    for garbage in ["", "garbage", "{\"schema_version\": 9}"] {
        std::fs::write(bundle.join("memory.json"), garbage).expect("a file");
        let ran = world.run(&job);
        assert_eq!(ran.code, Some(0), "{}", shown(&ran));
        assert_eq!(world.git(&["rev-parse", REFERENCE]), known, "{garbage}");
    }
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_hostile_reference_changes_no_result_and_is_left_alone() {
    use std::fmt::Write as _;
    // Random bytes cannot be compressed, so that the pack is as large.
    let mut huge = String::new();
    let mut state = 7_u64;
    for _ in 0..500_000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        write!(huge, "{state:x}").expect("a text");
    }
    let flat = vec![b' '; 40 << 20];
    let contents: [(&str, &[u8]); 4] = [
        ("memory.json", huge.as_bytes()),
        ("memory.json", &flat),
        ("memory.json", b"\x00\xff garbage"),
        ("other", b"x"),
    ];
    for (name, content) in contents {
        let world = red();
        let number = world.pull();
        let hostile = commit(&world, name, content);
        world.git(&["update-ref", REFERENCE, &hostile]);
        let ran = opened(&world, number);
        assert_eq!(ran.code, Some(0), "{}", shown(&ran));
        assert!(world.sticky(number).contains("A fix was found: "), "{}", world.sticky(number));
        assert_eq!(world.git(&["rev-parse", REFERENCE]), hostile);
        let notice = "::notice title=regreen::what this run learned is not kept for later ones";
        assert_eq!(ran.out.matches(notice).count(), 1, "{}", shown(&ran));
        world.github.assert_clean();
    }
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_refused_or_unwanted_memory_fails_no_job() {
    let world = red();
    let number = world.pull();
    let refused = format!("#!/bin/sh\n! grep -q {REFERENCE}\n");
    write_program(&world.bare().join("hooks/pre-receive"), &refused);
    let ran = opened(&world, number);
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert!(ran.out.contains("what this run learned is not kept"), "{}", shown(&ran));
    std::fs::remove_file(world.bare().join("hooks/pre-receive")).expect("a hook");

    world.commit("topic", &[("notes.txt", "x\n")], "Move on");
    let mut job = world.pull_request(number, "synchronize");
    job.inputs = &[("memory", "false")];
    let ran = world.run(&job);
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert!(!ran.out.contains("what this run learned"), "{}", shown(&ran));
    assert!(!world.has(REFERENCE));
}
