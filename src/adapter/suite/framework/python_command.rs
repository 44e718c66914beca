//! How a configured command starts Python, so that our own programs start in the same interpreter,
//! with the same variables, launcher and options.

use std::path::{Path, PathBuf};

use crate::adapter::host::{environment, files};
use crate::domain::shell;
use crate::domain::test_command::{TestCommand, is_assignment, unquoted};

use super::adapter::{Site, shell_argv};

/// A simple command that runs a module of Python or the program of the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PythonCommand {
    /// Variables, launcher, interpreter and its options, as they were written.
    start: Vec<String>,
    /// The arguments of the module, as they were written.
    arguments: Vec<String>,
    /// Whether the command's own folder is searched first, as by `python -m pytest`, not `pytest`.
    pub from_folder: bool,
    /// Whether only a shell can start it.
    in_shell: bool,
}

impl PythonCommand {
    /// How the suite's command starts a module, or the project's Python where it is not known.
    pub fn of(site: &Site, module: &str) -> Self {
        let command = site.command.as_ref();
        command.and_then(|command| Self::read(command, site, module)).unwrap_or_else(|| Self {
            start: vec![site.find_python()],
            arguments: Vec::new(),
            from_folder: true,
            in_shell: false,
        })
    }

    /// `python -m MODULE …`, whatever Python and its options are, or `MODULE …`.
    fn read(command: &TestCommand, site: &Site, module: &str) -> Option<Self> {
        let words = command.words();
        let part = |start: usize, end: usize| words.get(start..end).map(<[String]>::to_vec);
        if let Some(at) = module_at(command, module) {
            let (start, arguments) = (part(0, at)?, part(at + 2, words.len())?);
            return Some(Self { start, arguments, from_folder: true, in_shell: true });
        }
        let end = command.after(&[module])?;
        let (mut start, arguments) = (part(0, end - 1)?, part(end, words.len())?);
        let variables = start.iter().take_while(|word| is_assignment(word)).count();
        if variables == start.len() {
            let interpreter = interpreter(&unquoted(words.get(end - 1)?), site)?;
            start.push(shell::word(&interpreter.display().to_string()));
        } else {
            start.push("python".to_owned());
        }
        let in_shell = start.len() > 1;
        Some(Self { start, arguments, from_folder: false, in_shell })
    }

    /// The same for an interpreter before the command runs, which a launcher may install first.
    pub fn of_installed(command: &TestCommand, site: &Site, module: &str) -> Option<Self> {
        let python = Self::read(command, site, module)?;
        let mut words = python.start.iter().skip_while(|word| is_assignment(word));
        let program = unquoted(words.next()?);
        let name = program.rsplit('/').next().unwrap_or_default();
        name.starts_with("python").then_some(python)
    }

    /// The argument vector that gives these arguments to the interpreter in place of a shell.
    pub fn running(&self, arguments: &[String]) -> Vec<String> {
        if self.in_shell {
            let start = self.start.join(" ");
            return shell_argv(&format!("exec env {start} {}", shell::line(arguments)));
        }
        let start = self.start.iter().map(|word| unquoted(word));
        start.chain(arguments.iter().cloned()).collect()
    }

    /// The arguments that the command gives to the module.
    pub fn arguments(&self) -> Vec<String> {
        self.arguments.iter().map(|word| unquoted(word)).collect()
    }

    /// The command line that runs a script instead of the module, with the same arguments.
    pub fn line(&self, script: &[String]) -> String {
        let (start, arguments) = (self.start.join(" "), self.arguments.join(" "));
        format!("{start} {} {arguments}", shell::line(script)).trim_end().to_owned()
    }
}

/// Where `-m MODULE` stands in a simple command that runs it.
pub fn module_at(command: &TestCommand, module: &str) -> Option<usize> {
    let at = behind_options(command)?;
    let pair = command.words().get(at..at + 2)?;
    (pair == ["-m", module]).then_some(at)
}

/// The number of words up to what a simple command gives Python to run: `-m`, `-c` or a file.
pub fn behind_options(command: &TestCommand) -> Option<usize> {
    let mut at = PYTHONS.iter().find_map(|name| command.after(&[name]))?;
    while let Some(option) = command.words().get(at) {
        match option.as_str() {
            // These take the next word as their value.
            "-W" | "-X" | "--check-hash-based-pycs" => at += 2,
            "-m" | "-c" | "-" => break,
            option if option.starts_with('-') => at += 1,
            _ => break,
        }
    }
    Some(at)
}

/// Names of Python interpreters.
const PYTHONS: &[&str] = &[
    "python",
    "python3",
    "python3.8",
    "python3.9",
    "python3.10",
    "python3.11",
    "python3.12",
    "python3.13",
    "python3.14",
    "python3.15",
];

/// The interpreter of an installed program by its first line or folder, by its usual name.
fn interpreter(program: &str, site: &Site) -> Option<PathBuf> {
    let file = if program.contains('/') {
        site.working_folder().join(program)
    } else {
        let path = site.path.clone().or_else(|| environment::variable("PATH"))?;
        std::env::split_paths(&path)
            .map(|folder| folder.join(program))
            .find(|file| file.is_file())?
    };
    let text = files::read(&file, 1 << 20).ok()??;
    let text = String::from_utf8_lossy(&text);
    let first = text.lines().next().and_then(|line| line.strip_prefix("#!"));
    let named = first.and_then(|line| line.split_whitespace().next()).map(Path::new);
    let is_python = |path: &&Path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"))
    };
    let folder = named.filter(is_python).unwrap_or(&file).parent()?;
    ["python3", "python"].iter().map(|name| folder.join(name)).find(|path| path.exists())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "programs are real files")]

    use super::*;

    #[test]
    fn our_programs_start_like_the_module_of_the_command() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let at = folder.path().display();
        file("py/python3", "");
        file("bin/pytest", &format!("#!{at}/py/python3.11 -E\n"));
        file("odd/pytest", "#!/bin/sh\n'''exec' python\n");
        file("odd/python", "");
        let own = |name: &str| vec![format!("{at}/{name}"), "x.py".to_owned()];
        let shell = |line: &str| ["sh", "-c", line].map(str::to_owned).to_vec();
        let table: &[(&str, Vec<String>, bool)] = &[
            ("pytest -q", own("py/python3"), false),
            ("odd/pytest -q", own("odd/python"), false),
            ("X=1 pytest", shell(&format!("exec env X=1 {at}/py/python3 x.py")), false),
            ("uv run pytest -q", shell("exec env uv run python x.py"), false),
            ("python3.11 -B -m pytest -q", shell("exec env python3.11 -B x.py"), true),
            ("X=\"$Y\" python -m pytest", shell("exec env X=\"$Y\" python x.py"), true),
            ("make test", vec!["python3".into(), "x.py".into()], true),
            ("python -c pass -m pytest", vec!["python3".into(), "x.py".into()], true),
        ];
        for (text, argv, from_folder) in table {
            let site = Site {
                command: Some(TestCommand::new(text)),
                path: Some(format!("{at}/none:{at}/bin")),
                ..Site::new(folder.path(), "")
            };
            let found = PythonCommand::of(&site, "pytest");
            assert_eq!(&found.running(&["x.py".to_owned()]), argv, "{text}");
            assert_eq!(found.from_folder, *from_folder, "{text}");
        }
    }
}
