//! A fake model server: answers each provider from a script, records the requests, and fails the
//! test when it has no reply left.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// What the server does with one request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// An answer with this text in the provider's protocol.
    Text(String),
    /// A status with headers and a body.
    Status(u16, Vec<(&'static str, String)>, String),
    /// A body that is cut off in the middle.
    Cut,
    /// No answer for this long.
    Silence(Duration),
    /// The reply that this function computes from the question; also for all later questions.
    By(fn(&str) -> Reply),
}

/// One request as it arrived.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The provider, which is the first segment of the path.
    pub provider: String,
    /// Request line and headers.
    pub head: String,
    /// The request body as JSON.
    pub body: Value,
}

impl Asked {
    /// The whole question as one text.
    pub fn text(&self) -> String {
        self.body.to_string()
    }
}

type Script = Vec<(String, VecDeque<Reply>)>;

/// A running server.
pub struct FakeModel {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    script: Arc<Mutex<Script>>,
}

impl FakeModel {
    /// Serves a script: replies per provider, in order.
    pub fn serve(script: Vec<(&str, Vec<Reply>)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let script: Script =
            script.into_iter().map(|(name, list)| (name.to_owned(), list.into())).collect();
        let script = Arc::new(Mutex::new(script));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (list, memory) = (Arc::clone(&script), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (list, memory) = (Arc::clone(&list), Arc::clone(&memory));
                std::thread::spawn(move || serve_one(stream, &list, &memory));
            }
        });
        Self { port, asked, script }
    }

    /// A provider entry of the configuration file.
    pub fn provider(&self, name: &str, more: &str) -> String {
        format!(
            "  {name}: {{ protocol: chat, model: {name}-model, key: {}_KEY, base-url: 'http://127.0.0.1:{}/{name}'{more} }}\n",
            name.to_uppercase(),
            self.port
        )
    }

    /// Configures this server as the provider `one` of a repository, with this chain.
    pub fn provide(&self, repo: &super::TestRepo, chain: &str) {
        let provider = self.provider("one", ", price: { input: 1.0, output: 10.0 }");
        let text = format!("providers: [{chain}]\nprovider:\n{provider}");
        repo.write(&[(".github/regreen.yml", &text)]);
    }

    /// The port that the server listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// All requests so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no panic").clone()
    }

    /// Number of replies that were not used.
    pub fn left(&self) -> usize {
        self.script.lock().expect("no panic").iter().map(|(_, list)| list.len()).sum()
    }
}

