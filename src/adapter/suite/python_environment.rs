//! The environments that uv, Poetry, PDM, Hatch and nox make for a project. They are looked for from the
//! user's checkout: a private one has none of its own, and these tools go by its path.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::adapter::host::environment;

use super::framework::Site;

/// A tool that makes environments, and what shows that a project uses it.
struct Manager {
    name: &'static str,
    program: &'static str,
    /// Files, each with the words that it contains.
    signs: &'static [(&'static str, &'static str)],
    /// Its arguments that print an interpreter or a folder.
    questions: fn(&Site) -> Vec<String>,
    /// The command that makes the environment.
    install: &'static str,
}

/// Environments of Hatch that are asked for at most, since each costs a start of it.
const HATCH_ENVIRONMENTS: usize = 4;

const MANAGERS: &[Manager] = &[
    Manager {
        name: "uv",
        program: "uv",
        signs: &[("uv.lock", ""), ("pyproject.toml", "[tool.uv]")],
        questions: |_| vec!["python find".into()],
        install: "uv sync",
    },
    Manager {
        name: "Poetry",
        program: "poetry",
        signs: &[("poetry.lock", ""), ("pyproject.toml", "[tool.poetry]")],
        questions: |_| vec!["env info --executable".into()],
        install: "poetry install",
    },
    Manager {
        name: "PDM",
        program: "pdm",
        signs: &[("pdm.lock", ""), ("pyproject.toml", "[tool.pdm")],
        questions: |_| vec!["info --python".into()],
        install: "pdm install",
    },
    Manager {
        name: "Hatch",
        program: "hatch",
        signs: &[("hatch.toml", ""), ("pyproject.toml", "[tool.hatch.envs")],
        questions: |site| {
            let names = hatch_environments(site).into_iter();
            names.map(|name| format!("env find {name}")).collect()
        },
        install: "hatch env create",
    },
    Manager {
        name: "nox",
        program: "nox",
        signs: &[("noxfile.py", "")],
        questions: |_| Vec::new(),
        install: "nox --install-only",
    },
];

/// Runs a program in the user's checkout and returns what it prints; `None` when it fails.
pub type Ask<'a> = &'a dyn Fn(Vec<String>) -> Option<String>;

/// How the environment of a project was looked for.
pub struct Managed {
    /// The file that names the tool.
    pub sign: &'static str,
    /// The folder of the environment, if there is one.
    pub environment: Option<PathBuf>,
    /// What makes the environment.
    pub advice: String,
}

/// The environment of the first tool that has made one, else of the first that the folder uses.
pub fn find(site: &Site, ask: Ask<'_>) -> Option<Managed> {
    let used = MANAGERS.iter().filter_map(|manager| {
        let is_there =
            |sign: &&(&str, &str)| site.has_path(sign.0) && site.file_contains(sign.0, sign.1);
        Some((manager, manager.signs.iter().find(is_there)?.0))
    });
    let mut first = None;
    for (manager, sign) in used {
        let made = environments(manager, site, ask);
        let with_pytest = made.iter().find(|folder| has_pytest(folder)).cloned();
        let environment = with_pytest.or_else(|| made.into_iter().next());
        let managed = Managed { sign, environment, advice: advice(manager, site) };
        if managed.environment.is_some() {
            return Some(managed);
        }
        first.get_or_insert(managed);
    }
    first
}

/// The environments of a tool that exist.
fn environments(manager: &Manager, site: &Site, ask: Ask<'_>) -> Vec<PathBuf> {
    let usual = [".venv", "venv"];
    let usual =
        usual.iter().flat_map(|name| [site.working_folder().join(name), site.root.join(name)]);
    if let Some(folder) = usual.into_iter().find(|folder| is_environment(folder)) {
        return vec![folder];
    }
    let mut found: Vec<PathBuf> = Vec::new();
    if manager.program == "nox" {
        // Its sessions are known to the code of `noxfile.py` alone.
        let sessions =
            fs::read_dir(site.working_folder().join(".nox")).into_iter().flatten().flatten();
        found.extend(sessions.map(|entry| entry.path()));
        found.sort();
    }
    for question in (manager.questions)(site) {
        let words = std::iter::once(manager.program).chain(question.split(' '));
        let printed = ask(words.map(str::to_owned).collect()).unwrap_or_default();
        found.extend(printed.lines().map(|line| environment_of(Path::new(line.trim()))));
    }
    // Without an environment of the project, uv and PDM name the interpreter that the search path leads to.
    let path = search_path(site);
    let on_path = |folder: &Path| std::env::split_paths(&path).any(|one| one == folder.join("bin"));
    let active = environment::variable("VIRTUAL_ENV").map(PathBuf::from);
    let is_own = |folder: &PathBuf| active.as_ref() == Some(folder) || !on_path(folder);
    found.retain(|folder| is_environment(folder) && is_own(folder));
    found
}

