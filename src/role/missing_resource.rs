//! Finds what a failing test needs of its environment and no edit brings: a service, a variable or a
//! file (specification.md 7.2).
//!
//! A wrong name is a bug, not an environment: what has a similar name in the repository, and what tests
//! set, write or serve themselves, stays repairable.

use std::collections::BTreeMap;

use similar::TextDiff;

use crate::code::pattern::Pattern;
use crate::code::test_paths;
use crate::domain::id::RepoPath;
use crate::domain::test::{FailureText, TestCase};

/// A name this much alike is probably the one that was meant.
const ALIKE: f32 = 0.75;

/// How runtimes say that nothing answers at an address.
static UNREACHABLE: Pattern = Pattern::new(
    r"(?i)connection refused|ECONNREFUSED|getaddrinfo|\bENOTFOUND\b|EAI_AGAIN|name or service not known|name resolution|no such host",
);

/// The address of a service: its host, and its port where that is said.
static ADDRESS: Pattern = Pattern::new(
    r#"(\d{1,3}(?:\.\d{1,3}){3}|localhost|\[?::1\]?):(\d{2,5})|host='([^']+)', port=(\d+)|["']([\w.-]+)["'],\s*(\d{2,5})\b|https?://([\w.-]+)(?::(\d+))?|(?:ENOTFOUND|EAI_AGAIN|lookup) ([\w.-]+)"#,
);

/// Code that serves something itself.
static SERVES: Pattern = Pattern::new(
    r"\.listen\(|HTTPServer|createServer|serve_forever|httptest|\.bind\(|TCPServer|ServerSocket|start_server|create_server|\.accept\(|net\.Listen|[Tt]est_?[Ss]erver",
);

/// How runtimes name a file that is not there.
static NO_FILE: Pattern = Pattern::new(
    r"No such file or directory: '([^'\n]+)'|ENOENT: no such file or directory, \w+ '([^'\n]+)'|(?:open|stat) (\S+): no such file|NoSuchFileException: (\S+)|FileNotFoundException: (\S+) \(No such",
);

/// Code that writes files.
static WRITES: Pattern = Pattern::new(
    r#"open\([^)\n]*["'][wax]b?\+?["']|write_text|write_bytes|writeFile|createWriteStream|os\.(?:Create|WriteFile)|FileWriter|Files\.write|mkstemp|mkdtemp|tempfile|tmp_path|TempDir|makedirs"#,
);

/// Where code reads a variable of its environment.
static READS: Pattern = Pattern::new(
    r#"(?:\benviron(?:\.get)?|\bgetenv|\bprocess\.env|\bGetenv|\bLookupEnv|\benv::var|\bENV(?:\.fetch)?)[\[(.]\s*["']?([A-Za-z_]\w*)"#,
);

