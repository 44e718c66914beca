//! `CheckoutGap`: content of the commit under test that regreen's private checkout lacks, and the tests that
//! fail for want of it. No edit of the sources brings it.

use std::collections::BTreeMap;
use std::fmt;

use super::failure::signature_of;
use super::id::TestId;
use super::test::{Results, Status, TestCase};

/// Paths that a notice names.
const NAMED: usize = 5;

/// Why content is not there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GapCause {
    Submodule,
    Lfs,
    /// The filter that only the user's git may run.
    Filter(String),
    Encoding(String),
    /// The checkout is sparse, or a partial clone left it at the server.
    LeftOut,
}

impl fmt::Display for GapCause {
    /// What is missing, and what to do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by_git = "let git itself check it out, and leave it unmodified";
        let (what, remedy, input) = match self {
            Self::Submodule => (
                "empty submodule, this checkout lacks its commit".to_owned(),
                "run `git submodule update --init --recursive`",
                "`submodules: recursive`",
            ),
            Self::Lfs => (
                "pointer of Git LFS, this checkout lacks its object".to_owned(),
                "run `git lfs pull`",
                "`lfs: true`",
            ),
            Self::Filter(name) => {
                (format!("needs the filter `{name}`, which regreen never runs"), by_git, "")
            }
            Self::Encoding(name) => {
                (format!("needs the encoding {name}, which regreen does not write"), by_git, "")
            }
            Self::LeftOut => (
                "left out by the sparse checkout or the partial clone".to_owned(),
                "run `git sparse-checkout add`, or fetch it without `--filter`",
                "more in `sparse-checkout`, or no `filter`,",
            ),
        };
        write!(f, "{what}; {remedy}")?;
        if input.is_empty() {
            return Ok(());
        }
        write!(f, " (in a workflow: {input} in the `with:` of `actions/checkout`)")
    }
}

/// A file or folder of the tree without its content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CheckoutGap {
    pub cause: GapCause,
    /// From the root of the repository.
    pub path: String,
}

impl CheckoutGap {
    /// Whether a file stands in its place, with other content than git would write.
    pub fn is_stood_in_for(&self) -> bool {
        matches!(self.cause, GapCause::Lfs | GapCause::Filter(_) | GapCause::Encoding(_))
    }

    fn evidence(&self) -> String {
        format!("it needs `{}`: {}", self.path, self.cause)
    }

    /// Whether a failure names its path, from the root or the suite, or its module.
    fn is_named_by(&self, case: &TestCase, directory: &str) -> bool {
        let Some(failure) = &case.failure else { return false };
        let below = self.path.strip_prefix(directory).and_then(|path| path.strip_prefix('/'));
        let module = format!("No module named '{}", self.path.replace('/', "."));
        let is_below =
            |file: &str| file.strip_prefix(&self.path).is_some_and(|rest| rest.starts_with('/'));
        case.file.as_ref().is_some_and(|file| is_below(file.as_str()))
            || [&failure.message, &failure.stack].into_iter().any(|text| {
                let rest = text.split_once(&module).map(|(_, rest)| rest);
                contains_path(text, &self.path)
                    || below.is_some_and(|path| contains_path(text, path))
                    || rest.is_some_and(|rest| rest.starts_with(['\'', '.']))
            })
    }
}

/// Whether a text contains a path; a single word, such as `data`, only beside a slash.
fn contains_path(text: &str, path: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "_-".contains(c);
    let is_word = !path.contains(['/', '.']);
    let is_path = |at: usize| {
        let before = text.get(..at).and_then(|text| text.chars().next_back()).unwrap_or(' ');
        let after = text.get(at + path.len()..).unwrap_or_default();
        // A dot ends a sentence, or begins an extension.
        let goes_on = after.strip_prefix('.').unwrap_or(after).starts_with(is_part);
        !is_part(before)
            && before != '.'
            && !goes_on
            && (!is_word || before == '/' || after.starts_with('/'))
    };
    !path.is_empty() && text.match_indices(path).any(|(at, _)| is_path(at))
}