fn serve_one(mut stream: TcpStream, script: &Mutex<Script>, memory: &Mutex<Vec<Asked>>) {
    let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
    loop {
        let mut head = String::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if line.trim().is_empty() {
                break;
            }
            head.push_str(&line);
        }
        let length = head
            .lines()
            .find_map(|line| {
                line.to_lowercase().strip_prefix("content-length:").map(|n| n.trim().parse())
            })
            .and_then(Result::ok)
            .unwrap_or(0usize);
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let path = head.split_whitespace().nth(1).unwrap_or_default();
        let provider = path.split('/').nth(1).unwrap_or_default().to_owned();
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let question = body.to_string();
        memory.lock().expect("no panic").push(Asked { provider: provider.clone(), head, body });
        let reply = script
            .lock()
            .expect("no panic")
            .iter_mut()
            .find(|(name, _)| *name == provider)
            .and_then(|(_, list)| match list.front() {
                Some(Reply::By(answer)) => Some(answer(&question)),
                _ => list.pop_front(),
            })
            .unwrap_or_else(|| Reply::Status(500, vec![], "the script has ended".into()));
        let (status, headers, text) =
            match reply {
                Reply::By(_) => (500, vec![], "an answer is none that makes answers".into()),
                Reply::Silence(time) => {
                    std::thread::sleep(time);
                    return;
                }
                Reply::Cut => {
                    drop(stream.write_all(
                        b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{\"choices\":[",
                    ));
                    return;
                }
                Reply::Status(status, headers, text) => (status, headers, text),
                Reply::Text(text) => (
                    200,
                    vec![],
                    json!({
                        "model": format!("{provider}-model"),
                        "choices": [{ "message": { "content": text }, "finish_reason": "stop" }],
                        "usage": { "prompt_tokens": 1000, "completion_tokens": 100 },
                    })
                    .to_string(),
                ),
            };
        let extra: String =
            headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let answer = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{extra}content-length: {}\r\n\r\n{text}",
            text.len()
        );
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// An analysis with evidence that names one place.
pub fn analysis(point: &str, confidence: f64) -> Reply {
    analysis_of("test_calc.TotalTest.test_total", point, confidence)
}

/// An analysis with evidence that names one place and one test.
pub fn analysis_of(test: &str, point: &str, confidence: f64) -> Reply {
    Reply::Text(analysis_text(test, point, confidence))
}

/// As [`analysis_of`], followed by the change that it is sure of, one block.
pub fn analysis_and_edit(test: &str, point: &str, edit: (&str, &str, &str)) -> Reply {
    let (file, search, replace) = edit;
    let block = format!(
        "{file}\n```\n<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n```\n"
    );
    Reply::Text(format!("{}\n\n{block}", analysis_text(test, point, 0.9)))
}

fn analysis_text(test: &str, point: &str, confidence: f64) -> String {
    json!({
            "root_causes": [{ "tests": [], "cause": format!("the code at {point} is wrong"), "file": "", "function": "", "lines": "" }],
            "approach": format!("Correct the code at {point}."),
            "modification_points": [point],
            "affected_tests": [test],
            "confidence_score": confidence,
            "expected_outcome": "the failing test passes",
            "evidence": [{ "test": test, "expected": "another value", "actual": "this one", "line": "return" }],
            "rejected": "The test is wrong; its name says the same.",
        })
        .to_string()
}

/// Edits that consist of one block.
pub fn edit(file: &str, search: &str, replace: &str) -> Reply {
    Reply::Text(
        json!({
            "edits": [{ "file": file, "search": search, "replace": replace, "reason": format!("`{search}` was wrong") }],
            "new_files": [],
            "notes": "",
            "confidence_score": 0.9,
        })
        .to_string(),
    )
}

/// A survey of what must be tested: the file, and layer, function, line and text of each
/// requirement.
pub fn survey(file: &str, requirements: &[(&str, &str, u32, &str)]) -> Reply {
    let list: Vec<Value> = requirements
        .iter()
        .map(|(layer, function, line, text)| {
            json!({
                "layer": layer, "function": function, "line": line, "text": text,
                "given": "", "expect": "what the sentence says",
            })
        })
        .collect();
    Reply::Text(
        json!({
            "files": [{ "file": file, "requirements": list }],
            "confidence_score": 0.9,
        })
        .to_string(),
    )
}

/// A test file, with the requirements that its tests cover.
pub fn test_file(file: &str, content: &str, covers: &[(&str, &[&str])]) -> Reply {
    let covers: Vec<Value> =
        covers.iter().map(|(test, ids)| json!({ "test": test, "requirements": ids })).collect();
    Reply::Text(
        json!({
            "edits": [],
            "new_files": [{ "file": file, "content": content, "reason": "the requirements" }],
            "covers": covers,
            "notes": "",
            "confidence_score": 0.9,
        })
        .to_string(),
    )
}

/// A verdict on one failing test: whether the test or the code is wrong.
pub fn verdict(test: &str, wrong: &str, function: &str, evidence: &str) -> Reply {
    Reply::Text(
        json!({
            "verdicts": [{
                "test": test, "wrong": wrong, "evidence": evidence, "function": function, "lines": "",
            }],
            "confidence_score": 0.9,
            "report": "The documentation says otherwise.",
        })
        .to_string(),
    )
}
