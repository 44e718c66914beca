//! Jest and Vitest, which write the same JSON report.

use crate::domain::framework::Framework;
use crate::domain::id::TestId;
use crate::domain::test_command::TestCommand;
use crate::effect::RunError;

use super::super::format::{Report, ReportedTest, jest, without_colours};
use super::adapter::{
    CoverageCommand, CoverageRequest, FrameworkAdapter, PersistentRunner, RunArtifacts, RunCommand,
    Site, TypedCommand, heads, read_text, words,
};
use super::named_commands::angular_runner;
use super::npm_script;

/// The table row for Jest.
pub const JEST: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::Jest,
    format: "JSON report",
    signals: "jest in package.json, jest.config.*",
    is_run_by: |command| command.after(&["jest"]).is_some(),
    detect: |site| detect(site, "jest"),
    detect_by_tests: |_| None,
    version: |_| words(&["npx", "--no-install", "jest", "--version"]),
    install: |site| install_hint(site, "jest", "npm install --save-dev jest"),
    command: |site, selection, files| {
        let mut options = words(&["--json", "--testLocationInResults"]);
        options.push(format!("--outputFile={}", files.results.display()));
        options.push("--bail=0".to_owned());
        if selection.is_some() {
            options.push("--coverage=false".into());
        }
        // Beside patterns of a configured command the files are patterns too.
        let is_path = configured(site, "jest").is_none();
        if selection.is_some() && is_path {
            options.push("--runTestsByPath".into());
        }
        let files = selected_files(site, selection).into_iter();
        options.extend(files.map(|file| if is_path { file } else { regex::escape(&file) }));
        with_options(site, selection, ("jest", "npx jest"), options)
    },
    read: |artifacts| read(artifacts, jest::Writer::Jest),
    coverage: |request| {
        let mut options = words(&["--coverage", "--coverageReporters=json", "--silent"]);
        options.push(format!("--coverageDirectory={}", request.output.display()));
        let report = request.output.join("coverage-final.json");
        let name = ("jest", "npx jest --coverage");
        let RunCommand { argv, display, environment, .. } =
            with_options(request.site, None, name, options);
        Ok(CoverageCommand { environment, ..CoverageCommand::new(&display, argv, report) })
    },
    persistent: Some(PersistentRunner::Jest),
};

/// The table row for Vitest.
pub const VITEST: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::Vitest,
    format: "JSON report",
    signals: "vitest in package.json, vitest.config.*",
    is_run_by: |command| command.after(&["vitest"]).is_some(),
    detect: |site| detect(site, "vitest"),
    detect_by_tests: |_| None,
    version: |_| words(&["npx", "--no-install", "vitest", "--version"]),
    install: |site| install_hint(site, "vitest", "npm install --save-dev vitest"),
    command: |site, selection, files| {
        let run = if configured(site, "vitest").is_none() { "run" } else { "--run" };
        let mut options = words(&[run, "--reporter=json", "--reporter=default"]);
        options.push(format!("--outputFile.json={}", files.results.display()));
        // It fails where it may not write its cache, as into packages that a checkout shares.
        options.extend(knows_no_cache(site).then(|| "--no-cache".to_owned()));
        options.push("--bail=0".to_owned());
        options.extend(selected_files(site, selection));
        with_options(site, selection, ("vitest", "npx vitest run"), options)
    },
    read: |artifacts| read(artifacts, jest::Writer::Vitest),
    coverage: |request| Ok(vitest_coverage(request)),
    persistent: Some(PersistentRunner::Vitest),
};

/// How package managers other than npm install what `package.json` lists, by their lock files.
const MANAGERS: &[(&str, &str, &str)] = &[
    ("pnpm", "pnpm-lock.yaml", "run `pnpm install`"),
    ("yarn", "yarn.lock", "run `yarn install`"),
    ("bun", "bun.lock", "run `bun install`"),
];
const NPM: &str = "run `npm ci` (`npm install` without a lock file), or what else installs the packages that package.json lists";

/// What to do for a missing program: `lacking`, or the package manager that installs it.
pub fn install_hint(site: &Site, name: &str, lacking: &'static str) -> &'static str {
    if !site.depends_on(name) {
        return lacking;
    }
    let package = site.read_package().unwrap_or_default();
    let named = package["packageManager"].as_str().unwrap_or_default();
    let chosen = MANAGERS.iter().find(|(manager, lock, _)| match named {
        "" => site.has_path(lock) || site.root.join(lock).exists(),
        named => named.starts_with(manager),
    });
    chosen.map_or(NPM, |(_, _, advice)| advice)
}

/// Whether the installed Vitest has an option to keep no cache: the versions since 1.6 do.
fn knows_no_cache(site: &Site) -> bool {
    let text = site.read_small_text("node_modules/vitest/package.json").unwrap_or_default();
    let package: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let version = package["version"].as_str().unwrap_or_default();
    let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0_u32));
    (numbers.next(), numbers.next()) >= (Some(1), Some(6))
}

/// Options of a command that ours replace. With `--bail` the first failing test would hide the results of
/// others, and Jest writes no report; given twice, the others end Jest or Vitest.
const REPLACED: &[&str] =
    &["--bail", "-b", "--json", "--outputFile", "--run", "--watch", "--watchAll"];

/// The command that somebody typed, else that of the test script where it says more than the program.
fn configured(site: &Site, name: &str) -> Option<TestCommand> {
    let is_run_by = |command: &TestCommand| command.after(&[name]).is_some();
    let script = || Some(npm_script::find(site, &is_run_by)?.command);
    let says_more =
        |command: &TestCommand| !["jest", "vitest", "vitest run"].contains(&command.text());
    site.command.clone().or_else(|| script().filter(says_more))
}

