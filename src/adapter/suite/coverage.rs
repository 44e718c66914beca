//! The whole suite under the project's own coverage tool, where that is there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::adapter::host::files;
use crate::adapter::host::process::{self, Ending, Invocation};
use crate::adapter::host::sandbox::Access;
use crate::code::coverage::{self, Report};
use crate::domain::coverage::Measured;
use crate::domain::id::RepoPath;
use crate::domain::request::ToolCommands;
use crate::domain::shell;

use super::framework::{Site, command_files, start, unittest_discovery, unittest_options};

/// One tool: what it runs, and where it leaves its report.
struct Tool {
    /// As a person would type it.
    typed: String,
    /// Commands, one behind the other.
    argv: Vec<Vec<String>>,
    /// Variables to add.
    environment: BTreeMap<String, String>,
    /// Where reports lie: a file, or a glob below a folder.
    reports: (PathBuf, String),
}

/// Reports of one run at most; each process of a suite may leave one.
const REPORTS: usize = 500;

/// The tool for a framework; the reason and what would help when there is none.
fn tool(framework: &str, around: &Around<'_>) -> Result<Tool, String> {
    let (site, out) = (around.site, around.out.as_path());
    let plain = |typed: &str, argv: Vec<Vec<String>>, report: PathBuf, glob: &str| Tool {
        typed: typed.to_owned(),
        argv,
        environment: BTreeMap::new(),
        reports: (report, glob.to_owned()),
    };
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let shown = |name: &str| out.join(name).display().to_string();
    match framework {
        "pytest" | "unittest" => {
            let python = site.python();
            let own = |text: &str| [vec![python.clone()], words(text)].concat();
            let mut run = own("-m coverage run --branch --source=.");
            run.push(format!("--data-file={}", shown("data")));
            if framework == "pytest" {
                run.extend(words("-m pytest -q -p no:cacheprovider"));
            } else {
                // It finds tests where unittest itself looks into packages alone.
                run.push(around.drivers.join("unittest_driver.py").display().to_string());
                run.push(shown("cases"));
                run.extend(unittest_options(site));
            }
            let mut json = own("-m coverage json -q");
            json.extend([format!("--data-file={}", shown("data")), "-o".into(), shown("report")]);
            let suite = match framework {
                "pytest" => "python3 -m pytest".to_owned(),
                _ => unittest_discovery(site),
            };
            let typed = suite.replacen("python3", "python3 -m coverage run --branch", 1);
            Ok(plain(&typed, vec![run, json], out.join("report"), ""))
        }
        "Jest" => {
            let argv = words("npx --no-install jest --coverage --coverageReporters=json --silent");
            let argv = [argv, vec![format!("--coverageDirectory={}", out.display())]].concat();
            Ok(plain("npx jest --coverage", vec![argv], out.join("coverage-final.json"), ""))
        }
        "Vitest" => Ok(vitest(site, around)),
        "node --test" => {
            let mut tool = plain(
                "NODE_V8_COVERAGE=… node --test",
                vec![words("node --test")],
                out.join("v8"),
                "*.json",
            );
            if site.has("node_modules/.bin/c8") {
                let argv = [
                    words("node_modules/.bin/c8 --all --reporter=json"),
                    vec![
                        format!("--report-dir={}", out.display()),
                        format!("--temp-directory={}", shown("tmp")),
                    ],
                    words("node --test"),
                ];
                tool = plain(
                    "npx c8 --all node --test",
                    vec![argv.concat()],
                    out.join("coverage-final.json"),
                    "",
                );
            } else {
                tool.environment.insert("NODE_V8_COVERAGE".into(), shown("v8"));
            }
            Ok(tool)
        }
        "go test" => {
            let argv = words("go test -coverpkg=./... -coverprofile");
            let argv = [argv, vec![shown("report"), "./...".into()]].concat();
            Ok(plain("go test -coverprofile=cover.out ./...", vec![argv], out.join("report"), ""))
        }
        "cargo test" | "nextest" => {
            let argv =
                [words("cargo llvm-cov --lcov --output-path"), vec![shown("report")]].concat();
            Ok(plain("cargo llvm-cov --lcov", vec![argv], out.join("report"), ""))
        }
        "Maven Surefire" if site.text("pom.xml").is_some_and(|text| text.contains("jacoco")) => {
            let argv = words("mvn -q -B -Dmaven.test.failure.ignore test jacoco:report");
            Ok(plain(
                "mvn test jacoco:report",
                vec![argv],
                site.folder(),
                "**/target/site/jacoco/jacoco.xml",
            ))
        }
        "Maven Surefire" => Err("pom.xml has no jacoco-maven-plugin".into()),
        "Gradle" if gradle_has_jacoco(site) => {
            let argv = words("gradle -q --continue test jacocoTestReport");
            Ok(plain(
                "gradle test jacocoTestReport",
                vec![argv],
                site.folder(),
                "**/build/reports/jacoco/**/*.xml",
            ))
        }
        "Gradle" => Err("the build does not apply the jacoco plugin".into()),
        other => Err(format!("no coverage tool is known for {other}")),
    }
}

