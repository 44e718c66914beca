//! Recognises failures that the environment of a run causes: connections that regreen's sandbox
//! refused, and services that do not run.
//!
//! A failure that is excused passes the gate, so words in an output are never enough: the sandbox
//! must have closed the network in that very run, or the merge base must fail in the same way.
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

/// How Python reports the same from a socket of the program itself; its stack must show the call.
const BY_STACK: &[&str] =
    &["permissionerror: [errno 13] permission denied", "[errno 101] network is unreachable"];

/// How runtimes report that nothing listens on a port, in lower case.
const REFUSED: &[&str] = &["connection refused", "econnrefused"];

/// Evidence that the sandbox refused a connection of a test. `is_offline` is whether it closed the
/// network to test code in the run of this result.
pub fn denied(case: &TestCase, is_offline: bool) -> Option<String> {
    let said = said(case)?;
    let has = |words: &&str| said.contains(words);
    let by_stack = BY_STACK.iter().any(has) && said.contains(".connect(");
    (is_offline && (DENIED.iter().any(has) || by_stack)).then(|| {
        "its connection was refused: the sandbox closes the network to test code".to_owned()
    })
}

/// Evidence that a test lacks a service, from its results here and on the merge base.
pub fn lacks_service(here: &TestCase, base: &TestCase) -> Option<String> {
    let is_refused =
        |case| said(case).is_some_and(|text| REFUSED.iter().any(|words| text.contains(words)));
    (is_refused(here) && is_refused(base)).then(|| {
        "a service does not answer: its connection is refused, on the merge base too".to_owned()
    })
}

/// Everything that a failed test said, in lower case.
fn said(case: &TestCase) -> Option<String> {
    let failure = case.failure.as_ref()?;
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
        let python = "File \"/usr/lib/python3.12/socket.py\", line 850, in create_connection\n    sock.connect(sa)";
        let table = [
            ("Error", "connect EACCES 127.0.0.1:5432 - Local (undefined:undefined)", "", true),
            ("", "dial tcp 127.0.0.1:5432: connect: permission denied", "", true),
            ("PermissionError", "[Errno 13] Permission denied", python, true),
            ("URLError", "<urlopen error [Errno 13] Permission denied>", "", true),
            ("PermissionError", "[Errno 13] Permission denied: '/etc/shadow'", "open(path)", false),
            ("AssertionError", "1 != 2", python, false),
            ("Error", "connect ECONNREFUSED 127.0.0.1:5432", "", false),
        ];
        for (class, message, stack, expected) in table {
            let case = case(class, message, stack);
            assert_eq!(denied(&case, true).is_some(), expected, "{message}");
            assert_eq!(denied(&case, false), None, "the network was open: {message}");
        }
    }

    #[test]
    fn a_service_is_missing_where_the_merge_base_misses_it_too() {
        let refused = case("Error", "connect ECONNREFUSED 127.0.0.1:6379", "");
        let wrong = case("AssertionError", "1 != 2", "");
        assert!(lacks_service(&refused, &refused).is_some());
        assert_eq!(lacks_service(&refused, &wrong), None);
        assert_eq!(lacks_service(&wrong, &refused), None);
    }
}
