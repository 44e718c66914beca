//! A child process to start, and what it may touch.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// A child process to start.
#[derive(Clone, Debug)]
pub struct Invocation {
    pub argv: Vec<String>,
    pub directory: PathBuf,
    /// Its whole environment.
    pub environment: BTreeMap<String, String>,
    /// What it may touch; `None` for a program that is trusted like regreen itself.
    pub access: Option<Access>,
}

impl Invocation {
    /// The program and its arguments.
    pub fn program(&self) -> io::Result<(&String, &[String])> {
        self.argv
            .split_first()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no program to start"))
    }
}

/// Where a child process may write, and what it must not touch in any case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Checkouts. The folder itself stays regreen's, so that its `.git` cannot be replaced.
    pub checkouts: Vec<PathBuf>,
    /// A folder of the child's own.
    pub scratch: PathBuf,
    /// Folders that are never written: the user's checkout, the session's files.
    pub protected: Vec<PathBuf>,
}
