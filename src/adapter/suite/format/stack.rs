//! Parses stack traces of all supported languages into frames that lie in the repository.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::adapter::suite::java_modules::list_modules;
use crate::domain::id::{RepoPath, in_folder};
use crate::domain::secret::Canary;
use crate::domain::test::Frame;

use super::PathMapper;

/// `text` without the environments that pytest prints of its own accord, as the arguments and local variables
/// of a frame or the operands of an assertion: they hold the canary, and are no hunt for tokens.
pub fn without_environments(text: &str) -> Cow<'_, str> {
    static DUMPS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let whole =
            r"(?P<operand>(?:\w *= |\bassert .*?|\+ +(?:where .*?)?)environ\()\{(?:.*\}|.*)";
        let copy = format!(r"(?P<local>^ *\w+ += )\{{'.*', '{}': .*", Canary::VARIABLE);
        Regex::new(&format!("(?m){whole}|{copy}")).ok()
    });
    match &*DUMPS {
        Some(dumps) => dumps.replace_all(text, "${operand}${local}{…}"),
        None => Cow::Borrowed(text),
    }
}

const FRAMES: usize = 40;

/// Pattern of one line of a stack trace. Groups: `file`, `line`, and `function` where present.
struct FramePattern {
    regex: LazyLock<Regex>,
    innermost_last: bool,
}

macro_rules! frame_pattern {
    ($pattern:literal, $innermost_last:literal) => {
        FramePattern {
            // Cannot fail: the pattern is constant, and the test below compiles each one.
            regex: LazyLock::new(|| Regex::new($pattern).unwrap()),
            innermost_last: $innermost_last,
        }
    };
}

static PATTERNS: [FramePattern; 12] = [
    // Python: File "/x/y.py", line 3, in f
    frame_pattern!(
        r#"(?m)^(?:E\s)?\s*File "(?P<file>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<function>[^\n]+))?"#,
        true
    ),
    // pytest: x/y.py:3: in f, and x/y.py:3: ValueError
    frame_pattern!(
        r"(?m)^(?P<file>[^\s:]+\.py):(?P<line>\d+): (?:in (?P<function>[^\n]+)|\w*$)",
        true
    ),
    // JavaScript: at f (file:///x/y.js:3:5) and at /x/y.js:3:5
    frame_pattern!(
        r"(?m)^\s*at (?:async )?(?:(?P<function>[^\n(]+?) \()?(?P<file>(?:file://)?/?[^\s():]+\.[cm]?[jt]sx?):(?P<line>\d+):\d+\)?",
        false
    ),
    // Java: at pkg.Class.method(Class.java:3), with module@version/ before it; the reader completes the file
    frame_pattern!(
        r"(?m)^\s*at (?:[^\s()]*/)?(?P<function>[\w.$<>]+)\((?P<file>\w+\.java):(?P<line>\d+)\)",
        false
    ),
    // Rust: panicked at src/lib.rs:3:5
    frame_pattern!(
        r"(?m)(?:panicked at |^\s*at )(?P<file>[^\s:]+\.rs):(?P<line>\d+):\d+(?P<function>)",
        false
    ),
    // Errors of rustc: --> src/lib.rs:3:5
    frame_pattern!(r"(?m)^\s*--> (?P<file>[^\s:]+):(?P<line>\d+):\d+(?P<function>)", false),
    // Errors of Maven's compilers: [ERROR] /x/A.java:[3,5] message
    frame_pattern!(r"(?m)^\[ERROR\] (?P<file>/[^\n:]+):\[(?P<line>\d+),\d+\](?P<function>)", false),
    // Go: x_test.go:3: message, and /x/y.go:3 +0x1d in panics
    frame_pattern!(r"(?m)^\s*(?P<file>[^\s:]+\.go):(?P<line>\d+)(?P<function>)", false),
    // Ruby: /x/y.rb:3:in `f', and `# ./x/y.rb:3:in` of RSpec
    frame_pattern!(
        r"(?m)^\s*(?:# |from )?(?P<file>[^\s:#]+\.(?:rb|rake)):(?P<line>\d+)(?::in [`'](?P<function>[^'\n]+))?",
        false
    ),
    // PHP: /x/y.php:3, and `#0 /x/y.php(3): f()`
    frame_pattern!(
        r"(?m)^\s*(?:#\d+ )?(?P<file>/[^\s:(]+\.php)(?::|\()(?P<line>\d+)(?:\): (?P<function>[^\n(]+))?",
        false
    ),
    // C and C++: /x/y.cc:3: Failure of GoogleTest, and y.cc:3:5: error of compilers
    frame_pattern!(
        r"(?m)^\s*(?P<file>[^\s:()]+\.(?:c|cc|cpp|cxx|h|hh|hpp|hxx|cu)):(?P<line>\d+)(?P<function>)",
        false
    ),
    // .NET: at Shop.Cart.Total() in /x/y.cs:line 3
    frame_pattern!(
        r"(?m)^\s*at (?P<function>[^\n]+?) in (?P<file>[^\n]+?\.(?:cs|fs|vb)):line (?P<line>\d+)",
        false
    ),
];