/// Vitest with the project's own provider where one is installed, else with V8's counts of the lines
/// in its workers.
fn vitest(site: &Site, around: &Around<'_>) -> Tool {
    let out = &around.out;
    let installed = |kind: &&str| {
        let name = format!("node_modules/@vitest/coverage-{kind}");
        site.has(&name) || site.root.join(name).exists()
    };
    let kinds: Vec<&str> = ["v8", "istanbul"].into_iter().filter(installed).collect();
    let Some(first) = kinds.first() else {
        let (report, lines) = (out.join("report.json"), out.join("lines.info"));
        let driver = around.drivers.join("warm_vitest.mjs");
        let root = around.root.canonicalize().unwrap_or_else(|_| around.root.to_owned());
        let shown = |path: &Path| path.display().to_string();
        return Tool {
            typed: "npx vitest run".to_owned(),
            argv: vec![vec!["node".into(), shown(&driver), shown(&report), shown(&lines)]],
            environment: [
                ("REGREEN_LINES".into(), shown(&out.join("lines"))),
                ("REGREEN_ROOT".into(), shown(&root)),
            ]
            .into(),
            reports: (lines, String::new()),
        };
    };
    let mut argv = start(site, "vitest");
    argv.extend(
        ["run", "--coverage.enabled", "--coverage.reporter=json", "--coverage.reportOnFailure"]
            .map(str::to_owned),
    );
    argv.push(format!("--coverage.reportsDirectory={}", out.display()));
    if kinds.len() == 1 {
        // The one that Vitest takes by itself may not be there.
        argv.push(format!("--coverage.provider={first}"));
    }
    Tool {
        typed: "npx vitest run --coverage".to_owned(),
        argv: vec![argv],
        environment: BTreeMap::new(),
        reports: (out.join("coverage-final.json"), String::new()),
    }
}

/// The command that the project names, and where it leaves its report.
fn named(command: &str, report: Option<&str>, site: &Site) -> Result<Tool, String> {
    let glob =
        report.ok_or("`coverage.command` needs `coverage.report`, the glob of its report")?;
    for old in command_files(&site.folder(), glob).map_err(|error| error.to_string())? {
        // A report of an earlier run must not stand for this one.
        std::fs::remove_file(&old).map_err(|error| format!("{}: {error}", old.display()))?;
    }
    Ok(Tool {
        typed: command.to_owned(),
        argv: vec![vec!["sh".into(), "-c".into(), command.to_owned()]],
        environment: BTreeMap::new(),
        reports: (site.folder(), glob.to_owned()),
    })
}

fn gradle_has_jacoco(site: &Site) -> bool {
    let has = |file: &str| site.text(file).is_some_and(|text| text.contains("jacoco"));
    has("build.gradle") || has("build.gradle.kts")
}

/// What a coverage run is given besides its framework.
pub struct Around<'a> {
    /// The folder it runs in.
    pub site: &'a Site,
    /// Root of the checkout.
    pub root: &'a Path,
    /// A folder of ours for data and reports.
    pub out: PathBuf,
    /// The folder of our drivers.
    pub drivers: PathBuf,
    /// Its environment and what it may touch.
    pub child: (BTreeMap<String, String>, Access),
    /// Limit of the whole run.
    pub limit: Duration,
    /// All its output.
    pub log: PathBuf,
    /// Commands instead of the detected tool.
    pub tools: &'a ToolCommands,
}

/// Runs the suite under its coverage tool and reads what ran of `known`.
pub async fn measure(framework: &str, known: &BTreeSet<RepoPath>, around: &Around<'_>) -> Measured {
    match run(framework, known, around).await {
        Ok(measured) => measured,
        Err(reason) => Measured::Nothing { reason },
    }
}

