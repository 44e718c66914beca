//! Resolves the shims of version managers. A shim of pyenv or asdf is a script that starts dozens
//! of programs before the interpreter, every time. A run asks it once for the interpreter's path
//! and puts that folder in front of the shims.

use std::path::{Path, PathBuf};

/// Interpreters, with the command that prints their own path.
const INTERPRETERS: &[(&str, &[&str])] = &[
    ("python3", &["python3", "-c", "import sys; print(sys.executable)"]),
    ("node", &["node", "-p", "process.execPath"]),
];

/// Runs a command and returns the line it prints.
pub type RunCommand<'a> = &'a dyn Fn(&[&str]) -> Option<String>;

/// The search path with the real interpreters before their shims; `None` without a leading shim.
pub fn resolve_shims(path: &str, run: RunCommand<'_>) -> Option<String> {
    let mut folders: Vec<PathBuf> = std::env::split_paths(path).collect();
    let mut changed = false;
    for (program, argv) in INTERPRETERS {
        let first = folders.iter().position(|folder| folder.join(program).is_file());
        let Some(at) = first.filter(|at| folders.get(*at).is_some_and(|one| is_shim_folder(one)))
        else {
            continue;
        };
        let printed = run(argv).map(PathBuf::from);
        let real = printed.filter(|file| file.is_absolute() && file.is_file());
        if let Some(folder) =
            real.as_deref().and_then(Path::parent).filter(|one| !is_shim_folder(one))
        {
            folders.insert(at, folder.to_owned());
            changed = true;
        }
    }
    let joined = std::env::join_paths(folders).ok()?.into_string().ok()?;
    changed.then_some(joined)
}

/// pyenv, asdf and mise use this name for their folder of shims.
fn is_shim_folder(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name == "shims")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "programs lie in real folders")]

    use super::*;

    /// Description, folders of the path, printed text, and expected folders.
    type ShimCase<'a> = (&'a str, &'a [&'a str], RunCommand<'a>, Option<&'a [&'a str]>);

    #[test]
    fn an_interpreter_goes_before_its_shim_and_nothing_else_moves() {
        let folder = tempfile::tempdir().unwrap();
        let own = |name: &str| folder.path().join(name);
        for file in ["shims/python3", "shims/node", "real/bin/python3", "usr/bin/python3"] {
            let file = own(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let path = |names: &[&str]| {
            let folders: Vec<PathBuf> = names.iter().map(|name| own(name)).collect();
            std::env::join_paths(folders).unwrap().into_string().unwrap()
        };
        let real = own("real/bin/python3").display().to_string();
        let printed = |argv: &[&str]| (argv[0] == "python3").then(|| real.clone());
        let shim = own("shims/python3").display().to_string();
        let table: &[ShimCase<'_>] = &[
            (
                "before",
                &["a", "shims", "usr/bin"],
                &printed,
                Some(&["a", "real/bin", "shims", "usr/bin"]),
            ),
            (
                "not the first",
                &["usr/bin", "shims"],
                &|argv| printed(argv).filter(|_| argv[0] == "node"),
                None,
            ),
            ("it says nothing", &["shims"], &|_| None, None),
            ("it names itself", &["shims"], &|_| Some(shim.clone()), None),
            ("it names no file", &["shims"], &|_| Some("/nowhere/python3".into()), None),
            ("it names no place", &["shims"], &|_| Some("python3".into()), None),
        ];
        for (why, given, run, expected) in table {
            assert_eq!(resolve_shims(&path(given), run), expected.map(path), "{why}");
        }
    }
}
