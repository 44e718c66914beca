//! The files that a test command runs by itself, such as `check.py` of `python3 check.py`. They are
//! tests, whatever their names are: a fix that edits them decides for itself whether it is right.
//!
//! The command is followed through launchers, shell scripts, scripts of npm and targets of make. Where
//! a program is unknown, each script among its words counts.

mod commands;
mod makefile;

use std::collections::BTreeSet;

use serde_json::Value;

use self::commands::commands;
use self::makefile::Makefile;
use super::test_command::{LAUNCHERS, is_assignment};

/// Reads a small text file of the repository, by its path as a command names it.
pub type ReadFile<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Scripts and targets that are followed at most from one to another.
const DEPTH: usize = 8;

/// Words of a command that are read at most; of a longer one, every script counts.
const WORDS: usize = 500;

/// The files that a command line runs by themselves, sorted. A path that begins with a variable is
/// given by its last part, and one that ends with `/` stands for all files of a folder.
#[must_use]
pub fn scripts(text: &str, read: ReadFile<'_>) -> Vec<String> {
    let mut search = Search { read, found: BTreeSet::new(), seen: BTreeSet::new(), depth: 0 };
    search.line(text);
    search.found.into_iter().collect()
}

/// Endings of files that an interpreter runs.
const SCRIPTS: &[&str] = &[
    "bash", "bats", "cjs", "cts", "js", "jsx", "lua", "mjs", "mts", "php", "pl", "ps1", "py", "rb",
    "sh", "t", "ts", "tsx", "zsh",
];

const SHELLS: &[&str] = &["bash", "dash", "ksh", "sh", "zsh"];

/// Programs that run the file named by their first argument; the options that take another word.
const INTERPRETERS: &[(&str, &[&str])] = &[
    ("bun", NODE),
    ("node", NODE),
    ("nodejs", NODE),
    ("perl", &["-I"]),
    ("php", &["-d"]),
    ("pypy", PYTHON),
    ("pypy3", PYTHON),
    ("python", PYTHON),
    ("python2", PYTHON),
    ("python3", PYTHON),
    ("ruby", &["-I", "-r"]),
    ("ts-node", &["-P", "--project", "-r", "--require", "-O"]),
    ("tsx", &["--tsconfig", "-r", "--require", "--import"]),
];
const PYTHON: &[&str] = &["-W", "-X"];
const NODE: &[&str] = &[
    "-r",
    "--require",
    "--import",
    "--loader",
    "--experimental-loader",
    "-C",
    "--conditions",
    "--env-file",
    "--preload",
];

/// Programs and words of a shell that start the command behind them; the options that take another
/// word, and how many words of their own follow.
const STARTERS: &[(&str, &[&str], usize)] = &[
    ("!", &[], 0),
    ("builtin", &[], 0),
    ("c8", &["-r", "--reporter", "-x", "--exclude", "-n", "--include"], 0),
    ("command", &[], 0),
    ("cross-env", &[], 0),
    ("do", &[], 0),
    ("elif", &[], 0),
    ("else", &[], 0),
    ("env", &["-u", "--unset", "-C", "--chdir"], 0),
    ("eval", &[], 0),
    ("exec", &["-a"], 0),
    ("if", &[], 0),
    ("ionice", &["-c", "-n", "-p"], 0),
    ("nice", &["-n"], 0),
    ("nohup", &[], 0),
    ("nyc", &["-r", "--reporter", "-x", "-n"], 0),
    ("setsid", &[], 0),
    ("stdbuf", &["-i", "-o", "-e"], 0),
    ("sudo", &["-u", "-g"], 0),
    ("then", &[], 0),
    ("time", &["-f", "-o"], 0),
    ("timeout", &["-k", "--kill-after", "-s", "--signal"], 1),
    ("until", &[], 0),
    ("while", &[], 0),
    ("xvfb-run", &["-s", "-n"], 0),
    ("{", &[], 0),
];

/// Options of launchers that take another word.
const LAUNCHER_OPTIONS: &[&str] = &[
    "--directory",
    "--env-file",
    "--extra",
    "--from",
    "--group",
    "--package",
    "--project",
    "--python",
    "--with",
    "-p",
    "-w",
    "--workspace",
];

