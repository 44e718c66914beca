//! What a Python test puts up around its call: a temporary folder with files, and settings of the environment;
//! and what it compares of them afterwards.

use crate::effect::{CallEffects, CallFolder, CallOutcome, ResultKind};

use super::Case;

/// Whether a test makes a folder, and whether it sets the environment.
fn needs_of(around: &CallEffects) -> (bool, bool) {
    (around.folder.is_some(), !around.asked.is_empty())
}

/// The fixtures of pytest that a test takes, with their types.
pub fn list_fixtures(case: &Case) -> Vec<(&'static str, &'static str)> {
    let (folder, environment) = needs_of(&case.seen.effects);
    let rows = [
        (is_printed(case), ("capsys", "pytest.CaptureFixture[str]")),
        (folder || environment, ("monkeypatch", "pytest.MonkeyPatch")),
        (folder, ("tmp_path", "pathlib.Path")),
    ];
    rows.into_iter().filter(|(is_taken, _)| *is_taken).map(|(_, row)| row).collect()
}

/// Whether a test compares what its call prints.
pub fn is_printed(case: &Case) -> bool {
    case.seen.effects.output.is_some()
        || matches!(case.expected_outcome(), CallOutcome::Value { way: ResultKind::Printed, .. })
}

/// The modules that a test needs.
pub fn list_modules(case: &Case, is_unittest: bool, is_annotated: bool) -> Vec<&'static str> {
    let (folder, environment) = needs_of(&case.seen.effects);
    let rows = [
        (is_unittest && (folder || environment), "os"),
        (is_unittest && folder, "tempfile"),
        (folder && (is_unittest || is_annotated), "pathlib"),
        (is_unittest && environment, "unittest.mock"),
    ];
    rows.into_iter().filter(|(is_needed, _)| *is_needed).map(|(_, name)| name).collect()
}

/// The lines before the call.
pub fn lines_before(case: &Case, is_unittest: bool) -> Vec<String> {
    let CallEffects { folder, asked, .. } = &case.seen.effects;
    let mut lines = Vec::new();
    if folder.is_some() && is_unittest {
        lines.extend(
            [
                "folder = tempfile.TemporaryDirectory()",
                "self.addCleanup(folder.cleanup)",
                "self.addCleanup(os.chdir, os.getcwd())",
                "os.chdir(folder.name)",
            ]
            .map(str::to_owned),
        );
    } else if folder.is_some() {
        lines.push("monkeypatch.chdir(tmp_path)".to_owned());
    }
    for (name, text) in folder.iter().flat_map(|one| &one.given) {
        lines.push(format!("{}.write_text({text})", place_of(name, is_unittest)));
    }
    if !asked.is_empty() && is_unittest {
        lines.extend(
            [
                "settings = unittest.mock.patch.dict(os.environ)",
                "settings.start()",
                "self.addCleanup(settings.stop)",
            ]
            .map(str::to_owned),
        );
    }
    lines.extend(asked.iter().map(|(name, value)| match (value, is_unittest) {
        (Some(value), true) => format!("os.environ[{name:?}] = {value:?}"),
        (None, true) => format!("os.environ.pop({name:?}, None)"),
        (Some(value), false) => format!("monkeypatch.setenv({name:?}, {value:?})"),
        (None, false) => format!("monkeypatch.delenv({name:?}, raising=False)"),
    }));
    lines
}

/// The files that a call wrote or removed, each with what is compared: an expression, and the literal of its text, or
/// nothing if it is gone.
pub fn files_after(case: &Case, is_unittest: bool) -> Vec<(String, Option<&str>)> {
    let written = case.seen.effects.folder.iter().flat_map(|CallFolder { written, .. }| written);
    let compared = |(name, text): &'_ (String, Option<String>)| {
        let place = place_of(name, is_unittest);
        if text.is_some() { format!("{place}.read_text()") } else { format!("{place}.exists()") }
    };
    written.map(|one| (compared(one), one.1.as_deref())).collect()
}

/// A file of the folder.
fn place_of(name: &str, is_unittest: bool) -> String {
    if is_unittest { format!("pathlib.Path({name:?})") } else { format!("(tmp_path / {name:?})") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::{Call, Observation};

    #[test]
    fn folder_files_and_settings_are_put_up_as_the_framework_does() {
        let folder = CallFolder {
            given: vec![("a.csv".into(), "\"x\\n\"".into())],
            written: vec![("b.txt".into(), Some("'2'".into())), ("a.csv".into(), None)],
        };
        let asked = vec![("A".into(), Some("1".into())), ("B".into(), None)];
        let effects = CallEffects { folder: Some(folder), asked, ..CallEffects::default() };
        let seen = Observation { effects, ..Observation::refused("") };
        let case = Case { call: Call::new("f", Vec::new()), seen, documented: None };
        assert_eq!(
            lines_before(&case, false),
            [
                "monkeypatch.chdir(tmp_path)",
                "(tmp_path / \"a.csv\").write_text(\"x\\n\")",
                "monkeypatch.setenv(\"A\", \"1\")",
                "monkeypatch.delenv(\"B\", raising=False)",
            ]
        );
        let unittest = lines_before(&case, true);
        assert_eq!(unittest.last().map(String::as_str), Some("os.environ.pop(\"B\", None)"));
        assert_eq!(
            list_modules(&case, true, false),
            ["os", "tempfile", "pathlib", "unittest.mock"]
        );
        let fixtures: Vec<&str> = list_fixtures(&case).iter().map(|one| one.0).collect();
        assert_eq!(fixtures, ["monkeypatch", "tmp_path"]);
        assert_eq!(
            files_after(&case, false),
            [
                ("(tmp_path / \"b.txt\").read_text()".to_owned(), Some("'2'")),
                ("(tmp_path / \"a.csv\").exists()".to_owned(), None),
            ]
        );
    }
}
