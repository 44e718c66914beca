//! Watches which programs a run starts, with their arguments.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::TestRepo;

/// What the program can be started with.
pub trait Regreen {
    /// The program, in the checkout and ready for arguments.
    fn command(&self) -> Command;
}

impl Regreen for TestRepo {
    fn command(&self) -> Command {
        Self::command(self)
    }
}

/// A repository in which some programs are started through a script that notes their arguments.
pub struct Started<'a> {
    repo: &'a TestRepo,
    programs: PathBuf,
}

impl<'a> Started<'a> {
    /// Puts scripts of these names before the programs, which must exist.
    pub fn watch(repo: &'a TestRepo, programs: &[&str]) -> Self {
        let folder = repo.around().join("programs");
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = std::env::var("PATH").expect("a path");
        for program in programs {
            let real = std::env::split_paths(&path).map(|folder| folder.join(program));
            let real = real.into_iter().find(|file| file.is_file());
            let real = real.unwrap_or_else(|| panic!("{program} is not installed"));
            let note = format!(
                "printf 'started: %s\\n' \"{program} $*\" >&2; exec '{}' \"$@\"",
                real.display()
            );
            let script = format!(
                "#!/bin/sh\n[ \"$*\" = --version ] || {{ {note}; }}\nexec '{}' \"$@\"\n",
                real.display()
            );
            let file = folder.join(program);
            super::write_program(&file, &script);
        }
        Self { repo, programs: folder }
    }

    /// What was started, as the logs of the session show it: each program with its arguments.
    pub fn lines(&self) -> Vec<String> {
        let mut found = Vec::new();
        read_logs(&self.repo.root().join(".git/regreen"), &mut found);
        read_logs(&self.repo.around().join("work"), &mut found);
        found
    }
}

impl Regreen for Started<'_> {
    fn command(&self) -> Command {
        let mut command = self.repo.command();
        let path = std::env::var("PATH").expect("a path");
        let folders = [self.programs.clone()].into_iter().chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(folders).expect("a path"));
        command
    }
}

fn read_logs(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            read_logs(&path, found);
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            let lines = text.lines().filter_map(|line| line.strip_prefix("started: "));
            found.extend(lines.map(str::to_owned));
        }
    }
}