async fn run(
    framework: &str,
    known: &BTreeSet<RepoPath>,
    around: &Around<'_>,
) -> Result<Measured, String> {
    let tool = match &around.tools.coverage {
        Some(command) => named(command, around.tools.coverage_report.as_deref(), around.site)?,
        None => tool(framework, around)?,
    };
    files::remove_folder(&around.out);
    files::create_folder(&around.out).map_err(|error| error.to_string())?;
    let mut endings = Vec::new();
    for argv in tool.argv {
        let (mut environment, access) = around.child.clone();
        environment.extend(tool.environment.clone());
        let program = shell::line(&argv);
        let directory = around.site.folder();
        let invocation = Invocation { argv, directory, environment, access: Some(access) };
        let ending = process::run(&invocation, around.limit, &around.log).await;
        let ending =
            ending.map_err(|error| format!("`{program}` could not be started: {error}"))?;
        if ending == Ending::TimedOut {
            return Err(format!("`{}` did not end in {} s", tool.typed, around.limit.as_secs()));
        }
        endings.push(ending);
    }
    let report = report((&tool.reports.0, &tool.reports.1), around.root)?;
    let Some(report) = report else {
        // A question to a provider holds this: what the tool says has paths and times of this run.
        return Err(match endings.first() {
            // A suite without tests ends well and leaves nothing.
            Some(Ending::Exit(0)) | None => format!("`{}` left no report", tool.typed),
            Some(ended) => format!(
                "`{}` left no report ({ended}; `.process/coverage.log` has what it said)",
                tool.typed
            ),
        });
    };
    let root = around.root.canonicalize().unwrap_or_else(|_| around.root.to_owned());
    let root = root.join(&around.site.directory);
    let files = report.placed(&root.display().to_string(), known);
    let command = tool.typed;
    Ok(Measured::Lines { command, format: report.format.to_owned(), files })
}

/// All reports that a run left, as one; `None` when there is none.
fn report(place: (&Path, &str), root: &Path) -> Result<Option<Report>, String> {
    let (folder, glob) = place;
    let found = if glob.is_empty() {
        vec![folder.to_owned()]
    } else {
        command_files(folder, glob).map_err(|error| error.to_string())?
    };
    let mut all: Option<Report> = None;
    for path in found.into_iter().take(REPORTS) {
        let bytes = files::read_left(&path, coverage::LIMIT).map_err(|error| error.to_string())?;
        let Some(bytes) = bytes else { continue };
        let text = String::from_utf8_lossy(&bytes);
        let source = |path: &str| source(root, path);
        let read = coverage::read(&text, &source)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        match &mut all {
            Some(all) => all.merge(read),
            None => all = Some(read),
        }
    }
    Ok(all)
}

/// The text of a file below the checkout; dependencies are not read.
fn source(root: &Path, path: &str) -> Option<String> {
    let root = root.canonicalize().ok()?;
    let below = Path::new(path).strip_prefix(&root).ok()?;
    let own = RepoPath::parse(below.to_str()?).ok()?;
    if own.as_str().split('/').any(|part| part == "node_modules") {
        return None;
    }
    let bytes = files::read_left(&root.join(own.as_str()), 4 << 20).ok()??;
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vitest_is_measured_by_the_providers_that_are_installed_else_by_v8() {
        let table: [(&[&str], &str); 4] = [
            (&[], "node warm_vitest.mjs report.json lines.info"),
            (&["v8"], "--coverage.provider=v8"),
            (&["istanbul"], "--coverage.provider=istanbul"),
            (&["v8", "istanbul"], "--coverage.reportsDirectory="),
        ];
        for (kinds, last) in table {
            let folder = tempfile::tempdir().unwrap();
            for kind in kinds {
                let place = folder.path().join(format!("node_modules/@vitest/coverage-{kind}"));
                std::fs::create_dir_all(place).unwrap();
            }
            let root = folder.path().to_owned();
            let site =
                Site { root, directory: String::new(), command: None, report: None, path: None };
            let around = Around {
                site: &site,
                root: folder.path(),
                out: PathBuf::new(),
                drivers: PathBuf::new(),
                child: (BTreeMap::new(), Access::default()),
                limit: Duration::ZERO,
                log: PathBuf::new(),
                tools: &ToolCommands::default(),
            };
            let tool = tool("Vitest", &around).unwrap();
            let argv = tool.argv.concat().join(" ");
            assert!(argv.ends_with(last), "{kinds:?}: {argv}");
            assert_eq!(tool.environment.contains_key("REGREEN_LINES"), kinds.is_empty());
        }
    }
}
