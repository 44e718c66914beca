//! Recognises failures that the environment of a run causes: connections that regreen's sandbox
//! refused, and services that do not run.
//!
//! A failure that is excused passes the gate, so words in an output are not enough: the sandbox must
//! have closed the network in that very run, and where there is a merge base, it must fail in the
//! same way. An assertion that failed is no refused connection, whatever it quotes.
//!
//! Source: specification.md 7.2 (F-090).

use super::test::TestCase;

/// How runtimes report that the system refused to open a connection (`EACCES`, and `ENETUNREACH` in
/// a container without network), in lower case.
const DENIED: &[&str] = &[
    "connect eacces",
    "connect enetunreach",
    "connect: permission denied",
    "connect: network is unreachable",
    "connection error: [errno 13]",
    "failed to establish a new connection: [errno 13]",
    "failed to establish a new connection: [errno 101]",
    "urlopen error [errno 13]",
    "urlopen error [errno 101]",
    "java.net.socketexception: permission denied",
    "java.net.socketexception: network is unreachable",
    "java.net.connectexception: permission denied",
];

/// How Python reports the same from a program's own socket; its stack must show the call.
const BY_STACK: &[&str] =
    &["permissionerror: [errno 13] permission denied\n", "[errno 101] network is unreachable\n"];

/// How runtimes report that nothing listens on a port, in lower case.
const REFUSED: &[&str] = &["connection refused", "econnrefused"];

/// Evidence that the sandbox refused a connection; `is_offline` is whether it closed all.
pub fn denied(case: &TestCase, is_offline: bool) -> Option<String> {
    let output = output(case)?;
    let has = |words: &&str| output.contains(words);
    let by_stack = BY_STACK.iter().any(has) && output.contains("sock.connect(");
    (is_offline && (DENIED.iter().any(has) || by_stack)).then(|| {
        "its connection was refused: the sandbox closes the network to test code".to_owned()
    })
}

/// Evidence that a test lacks something that no edit brings, from its results here and on the merge
/// base: a connection that the sandbox refuses, or a service that does not answer.
pub fn lack(here: &TestCase, base: &TestCase, is_offline: bool) -> Option<String> {
    let is_refused =
        |case| output(case).is_some_and(|text| REFUSED.iter().any(|words| text.contains(words)));
    let is_denied = |case| denied(case, is_offline);
    is_denied(here).zip(is_denied(base)).map(|(evidence, _)| evidence).or_else(|| {
        (is_refused(here) && is_refused(base)).then(|| {
            "a service does not answer: its connection is refused, on the merge base too".to_owned()
        })
    })
}

/// What a test printed as it failed, in lower case; `None` for assertions and socket files.
fn output(case: &TestCase) -> Option<String> {
    let failure = case.failure.as_ref()?;
    if failure.class.to_lowercase().contains("assert") || failure.message.contains("dial unix") {
        return None;
    }
    Some(format!("{}: {}\n{}", failure.class, failure.message, failure.stack).to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::latest_results::tests::results;
    use crate::domain::test::{FailureText, Scope, Status};

    fn case(class: &str, message: &str, stack: &str) -> TestCase {
        let case = results(Scope::Full, &[("t", Status::Failed)]).cases.remove(0);
        let failure = FailureText {
            class: class.into(),
            message: message.into(),
            stack: stack.into(),
            frames: Vec::new(),
        };
        TestCase { failure: Some(failure), ..case }
    }

    #[test]
    fn only_a_refused_connection_of_a_run_without_network_is_denied() {
        let python = "  File \"/usr/lib/python3.12/socket.py\", line 850, in create_connection\n    sock.connect(sa)";
        let table = [
            ("Error", "connect EACCES 127.0.0.1:5432 - Local (undefined:undefined)", "", true),
            ("", "dial tcp 127.0.0.1:5432: connect: permission denied", "", true),
            ("PermissionError", "[Errno 13] Permission denied", python, true),
            ("URLError", "<urlopen error [Errno 13] Permission denied>", "", true),
            ("PermissionError", "[Errno 13] Permission denied: '/etc/shadow'", "open(path)", false),
            ("PermissionError", "[Errno 13] Permission denied: 'x.db'", python, false),
            ("AssertionError", "1 != 2", python, false),
            ("AssertionError", "'connect EACCES 1.2.3.4' != 'retry'", "", false),
            ("", "dial unix /var/run/docker.sock: connect: permission denied", "", false),
            ("Error", "connect ECONNREFUSED 127.0.0.1:5432", "", false),
        ];
        for (class, message, stack, expected) in table {
            let case = case(class, message, stack);
            assert_eq!(denied(&case, true).is_some(), expected, "{message}");
            assert_eq!(denied(&case, false), None, "the network was open: {message}");
        }
    }

    #[test]
    fn what_is_missing_is_missing_on_the_merge_base_too() {
        let refused = case("Error", "connect ECONNREFUSED 127.0.0.1:6379", "");
        let wrong = case("AssertionError", "1 != 2", "");
        let denied = case("Error", "connect EACCES 127.0.0.1:6379", "");
        let table = [
            (&refused, &refused, false, true),
            (&refused, &wrong, false, false),
            (&wrong, &refused, false, false),
            (&denied, &denied, true, true),
            (&denied, &denied, false, false),
            (&denied, &wrong, true, false),
        ];
        for (here, base, is_offline, expected) in table {
            assert_eq!(lack(here, base, is_offline).is_some(), expected, "{here:?} {base:?}");
        }
    }
}
