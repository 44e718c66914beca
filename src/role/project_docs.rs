//! Selects the documentation about some files, so that requirements can be based on what the
//! project promises instead of what its code happens to do (specification.md 4.5, 4.7).
//!
//! Documents are untrusted text: limited in size here, and fenced in the prompt.

use std::collections::{BTreeMap, BTreeSet};

use super::prompt::PromptPart;
use crate::domain::id::{RepoPath, TreeId};
use crate::effect::{Effects, GitError};

/// Maximum number of documents to read.
const READ: usize = 40;

/// Maximum number of bytes read of one document.
const LONGEST: usize = 256 << 10;

/// Maximum number of bytes in a prompt of all readmes, and of all named documents.
const README: usize = 6 << 10;
const NAMED: usize = 12 << 10;

/// Number of bytes from the start of a readme, where the project is introduced.
const LEAD: usize = 800;

/// Requests with fewer words only name a location, so the prompt need not repeat them.
const WORDS: usize = 4;

/// Minimum length of a name to search for; shorter ones occur in every text.
const SHORTEST: usize = 3;

/// The documents of a tree that a prompt may show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Documents {
    /// The request in the user's words.
    request: String,
    /// The texts of the documents, and whether the request names each.
    texts: BTreeMap<RepoPath, (String, bool)>,
}

/// A section of a document, with its heading.
#[derive(Debug, PartialEq, Eq)]
struct Section<'a> {
    text: &'a str,
    hits: usize,
}

impl Documents {
    /// Reads the readmes of a tree and the documents that a request names.
    pub async fn read(tree: &TreeId, request: &str, fx: &Effects<'_>) -> Result<Self, GitError> {
        let files = fx.worktree.files(tree).await?;
        let named = |file: &RepoPath| names(request, file);
        let mut documents: Vec<&RepoPath> = files
            .iter()
            .filter(|file| is_readme(file) || is_document(file) && named(file))
            .collect();
        documents.sort_by_key(|file| (!named(file), file.as_str().matches('/').count()));
        let mut texts = BTreeMap::new();
        for file in documents.into_iter().take(READ) {
            let bytes = fx.worktree.read(tree, file).await?.unwrap_or_default();
            if bytes.len() <= LONGEST
                && let Ok(text) = String::from_utf8(bytes)
            {
                texts.insert(file.clone(), (text, named(file)));
            }
        }
        Ok(Self { request: request.to_owned(), texts })
    }

    /// The request, if more than a location, and what documents say of these functions.
    pub fn parts(&self, subjects: &[(&RepoPath, Vec<String>)]) -> Vec<PromptPart> {
        let mut parts = self.request();
        parts.extend(self.about(subjects));
        parts
    }

    /// The request, if it is more than a location.
    fn request(&self) -> Vec<PromptPart> {
        if self.request.split_whitespace().count() < WORDS {
            return Vec::new();
        }
        let text = bounded(&self.request, NAMED).to_owned();
        vec![PromptPart::new("What is asked for", text, true)]
    }

    /// What the documents say about source files with these functions.
    pub fn about(&self, subjects: &[(&RepoPath, Vec<String>)]) -> Vec<PromptPart> {
        let words = subject_words(subjects);
        // The readme of a package is always relevant to its entry file.
        let entry = subjects.iter().any(|(file, _)| ENTRIES.contains(&stem(file)));
        let (mut readme, mut named) = (README, NAMED);
        let mut parts = Vec::new();
        for (file, (text, is_named)) in &self.texts {
            // The request may contain the whole document already.
            if self.request.trim() == text.trim() {
                continue;
            }
            let near = |subject: &RepoPath| {
                file.parent().is_empty()
                    || subject.as_str().starts_with(&format!("{}/", file.parent()))
            };
            if !is_named && !subjects.iter().any(|(subject, _)| near(subject)) {
                continue;
            }
            let room = if *is_named { &mut named } else { &mut readme };
            let text = excerpt(text, &words, *is_named || entry, *room);
            if !text.is_empty() {
                *room = room.saturating_sub(text.len());
                let title = format!("What {file} says");
                parts.push(PromptPart::new(title, text, true));
            }
        }
        parts
    }
}

/// Words that a text about these files would contain: their functions and modules.
fn subject_words(subjects: &[(&RepoPath, Vec<String>)]) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for (file, functions) in subjects {
        let short = functions.iter().filter_map(|name| name.rsplit(['.', ':']).next());
        words.extend(short.chain([stem(file)]).map(str::to_owned));
    }
    // These words are too common to search for.
    let common = ["default", "new", "run", "main"];
    let telling = |word: &String| {
        word.len() >= SHORTEST
            && !common.contains(&word.as_str())
            && !ENTRIES.contains(&word.as_str())
    };
    words.retain(telling);
    words
}

