//! A fake GitHub server with state. Every request is checked against GitHub's `OpenAPI`
//! description, every answer is built from it, and any call can be made to fail.
//!
//! ```ignore
//! let github = FakeGithub::start();
//! github.state().permissions.insert("ann".into(), ("write".into(), "maintain".into()));
//! github.fault("POST", "/comments", Fault::ResetAfter);
//! // GITHUB_API_URL = github.url()
//! github.assert_clean();
//! ```

mod answers;
mod contract;
pub mod state;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::{Value, json};

use answers::{Answer, perform};
use contract::{contract, decoded};
use state::State;

/// How one call fails.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Answers with this status, headers and body; the operation is not performed.
    Status(u16, Vec<(&'static str, String)>, String),
    /// Performs the operation, and answers with this status.
    StatusAfter(u16),
    /// Closes the connection; the operation is not performed.
    ResetBefore,
    /// Performs the operation, and closes the connection.
    ResetAfter,
    /// Performs the operation, and cuts the answer off.
    CutAfter,
    /// Answers 200 with the page of a proxy; the operation is not performed.
    Html,
    /// Sends no answer for this long; the operation is not performed.
    Silence(Duration),
    /// Answers with a secondary rate limit and this `Retry-After`; the operation is not performed.
    Limited(Option<u32>),
}

/// One request as it arrived.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The HTTP method, such as `GET`.
    pub method: String,
    /// Path and query, as sent.
    pub target: String,
    /// Headers with lower-case names.
    pub headers: Vec<(String, String)>,
    /// The body as JSON, or `null` for none.
    pub body: Value,
    /// Status of the answer; 0 for none.
    pub status: u16,
}

#[derive(Default)]
struct Memory {
    state: Mutex<State>,
    faults: Mutex<Vec<(String, String, Fault)>>,
    log: Mutex<Vec<Seen>>,
    violations: Mutex<Vec<String>>,
}

/// A running server.
pub struct FakeGithub {
    port: u16,
    memory: Arc<Memory>,
}

impl FakeGithub {
    /// Serves an empty repository `octo/demo` to the token of a job.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let memory = Arc::new(Memory::default());
        let shared = Arc::clone(&memory);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, &shared, port));
            }
        });
        Self { port, memory }
    }

    /// The URL to set as `GITHUB_API_URL`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The state of the repository, to read and to change.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.memory.state.lock().expect("no panic")
    }

    /// The next call with this method whose target contains `part` fails in this way; a part that
    /// begins with `/repos/` is the whole path. Several faults for the same call happen one after the
    /// other.
    pub fn fault(&self, method: &str, part: &str, fault: Fault) {
        let mut faults = self.memory.faults.lock().expect("no panic");
        faults.push((method.to_owned(), part.to_owned(), fault));
    }

    /// Number of faults that have not happened.
    pub fn faults_left(&self) -> usize {
        self.memory.faults.lock().expect("no panic").len()
    }

    /// All requests so far.
    pub fn log(&self) -> Vec<Seen> {
        self.memory.log.lock().expect("no panic").clone()
    }

    /// All requests so far, as lines such as `POST /repos/octo/demo/issues 201`.
    pub fn transcript(&self) -> Vec<String> {
        self.log()
            .iter()
            .map(|seen| format!("{} {} {}", seen.method, seen.target, seen.status))
            .collect()
    }

    /// How often a method was sent to a target that contains `part`.
    pub fn count(&self, method: &str, part: &str) -> usize {
        self.log().iter().filter(|seen| seen.method == method && seen.target.contains(part)).count()
    }

    /// Violations of the API description so far.
    pub fn violations(&self) -> Vec<String> {
        self.memory.violations.lock().expect("no panic").clone()
    }

    /// Fails the test if a request or an answer violated the API description.
    pub fn assert_clean(&self) {
        let violations = self.violations();
        assert!(violations.is_empty(), "{}", violations.join("\n"));
    }
}