/// Programs that read files of the product: their words are no scripts that they run.
const READERS: &[&str] = &[
    "[",
    "[[",
    "awk",
    "black",
    "cargo",
    "cat",
    "cc",
    "chmod",
    "clang",
    "cmp",
    "cp",
    "diff",
    "echo",
    "eslint",
    "export",
    "flake8",
    "gcc",
    "git",
    "grep",
    "head",
    "install",
    "isort",
    "jest",
    "ln",
    "ls",
    "mkdir",
    "mv",
    "mypy",
    "pip",
    "prettier",
    "printf",
    "py.test",
    "pylint",
    "pyright",
    "pytest",
    "rm",
    "ruff",
    "rustc",
    "sed",
    "set",
    "shellcheck",
    "sort",
    "tail",
    "tee",
    "test",
    "touch",
    "tsc",
    "vitest",
    "wc",
];

/// Modules of Python that run the script named by their first argument.
const RUNNING_MODULES: &[&str] = &["cProfile", "coverage", "pdb", "profile", "runpy", "trace"];

struct Search<'a> {
    read: ReadFile<'a>,
    found: BTreeSet<String>,
    /// Targets and scripts that were followed.
    seen: BTreeSet<String>,
    depth: usize,
}

impl Search<'_> {
    /// Follows the commands of a text of the shell.
    fn line(&mut self, text: &str) {
        if self.depth >= DEPTH {
            return;
        }
        self.depth += 1;
        let mut folder = String::new();
        for words in commands(text) {
            if let [program, place] = words.as_slice()
                && program == "cd"
            {
                folder = format!("{}/", place.trim_end_matches('/'));
                continue;
            }
            self.command(&words, &folder);
        }
        self.depth -= 1;
    }

    fn command(&mut self, words: &[String], folder: &str) {
        if words.len() > WORDS {
            return self.all_files(words, folder, &[]);
        }
        let start = words.iter().take_while(|word| is_assignment(word)).count();
        let Some((program, rest)) = words.get(start..).and_then(<[String]>::split_first) else {
            return;
        };
        let name = program.rsplit('/').next().unwrap_or(program);
        let name = if name.starts_with("python3.") { "python3" } else { name };
        if let Some((_, options, own)) = STARTERS.iter().find(|starter| starter.0 == name) {
            let next = first_plain(rest, options) + own;
            return self.command(rest.get(next..).unwrap_or_default(), folder);
        }
        match (name, rest.first().map(String::as_str)) {
            ("." | "source", Some(file)) => self.script(file, folder),
            ("make" | "gmake", _) => self.make(rest, folder),
            ("tox", _) => self.settings_of_tox(folder),
            ("npm" | "pnpm" | "yarn" | "bun", Some(_))
                if self.package_script(name, rest, folder) => {}
            ("go", Some("run")) => self.go_package(rest.get(1..).unwrap_or_default(), folder),
            ("deno", Some("run" | "test")) => self.all_files(rest, folder, &[]),
            ("cargo", Some("run")) => self.cargo_target(rest),
            ("java", _) => self.java_class(rest, folder),
            ("coverage", Some("run")) => self.interpret(rest.get(1..), PYTHON, name, folder),
            _ if SHELLS.contains(&name) => self.shell(rest, folder),
            _ => self.other(words.get(start..).unwrap_or_default(), name, rest, folder),
        }
    }

    /// An interpreter, a launcher, a file of the repository, or a program of which nothing is known.
    fn other(&mut self, words: &[String], name: &str, rest: &[String], folder: &str) {
        if let Some((_, options)) = INTERPRETERS.iter().find(|known| known.0 == name) {
            return self.interpret(Some(rest), options, name, folder);
        }
        let launcher = LAUNCHERS.iter().find(|launcher| {
            words.get(..launcher.len()).is_some_and(|first| first.iter().eq(launcher.iter()))
        });
        if let Some(launcher) = launcher {
            let behind = words.get(launcher.len()..).unwrap_or_default();
            let next = behind.get(first_plain(behind, LAUNCHER_OPTIONS)..).unwrap_or_default();
            let is_file = next.first().is_some_and(|word| self.is_script(word, folder, &[]));
            if let Some(file) = next.first().filter(|_| is_file) {
                return self.script(&file.clone(), folder);
            }
            return self.command(next, folder);
        }
        if words.first().is_some_and(|program| program.contains('/')) {
            self.script(&words.first().cloned().unwrap_or_default(), folder);
        }
        if !READERS.contains(&name) {
            self.all_files(rest, folder, &[]);
        }
    }

    fn shell(&mut self, words: &[String], folder: &str) {
        let first = first_plain(words, &["-o", "+o", "<"]);
        let options = words.get(..first).unwrap_or_default();
        let Some(word) = words.get(first) else {
            return self.all_files(words, folder, &[]);
        };
        let is_text = |option: &String| {
            option.starts_with('-') && !option.starts_with("--") && option.ends_with('c')
        };
        if options.iter().any(is_text) {
            self.line(word);
        } else {
            self.script(word, folder);
        }
    }

    /// The arguments of an interpreter: a file, a module, or a text, which is no file.
    fn interpret(&mut self, words: Option<&[String]>, options: &[&str], name: &str, folder: &str) {
        let words = words.unwrap_or_default();
        let is_python = options == PYTHON;
        let mut at = 0;
        while let Some(word) = words.get(at) {
            match word.as_str() {
                "-m" if is_python => {
                    let module = words.get(at + 1).map_or("", String::as_str);
                    return self.module(module, words.get(at + 2..).unwrap_or_default(), folder);
                }
                "-c" if is_python => return,
                "-e" | "--eval" | "-p" | "--print" if !is_python && name != "ts-node" => return,
                // Each file is a test.
                "--test" | "test" if options == NODE => {
                    return self.all_files(words.get(at + 1..).unwrap_or_default(), folder, &[]);
                }
                "<" => {}
                option if options.contains(&option) => {
                    let value = words.get(at + 1..at + 2).unwrap_or_default();
                    self.all_files(value, folder, &[]);
                    at += 1;
                }
                option if option.starts_with('-') => {}
                file => return self.script(file, folder),
            }
            at += 1;
        }
    }

    /// `python -m`: the file of a module of the repository, or what a known module runs.
    fn module(&mut self, module: &str, words: &[String], folder: &str) {
        if RUNNING_MODULES.contains(&module) {
            let from = usize::from(module == "coverage");
            return self.interpret(words.get(from..), PYTHON, module, folder);
        }
        let path = module.replace('.', "/");
        for start in ["", "src/"] {
            for end in [".py", "/__main__.py"] {
                let file = format!("{start}{path}{end}");
                if self.text(&file, folder).is_some() {
                    self.found.insert(format!("{path}{end}"));
                }
            }
        }
    }

    /// A file that runs, and the commands in it if it is one of a shell.
    fn script(&mut self, file: &str, folder: &str) {
        let file = plain(file);
        if file.is_empty() {
            return;
        }
        self.found.insert(file.to_owned());
        if !self.seen.insert(format!("file {folder}{file}")) {
            return;
        }
        let Some(text) = self.text(file, folder) else { return };
        let first = text.lines().next().unwrap_or_default();
        let is_of_shell = match first.strip_prefix("#!") {
            Some(interpreter) => SHELLS.iter().any(|shell| interpreter.contains(shell)),
            None => ending(file).is_none_or(|ending| SHELLS.contains(&ending)),
        };
        if is_of_shell {
            self.line(&text);
        }
    }

    /// All words that are scripts of the repository.
    fn all_files(&mut self, words: &[String], folder: &str, endings: &[&str]) {
        for word in words {
            if self.is_script(word, folder, endings) {
                self.script(word, folder);
            }
        }
    }

    fn is_script(&self, word: &str, folder: &str, endings: &[&str]) -> bool {
        let is_script = |ending| SCRIPTS.contains(&ending) || endings.contains(&ending);
        let file = plain(word);
        ending(file).is_some_and(is_script)
            && (word.contains('$') || self.text(file, folder).is_some())
    }

    /// `go run`: files, or the package that stands in a folder.
    fn go_package(&mut self, words: &[String], folder: &str) {
        let first = words.get(first_plain(words, &["-C", "-exec", "-tags", "-ldflags"]));
        match first.map(|word| plain(word).trim_end_matches('/')) {
            Some("." | "") => drop(self.found.insert(format!("{folder}main.go"))),
            Some(package) if ending(package).is_none() => {
                self.found.insert(format!("{folder}{package}/"));
            }
            _ => self.all_files(words, folder, &["go"]),
        }
    }

    /// `cargo run --bin`: a target besides the product's own.
    fn cargo_target(&mut self, words: &[String]) {
        for (option, folder) in [("--bin", "src/bin"), ("--example", "examples")] {
            let at = words.iter().position(|word| word == option);
            if let Some(name) = at.and_then(|at| words.get(at + 1)) {
                self.found.extend([format!("{folder}/{name}.rs"), format!("{folder}/{name}/")]);
            }
        }
    }

    /// `java`: a source, or a class by its name.
    fn java_class(&mut self, words: &[String], folder: &str) {
        let options = ["-cp", "-classpath", "--class-path", "-p", "--module-path", "-jar"];
        match words.get(first_plain(words, &options)) {
            Some(class) if !class.contains('/') && !class.ends_with(".java") => {
                self.found.insert(format!("{}.java", class.replace('.', "/")));
            }
            _ => self.all_files(words, folder, &["java"]),
        }
    }

    /// A script of `package.json`, with those that run before and after it; whether there is one.
    fn package_script(&mut self, program: &str, words: &[String], folder: &str) -> bool {
        let mut plain = words.iter().filter(|word| !word.starts_with('-')).map(String::as_str);
        let name = match plain.next() {
            Some("run" | "run-script") => plain.next().unwrap_or_default(),
            Some("t" | "tst" | "test") if program != "bun" => "test",
            Some(name) if program == "yarn" || program == "pnpm" => name,
            _ => return false,
        };
        let package = self.text("package.json", folder);
        let package: Value =
            package.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let mut is_known = false;
        for script in [format!("pre{name}"), name.to_owned(), format!("post{name}")] {
            let Some(text) = package["scripts"][&script].as_str() else { continue };
            is_known |= script == name;
            if self.seen.insert(format!("npm {script}")) {
                self.line(text);
            }
        }
        is_known
    }

    /// The commands of `tox.ini`.
    fn settings_of_tox(&mut self, folder: &str) {
        if !self.seen.insert(format!("tox {folder}")) {
            return;
        }
        let Some(text) = self.text("tox.ini", folder) else { return };
        for line in text.lines().filter(|line| !line.starts_with('[')) {
            let command = line.split_once(" = ").or_else(|| line.split_once('='));
            self.line(command.map_or(line, |(_, command)| command).trim_start_matches(['-', ' ']));
        }
    }

    /// The recipes of the targets that are made.
    fn make(&mut self, words: &[String], folder: &str) {
        let value = |name: &str| {
            let at = words.iter().position(|word| word == name)?;
            words.get(at + 1).cloned()
        };
        let folder = value("-C").map_or(folder.to_owned(), |place| format!("{folder}{place}/"));
        let names = ["GNUmakefile", "makefile", "Makefile"].map(str::to_owned);
        let mut names = value("-f").into_iter().chain(names);
        let Some(text) = names.find_map(|name| self.text(&name, &folder)) else { return };
        let makefile = Makefile::read(&text);
        let options = ["-C", "-f", "-j", "-o", "-W"];
        let mut targets: Vec<String> = Vec::new();
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            if options.contains(&word.as_str()) {
                words.next();
            } else if !word.starts_with('-') && !is_assignment(word) {
                targets.push(word.clone());
            }
        }
        for line in makefile.recipes(&targets) {
            if self.seen.insert(format!("make {folder}{line}")) {
                self.command_lines(&line, &folder);
            }
        }
    }

    fn command_lines(&mut self, line: &str, folder: &str) {
        let line = line.trim_start_matches(['@', '-', '+', ' ']);
        let line = if folder.is_empty() { line.to_owned() } else { format!("cd {folder}\n{line}") };
        self.line(&line);
    }

    fn text(&self, file: &str, folder: &str) -> Option<String> {
        (self.read)(&format!("{folder}{file}")).or_else(|| (self.read)(file))
    }
}

/// The index of the first word that is no option, no value of one and no variable.
fn first_plain(words: &[String], options: &[&str]) -> usize {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if options.contains(&word.as_str()) {
            at += 1;
        } else if !word.starts_with('-') && !is_assignment(word) {
            break;
        }
        at += 1;
    }
    at.min(words.len())
}

/// A path without what a shell fills in.
fn plain(file: &str) -> &str {
    let is_filled = file.contains(['$', '`']);
    let file = if is_filled { file.rsplit('/').next().unwrap_or_default() } else { file };
    let file = file.trim_start_matches("./").trim_start_matches('/');
    if file.contains(['$', '`']) { "" } else { file }
}

fn ending(file: &str) -> Option<&str> {
    Some(file.rsplit('/').next()?.rsplit_once('.')?.1)
}

#[cfg(test)]
mod tests;
