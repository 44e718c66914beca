//! Facts about the whole repository for lint rules: dependencies, modules, installed packages.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use crate::code::imports::script_candidates;
use crate::code::language::Language;
use crate::domain::framework::Framework;
use crate::domain::id::RepoPath;

/// Facts about a repository that cannot be read from a single file.
#[derive(Clone, Debug, Default)]
pub struct Project {
    pub files: BTreeSet<String>,
    /// Top-level names that Python can import from the repository: file stems and folder names.
    pub python_roots: BTreeSet<String>,
    /// Declared Python packages with normalised names; `None` without a manifest.
    pub python: Option<BTreeSet<String>>,
    /// Declared npm packages; `None` without a manifest.
    pub script: Option<BTreeSet<String>>,
    /// Path prefixes that a bundler or compiler maps to other folders.
    pub aliases: BTreeSet<String>,
    /// The files of installed npm packages, by package, as far as they were listed.
    pub installed: BTreeMap<String, BTreeSet<String>>,
    /// Python packages that create modules dynamically when they are loaded.
    pub python_made: BTreeSet<String>,
    /// Names of the npm packages that the repository itself defines.
    pub script_own: BTreeSet<String>,
}

/// The normalised name of a Python package.
pub fn spelled(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace(['-', '.'], "_")
}

/// Whether a file is a manifest or lock file that [`Project::of`] reads.
pub fn is_manifest(path: &RepoPath) -> bool {
    let name = path.file_name();
    let requirements = path.extension() == "txt"
        && (name.contains("requirements") || path.parent().contains("requirements"));
    requirements
        || matches!(
            name,
            "package.json"
                | "package-lock.json"
                | "yarn.lock"
                | "pnpm-lock.yaml"
                | "tsconfig.json"
                | "jsconfig.json"
                | "deno.json"
                | "import_map.json"
                | "pyproject.toml"
                | "setup.cfg"
                | "setup.py"
                | "Pipfile"
                | "poetry.lock"
                | "uv.lock"
                | "environment.yml"
                | "tox.ini"
                | "Cargo.toml"
                | "Cargo.lock"
                | "go.mod"
                | "pom.xml"
                | "build.gradle"
                | "build.gradle.kts"
                | "libs.versions.toml"
        )
}

fn capture(pattern: &str, text: &str) -> Vec<String> {
    Regex::new(pattern)
        .map(|regex| {
            regex.captures_iter(text).filter_map(|c| Some(c.get(1)?.as_str().to_owned())).collect()
        })
        .unwrap_or_default()
}

impl Project {
    /// Collects these facts from the sources and manifests of a repository.
    #[must_use]
    pub fn of(files: &BTreeMap<RepoPath, String>) -> Self {
        let mut project = Self::default();
        for (path, text) in files {
            project.files.insert(path.as_str().to_owned());
            if is_manifest(path) {
                project.manifest(path, text);
            }
            if Language::of(path) == Some(Language::Python) {
                let stem = path.stem();
                let folders = path.parent().split('/').map(str::to_owned);
                project.python_roots.insert(stem.to_owned());
                project.python_roots.extend(folders.clone());
                if text.contains("sys.modules[") || text.contains("sys.modules.") {
                    project.python_made.extend(folders);
                }
            }
        }
        // A project that configures pytest depends on it, even if no manifest declares it.
        let set_up = files.iter().any(|(path, text)| {
            matches!(path.file_name(), "pytest.ini" | ".pytest.ini" | "conftest.py")
                || is_manifest(path)
                    && ["[tool.pytest", "[tool:pytest]", "[pytest]"]
                        .iter()
                        .any(|one| text.contains(one))
        });
        if let Some(list) = project.python.as_mut().filter(|_| set_up) {
            list.insert("pytest".into());
        }
        project
    }

    /// Counts the packages of the framework that runs the suite as declared.
    pub fn declare_framework(&mut self, framework: Framework) {
        let names: &[&str] = match framework {
            Framework::Pytest => &["pytest"],
            Framework::Jest => &["jest", "@jest/globals"],
            Framework::Vitest => &["vitest"],
            Framework::Mocha => &["mocha"],
            Framework::Ava => &["ava"],
            Framework::NodeTap => &["tap"],
            Framework::Tape => &["tape"],
            _ => &[],
        };
        let list = if framework.is_python() { &mut self.python } else { &mut self.script };
        if let Some(list) = list {
            list.extend(names.iter().map(|&name| name.to_owned()));
        }
    }

