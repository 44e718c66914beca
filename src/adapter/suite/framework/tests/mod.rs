//! Tests of the framework table: detection, coverage and reading.

#![expect(clippy::disallowed_methods, reason = "detection reads real folders")]

mod commands;

use std::path::{Path, PathBuf};

use crate::adapter::host::process::ExitReason;

use super::super::format::{Report, ReportedTest};
use super::adapter::RunCommand;
use super::*;
use crate::code::conventions;
use crate::domain::id::TestId;
use crate::domain::test::{CaseKind, Status};
use crate::domain::test_command::TestCommand;

/// A temporary project with these files.
pub struct Project {
    _folder: tempfile::TempDir,
    pub site: Site,
}

impl Project {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let site = Site::new(folder.path(), "");
        Self { _folder: folder, site }
    }

    fn with_command(command: &str) -> Self {
        let mut project = Self::new(&[]);
        project.site.command = Some(TestCommand::new(command));
        project
    }

    /// The first framework in detection order that recognises this folder.
    fn detected(&self) -> Option<Framework> {
        let by = |sign: fn(Framework, &Site) -> Option<String>| {
            DETECTION_ORDER.into_iter().find(|framework| sign(*framework, &self.site).is_some())
        };
        let by_tests = || {
            by(|framework, site| (adapter(framework).detect_by_tests)(site))
                .filter(|_| self.site.command.is_none())
        };
        by(|framework, site| adapter(framework).evidence(site)).or_else(by_tests)
    }

    fn coverage(&self, framework: Framework) -> Result<CoverageCommand, String> {
        (adapter(framework).coverage)(&CoverageRequest {
            site: &self.site,
            root: &self.site.root,
            output: Path::new("/out"),
            drivers: Path::new("/drivers"),
        })
    }

    fn run(&self, framework: Framework, selection: Option<&[&str]>) -> RunCommand {
        let files = RunFiles {
            drivers: PathBuf::from("/drivers"),
            results: PathBuf::from("/results"),
            selection: PathBuf::from("/selection"),
        };
        let ids: Option<Vec<TestId>> =
            selection.map(|ids| ids.iter().copied().map(TestId::from).collect());
        (adapter(framework).command)(&self.site, ids.as_deref(), &files)
    }
}

#[test]
fn every_framework_is_in_every_table() {
    let project = Project::new(&[
        ("pom.xml", "<artifactId>jacoco-maven-plugin</artifactId>"),
        ("build.gradle", "plugins { id 'jacoco' }"),
    ]);
    for framework in Framework::ALL {
        let row = adapter(framework);
        let is_known = framework != Framework::Command;
        assert_eq!(row.framework, framework, "the row of {framework} is its own");
        assert_eq!(DETECTION_ORDER.contains(&framework), is_known, "{framework}: detection");
        for text in [row.format, row.signals, (row.install)(&project.site)] {
            assert!(!text.is_empty(), "{framework}: texts for people");
        }
        assert_eq!((row.version)(&project.site).is_empty(), !is_known, "{framework}: version");
        let is_measured = is_known && !UNMEASURED.contains(&framework);
        assert_eq!(project.coverage(framework).is_ok(), is_measured, "{framework}: coverage");
        let is_warm = row.persistent.is_some();
        assert_eq!(has_warm_runner(framework), is_warm, "{framework}: persistent runner");
        let habits = conventions::read(framework, &std::collections::BTreeMap::new());
        assert_eq!(habits.file_naming, framework.test_naming(), "{framework}: naming");
        assert_eq!(habits.directory, framework.test_folder(), "{framework}: folder");
    }
}

/// Frameworks whose coverage tool a project has to name.
const UNMEASURED: &[Framework] = &[
    Framework::Rspec,
    Framework::Minitest,
    Framework::Phpunit,
    Framework::Ctest,
    Framework::Dotnet,
    Framework::Bazel,
];

