//! Describes a child process: arguments, folder, environment, and what it may access.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// A child process to start.
#[derive(Clone, Debug)]
pub struct Invocation {
    pub argv: Vec<String>,
    pub directory: PathBuf,
    /// The complete environment; nothing is inherited.
    pub environment: BTreeMap<String, String>,
    /// What it may access; `None` for a program that is trusted like regreen itself.
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

/// Where a child process may write, and what it must never change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Checkouts it may change. regreen keeps owning the folders themselves.
    pub checkouts: Vec<PathBuf>,
    /// The child's own scratch folder.
    pub scratch: PathBuf,
    /// Folders it must never write: the user's checkout, the session's files.
    pub protected: Vec<PathBuf>,
    pub program: ProgramKind,
}

/// What a sandboxed program is, which decides its caches and its network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgramKind {
    /// The suite and its tools: they share the caches of build tools and follow the settings of the
    /// sandbox.
    #[default]
    Tests,
    /// A client of a model: it writes nowhere but into its own folders, connects to one port on
    /// loopback only, and does not outlive regreen.
    Client { port: u16 },
}