/// The configured command, else the installed program, with more options.
fn with_options(
    site: &Site,
    selection: Option<&[TestId]>,
    (name, display): (&str, &str),
    options: Vec<String>,
) -> RunCommand {
    let Some(command) = configured(site, name) else {
        return RunCommand::new([start(site, name), options].concat(), display);
    };
    let mut command = TypedCommand::configured(&command);
    command.remove_options(REPLACED);
    if selection.is_some() {
        // Another part of the suite is chosen.
        command.remove_options(&["--shard"]);
    }
    command.insert(command.options_end(), options);
    let mut run = command.into_run();
    if site.command.is_none() {
        run.environment.extend(npm_script::search_path(site));
    }
    run
}

/// Runs Vitest with an installed coverage provider, else with V8's counts in its workers.
fn vitest_coverage(request: &CoverageRequest<'_>) -> CoverageCommand {
    let (site, output) = (request.site, request.output);
    let is_installed = |provider: &&str| {
        let name = format!("node_modules/@vitest/coverage-{provider}");
        site.has_path(&name) || site.root.join(name).exists()
    };
    let providers: Vec<&str> = ["v8", "istanbul"].into_iter().filter(is_installed).collect();
    let Some(first) = providers.first() else {
        let driver = request.drivers.join("warm_vitest.mjs").display().to_string();
        let root = request.root.canonicalize().unwrap_or_else(|_| request.root.to_owned());
        let (report, lines) =
            (request.output_path("report.json"), request.output_path("lines.counted"));
        return CoverageCommand {
            environment: [
                ("REGREEN_LINES".to_owned(), request.output_path("lines")),
                ("REGREEN_ROOT".to_owned(), root.display().to_string()),
                ("REGREEN_COUNTS".to_owned(), output.display().to_string()),
            ]
            .into(),
            ..CoverageCommand::with_reports(
                "npx vitest run",
                vec!["node".to_owned(), driver, report, lines],
                output.to_owned(),
                "*.counted",
            )
        };
    };
    let mut argv = start(site, "vitest");
    argv.extend(words(&["run", "--coverage.enabled", "--coverage.reporter=json"]));
    argv.push("--coverage.reportOnFailure".to_owned());
    argv.push(format!("--coverage.reportsDirectory={}", output.display()));
    if providers.len() == 1 {
        // Vitest would use its default provider, which may not be installed.
        argv.push(format!("--coverage.provider={first}"));
    }
    CoverageCommand::new("npx vitest run --coverage", argv, output.join("coverage-final.json"))
}

/// The evidence that a project configures a JavaScript framework or depends on it.
fn detect(site: &Site, name: &str) -> Option<String> {
    if angular_runner(site).is_some() {
        return None;
    }
    for ending in ["js", "cjs", "mjs", "ts", "mts", "json"] {
        let file = format!("{name}.config.{ending}");
        if site.has_path(&file) {
            return Some(file);
        }
    }
    let script = site.test_script().unwrap_or_default();
    if script.split_whitespace().any(|word| word == name) {
        return Some(format!("`{script}` in package.json"));
    }
    site.depends_on(name).then(|| format!("{name} in package.json"))
}

/// The installed program where there is one, else `npx` without permission to install.
fn start(site: &Site, name: &str) -> Vec<String> {
    let local = site.working_folder().join("node_modules/.bin").join(name);
    if local.exists() {
        vec![local.display().to_string()]
    } else {
        vec!["npx".into(), "--no-install".into(), name.to_owned()]
    }
}

/// Test files of the selected tests, relative to the suite's folder.
pub fn selected_files(site: &Site, selection: Option<&[TestId]>) -> Vec<String> {
    let below = format!("{}/", site.directory);
    let files = heads(selection.unwrap_or_default(), "::").into_iter();
    files.map(|file| file.strip_prefix(below.as_str()).unwrap_or(file).to_owned()).collect()
}

/// Takes the error of a hook from what Vitest prints: the report has none.
fn explain_hook(test: &mut ReportedTest, log: &str) {
    let file = test.file.clone().unwrap_or_default();
    let mut lines = log.lines().map(str::trim);
    let is_heading = |line: &str| {
        let name = line.strip_prefix("FAIL ")?.split(" > ").next()?.trim();
        let name = name.rsplit(' ').next()?;
        file.ends_with(&format!("/{name}")).then_some(())
    };
    if lines.by_ref().find_map(is_heading).is_none() {
        return;
    }
    let text: Vec<String> = lines
        .skip_while(|line| line.starts_with("FAIL "))
        .take_while(|line| !line.starts_with('⎯') && !line.starts_with("FAIL "))
        .map(|line| line.strip_prefix("❯ ").map_or(line.to_owned(), |place| format!("at {place}")))
        .collect();
    let first = text.iter().find(|line| !line.is_empty()).cloned().unwrap_or_default();
    let (class, message) = first.split_once(": ").unwrap_or(("Error", &first));
    if !message.is_empty() {
        class.clone_into(&mut test.class);
        message.clone_into(&mut test.message);
        test.stack = text.join("\n");
    }
}

fn read(artifacts: &RunArtifacts<'_>, writer: jest::Writer) -> Result<Report, RunError> {
    let text = read_text(artifacts.results)?;
    if text.is_empty() {
        return Ok(Report::default());
    }
    let mut report =
        jest::parse(&text, writer).map_err(|error| error.in_report(artifacts.results))?;
    if report.cases.iter().any(|test| test.message == jest::UNEXPLAINED) {
        let log = without_colours(&read_text(artifacts.log)?);
        for test in report.cases.iter_mut().filter(|test| test.message == jest::UNEXPLAINED) {
            explain_hook(test, &log);
        }
    }
    Ok(report)
}