    fn manifest(&mut self, path: &RepoPath, text: &str) {
        let name = path.file_name();
        match name {
            "package.json" => self.package_json(text),
            "package-lock.json" | "yarn.lock" | "pnpm-lock.yaml" => {
                let list = self.script.get_or_insert_default();
                list.extend(capture(r#""(?:[^"]*/)?node_modules/((?:@[^/"]+/)?[^/"]+)""#, text));
                list.extend(capture(r#"(?m)^"?((?:@[\w.-]+/)?[\w.-]+)@"#, text));
                list.extend(capture(r"(?m)^\s+'?/?((?:@[\w.-]+/)?[\w.-]+)@\d", text));
            }
            "tsconfig.json" | "jsconfig.json" | "deno.json" | "import_map.json" => {
                let mut keys = ["\"paths\"", "\"imports\""].into_iter();
                let inside = keys.find_map(|key| Some(text.split_once(key)?.1));
                let inside = inside.and_then(|text| text.split('}').next()).unwrap_or_default();
                self.aliases.extend(capture(r#""([^"*]+)\*?"\s*:"#, inside));
                if text.contains("\"baseUrl\"") {
                    let names = self.files.iter().filter_map(|file| file.split('/').next());
                    self.aliases.extend(names.chain(["src/"]).map(str::to_owned));
                }
            }
            "Cargo.toml" | "Cargo.lock" | "go.mod" | "pom.xml" | "build.gradle"
            | "build.gradle.kts" | "libs.versions.toml" => {}
            _ => self.python_manifest(name, text),
        }
    }

    fn package_json(&mut self, text: &str) {
        let list = self.script.get_or_insert_default();
        let Ok(value) = serde_json::from_str::<serde_json::Value>(text) else { return };
        if let Some(name) = value.get("name").and_then(|name| name.as_str()) {
            self.script_own.insert(name.to_owned());
            list.insert(name.to_owned());
        }
        for group in [
            "dependencies",
            "devDependencies",
            "peerDependencies",
            "optionalDependencies",
            "resolutions",
        ] {
            let names = value.get(group).and_then(|group| group.as_object());
            for name in names.into_iter().flat_map(|names| names.keys()) {
                list.insert(name.clone());
                // `@types/x` declares the types of package `x`.
                if let Some(typed) = name.strip_prefix("@types/") {
                    list.insert(match typed.split_once("__") {
                        Some((scope, name)) => format!("@{scope}/{name}"),
                        None => typed.to_owned(),
                    });
                }
            }
        }
        for group in ["bundledDependencies", "bundleDependencies"] {
            let names = value.get(group).and_then(|group| group.as_array());
            list.extend(names.into_iter().flatten().filter_map(|n| n.as_str()).map(str::to_owned));
        }
    }

    fn python_manifest(&mut self, name: &str, text: &str) {
        let list = self.python.get_or_insert_default();
        let quoted = || {
            capture(
                r#"["']([A-Za-z][A-Za-z0-9._-]*)\s*(?:\[[^\]"']*\])?\s*(?:[<>=!~;@ ][^"']*)?["']"#,
                text,
            )
        };
        let names = match name {
            "poetry.lock" | "uv.lock" => capture(r#"(?m)^name\s*=\s*"([^"]+)""#, text),
            // Any quoted requirement, any key of a table, any name at the start of a line.
            "pyproject.toml" | "Pipfile" => {
                [quoted(), capture(r#"(?m)^"?([A-Za-z][A-Za-z0-9._-]*)"?\s*="#, text)].concat()
            }
            "setup.py" => quoted(),
            "environment.yml" => capture(r"(?m)^\s*-\s*([A-Za-z][A-Za-z0-9._-]*)", text),
            _ => capture(r"(?m)^\s*([A-Za-z][A-Za-z0-9._-]*)", text)
                .into_iter()
                .chain(capture(r"egg=([\w.-]+)", text))
                .collect(),
        };
        list.extend(names.iter().map(|name| spelled(name)));
    }

    /// Whether a path exists, as written or with a usual extension.
    pub fn has(&self, path: &str) -> bool {
        script_candidates(path).any(|one| self.files.contains(&one))
    }

    /// Whether a folder contains any file.
    pub fn has_folder(&self, folder: &str) -> bool {
        let prefix = format!("{}/", folder.trim_end_matches('/'));
        self.files.range(prefix.clone()..).next().is_some_and(|file| file.starts_with(&prefix))
    }

    /// Adds the files of an installed npm package, with paths relative to the package.
    pub fn install(&mut self, package: &str, files: impl IntoIterator<Item = String>) {
        self.installed.entry(package.to_owned()).or_default().extend(files);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(files: &[(&str, &str)]) -> Project {
        let parsed =
            |(name, text): &(&str, &str)| (RepoPath::parse(*name).unwrap(), (*text).to_owned());
        Project::of(&files.iter().map(parsed).collect())
    }

    #[test]
    fn manifests_of_python_name_packages_in_one_spelling() {
        let table: &[(&str, &str, &[&str])] = &[
            (
                "requirements.txt",
                "Flask-Login==1\n# no\nPyYAML[fast]>=2 ; python_version > '3'\n",
                &["flask_login", "pyyaml"],
            ),
            (
                "requirements/dev.txt",
                "-r base.txt\ngit+https://x/y.git#egg=my-tool\n",
                &["my_tool"],
            ),
            (
                "pyproject.toml",
                "[project]\ndependencies = [\"httpx[http2]>=0.2\", \"zope.interface\"]\n",
                &["httpx", "zope_interface"],
            ),
            ("pyproject.toml", "[tool.poetry.dependencies]\nrich = \"^13\"\n", &["rich"]),
            ("setup.py", "setup(install_requires=['click>=8', \"attrs\"])\n", &["click", "attrs"]),
            ("setup.cfg", "install_requires =\n    tqdm>=4\n", &["tqdm"]),
            ("Pipfile", "[packages]\nboto3 = \"*\"\n", &["boto3"]),
            ("poetry.lock", "[[package]]\nname = \"idna\"\n", &["idna"]),
            ("environment.yml", "dependencies:\n  - numpy=1\n", &["numpy"]),
        ];
        for (name, text, expected) in table {
            let list = project(&[(name, text)]).python.unwrap();
            for package in *expected {
                assert!(list.contains(*package), "{package} in {name}: {list:?}");
            }
        }
        assert_eq!(project(&[("a.py", "")]).python, None);
    }

    #[test]
    fn a_set_up_pytest_counts_as_declared() {
        let manifest = ("setup.cfg", "[tool:pytest]\n");
        assert!(project(&[manifest]).python.unwrap().contains("pytest"));
        let beside = [("requirements.txt", "flask\n"), ("tests/conftest.py", "")];
        assert!(project(&beside).python.unwrap().contains("pytest"));
        assert!(!project(&beside[..1]).python.unwrap().contains("pytest"));
    }

    #[test]
    fn the_framework_that_runs_the_suite_counts_as_declared() {
        let files = [("pyproject.toml", "[project]\nname = \"shop\"\n"), ("package.json", "{}")];
        let mut found = project(&files);
        found.declare_framework(Framework::Unittest);
        assert!(!found.python.as_ref().unwrap().contains("pytest"));
        found.declare_framework(Framework::Pytest);
        assert!(found.python.as_ref().unwrap().contains("pytest"));
        assert!(found.script.as_ref().unwrap().is_empty());
        found.declare_framework(Framework::Jest);
        found.declare_framework(Framework::Mocha);
        let expected = ["@jest/globals", "jest", "mocha"].map(str::to_owned);
        assert_eq!(found.script, Some(BTreeSet::from(expected)));
        let mut without = project(&[("a.py", "")]);
        without.declare_framework(Framework::Pytest);
        assert_eq!(without.python, None);
    }

    #[test]
    fn manifests_of_scripts_name_packages_types_and_aliases() {
        let text = r#"{"name": "@me/shop", "dependencies": {"react": "1"}, "devDependencies": {"@types/node-fetch": "1", "@types/scope__name": "1"}, "bundledDependencies": ["left"]}"#;
        let found = project(&[
            ("package.json", text),
            (
                "tsconfig.json",
                r#"{"compilerOptions": {"baseUrl": ".", "paths": {"@app/*": ["src/*"]}}}"#,
            ),
            ("lib/a.ts", ""),
        ]);
        let list = found.script.unwrap();
        for package in
            ["react", "@types/node-fetch", "node-fetch", "@scope/name", "left", "@me/shop"]
        {
            assert!(list.contains(package), "{package}: {list:?}");
        }
        assert_eq!(found.script_own, BTreeSet::from(["@me/shop".to_owned()]));
        assert!(found.aliases.contains("@app/"), "{:?}", found.aliases);
        assert!(project(&[("package.json", "{broken")]).script.unwrap().is_empty());
    }

    #[test]
    fn manifests_are_known_by_their_names() {
        let table = [
            ("package.json", true),
            ("web/yarn.lock", true),
            ("requirements-dev.txt", true),
            ("requirements/base.txt", true),
            ("notes.txt", false),
            ("Cargo.toml", true),
            ("rustfmt.toml", false),
            ("pom.xml", true),
        ];
        for (path, expected) in table {
            assert_eq!(is_manifest(&RepoPath::parse(path).unwrap()), expected, "{path}");
        }
    }
}