/// File names of package entry points.
const ENTRIES: &[&str] = &["index", "main", "lib", "mod", "__init__"];

fn stem(file: &RepoPath) -> &str {
    file.stem()
}

/// The sections that mention most of `words`, while there is room, in the order of the document. A
/// readme is shown with its introduction, and a named document as far as it fits.
fn excerpt(text: &str, words: &BTreeSet<String>, named: bool, room: usize) -> String {
    let sections: Vec<Section<'_>> = sections(text)
        .into_iter()
        .map(|text| {
            let own: BTreeSet<&str> =
                text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            let hits = words.iter().filter(|word| own.contains(word.as_str())).count();
            Section { text, hits }
        })
        .collect();
    let mut order: Vec<usize> = (0..sections.len()).collect();
    let hits = |at: usize| sections.get(at).map_or(0, |one| one.hits);
    order.sort_by_key(|at| std::cmp::Reverse(hits(*at)));
    order.retain(|at| named || hits(*at) > 0);
    // Omit a readme that does not mention the files.
    if order.is_empty() {
        return String::new();
    }
    let mut left = room;
    let mut chosen: BTreeMap<usize, &str> = BTreeMap::new();
    if let Some(first) = sections.first().filter(|_| !named && !order.contains(&0)) {
        let beginning = bounded(first.text, LEAD.min(left));
        left -= beginning.len();
        chosen.insert(0, beginning);
    }
    for at in order {
        let Some(section) = sections.get(at) else { continue };
        let text = bounded(section.text, left);
        left -= text.len();
        if !text.is_empty() {
            chosen.insert(at, text);
        }
    }
    chosen.into_values().collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// A document's sections, each from a Markdown heading or an underlined line outside of code.
fn sections(text: &str) -> Vec<&str> {
    let mut starts = vec![0];
    let (mut at, mut code) = (0, false);
    let mut before: Option<(usize, &str)> = None;
    for line in text.split_inclusive('\n') {
        let plain = line.trim_end();
        if plain.trim_start().starts_with("```") || plain.trim_start().starts_with("~~~") {
            code = !code;
        } else if !code {
            let hashes = plain.len() - plain.trim_start_matches('#').len();
            if (1..=6).contains(&hashes) && plain.trim_start_matches('#').starts_with(' ') {
                starts.push(at);
            } else if is_underline(plain)
                && let Some((start, above)) = before
                && !above.trim().is_empty()
                && above.chars().count() <= plain.chars().count() + 3
            {
                starts.push(start);
            }
        }
        before = (!code).then_some((at, plain));
        at += line.len();
    }
    starts.push(text.len());
    starts.dedup();
    starts
        .windows(2)
        .filter_map(|pair| text.get(*pair.first()?..*pair.last()?))
        .filter(|section| !section.trim().is_empty())
        .collect()
}

fn is_underline(line: &str) -> bool {
    let mut letters = line.chars();
    let Some(first) = letters.next() else { return false };
    line.len() >= 3 && "=-~^\"'".contains(first) && letters.all(|c| c == first)
}

fn bounded(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    // Cut at a line end.
    let cut = text.get(..text.floor_char_boundary(bytes)).unwrap_or_default();
    cut.rfind('\n').and_then(|at| cut.get(..=at)).unwrap_or_default()
}

pub(super) fn is_readme(file: &RepoPath) -> bool {
    let name = file.file_name().to_ascii_lowercase();
    matches!(
        name.as_str(),
        "readme" | "readme.md" | "readme.markdown" | "readme.rst" | "readme.txt"
    )
}

pub(super) fn is_document(file: &RepoPath) -> bool {
    matches!(file.extension(), "md" | "rst" | "txt" | "adoc")
}

fn names(request: &str, file: &RepoPath) -> bool {
    let plain = |word: &str| {
        let edge = |c: char| !c.is_alphanumeric();
        word.trim_matches(edge).trim_start_matches("./") == file.as_str()
            || word.trim_matches(edge) == file.file_name()
    };
    request.split(|c: char| c.is_whitespace() || "`()[]<>,;\"'".contains(c)).any(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RepoPath {
        RepoPath::parse(text).unwrap()
    }

    fn documents(request: &str, texts: &[(&str, &str)]) -> Documents {
        let of = |(name, text): &(&str, &str)| {
            let file = path(name);
            let named = names(request, &file);
            (file, ((*text).to_owned(), named))
        };
        Documents { request: request.into(), texts: texts.iter().map(of).collect() }
    }

    const READ_ME: &str = "# Shop\n\nSells things.\n\n## Prices\n\n`parse_price` refuses an empty text.\n\n```sh\n# not a heading about discount\n```\n\n## Licence\n\nNone.\n\nDiscounts\n---------\n\n`discount(80, 50)` is 40.\n";

    fn shown(documents: &Documents, file: &str, functions: &[&str]) -> Vec<(String, String)> {
        let functions = functions.iter().map(|one| (*one).to_owned()).collect();
        let parts = documents.parts(&[(&path(file), functions)]);
        parts.into_iter().map(|part| (part.title, part.text)).collect()
    }

    #[test]
    fn a_readme_is_known_in_any_case() {
        let table = [("README.md", true), ("Readme.md", true), ("notes.md", false)];
        for (name, expected) in table {
            assert_eq!(is_readme(&RepoPath::parse(name).unwrap()), expected, "{name}");
        }
    }

    #[test]
    fn a_readme_is_shown_as_far_as_it_concerns_the_file() {
        let with = documents("shop/price.py", &[("README.md", READ_ME)]);
        let got = shown(&with, "shop/price.py", &["parse_price", "discount"]);
        insta::assert_snapshot!(got[0].1, @r"
        # Shop

        Sells things.


        ## Prices

        `parse_price` refuses an empty text.

        ```sh
        # not a heading about discount
        ```


        Discounts
        ---------

        `discount(80, 50)` is 40.
        ");
        assert_eq!(got[0].0, "What README.md says");
        assert_eq!(got.len(), 1, "a place is no request");
        let table = [
            ("it does not name the file", "shop/tax.py", "levy", false),
            ("the package itself", "shop/__init__.py", "levy", true),
            ("by its module", "shop/prices.py", "x", false),
            ("by a method", "shop/tax.py", "Shop.discount", true),
        ];
        for (why, file, function, expected) in table {
            assert_eq!(!shown(&with, file, &[function]).is_empty(), expected, "{why}");
        }
    }

    #[test]
    fn a_readme_of_another_folder_is_not_shown_and_a_document_that_is_named_is() {
        let request = "prices as docs/prices.md says, please";
        let texts = [
            ("README.md", READ_ME),
            ("other/README.md", READ_ME),
            ("docs/prices.md", "# Rules\n\nNo price is below zero.\n"),
            ("docs/taxes.md", "# Taxes of parse_price\n"),
        ];
        let with = documents(request, &texts[..3]);
        let titles: Vec<String> = shown(&with, "shop/price.py", &["parse_price"])
            .into_iter()
            .map(|(title, _)| title)
            .collect();
        assert_eq!(
            titles,
            ["What is asked for", "What README.md says", "What docs/prices.md says"]
        );
        assert!(!names(request, &path("docs/taxes.md")), "it is not read at all");
        assert!(names("see `taxes.md`.", &path("docs/taxes.md")));
    }

    #[test]
    fn a_long_document_is_cut_at_a_line_and_the_request_is_not_shown_twice() {
        let long = format!("# Prices of parse_price\n{}", "a line of many words\n".repeat(5_000));
        let with = documents("price", &[("README.md", &long)]);
        let got = shown(&with, "shop/price.py", &["parse_price"]);
        assert!(got[0].1.len() <= README && got[0].1.ends_with("many words"), "{}", got[0].1.len());
        let with = documents(READ_ME, &[("README.md", READ_ME)]);
        let got = shown(&with, "shop/price.py", &["parse_price"]);
        assert_eq!(got.len(), 1);
        assert_eq!(got[0].0, "What is asked for");
    }

    proptest::proptest! {
        #[test]
        fn no_document_makes_it_panic(text in r"[#=\-~`a-z é\n]{0,300}", room in 0usize..200) {
            let whole: String = sections(&text).concat();
            proptest::prop_assert!(whole.len() <= text.len());
            let words = BTreeSet::from(["abc".to_owned()]);
            proptest::prop_assert!(excerpt(&text, &words, true, room).len() <= room + 64);
        }
    }

    #[test]
    fn headings_begin_a_section_and_code_blocks_do_not() {
        let table = [
            ("# A\nx\n## B\ny\n", 2),
            ("A\n===\nx\nB\n---\ny\n", 2),
            ("# A\n```\n# not\n```\n", 1),
            ("#not a heading\n", 1),
            ("\n\n", 0),
        ];
        for (text, expected) in table {
            assert_eq!(sections(text).len(), expected, "{text:?}: {:?}", sections(text));
        }
    }
}
