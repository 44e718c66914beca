//! Tests of the fake GitHub: it reports requests that GitHub would reject, fails on demand, and
//! keeps the state that requests create.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::support::fake_github::{FakeGithub, Fault};

const HEADERS: &str = "authorization: Bearer x\r\naccept: application/vnd.github+json\r\nx-github-api-version: 2022-11-28\r\nuser-agent: regreen/0\r\n";

/// Sends one request over a connection of its own; returns status and body.
fn send(fake: &FakeGithub, line: &str, headers: &str, body: &str) -> (u16, Value) {
    let address = fake.url().replace("http://", "");
    let mut stream = TcpStream::connect(address).unwrap();
    let typed = if body.is_empty() { "" } else { "content-type: application/json\r\n" };
    let length = body.len();
    write!(
        stream,
        "{line} HTTP/1.1\r\nhost: x\r\n{headers}{typed}content-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut reader = std::io::BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        let mut byte = [0];
        if reader.read(&mut byte).unwrap_or(0) == 0 {
            return (0, Value::Null);
        }
        head.push(char::from(byte[0]));
    }
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |text| text.parse().unwrap());
    let mut bytes = vec![0; length];
    if reader.read_exact(&mut bytes).is_err() {
        return (status, Value::Null);
    }
    (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
}

#[test]
fn what_github_would_not_take_is_noticed() {
    let comment = json!({ "body": "x" }).to_string();
    let long: Vec<Value> = (0..51)
        .map(|line| json!({ "path": "a", "start_line": line, "end_line": line, "annotation_level": "notice", "message": "m" }))
        .collect();
    let run = |output: Value| json!({ "name": "n", "head_sha": "0", "output": output }).to_string();
    let many = run(json!({ "title": "t", "summary": "s", "annotations": long }));
    let wide = run(json!({ "title": "t", "summary": "s".repeat(65_536) }));
    let untitled = run(json!({ "summary": "s" }));
    let colour = HEADERS.replace("Bearer x", "token x");
    let version = HEADERS.replace("2022-11-28", "2020-01-01");
    let table: &[(&str, &str, &str, &str)] = &[
        ("GET /repos/octo/demo/pulls/7", &colour, "", "no token"),
        ("GET /repos/octo/demo/pulls/7", &version, "", "no API version"),
        ("GET /repos/octo/demo/pulls/seven", HEADERS, "", "cannot be `seven`"),
        ("GET /repos/octo/demo/pulls?state=opened", HEADERS, "", "cannot be `opened`"),
        ("GET /repos/octo/demo/pulls?colour=red", HEADERS, "", "no `colour`"),
        ("GET /repos/octo/demo/pulls?per_page=101", HEADERS, "", "a page of 101"),
        ("GET /repos/octo/demo/nothing", HEADERS, "", "no such operation"),
        ("DELETE /repos/octo/demo/pulls/7", HEADERS, "", "no such operation"),
        ("GET /repos/octo/demo/%2E%2E/pulls", HEADERS, "", "the path climbs"),
        ("POST /repos/octo/demo/issues/7/comments", HEADERS, "", "no body"),
        ("POST /repos/octo/demo/issues/7/comments", HEADERS, "{}", "\"body\" is a required"),
        ("POST /repos/octo/demo/issues/7/comments", HEADERS, "{\"body\":1}", "/body"),
        ("POST /repos/octo/demo/issues/7/comments", HEADERS, "{\"body\":\"x\",\"a\":1}", "no `/a`"),
        ("GET /repos/octo/demo/pulls/7", HEADERS, &comment, "takes no body"),
        ("POST /repos/octo/demo/check-runs", HEADERS, &many, "/output/annotations"),
        ("POST /repos/octo/demo/check-runs", HEADERS, &wide, "/output/summary"),
        ("POST /repos/octo/demo/check-runs", HEADERS, &untitled, "\"title\" is a required"),
    ];
    for (line, headers, body, expected) in table {
        let fake = FakeGithub::start();
        send(&fake, line, headers, body);
        let found = fake.violations().join("\n");
        assert!(found.contains(expected), "{line} {body:.80}\n{found}");
    }
}

#[test]
fn what_is_right_is_done_and_answered_in_full() {
    let fake = FakeGithub::start();
    let body = json!({ "body": "hello" }).to_string();
    let (status, answer) = send(&fake, "POST /repos/octo/demo/issues/7/comments", HEADERS, &body);
    assert_eq!(status, 201);
    assert_eq!(answer["body"], "hello");
    assert_eq!(answer["user"]["login"], "github-actions[bot]");
    // Fields that the description requires are filled in, even if the state lacks them.
    assert!(answer["created_at"].is_string() && answer["issue_url"].is_string());
    let (_, list) = send(&fake, "GET /repos/octo/demo/issues/7/comments", HEADERS, "");
    assert_eq!(list[0]["id"], answer["id"]);
    assert_eq!(fake.state().comments.len(), 1);
    assert_eq!(
        fake.transcript(),
        [
            "POST /repos/octo/demo/issues/7/comments 201",
            "GET /repos/octo/demo/issues/7/comments 200"
        ]
    );
    assert_eq!(fake.count("POST", "/comments"), 1);
    fake.assert_clean();
}

#[test]
fn faults_are_met_once_and_in_their_order() {
    let fake = FakeGithub::start();
    let body = json!({ "body": "hello" }).to_string();
    fake.fault("POST", "/comments", Fault::ResetBefore);
    fake.fault("POST", "/comments", Fault::ResetAfter);
    fake.fault("POST", "/comments", Fault::CutAfter);
    fake.fault("POST", "/comments", Fault::Limited(Some(3)));
    let mut seen = Vec::new();
    for _ in 0..5 {
        let (status, _) = send(&fake, "POST /repos/octo/demo/issues/7/comments", HEADERS, &body);
        seen.push((status, fake.state().comments.len()));
    }
    assert_eq!(seen, [(0, 0), (0, 1), (201, 2), (403, 2), (201, 3)]);
    assert_eq!(fake.faults_left(), 0);
    fake.assert_clean();
}