/// What a person should know before the first run.
pub fn describe_gaps(gaps: &[CheckoutGap]) -> Vec<String> {
    let mut by_cause: BTreeMap<&GapCause, Vec<&str>> = BTreeMap::new();
    for gap in gaps {
        by_cause.entry(&gap.cause).or_default().push(&gap.path);
    }
    let notice = |(cause, paths): (&GapCause, Vec<&str>)| {
        let named: Vec<_> = paths.iter().take(NAMED).map(|path| format!("`{path}`")).collect();
        let more = paths.len().saturating_sub(NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        format!(
            "content is missing, {}{more}: {cause}. A test that fails for want of it is set aside",
            named.join(", ")
        )
    };
    by_cause.into_iter().map(notice).collect()
}

/// The failing tests whose failure names something that is missing, each with the evidence.
pub fn named_by(
    results: &Results,
    gaps: &[CheckoutGap],
    directory: &str,
) -> BTreeMap<TestId, String> {
    let evidence = |case: &TestCase| {
        let gap = gaps.iter().find(|gap| gap.is_named_by(case, directory))?;
        Some((case.id.clone(), gap.evidence()))
    };
    results.failed().filter_map(evidence).collect()
}

/// The failing tests that read stand-in files: those to which a run `without` them differs.
pub fn read_by(
    failing: &[TestCase],
    without: &Results,
    gaps: &[CheckoutGap],
    directory: &str,
) -> BTreeMap<TestId, String> {
    let mut evidence = named_by(without, gaps, directory);
    let stand_ins: Vec<_> = gaps.iter().filter(|gap| gap.is_stood_in_for()).collect();
    let [first, others @ ..] = stand_ins.as_slice() else { return BTreeMap::new() };
    let unnamed = match others.len() {
        0 => first.evidence(),
        more => format!("{} or one of {more} more files", first.evidence()),
    };
    let is_other = |case: &&TestCase| {
        let there = without.cases.iter().find(|one| one.id == case.id);
        there.is_none_or(|there| {
            there.status != Status::Failed || signature_of(there) != signature_of(case)
        })
    };
    let of = |case: &TestCase| {
        (case.id.clone(), evidence.remove(&case.id).unwrap_or_else(|| unnamed.clone()))
    };
    failing.iter().filter(is_other).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::latest_results::tests::results;
    use crate::domain::test::{FailureText, Scope};

    fn gap(cause: GapCause, path: &str) -> CheckoutGap {
        CheckoutGap { cause, path: path.into() }
    }

    fn failed(id: &str, message: &str, stack: &str) -> TestCase {
        let case = results(Scope::Full, &[(id, Status::Failed)]).cases.remove(0);
        let (message, stack) = (message.into(), stack.into());
        TestCase { failure: Some(FailureText { message, stack, ..FailureText::default() }), ..case }
    }

    fn run(cases: Vec<TestCase>) -> Results {
        Results { cases, ..results(Scope::Full, &[]) }
    }

    #[test]
    fn a_failure_that_names_missing_content_lacks_it_and_no_other_does() {
        let gaps = [
            gap(GapCause::Submodule, "app/vendor/corpus"),
            gap(GapCause::Lfs, "app/data/weights.bin"),
            gap(GapCause::LeftOut, "docs"),
        ];
        let table = [
            ("No such file or directory: '/tmp/tree/app/vendor/corpus/prices.json'", true),
            ("No such file or directory: 'vendor/corpus'", true),
            ("cannot open data/weights.bin.", true),
            ("No module named 'app.vendor.corpus.prices'", true),
            ("No module named 'app.vendor.corpus_of_ours'", false),
            ("No such file or directory: 'app/vendor/corpus2/prices.json'", false),
            ("cannot open my-data/weights.bin", false),
            ("cannot open data/weights.bin_old", false),
            ("ENOENT: docs/x.md", true),
            ("KeyError: 'docs'", false),
            ("assert -1 == 3", false),
        ];
        for (message, expected) in table {
            for (message, stack) in [(message, ""), ("", message)] {
                let found = named_by(&run(vec![failed("t", message, stack)]), &gaps, "app");
                assert_eq!(!found.is_empty(), expected, "{message}{stack}: {found:?}");
            }
        }
        let passed = results(Scope::Full, &[("app/vendor/corpus/test_x.py::t", Status::Passed)]);
        assert!(named_by(&passed, &gaps, "app").is_empty());
    }

    #[test]
    fn a_test_reads_a_pointer_if_it_fails_otherwise_without_it() {
        let gaps = [gap(GapCause::Lfs, "data/weights.bin")];
        let failing = [
            failed("parses", "invalid literal for int(): 'version'", ""),
            failed("falls_back", "assert 0 == 6", ""),
            failed("is_skipped", "bad magic number", ""),
            failed("is_wrong", "assert -9 == 9", ""),
            failed("is_gone", "bad header", ""),
        ];
        let mut skipped = failed("is_skipped", "", "");
        skipped.status = Status::Skipped;
        let without = run(vec![
            failed("parses", "No such file: 'data/weights.bin'", ""),
            failed("falls_back", "assert None == 6", ""),
            skipped,
            failed("is_wrong", "assert -9 == 9", ""),
        ]);
        let found = read_by(&failing, &without, &gaps, "");
        let names: Vec<&str> = found.keys().map(TestId::as_str).collect();
        assert_eq!(names, ["falls_back", "is_gone", "is_skipped", "parses"]);
        assert!(found.values().all(|text| text.contains("`git lfs pull`")), "{found:?}");
    }

    #[test]
    fn every_cause_says_what_to_do() {
        let causes = [
            (GapCause::Submodule, "`submodules: recursive`"),
            (GapCause::Lfs, "`lfs: true`"),
            (GapCause::Filter("git-crypt".into()), "`git-crypt`"),
            (GapCause::Encoding("UTF-16".into()), "UTF-16"),
            (GapCause::LeftOut, "`git sparse-checkout add`"),
        ];
        let gaps: Vec<_> = causes.iter().map(|(cause, _)| gap(cause.clone(), "a/b")).collect();
        let notices = describe_gaps(&gaps);
        assert_eq!(notices.len(), causes.len());
        for ((_, words), notice) in causes.iter().zip(&notices) {
            assert!(notice.contains(words) && notice.contains("`a/b`"), "{notice}");
        }
        let many: Vec<_> = (0..7).map(|n| gap(GapCause::Lfs, &format!("{n}.bin"))).collect();
        assert!(describe_gaps(&many).concat().contains("`4.bin` and 2 more: pointer of Git LFS"));
    }
}