fn has_warm_runner(framework: Framework) -> bool {
    use Framework::{CargoTest, GoTest, Jest, NodeTest, Pytest, Unittest, Vitest};
    matches!(framework, CargoTest | GoTest | Pytest | Unittest | NodeTest | Jest | Vitest)
}

#[test]
fn no_name_of_a_framework_is_compared_as_text() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let names = Framework::ALL.map(|framework| format!("\"{}\"", framework.name()));
    for entry in ignore::WalkBuilder::new(&source).build().flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|ending| ending != "rs") {
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap();
        for (number, line) in text.lines().enumerate() {
            let code = line.trim_start();
            let is_arm = |name: &String| {
                let after =
                    code.split_once(name.as_str()).map_or("", |(_, rest)| rest.trim_start());
                let before = code.split_once(name.as_str()).map_or("", |(before, _)| before);
                after.starts_with("=>")
                    || before.trim_end().ends_with("==")
                    || before.trim_end().ends_with("!=")
                    || (after.starts_with("==") || after.starts_with("!="))
            };
            let found = names.iter().find(|name| is_arm(name));
            assert_eq!(found, None, "{}:{}: {line}", path.display(), number + 1);
        }
    }
}

/// Files with their texts, and the framework that should be detected.
type DetectionCase<'a> = (&'a [(&'a str, &'a str)], Option<Framework>);