/// The frames of a stack that lie in the repository, innermost first.
pub fn frames(stack: &str, paths: &PathMapper) -> Vec<Frame> {
    let mut all = Vec::new();
    for pattern in &PATTERNS {
        let mut found: Vec<Frame> = pattern
            .regex
            .captures_iter(stack)
            .filter_map(|captures| {
                let file = captures.name("file")?.as_str();
                let function = captures.name("function").map_or("", |m| m.as_str()).trim();
                let file = if file.ends_with(".java") && !file.contains('/') {
                    java_file(file, function, paths)?
                } else {
                    paths.repo_path(file)?
                };
                let line = captures.name("line")?.as_str().parse().ok()?;
                let function = if function == "?" { "" } else { function };
                Some(Frame { file, line, function: function.to_owned() })
            })
            .collect();
        if pattern.innermost_last {
            found.reverse();
        }
        // A place may be printed in more than one form.
        found.retain(|frame: &Frame| {
            !all.iter().any(|known: &Frame| (&known.file, known.line) == (&frame.file, frame.line))
        });
        all.extend(found);
    }
    all.truncate(FRAMES);
    all
}

/// Finds the source file of a Java class below the usual source folders.
fn java_file(file: &str, function: &str, paths: &PathMapper) -> Option<RepoPath> {
    /// Beginnings of classes that no project has.
    const FOREIGN: &[&str] =
        &["java.", "javax.", "jdk.", "sun.", "org.junit.", "org.apache.maven."];
    if FOREIGN.iter().any(|start| function.starts_with(start)) {
        return None;
    }
    let package: Vec<&str> = function.split('.').collect();
    let package = package.get(..package.len().checked_sub(2)?)?.join("/");
    let usual = ["src/main/java", "src/test/java", "app/src/main/java", "app/src/test/java", "src"];
    let modules = list_modules(&paths.root, &paths.directory);
    let places = modules.iter().flat_map(|module| usual.map(|folder| in_folder(module, folder)));
    places
        .map(|folder| format!("{folder}/{package}/{file}").replace("//", "/"))
        .find(|path| paths.root.join(path).is_file())
        .and_then(|path| RepoPath::parse(path).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn environments_that_pytest_prints_of_its_own_accord_are_left_out() {
        let all = "{'CI': '1', 'GH_DEPLOY_TOKEN': 'ghp_x', 'URL': '{a})'}";
        let dump = format!("environ({all})");
        let table = [
            (format!("self = {dump}\nkey = 'X'"), "self = environ({…})\nkey = 'X'"),
            (format!("self = <C>, env = {dump}, x = 1"), "self = <C>, env = environ({…}), x = 1"),
            (format!("    env        = {all}\nx = 1"), "    env        = {…}\nx = 1"),
            (
                format!(
                    "E   AssertionError: assert 'X' in {dump}\nE    +  where {dump} = os.environ"
                ),
                "E   AssertionError: assert 'X' in environ({…})\nE    +  where environ({…}) = os.environ",
            ),
            (format!("assert 'X' in {dump}"), "assert 'X' in environ({…})"),
            (
                format!("E    +    where get = {dump}.get\nE     + {dump}"),
                "E    +    where get = environ({…}).get\nE     + environ({…})",
            ),
            ("self = environ({'CI': '1', 'GH_DEPL".to_owned(), "self = environ({…}"),
        ];
        for (text, left) in table {
            assert_eq!(without_environments(&text), left, "{text}");
        }
        for hunt in [
            format!("E   AssertionError: {dump}"),
            format!("E   AssertionError: a variable is missing in {all}"),
            "token      = 'ghp_x'".to_owned(),
            "found      = {'GH_DEPLOY_TOKEN': 'ghp_x'}".to_owned(),
            "E   AssertionError: ghp_x".to_owned(),
        ] {
            assert_eq!(without_environments(&hunt), hunt);
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the file of a class is looked for")]
    fn frames_of_java_are_found_by_their_class_also_behind_a_module() {
        let folder = tempfile::tempdir().unwrap();
        let file = "src/test/java/m/ATest.java";
        std::fs::create_dir_all(folder.path().join("src/test/java/m")).unwrap();
        std::fs::write(folder.path().join(file), "").unwrap();
        let root = folder.path().to_owned();
        let paths = PathMapper { root, directory: String::new(), layers: vec![] };
        for module in ["", "m.all@1.0-SNAPSHOT/", "app//"] {
            let stack = format!(
                "no\n\tat java.base/java.util.List.of(List.java:2)\n\tat {module}m.ATest.adds(ATest.java:7)\n"
            );
            let found = frames(&stack, &paths);
            let found: Vec<_> = found.iter().map(|one| (one.file.as_str(), one.line)).collect();
            assert_eq!(found, [(file, 7)], "{module}");
        }
    }

    #[test]
    fn frames_of_every_language_come_innermost_first() {
        let paths =
            PathMapper { root: PathBuf::from("/repo"), directory: String::new(), layers: vec![] };
        let table = [
            (
                "Traceback:\n  File \"/repo/tests/test_a.py\", line 4, in test_x\n    f()\n  File \"/repo/a.py\", line 2, in f\n  File \"/usr/lib/json.py\", line 9, in loads\n",
                vec![("a.py", 2, "f"), ("tests/test_a.py", 4, "test_x")],
            ),
            (
                "Error: no\n    at total (file:///repo/src/cart.js:7:3)\n    at async /repo/test/cart.test.mjs:9:1\n    at node:internal/x:1:1\n    at f (/repo/node_modules/m/i.js:1:1)\n",
                vec![("src/cart.js", 7, "total"), ("test/cart.test.mjs", 9, "")],
            ),
            (
                "tests/test_a.py:4: \n>   f()\na.py:2: ZeroDivisionError\na.py:9: UserWarning: old\n",
                vec![("a.py", 2, ""), ("tests/test_a.py", 4, "")],
            ),
            ("thread 'x' panicked at src/lib.rs:12:5:\nboom", vec![("src/lib.rs", 12, "")]),
            ("    sum_test.go:12: got 3", vec![("sum_test.go", 12, "")]),
            (
                "no\n# ./lib/cart.rb:3:in `total'\n/repo/spec/cart_spec.rb:4:in 'block in <top>'\n/usr/lib/ruby/x.rb:1:in `y'\n",
                vec![("lib/cart.rb", 3, "total"), ("spec/cart_spec.rb", 4, "block in <top>")],
            ),
            (
                "no\n\n/repo/src/Cart.php:7\n/repo/tests/CartTest.php:9\n#0 /repo/src/Price.php(3): App\\Price->of()\n",
                vec![
                    ("src/Cart.php", 7, ""),
                    ("tests/CartTest.php", 9, ""),
                    ("src/Price.php", 3, "App\\Price->of"),
                ],
            ),
            (
                "/repo/tests/cart_test.cc:12: Failure\nExpected\nsrc/cart.cpp:3:5: error: no\n",
                vec![("tests/cart_test.cc", 12, ""), ("src/cart.cpp", 3, "")],
            ),
            (
                "   at Shop.Cart.Total(Int32 n) in /repo/Shop/Cart.cs:line 7\n   at System.X.Y()\n",
                vec![("Shop/Cart.cs", 7, "Shop.Cart.Total(Int32 n)")],
            ),
        ];
        for (stack, expected) in table {
            let found = frames(stack, &paths);
            let found: Vec<_> =
                found.iter().map(|f| (f.file.as_str(), f.line, f.function.as_str())).collect();
            assert_eq!(found, expected, "{stack}");
        }
    }
}
