//! [`ReaderCommand`]: the commands of `pre_analysis`. They only read, and only files of the commit under
//! test (specification.md 5.9).

use crate::domain::id::RepoPath;

/// A command that reads something for the writer of tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReaderCommand {
    /// The text of one file.
    Read(RepoPath),
    /// The lines that contain a text, in one file or below a folder; without a place, everywhere.
    Search { text: String, place: Option<RepoPath> },
    /// The names of the files that match a pattern.
    Glob(String),
}

/// Why a command is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{command}` is none of `Read(path)`, `Search(text,path)` and `Glob(pattern)`")]
pub struct UnknownReader {
    command: String,
}

impl ReaderCommand {
    /// Parses a command. Never runs anything: there is no command that does.
    pub fn parse(command: &str) -> Result<Self, UnknownReader> {
        let unknown = || UnknownReader { command: command.to_owned() };
        let (name, rest) = command.trim().split_once('(').ok_or_else(unknown)?;
        let argument = rest.strip_suffix(')').ok_or_else(unknown)?.trim();
        let path = |text: &str| RepoPath::parse(text.trim()).map_err(|_error| unknown());
        match name {
            _ if argument.is_empty() => Err(unknown()),
            "Read" => path(argument).map(Self::Read),
            "Search" => match argument.rsplit_once(',') {
                Some((text, place)) if !text.trim().is_empty() => {
                    let place = Some(path(place)?);
                    Ok(Self::Search { text: text.trim().to_owned(), place })
                }
                Some(_) => Err(unknown()),
                None => Ok(Self::Search { text: argument.to_owned(), place: None }),
            },
            "Glob" => Ok(Self::Glob(argument.to_owned())),
            _ => Err(unknown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_readers_of_the_repository_are_known() {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let search = |text: &str, place: Option<&str>| ReaderCommand::Search {
            text: text.into(),
            place: place.map(path),
        };
        let good = [
            ("Read(docs/prices.md)", ReaderCommand::Read(path("docs/prices.md"))),
            (" Read( a b.md ) ", ReaderCommand::Read(path("a b.md"))),
            ("Search(def price(, shop)", search("def price(", Some("shop"))),
            ("Search(a, b, shop)", search("a, b", Some("shop"))),
            ("Search(TODO)", search("TODO", None)),
            ("Glob(shop/**/*.py)", ReaderCommand::Glob("shop/**/*.py".into())),
        ];
        for (text, expected) in good {
            assert_eq!(ReaderCommand::parse(text), Ok(expected), "{text}");
        }
        for text in [
            "bash(cat /etc/passwd)",
            "Read(../secret)",
            "Read(/etc/passwd)",
            "Read()",
            "Read(a.py",
            "Search(,shop)",
            "Search(x,/etc)",
            "read(a.py)",
            "cat a.py",
            "",
        ] {
            let error = ReaderCommand::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{text}` is none of ")), "{error}");
        }
    }
}