#[test]
fn every_framework_is_detected_by_its_files() {
    use Framework::{
        Ava, Bazel, CargoTest, Ctest, Dotnet, GoTest, Gradle, Jasmine, Jest, Maven, Minitest,
        Mocha, Nextest, NodeTap, NodeTest, Phpunit, Pytest, Rspec, Tape, Unittest, Vitest,
    };
    let jest = r#"{"devDependencies": {"jest": "30"}}"#;
    let vitest = r#"{"scripts": {"test": "vitest run"}}"#;
    let node = r#"{"scripts": {"test": "node --test test/"}}"#;
    let table: &[DetectionCase<'_>] = &[
        (&[("vitest.config.ts", "")], Some(Vitest)),
        (&[("package.json", vitest)], Some(Vitest)),
        (&[("jest.config.cjs", "")], Some(Jest)),
        (&[("package.json", jest)], Some(Jest)),
        (&[("package.json", node)], Some(NodeTest)),
        (&[("package.json", "{}"), ("a.test.mjs", "")], Some(NodeTest)),
        (&[("test.js", "")], Some(NodeTest)),
        (&[(".mocharc.yml", "")], Some(Mocha)),
        (
            &[(
                "package.json",
                r#"{"scripts": {"test": "node test"}, "devDependencies": {"tape": "5"}}"#,
            )],
            Some(Tape),
        ),
        (&[("package.json", r#"{"scripts": {"test": "xo && nyc ava"}}"#)], Some(Ava)),
        (&[("package.json", r#"{"devDependencies": {"tap": "21"}}"#)], Some(NodeTap)),
        (&[("package.json", r#"{"scripts": {"test": "tape test/*.js | tap-spec"}}"#)], Some(Tape)),
        (&[("pytest.ini", "")], Some(Pytest)),
        (&[(".pytest.ini", "")], Some(Pytest)),
        (&[("pyproject.toml", "[tool.pytest.ini_options]\n")], Some(Pytest)),
        (&[("setup.cfg", "[tool:pytest]\n")], Some(Pytest)),
        (&[("tox.ini", "[pytest]\n")], Some(Pytest)),
        (&[("tests/conftest.py", "")], Some(Pytest)),
        (&[("requirements-dev.txt", "pytest==8\n")], Some(Pytest)),
        (&[("tests/test_a.py", "")], Some(Unittest)),
        (&[("a/__init__.py", ""), ("a/test_a.py", "")], Some(Unittest)),
        // What a test file needs.
        (&[("tests/test_a.py", "import os, pytest\n")], Some(Pytest)),
        (&[("a_test.py", "from pytest import raises\n")], Some(Pytest)),
        (&[("a/b/test_a.py", "async def test_a():\n    pass\n")], Some(Pytest)),
        (&[("tests/requirements.txt", ""), ("tests/test_a.py", "import pytest\n")], Some(Pytest)),
        (&[("test_a.py", "DOC = r\"\"\"\nimport pytest\n\"\"\"\n")], Some(Unittest)),
        (&[("test_a.py", "class T:\n    def test_a(self): pass\n")], Some(Unittest)),
        (
            &[("test_a.py", "from unittest import TestCase\ndef test_folder(): pass\n")],
            Some(Unittest),
        ),
        (&[("test_a.py", "def test_suite(): pass\n")], Some(Unittest)),
        (&[("test_a.py", "import pytester\n")], Some(Unittest)),
        // A manifest is stronger than test files of another language.
        (&[("Cargo.toml", ""), ("scripts/test_a.py", "import pytest\n")], Some(CargoTest)),
        (&[("go.mod", ""), ("test_a.py", ""), ("a.test.js", "")], Some(GoTest)),
        (&[("package.json", node), ("tests/test_a.py", "import pytest\n")], Some(NodeTest)),
        (&[("pyproject.toml", "[tool.pytest]\n"), ("Cargo.toml", "")], Some(Pytest)),
        (&[(".config/nextest.toml", ""), ("Cargo.toml", "")], Some(Nextest)),
        (&[("Cargo.toml", "")], Some(CargoTest)),
        (&[("go.mod", "module m\n")], Some(GoTest)),
        (&[("pom.xml", "")], Some(Maven)),
        (&[("build.gradle.kts", "")], Some(Gradle)),
        (&[("settings.gradle", "")], Some(Gradle)),
        (&[("phpunit.xml.dist", ""), ("composer.json", "{}")], Some(Phpunit)),
        (
            &[
                ("composer.json", r#"{"require-dev": {"phpunit/phpunit": "^9"}}"#),
                ("tests/ATest.php", ""),
            ],
            Some(Phpunit),
        ),
        (
            &[("phpunit.xml", ""), ("package.json", r#"{"scripts": {"build": "vite"}}"#)],
            Some(Phpunit),
        ),
        (&[("CMakeLists.txt", "project(x)\nenable_testing()\n")], Some(Ctest)),
        (&[("CMakeLists.txt", "PROJECT(x)\nINCLUDE(CTest)\n")], Some(Ctest)),
        (&[("spec/support/jasmine.mjs", ""), ("package.json", "{}")], Some(Jasmine)),
        (
            &[("package.json", r#"{"scripts": {"test": "npm run build && jasmine"}}"#)],
            Some(Jasmine),
        ),
        (
            &[
                ("Shop.sln", ""),
                ("Shop.Tests/Shop.Tests.csproj", "<PackageReference Include=\"xunit\" />"),
            ],
            Some(Dotnet),
        ),
        (
            &[("Shop.Tests.csproj", "<PackageReference Include=\"Microsoft.NET.Test.Sdk\" />")],
            Some(Dotnet),
        ),
        (&[("MODULE.bazel", "")], Some(Bazel)),
        (&[("WORKSPACE", ""), ("go.mod", "")], Some(GoTest)),
        (&[(".rspec", "--require spec_helper\n")], Some(Rspec)),
        (&[("Gemfile", "gem 'rspec'\n"), ("spec/spec_helper.rb", "")], Some(Rspec)),
        (&[("shop.gemspec", "s.add_dependency 'rspec'\n"), ("spec/a_spec.rb", "")], Some(Rspec)),
        (&[("spec/cart/total_spec.rb", "")], Some(Rspec)),
        (&[("Gemfile", "gem \"minitest\"\n"), ("test/a_test.rb", "")], Some(Minitest)),
        (&[("Rakefile", "require 'minitest/test_task'\n"), ("test/test_a.rb", "")], Some(Minitest)),
        (&[("test/a_test.rb", "require 'minitest/autorun'\n")], Some(Minitest)),
        (
            &[("test/test_helper.rb", "require 'minitest/pride'\n"), ("test/a/b_test.rb", "")],
            Some(Minitest),
        ),
        (&[(".rspec", ""), ("Cargo.toml", ""), ("package.json", "{}")], Some(Rspec)),
        // Near misses, which no framework recognises.
        (&[], None),
        (&[("package.json", "{}")], None),
        (&[("package.json", "not JSON")], None),
        (&[("package.json", r#"{"scripts": {"test": "uvu tests"}}"#), ("a.test.js", "")], None),
        (&[("package.json", r#"{"devDependencies": {"jest": 30}}"#)], None),
        (&[("package.json", r#"{"dependencies": {"jest-diff": "30"}}"#)], None),
        (&[("node_modules/x/a.test.js", ""), ("package.json", "{}")], None),
        (&[("app/main.py", ""), ("static/app.test.js", "")], None),
        (&[("setup.cfg", "[metadata]\n"), ("tox.ini", "[tox]\n")], None),
        (&[("a_test.py", "")], None),
        (&[("services/api/test_a.py", "")], None),
        (&[("api/pyproject.toml", ""), ("api/test_a.py", "import pytest\n")], None),
        (&[("examples/test_a.py", "import pytest\n")], None),
        (&[("a/package.json", r#"{"scripts": {"test": "jest"}}"#), ("a/a.test.js", "")], None),
        (&[("nextest.toml", "")], None),
        (&[("main.go", "package main\n")], None),
        (&[("gradlew", "")], None),
        (&[("Shop.sln", ""), ("Shop/Shop.csproj", "<Project />")], None),
        (&[("package.json", r#"{"devDependencies": {"jasmine": "5", "karma": "6"}}"#)], None),
        (
            // `ng test` compiles what Vitest then runs.
            &[
                (
                    "angular.json",
                    r#"{"projects": {"a": {"architect": {"test": {"builder": "@angular/build:unit-test"}}}}}"#,
                ),
                (
                    "package.json",
                    r#"{"scripts": {"test": "ng test"}, "devDependencies": {"vitest": "4"}}"#,
                ),
            ],
            None,
        ),
        (&[("CMakeLists.txt", "project(x)\n")], None),
        (&[("composer.json", r#"{"require-dev": {"phpunit/phpunit": "^9"}}"#)], None),
        (
            &[("phpunit.xml", ""), ("composer.json", r#"{"require-dev": {"pestphp/pest": "^2"}}"#)],
            None,
        ),
        (&[("tests/ATest.php", "")], None),
        (&[("Gemfile", "gem 'rspec'\n")], None),
        (&[("test/a_test.rb", "require 'test/unit'\n")], None),
        (&[("test/test_helper.rb", "require 'minitest/autorun'\n")], None),
        (&[("lib/a_spec.rb", "")], None),
    ];
    for (files, expected) in table {
        assert_eq!(Project::new(files).detected(), *expected, "{files:?}");
    }
}

#[test]
fn packages_are_installed_by_the_manager_of_the_project() {
    let table = [
        ("", "pnpm-lock.yaml", "run `pnpm install`"),
        ("pnpm@9.1.0", "package-lock.json", "run `pnpm install`"),
        ("npm@10.0.0", "yarn.lock", "run `npm ci` (`npm install` without a lock file), or"),
        ("", "yarn.lock", "run `yarn install`"),
        ("", "package-lock.json", "run `npm ci` (`npm install` without a lock file), or"),
    ];
    for (manager, lock, expected) in table {
        let needs = serde_json::json!({ "vitest": "1" });
        let package = serde_json::json!({ "packageManager": manager, "devDependencies": needs });
        let project = Project::new(&[("package.json", &package.to_string()), (lock, "")]);
        let install = (adapter(Framework::Vitest).install)(&project.site);
        assert!(install.starts_with(expected), "{manager} {lock}: {install}");
    }
}

#[test]
fn every_framework_is_detected_by_a_configured_command() {
    let table = [
        ("npx vitest run", Some(Framework::Vitest)),
        ("npx jest --ci", Some(Framework::Jest)),
        ("node --test test/", Some(Framework::NodeTest)),
        ("python3 -m pytest -x", Some(Framework::Pytest)),
        ("python3 -m unittest discover", Some(Framework::Unittest)),
        ("npx mocha --exit", Some(Framework::Mocha)),
        ("nyc ava", Some(Framework::Ava)),
        ("npx tap test/*.js", Some(Framework::NodeTap)),
        ("tape test", Some(Framework::Tape)),
        ("cargo nextest run", Some(Framework::Nextest)),
        ("bundle exec rspec spec/models", Some(Framework::Rspec)),
        ("bin/rspec --tag ~slow", Some(Framework::Rspec)),
        ("bundle exec rake test", Some(Framework::Minitest)),
        ("rake test TEST=test/a_test.rb", Some(Framework::Minitest)),
        ("bin/rails test", Some(Framework::Minitest)),
        ("ruby -Ilib -Itest test/a_test.rb", Some(Framework::Minitest)),
        ("vendor/bin/phpunit --testsuite unit", Some(Framework::Phpunit)),
        ("php -d memory_limit=-1 vendor/bin/phpunit", None),
        ("php vendor/bin/phpunit tests", Some(Framework::Phpunit)),
        ("XDEBUG_MODE=off ./bin/phpunit", Some(Framework::Phpunit)),
        ("php phpunit_like.php", None),
        ("composer test", None),
        ("ctest --test-dir build", Some(Framework::Ctest)),
        ("cmake --build build && ctest --test-dir build -j4", Some(Framework::Ctest)),
        ("ctest --test-dir build | tee log", None),
        ("ctest && ./more.sh", None),
        ("make -C build test", None),
        ("npx jasmine --random=false", Some(Framework::Jasmine)),
        ("dotnet test Shop.Tests -c Release", Some(Framework::Dotnet)),
        ("dotnet build", None),
        ("bazelisk test //pkg/...", Some(Framework::Bazel)),
        ("bazel build //...", None),
        ("rake", None),
        ("rake spec", None),
        ("ruby check.rb", None),
        ("rspec && rubocop", None),
        ("cargo test --workspace", Some(Framework::CargoTest)),
        ("go test ./...", Some(Framework::GoTest)),
        ("mvn verify", Some(Framework::Maven)),
        ("./gradlew check", Some(Framework::Gradle)),
        ("CI=1 yarn run jest", Some(Framework::Jest)),
        ("cargo +nightly test -- --skip slow", Some(Framework::CargoTest)),
        (".venv/bin/python -W error::Warning -m unittest -k price", Some(Framework::Unittest)),
        ("python -W error -X dev -m unittest", Some(Framework::Unittest)),
        ("python3 -Werror -m pytest", Some(Framework::Pytest)),
        ("python3 -W -m unittest", None),
        ("python3 run.py -m unittest", None),
        ("uv run python -B -m unittest tests.test_a", Some(Framework::Unittest)),
        ("tox -e py", Some(Framework::Pytest)),
        ("make lint && cd py && ../.venv/bin/pytest -q", Some(Framework::Pytest)),
        ("cargo test -p pytest-runner", Some(Framework::CargoTest)),
        ("python3 -m unittest tests.test_pytest_plugin", Some(Framework::Unittest)),
        ("make no-pytest", None),
        ("npm exec -- jest", Some(Framework::Jest)),
        ("node run.js --test", None),
        ("make test", None),
        ("python -Wa manage.py test", Some(Framework::Unittest)),
        ("./manage.py test shop", Some(Framework::Unittest)),
        // Each of these runs something else than the framework alone.
        ("python manage.py migrate test", None),
        ("make unittest", None),
        ("python3 run_unittest.py", None),
        ("python3 -c 'print(1)' -m unittest", None),
        ("python3 -m unittest && ./more.sh", None),
        ("cargo test && ./more.sh", None),
        ("go test ./... | tee log", None),
        ("mvn -v; true", None),
        ("cat build.gradle", None),
        ("echo jest", None),
        ("cargo nextest run --profile ci", Some(Framework::Nextest)),
        ("cargo nextest list", None),
        ("node --test --test-reporter dot", Some(Framework::NodeTest)),
        ("node server.js --test-mode", None),
        ("npx jester", None),
        ("node test.js", None),
        ("cargo bench", None),
        ("", None),
    ];
    for (command, expected) in table {
        let project = Project::with_command(command);
        assert_eq!(project.detected(), expected, "{command}");
        assert!(adapter(Framework::Command).evidence(&project.site).is_some(), "{command}");
    }
}

#[test]
fn tap_is_held_against_its_plan() {
    let short = "the report announces 2 tests and holds 1";
    let given_up = "the report says that the run was given up: no disk";
    let table: [(&str, bool, &[&str]); 9] = [
        ("1..0\n", true, &[]),
        ("1..2\nok 1 - a\nok 2 - b # SKIP\n", true, &[]),
        ("1..2\nok 1 - a\n    1..1\n    ok 1 - inner\n", true, &[short]),
        ("1..2\n", false, &["the report announces 2 tests and holds 0"]),
        ("1..1\nok 1 - a\n1..1 # of the second tool\nok 1 - b\n", true, &[]),
        ("TAP version 14\nok 1 - a\n1..1\n", true, &[]),
        ("1..2\nok 1 - a\nBail out! no disk\n", true, &[short, given_up]),
        ("TAP version 13\nBail out! no disk\n", true, &[given_up]),
        ("ok 1 - a\nBail out! no disk\n", true, &[given_up]),
    ];
    for (output, complete, expected) in table {
        let project = Project::new(&[("log", output)]);
        let root = &project.site.root;
        let artifacts = RunArtifacts {
            command: "make check",
            ending: ExitReason::Exit(1),
            results: &root.join("results"),
            log: &root.join("log"),
            site: &project.site,
            unwritten: &std::collections::BTreeSet::new(),
        };
        let report = (adapter(Framework::Command).read)(&artifacts).unwrap();
        let found = crate::domain::declared::find_objections(&report.documents, false, None);
        let found: Vec<String> = found.iter().map(crate::domain::test::Objection::clause).collect();
        assert_eq!((report.complete, &found[..]), (complete, &texts(expected)[..]), "{output}");
        assert_eq!(report.suite_problems.len(), usize::from(output.contains("Bail")), "{output}");
    }
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn the_coverage_tool_of_each_framework_is_started_like_this() {
    let project = Project::new(&[
        ("pom.xml", "jacoco-maven-plugin"),
        ("build.gradle.kts", "plugins { jacoco }"),
    ]);
    let table = [
        (Framework::Pytest, "python3 -m coverage run --branch -m pytest"),
        (Framework::Unittest, "python3 -m coverage run --branch -m unittest discover -s tests"),
        (Framework::Jest, "npx jest --coverage"),
        (Framework::Vitest, "npx vitest run"),
        (Framework::NodeTest, "NODE_V8_COVERAGE=… node --test"),
        (Framework::GoTest, "go test -coverpkg=./... -coverprofile=cover.out ./..."),
        (Framework::CargoTest, "cargo llvm-cov --lcov"),
        (Framework::Nextest, "cargo llvm-cov nextest --lcov"),
        (Framework::Maven, "mvn test jacoco:report"),
        (Framework::Gradle, "gradle test jacocoTestReport"),
    ];
    for (framework, display) in table {
        assert_eq!(project.coverage(framework).unwrap().display, display, "{framework}");
    }
    let django = Project::new(&[("manage.py", "import django")]);
    let table = [
        (&project, Framework::Pytest, "python3 …/regreen_lines.py -m pytest"),
        (&project, Framework::Unittest, "python3 …/regreen_lines.py -m unittest discover -s tests"),
        (&django, Framework::Unittest, "python3 …/regreen_lines.py manage.py test"),
    ];
    for (project, framework, display) in table {
        let tracer = project.coverage(framework).unwrap().tracer.unwrap();
        assert_eq!(tracer.display, display);
        assert_eq!(tracer.argv[1..3], ["/drivers/regreen_lines.py", "/out"], "{display}");
    }
    // Whoever names a command has its arguments measured.
    for (framework, command, expected) in [
        (Framework::Pytest, "python3 -m pytest src/tests.py", " src/tests.py"),
        (Framework::Pytest, "pytest -k slow", " -k slow"),
        (Framework::Unittest, "python3 -m unittest src.tests", " src.tests"),
        (Framework::NodeTest, "node --test lib/check.js", " lib/check.js"),
        (Framework::Jest, "npx jest lib/check.js", " lib/check.js"),
    ] {
        let coverage = Project::with_command(command).coverage(framework).unwrap();
        let argv = coverage.argv.first().unwrap().join(" ");
        assert!(argv.contains(expected), "{command}: {argv}");
        assert!(coverage.display.ends_with(expected), "{command}: {}", coverage.display);
    }
    let bare = Project::new(&[]);
    for (framework, reason) in [
        (Framework::Maven, "jacoco-maven-plugin"),
        (Framework::Gradle, "jacoco plugin"),
        (Framework::Command, "coverage.command"),
    ] {
        let error = bare.coverage(framework).unwrap_err();
        assert!(error.contains(reason), "{framework}: {error}");
    }
}

#[test]
fn plugins_are_read_from_the_options_that_settings_of_pytest_add() {
    let table: [(&str, &str, &[&str]); 5] = [
        (
            "pytest.ini",
            "[pytest]\naddopts = --cov=parse --cov-branch --benchmark-skip\n",
            &["pytest-benchmark", "pytest-cov"],
        ),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\naddopts = [\n  \"-ra\",\n  \"--cov\",\n]\n",
            &["pytest-cov"],
        ),
        (
            "setup.cfg",
            "[tool:pytest]\naddopts =\n    --timeout=9\n[x]\n --cov\n",
            &["pytest-timeout"],
        ),
        ("tox.ini", "[pytest]\naddopts = -q\n[testenv]\ncommands =\n    pytest --cov\n", &[]),
        ("pytest.ini", "[pytest]\n", &[]),
    ];
    for (file, text, expected) in table {
        let found = plugins_of_settings(&Project::new(&[(file, text)]).site);
        assert_eq!(found, expected, "{file}: {text}");
    }
}

#[test]
fn c8_is_used_where_the_project_has_installed_it() {
    let project = Project::new(&[("node_modules/.bin/c8", "")]);
    let command = project.coverage(Framework::NodeTest).unwrap();
    assert_eq!(command.display, "npx c8 --all node --test");
    assert_eq!(command.reports, ReportLocation::File("/out/coverage-final.json".into()));
    assert!(command.environment.is_empty(), "V8 writes no files of its own");
}

/// Reads a report and a log with these texts.
fn read(framework: Framework, results: &str, log: &str) -> Result<usize, String> {
    let project = Project::new(&[("results", results), ("log", log)]);
    let root = &project.site.root;
    let artifacts = RunArtifacts {
        command: "the command",
        ending: ExitReason::Exit(1),
        results: &root.join("results"),
        log: &root.join("log"),
        site: &project.site,
        unwritten: &std::collections::BTreeSet::new(),
    };
    let report = (adapter(framework).read)(&artifacts).map_err(|error| error.to_string())?;
    Ok(report.cases.len())
}

#[test]
fn a_command_without_a_report_is_one_test_with_its_output_as_evidence() {
    type Row = (ExitReason, &'static str, &'static str, Option<(Status, &'static str)>);
    let fails = |message| Some((Status::Failed, message));
    let said = "it ends with 0 although its output says \"FAILED (errors=2)\": let it end with the exit code of its runner, such as with `set -o pipefail` in bash, or name a report by `--report`";
    let table: [Row; 12] = [
        (ExitReason::Exit(0), "make check", "3 checks\n", Some((Status::Passed, ""))),
        (ExitReason::Exit(0), "make check", "\u{1b}[31mFAILED (errors=2)\u{1b}[0m\n", fails(said)),
        (
            ExitReason::Exit(0),
            "make check",
            "No test FAILED (errors=2)\n",
            Some((Status::Passed, "")),
        ),
        (
            ExitReason::Exit(2),
            "make check",
            "a\nError: b is 3\nsee above\n\n",
            fails("Error: b is 3"),
        ),
        (
            ExitReason::Exit(2),
            "make test",
            "sums: expected 3, got 4\nmake[1]: *** [Makefile:2: check] Error 1\nmake[1]: Leaving directory '/repo/errors'\nmake: *** [Makefile:5: test] Error 2\n",
            fails("sums: expected 3, got 4"),
        ),
        (
            ExitReason::Exit(1),
            "npm test",
            "sums differ\nnpm error Lifecycle script `test` failed with error:\nnpm error code 1\n",
            fails("sums differ"),
        ),
        (
            ExitReason::Exit(2),
            "make test",
            "make: *** No rule to make target 'test'.  Stop.\n",
            fails("make: *** No rule to make target 'test'.  Stop."),
        ),
        (ExitReason::Exit(1), "make check", "no match in a.txt\n", fails("no match in a.txt")),
        (ExitReason::Exit(1), "make check", "", fails("it ended with exit code 1")),
        (ExitReason::Signal(11), "make check", "", fails("it ended with signal 11")),
        (ExitReason::Exit(127), "make check", "sh: make: not found\n", None),
        (ExitReason::Exit(0), " ", "", None),
    ];
    for (ending, command, output, expected) in table {
        let project = Project::new(&[("log", output)]);
        let root = &project.site.root;
        let (results, log) = (root.join("results"), root.join("log"));
        let site = &project.site;
        let artifacts = RunArtifacts {
            command,
            ending,
            results: &results,
            log: &log,
            site,
            unwritten: &std::collections::BTreeSet::new(),
        };
        let report = (adapter(Framework::Command).read)(&artifacts).unwrap();
        let read = report.cases.first().map(|one| (one.status.unwrap(), one.message.as_str()));
        assert_eq!(read, expected, "{output}");
        assert!(report.cases.iter().all(|one| one.id == command && one.kind == CaseKind::Command));
    }
}

#[test]
fn a_report_that_is_missing_or_garbage_gives_no_tests() {
    for framework in Framework::ALL {
        for garbage in ["", "\0\0", "{", "<a><b>", "[1, 2", "no tests here\n", "\u{1b}[31m"] {
            // A plain command is a test itself.
            let expected = usize::from(framework == Framework::Command);
            let found = read(framework, garbage, garbage).unwrap_or_default();
            assert_eq!(found, expected, "{framework}: {garbage:?}");
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(40))]

    #[test]
    fn any_text_gives_results_or_an_error(text in "(?s).{0,300}") {
        for framework in Framework::ALL {
            if let Ok(count) = read(framework, &text, &text) {
                proptest::prop_assert!(count <= text.len() + 1, "{}", framework);
            }
        }
    }
}

#[test]
fn tests_of_one_name_are_told_apart_by_their_files_else_by_numbers() {
    let test = |file: Option<&str>| ReportedTest {
        id: "ui::opens".into(),
        file: file.map(str::to_owned),
        ..ReportedTest::default()
    };
    let names = |files: &[Option<&str>]| -> Vec<String> {
        let tests = files.iter().map(|file| test(*file)).collect();
        let report = Report::of(tests);
        let named = super::command::with_names_of_their_own(report).cases;
        named.into_iter().map(|test| test.id).collect()
    };
    assert_eq!(names(&[Some("a.js"), Some("b.js")]), ["a.js: ui::opens", "b.js: ui::opens"]);
    assert_eq!(names(&[Some("a.js"), Some("a.js")]), ["ui::opens", "ui::opens (2)"]);
    assert_eq!(names(&[None, None]), ["ui::opens", "ui::opens (2)"]);
    assert_eq!(names(&[Some("a.js")]), ["ui::opens"]);
}