/// Reads one request: method, target, headers, body.
fn receive(reader: &mut BufReader<TcpStream>) -> Option<(Seen, Vec<u8>)> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim_end().to_owned());
    }
    let mut words = lines.first()?.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let headers: Vec<(String, String)> = lines
        .iter()
        .skip(1)
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let header =
        |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, v)| v.as_str());
    let mut bytes = Vec::new();
    if header("transfer-encoding") == Some("chunked") {
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let size = usize::from_str_radix(line.trim(), 16).ok()?;
            let mut piece = vec![0; size + 2];
            reader.read_exact(&mut piece).ok()?;
            piece.truncate(size);
            bytes.extend(piece);
            if size == 0 {
                break;
            }
        }
    } else if let Some(length) = header("content-length").and_then(|text| text.parse().ok()) {
        bytes = vec![0; length];
        reader.read_exact(&mut bytes).ok()?;
    }
    let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    Some((Seen { method, target, headers, body, status: 0 }, bytes))
}

fn serve(stream: TcpStream, memory: &Memory, port: u16) {
    let mut writer = stream.try_clone().expect("a second handle");
    let mut reader = BufReader::new(stream);
    while let Some((mut seen, bytes)) = receive(&mut reader) {
        check(&seen, &bytes, memory);
        let fault = {
            let mut faults = memory.faults.lock().expect("no panic");
            faults
                .iter()
                .position(|(method, part, _)| *method == seen.method && meets(&seen.target, part))
                .map(|index| faults.remove(index).2)
        };
        let silence = match &fault {
            Some(Fault::Silence(time)) => Some(*time),
            _ => None,
        };
        let answer = answer(fault, &seen, memory, port);
        seen.status = answer.as_ref().map_or(0, |(answer, _)| answer.status);
        memory.log.lock().expect("no panic").push(seen);
        if let Some(time) = silence {
            std::thread::sleep(time);
        }
        let Some((answer, cut)) = answer else {
            drop(writer.shutdown(Shutdown::Both));
            return;
        };
        let text = match &answer.body {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let kind = if text.starts_with('<') { "text/html" } else { "application/json" };
        let headers: String =
            answer.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = if answer.status == 204 {
            String::new()
        } else {
            format!("content-type: {kind}\r\ncontent-length: {}\r\n", text.len())
        };
        let mut whole =
            format!("HTTP/1.1 {} X\r\n{headers}{length}\r\n{text}", answer.status).into_bytes();
        if cut {
            whole.truncate(whole.len() - text.len() / 2);
        }
        if writer.write_all(&whole).is_err() || cut {
            drop(writer.shutdown(Shutdown::Both));
            return;
        }
    }
}

/// The answer, and whether it is cut off; `None` when there is none.
fn answer(fault: Option<Fault>, seen: &Seen, memory: &Memory, port: u16) -> Option<(Answer, bool)> {
    let plain = |status: u16, headers: Vec<(&'static str, String)>, text: &str| {
        Some((Answer { status, headers, body: Value::String(text.to_owned()) }, false))
    };
    let real = || respond(seen, memory, port);
    match fault {
        None => Some((real(), false)),
        Some(Fault::Status(status, headers, text)) => plain(status, headers, &text),
        Some(Fault::StatusAfter(status)) => {
            real();
            plain(status, Vec::new(), "<html>bad gateway</html>")
        }
        Some(Fault::ResetBefore | Fault::Silence(_)) => None,
        Some(Fault::ResetAfter) => {
            real();
            None
        }
        Some(Fault::CutAfter) => Some((real(), true)),
        Some(Fault::Html) => plain(200, Vec::new(), "<html>please log in</html>"),
        Some(Fault::Limited(time)) => plain(
            403,
            time.map(|time| ("retry-after", time.to_string())).into_iter().collect(),
            &json!({ "message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.", "documentation_url": "https://docs.github.com" }).to_string(),
        ),
    }
}

fn query_of(target: &str) -> Vec<(String, String)> {
    let query = target.split_once('?').map_or("", |(_, query)| query);
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect()
}

/// Whether a target is the path `part`, or contains it where it is no whole path.
fn meets(target: &str, part: &str) -> bool {
    let is_path = part.starts_with("/repos/") && !part.contains('?');
    if is_path { path_of(target) == part } else { target.contains(part) }
}

fn path_of(target: &str) -> &str {
    target.split('?').next().unwrap_or_default()
}

fn violation(memory: &Memory, seen: &Seen, text: &str) {
    let line = format!("{} {}: {text}", seen.method, seen.target);
    memory.violations.lock().expect("no panic").push(line);
}

/// Checks a request against the description.
fn check(seen: &Seen, bytes: &[u8], memory: &Memory) {
    let fail = |text: &str| violation(memory, seen, text);
    let header = |name: &str| {
        let found = seen.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    };
    if !header("authorization").starts_with("Bearer ") {
        fail("no token");
    }
    if header("accept") != "application/vnd.github+json" {
        fail("`accept` does not name the media type");
    }
    if header("x-github-api-version") != "2022-11-28" {
        fail("no API version");
    }
    if !header("user-agent").starts_with("regreen/") {
        fail(&format!("`user-agent` is {}", header("user-agent")));
    }
    let has_body = !bytes.is_empty();
    if has_body && header("content-type") != "application/json" {
        fail("the body is not called JSON");
    }
    if has_body && seen.body.is_null() {
        fail("the body is not JSON");
    }
    let path = path_of(&seen.target);
    if path.split('/').any(|segment| matches!(decoded(segment).as_str(), "." | "..")) {
        fail("the path climbs");
    }
    if path == "/graphql" {
        for text in answers::graph_faults(&seen.body) {
            fail(&text);
        }
        return;
    }
    // The only route that is not in the description: the place of a renamed repository.
    if path.starts_with("/repositories/") {
        return;
    }
    let Some(operation) = contract().operation(&seen.method, path) else {
        fail("GitHub has no such operation");
        return;
    };
    let body = has_body.then_some(&seen.body);
    for text in contract().request_faults(&operation, &query_of(&seen.target), body) {
        fail(&text);
    }
}

/// Performs the requested operation, and answers in the form of the description.
fn respond(seen: &Seen, memory: &Memory, port: u16) -> Answer {
    let path = path_of(&seen.target);
    let mut state = memory.state.lock().expect("no panic");
    if path == "/graphql" {
        return Answer::new(200, answers::graph(&mut state, &seen.body));
    }
    let (method, path) = match path.strip_prefix("/repositories/") {
        Some(_) => (seen.method.as_str(), format!("/repos/{}", state.repository)),
        None => (seen.method.as_str(), path.to_owned()),
    };
    let Some(operation) = contract().operation(method, &path) else {
        return Answer::refused(404, "Not Found");
    };
    state.look();
    let query = query_of(&seen.target);
    let get = |name: &str| operation.values.get(name).cloned().unwrap_or_default();
    let name = format!("{}/{}", get("owner"), get("repo"));
    if operation.template.starts_with("/repos/") && name != state.repository {
        if state.old_name.as_deref() == Some(&name) {
            let mut moved = Answer::refused(301, "Moved Permanently");
            moved.headers.push(("location", format!("http://127.0.0.1:{port}/repositories/1")));
            return moved;
        }
        return Answer::refused(404, "Not Found");
    }
    let mut answer = perform(
        &mut state,
        &format!("{method} {}", operation.template),
        &operation.values,
        &query,
        &seen.body,
    );
    if answer.status < 300 && answer.status != 204 {
        answer.body = contract().answer(&operation, answer.status, &answer.body);
    }
    for text in contract().answer_faults(&operation, answer.status, &answer.body) {
        violation(memory, seen, &format!("the answer: {text}"));
    }
    answer
}