/// What code gives a variable of its environment that has no value, behind its name.
static DEFAULT: Pattern =
    Pattern::new(r#"^(?:["']\s*,|["']?\s*[)\]]*\s*(?:\|\||\?\?|or\b|\.unwrap_or|\.orElse))"#);

/// What stands for a default and is none.
static NO_DEFAULT: Pattern = Pattern::new(
    r"(?i)^[^,|?(]*(?:,|\|\||\?\?|\bor\b|\()\s*(?:\|\w*\| *)?(?:none|null|nil|undefined|sys\.exit|process\.exit|exit|fail|panic|throw|raise)",
);

/// How a failure says that a value is missing.
static MISSING: Pattern = Pattern::new(
    r"(?i)\bno(?:t|ne)\b|unset|missing|requir|undefined|\bmust\b|\bneeds?\b|none ?type|null|\bnil\b|empty|provide|keyerror|notpresent|nosuchelement",
);

/// The first port that a system gives to whoever asks for any. A service is expected there only where
/// its port is written down.
const FIRST_EPHEMERAL_PORT: u32 = 32_768;

/// Why a failing test cannot pass here; `None` where the code may be wrong.
pub fn missing_resource(
    case: &TestCase,
    sources: &BTreeMap<RepoPath, String>,
    files: &[RepoPath],
) -> Option<String> {
    let failure = case.failure.as_ref()?;
    if failure.class.to_lowercase().contains("assert") {
        return None;
    }
    let said = format!("{}: {}\n{}", failure.class, failure.message, failure.stack);
    let frames = failure.frames.iter().map(|frame| &frame.file);
    let places: Vec<&str> =
        frames.chain(&case.file).filter_map(|file| Some(sources.get(file)?.as_str())).collect();
    let tests = || sources.iter().filter(|(file, _)| test_paths::is_test(file));
    let any = |pattern: &Pattern| places.iter().any(|text| pattern.is_match(text));
    if UNREACHABLE.is_match(&said) {
        let serves = any(&SERVES) || tests().any(|(_, text)| SERVES.is_match(text));
        let address = ADDRESS.captures(&said).next();
        let parts = address.iter().flat_map(|found| found.iter().skip(1).flatten());
        let parts: Vec<&str> = parts.map(|part| part.as_str()).collect();
        let is_made_up = parts.get(1).is_some_and(|port| {
            port.parse::<u32>().is_ok_and(|port| port >= FIRST_EPHEMERAL_PORT)
                && !sources.values().any(|text| words(text).any(|word| word == *port))
        });
        let serves = serves || is_made_up;
        let address =
            if parts.is_empty() { String::new() } else { format!(" at `{}`", parts.join(":")) };
        return (!serves).then(|| format!("it needs a server{address}, and none answers there"));
    }
    if let Some(found) = NO_FILE.captures(&said).next() {
        let path = (1..=5).find_map(|group| found.get(group))?.as_str();
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_own = files.iter().any(|file| is_alike(file.file_name(), name))
            || tests().any(|(_, text)| text.contains(name));
        let is_written = any(&WRITES);
        return (!is_own && !is_written)
            .then(|| format!("it needs the file `{name}`, which the repository does not have (if something generates it, have `--setup` do that)"));
    }
    missing_variable(failure, &places, sources)
}

/// Why a failure is for want of a variable that nothing sets, and that has no default.
fn missing_variable(
    failure: &FailureText,
    places: &[&str],
    sources: &BTreeMap<RepoPath, String>,
) -> Option<String> {
    let last = failure.stack.lines().rev().find(|line| !line.trim().is_empty());
    let reason = format!("{}: {}\n{}", failure.class, failure.message, last.unwrap_or_default());
    if !MISSING.is_match(&reason) {
        return None;
    }
    let line = failure.frames.first().and_then(|frame| {
        let index = usize::try_from(frame.line).ok()?.checked_sub(1)?;
        sources.get(&frame.file)?.lines().nth(index)
    });
    let name = places.iter().flat_map(|text| READS.captures(text).map(move |one| (text, one)));
    let name = name.filter_map(|(text, found)| {
        let name = found.get(1)?;
        let behind = text.get(name.end()..)?.lines().next().unwrap_or_default();
        (!DEFAULT.is_match(behind) || NO_DEFAULT.is_match(behind)).then_some(name.as_str())
    });
    let name = name.into_iter().find(|name| {
        let is_read =
            line.is_some_and(|line| READS.is_match(line) && words(line).any(|w| w == *name));
        is_read || words(&failure.message).any(|word| word == *name)
    })?;
    let is_meant = sources
        .values()
        .flat_map(|text| words(text))
        .any(|word| word != name && word.to_uppercase() == word && is_alike(word, name));
    let mut tests = sources.iter().filter(|(file, _)| test_paths::is_test(file));
    let is_set = tests.any(|(_, text)| text.lines().any(|line| sets(line, name)));
    (!is_meant && !is_set).then(|| format!("it needs the variable `{name}`, which is not set"))
}

/// Whether a line of a test gives a variable a value.
fn sets(line: &str, name: &str) -> bool {
    let Some((before, after)) = line.split_once(name) else { return false };
    let after = after.trim_start_matches(['"', '\'', ']', ' ']);
    let assigns = after.starts_with('=') && !after.starts_with("==") || after.starts_with(':');
    assigns || ["setenv", "Setenv", "stubEnv", "set_var"].iter().any(|one| before.contains(one))
}

fn is_alike(one: &str, other: &str) -> bool {
    one == other || other.len() > 3 && TextDiff::from_chars(one, other).ratio() > ALIKE
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::TestId;
    use crate::domain::test::{CaseKind, Frame, Layer, Status};

    fn found(source: &str, test: &str, class: &str, message: &str) -> Option<String> {
        let file = |path: &str| RepoPath::parse(path).unwrap();
        let at = |path: &str, line| Frame { file: file(path), line, function: String::new() };
        let frames = vec![at("shop.py", 2), at("test_shop.py", 1)];
        let failure = FailureText {
            class: class.into(),
            message: message.into(),
            frames,
            ..FailureText::default()
        };
        let case = TestCase {
            kind: CaseKind::Test,
            id: TestId("t".into()),
            status: Status::Failed,
            file: Some(file("test_shop.py")),
            line: None,
            duration_ms: 0,
            layer: Layer::Unit,
            failure: Some(failure),
        };
        let sources =
            [(file("shop.py"), source.to_owned()), (file("test_shop.py"), test.to_owned())];
        let files = [file("shop.py"), file("test_shop.py"), file("data/prices.csv")];
        missing_resource(&case, &sources.into(), &files)
    }

    #[test]
    fn what_only_an_environment_brings_is_named() {
        let variable = Some("it needs the variable `SHOP_URL`, which is not set");
        let table = [
            ("\nos.environ['SHOP_URL']", "load()", "KeyError", "'SHOP_URL'", variable),
            (
                "url = os.getenv('SHOP_URL')\nurl.strip()",
                "",
                "RuntimeError",
                "SHOP_URL is not set",
                variable,
            ),
            (
                "\nprocess.env.SHOP_URL.trim()",
                "",
                "TypeError",
                "Cannot read properties of undefined",
                variable,
            ),
            ("\nos.environ['SHOP_URL']", "setenv('SHOP_URL', 'x')", "KeyError", "'SHOP_URL'", None),
            (
                "\nos.environ['SHOP_URL']",
                "environ['SHOP_URL'] = 'x'",
                "KeyError",
                "'SHOP_URL'",
                None,
            ),
            (
                "\nos.environ['SHOP_URL']",
                "environ['SHOP_URI'] = 'x'",
                "KeyError",
                "'SHOP_URL'",
                None,
            ),
            ("\nload(os.environ.get('SHOP_URL'))", "", "KeyError", "None", variable),
            ("\nload(os.environ.get('SHOP_URL', 'eu'))", "", "KeyError", "'eu'", None),
            ("\nload(os.environ.get('SHOP_URL', None))", "", "KeyError", "None", variable),
            ("\nload(process.env.SHOP_URL, 1)", "", "TypeError", "reading undefined", variable),
            (
                "\nload(process.env.SHOP_URL || fail())",
                "",
                "Error",
                "SHOP_URL is not set",
                variable,
            ),
            ("\nload(process.env.SHOP_URL || 'eu')", "", "Error", "eu is not defined", None),
            ("\nscale(5, os.environ['SHOP_URL'])", "", "", "7 != 10", None),
            ("\nprices['SHOP_URL']", "", "KeyError", "'SHOP_URL'", None),
            ("\nos.environ['SHOP_URL']", "", "AssertionError", "'SHOP_URL'", None),
            (
                "\nopen(path)",
                "",
                "FileNotFoundError",
                "[Errno 2] No such file or directory: '/etc/shop/licence.key'",
                Some(
                    "it needs the file `licence.key`, which the repository does not have (if something generates it, have `--setup` do that)",
                ),
            ),
            (
                "\nopen(path)",
                "",
                "FileNotFoundError",
                "No such file or directory: 'data/price.csv'",
                None,
            ),
            (
                "\nopen(path)",
                "put('till.log')",
                "Error",
                "ENOENT: no such file or directory, open 'till.log'",
                None,
            ),
            (
                "open(path, 'w')\nopen(path)",
                "",
                "",
                "open till.log: no such file or directory",
                None,
            ),
            (
                "\nconnect()",
                "",
                "Error",
                "connect ECONNREFUSED 127.0.0.1:5432",
                Some("it needs a server at `127.0.0.1:5432`, and none answers there"),
            ),
            ("\nconnect()", "", "Error", "connect ECONNREFUSED 127.0.0.1:42602", None),
            (
                "\nconnect(50051)",
                "",
                "Error",
                "connect ECONNREFUSED 127.0.0.1:50051",
                Some("it needs a server at `127.0.0.1:50051`, and none answers there"),
            ),
            (
                "\nconnect()",
                "",
                "Error",
                "getaddrinfo ENOTFOUND db.example",
                Some("it needs a server at `db.example`, and none answers there"),
            ),
            (
                "\nconnect()",
                "",
                "ConnectionRefusedError",
                "[Errno 111] Connection refused",
                Some("it needs a server, and none answers there"),
            ),
            (
                "\nconnect()",
                "s = HTTPServer(x)",
                "Error",
                "connect ECONNREFUSED 127.0.0.1:5432",
                None,
            ),
        ];
        for (source, test, class, message, expected) in table {
            assert_eq!(
                found(source, test, class, message).as_deref(),
                expected,
                "{source} {message}"
            );
        }
    }
}