/// The folder of an environment, given itself or its interpreter.
fn environment_of(path: &Path) -> PathBuf {
    let programs = path.parent().filter(|folder| folder.ends_with("bin"));
    programs.and_then(Path::parent).unwrap_or(path).to_owned()
}

fn is_environment(folder: &Path) -> bool {
    folder.is_absolute()
        && folder.join("pyvenv.cfg").is_file()
        && folder.join("bin/python").exists()
}

fn has_pytest(folder: &Path) -> bool {
    let mut libraries = fs::read_dir(folder.join("lib")).into_iter().flatten().flatten();
    libraries.any(|library| library.path().join("site-packages/pytest").is_dir())
}

/// The environments that the settings of Hatch define, and the two that it has by itself.
fn hatch_environments(site: &Site) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (file, head) in [("hatch.toml", "[envs."), ("pyproject.toml", "[tool.hatch.envs.")] {
        let text = site.read_small_text(file).unwrap_or_default();
        names.extend(text.lines().filter_map(|line| {
            let name = line.trim().strip_prefix(head)?.split(['.', ']']).next()?;
            let is_plain = |c: char| c.is_alphanumeric() || "-_".contains(c);
            (!name.is_empty() && name.chars().all(is_plain)).then(|| name.to_owned())
        }));
    }
    names.extend(["hatch-test", "default"].map(str::to_owned));
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names.truncate(HATCH_ENVIRONMENTS);
    names
}

fn search_path(site: &Site) -> String {
    site.path.clone().or_else(|| environment::variable("PATH")).unwrap_or_default()
}

fn advice(manager: &Manager, site: &Site) -> String {
    let Manager { name, program, install, .. } = manager;
    let path = search_path(site);
    let is_installed = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    let first = if is_installed { String::new() } else { format!("install {name}, then ") };
    format!("{first}run `{install}`, so that the environment of {name} has what the tests need")
}

/// The variables by which tools keep to an environment in another checkout, unchanged.
pub fn variables(folder: &Path) -> BTreeMap<String, String> {
    let folder = folder.display().to_string();
    let table = [
        ("VIRTUAL_ENV", folder.as_str()),
        ("UV_PROJECT_ENVIRONMENT", &folder),
        ("UV_NO_SYNC", "1"),
        ("PDM_IGNORE_SAVED_PYTHON", "1"),
    ];
    table.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "environments are real folders")]

    use super::*;

    /// A file, its text, the question, its answer, and the environment that is found.
    type Row<'a> = (&'a str, &'a str, &'a str, &'a str, Option<&'a PathBuf>);

    #[test]
    fn an_environment_is_one_that_exists_and_the_tool_that_made_it_is_asked() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("repo");
        let write = |path: &Path, text: &str| {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let made = |name: &str| {
            let made = folder.path().join(name);
            write(&made.join("pyvenv.cfg"), "");
            write(&made.join("bin/python"), "");
            made
        };
        let (own, tests) = (made("own"), made("repo/.nox/tests-3"));
        made("repo/.nox/lint");
        let on_path = made("on_path");
        let other = on_path.join("bin/python").display().to_string();
        write(&tests.join("lib/python3/site-packages/pytest/__init__.py"), "");
        let python = own.join("bin/python").display().to_string();
        let plain = own.display().to_string();
        let table: &[Row<'_>] = &[
            ("uv.lock", "", "uv python find", &python, Some(&own)),
            ("uv.lock", "", "uv python find", "/usr/bin/python3", None),
            ("uv.lock", "", "uv python find", &other, None),
            ("poetry.lock", "", "poetry env info --executable", &python, Some(&own)),
            ("pdm.lock", "", "pdm info --python", &python, Some(&own)),
            (
                "pyproject.toml",
                "[tool.hatch.envs.check.scripts]\n",
                "hatch env find check",
                &plain,
                Some(&own),
            ),
            ("noxfile.py", "", "", "", Some(&tests)),
            ("pyproject.toml", "[project]\n", "", "", None),
        ];
        let on_path = Some(on_path.join("bin").display().to_string());
        for (file, text, question, answer, expected) in table {
            let path = root.join(file);
            write(&path, text);
            let ask = |words: Vec<String>| (words.join(" ") == *question).then(|| (*answer).into());
            let found = find(&Site { path: on_path.clone(), ..Site::new(&root, "") }, &ask);
            assert_eq!(found.is_some(), *text != "[project]\n", "{file}");
            let environment = found.and_then(|found| found.environment);
            assert_eq!(environment.as_ref(), *expected, "{file} {answer}");
            std::fs::remove_file(path).unwrap();
        }
    }
}
