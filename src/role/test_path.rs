//! Chooses an unused path for a new test file.

use crate::code::test_paths;
use crate::domain::id::RepoPath;

/// The path for a new test file: as planned, or next to it if that file exists. `exists` and
/// `has_folder` query the repository. `None` if there is no unused name that the framework would
/// recognise as a test.
pub fn free_path(
    planned: &RepoPath,
    source: &RepoPath,
    exists: &dyn Fn(&RepoPath) -> bool,
    has_folder: &dyn Fn(&str) -> bool,
) -> Option<RepoPath> {
    // Tests inside a Rust source cannot be in a separate file, so use an integration test.
    let planned = if planned == source {
        let stem = source.stem();
        RepoPath::parse(format!("tests/{stem}.rs")).ok()?
    } else {
        test_paths::in_existing_folder(planned.clone(), has_folder)
    };
    let (folder, name) = (planned.parent().to_owned(), planned.file_name().to_owned());
    let numbered = |number: u32| {
        let mark = if number == 1 { "more".to_owned() } else { format!("more{number}") };
        let name = with_mark(&name, &mark);
        RepoPath::inside(&folder, &name).ok()
    };
    let is_free = |path: &RepoPath| !exists(path) && test_paths::is_test(path);
    std::iter::once(planned.clone()).chain((1..100).filter_map(numbered)).find(is_free)
}

/// A file name with a mark inserted such that it is still recognised as a test file.
fn with_mark(name: &str, mark: &str) -> String {
    let (stem, rest) = name.split_once('.').unwrap_or((name, ""));
    let dotted = |stem: &str, rest: &str| format!("{stem}.{rest}");
    let upper = || {
        let mut letters = mark.chars();
        letters.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(letters).collect()
    };
    if rest.contains('.') {
        return dotted(stem, &format!("{mark}.{rest}"));
    }
    for (end, joined) in [("_test", format!("_{mark}_test")), ("_spec", format!("_{mark}_spec"))] {
        if let Some(start) = stem.strip_suffix(end) {
            return dotted(&format!("{start}{joined}"), rest);
        }
    }
    if rest == "java" {
        let upper: String = upper();
        for end in ["Tests", "Test"] {
            if let Some(start) = stem.strip_suffix(end) {
                return dotted(&format!("{start}{upper}{end}"), rest);
            }
        }
    }
    dotted(&format!("{stem}_{mark}"), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_goes_where_it_belongs_or_beside_what_is_there() {
        let table = [
            ("tests/test_price.py", "shop/price.py", 0, Some("tests/test_price.py")),
            ("tests/test_price.py", "shop/price.py", 1, Some("tests/test_price_more.py")),
            ("tests/test_price.py", "shop/price.py", 2, Some("tests/test_price_more2.py")),
            ("tests/shop/test_price.py", "shop/price.py", 0, Some("tests/test_price.py")),
            ("checks/shop/test_price.py", "shop/price.py", 0, Some("checks/shop/test_price.py")),
            ("test/text.test.js", "lib/text.js", 1, Some("test/text.more.test.js")),
            ("pkg/price_test.go", "pkg/price.go", 1, Some("pkg/price_more_test.go")),
            (
                "src/test/java/PriceTest.java",
                "src/main/java/Price.java",
                1,
                Some("src/test/java/PriceMoreTest.java"),
            ),
            ("src/price.rs", "src/price.rs", 0, Some("tests/price.rs")),
            ("shop/price_check.py", "shop/price.py", 0, None),
        ];
        for (planned, source, in_use, expected) in table {
            let path = |text: &str| RepoPath::parse(text).unwrap();
            let left = std::cell::Cell::new(in_use);
            let exists = |_: &RepoPath| {
                left.set(left.get() - 1);
                left.get() >= 0
            };
            let found =
                free_path(&path(planned), &path(source), &exists, &|folder| folder == "tests");
            assert_eq!(
                found.map(|path| path.to_string()).as_deref(),
                expected,
                "{planned} {in_use}"
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn a_free_path_is_free_and_a_test(in_use in 0usize..120) {
            let planned = RepoPath::parse("tests/test_price.py").unwrap();
            let source = RepoPath::parse("shop/price.py").unwrap();
            let seen = std::cell::RefCell::new(Vec::new());
            let exists = |path: &RepoPath| {
                seen.borrow_mut().push(path.clone());
                seen.borrow().len() <= in_use
            };
            let free = free_path(&planned, &source, &exists, &|_| true);
            proptest::prop_assert_eq!(free.is_some(), in_use < 100);
            if let Some(free) = free {
                proptest::prop_assert!(test_paths::is_test(&free));
                let last = seen.borrow().last().cloned();
                proptest::prop_assert_eq!(last, Some(free));
            }
        }
    }
}
