//! Finds tests whose set-up fails by itself, whatever the code under test does (specification.md 7.18).

use std::collections::BTreeMap;

use crate::code::language::Language;
use crate::code::test_cases::raising_set_up;
use crate::code::test_paths;
use crate::domain::id::RepoPath;
use crate::domain::test::TestCase;

/// The set-up that fails before a test, with its line; `None` where the code may be the cause.
pub fn failing_set_up(case: &TestCase, sources: &BTreeMap<RepoPath, String>) -> Option<String> {
    let frames = &case.failure.as_ref()?.frames;
    let frame = frames.first()?;
    if !frames.iter().all(|frame| test_paths::is_test(&frame.file)) {
        return None;
    }
    let text = sources.get(&frame.file)?;
    let (name, code) = raising_set_up(Language::of(&frame.file)?, text, frame.line)?;
    Some(format!(
        "its set-up `{name}` fails by itself ({}:{}: `{code}`), whatever the code does",
        frame.file, frame.line
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::TestId;
    use crate::domain::test::{CaseKind, FailureText, Frame, Layer, Status};

    fn found(file: &str, text: &str, frames: &[(&str, u32)]) -> bool {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let frames = frames.iter().map(|(file, line)| Frame {
            file: path(file),
            line: *line,
            function: String::new(),
        });
        let case = TestCase {
            kind: CaseKind::Test,
            id: TestId("t".into()),
            status: Status::Failed,
            file: Some(path(file)),
            line: None,
            duration_ms: 0,
            layer: Layer::Unit,
            failure: Some(FailureText { frames: frames.collect(), ..FailureText::default() }),
        };
        failing_set_up(&case, &[(path(file), text.to_owned())].into()).is_some()
    }

    type Row<'a> = (&'a str, &'a str, &'a [(&'a str, u32)], bool);

    #[test]
    fn only_a_set_up_that_fails_by_itself_cannot_be_repaired() {
        let class =
            "class T(TestCase):\n    def setUp(self):\n        raise RuntimeError('no licence')\n";
        let test = class.replace("setUp", "test_a");
        let asks = "class T(TestCase):\n    def setUp(self):\n        if not ready():\n            raise RuntimeError('no')\n";
        let calls = "class T(TestCase):\n    def setUp(self):\n        self.cart = Cart(1)\n";
        let fixture = "@pytest.fixture\ndef cart():\n    raise RuntimeError('no licence')\n";
        let script = "beforeEach(() => {\n  throw new Error('no licence');\n});\n";
        let java = "class CartTest {\n  @BeforeEach\n  void open() {\n    throw new IllegalStateException();\n  }\n}\n";
        let table: &[Row<'_>] = &[
            ("test_a.py", class, &[("test_a.py", 3)], true),
            ("test_a.py", class, &[("a.py", 3), ("test_a.py", 3)], false),
            ("test_a.py", &test, &[("test_a.py", 3)], false),
            ("test_a.py", asks, &[("test_a.py", 4)], false),
            ("test_a.py", calls, &[("test_a.py", 3)], false),
            ("conftest.py", fixture, &[("conftest.py", 3)], true),
            ("a.test.js", script, &[("a.test.js", 2)], true),
            ("src/test/java/CartTest.java", java, &[("src/test/java/CartTest.java", 4)], true),
            ("test_a.py", class, &[], false),
        ];
        for (file, text, frames, expected) in table {
            assert_eq!(found(file, text, frames), *expected, "{text} {frames:?}");
        }
    }
}
