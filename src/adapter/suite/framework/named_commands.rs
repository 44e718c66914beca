//! Runners that regreen starts only by a command that somebody named: they need a browser, or a program
//! of their own whose report regreen reads as JUnit XML.

use super::adapter::Site;

/// A runner, and the line that makes its results readable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedRunner {
    pub name: &'static str,
    /// What shows that the project uses it.
    pub evidence: String,
    /// The options of regreen that name the command and its report.
    pub options: &'static str,
}

/// How one of them is recognised.
struct Row {
    name: &'static str,
    packages: &'static [&'static str],
    /// How the names of its settings begin.
    settings: &'static [&'static str],
    options: &'static str,
}

/// The line for Angular where Karma runs its tests.
const KARMA_OF_ANGULAR: &str = "--test-command 'npx ng test --watch=false --browsers=ChromeHeadless --reporters=junit' --report '**/TESTS-*.xml' (with karma-junit-reporter)";

/// Runners that `ng test` starts instead of Karma: they get sources that Angular has compiled, so their
/// own commands cannot run the tests.
const BUILDERS: &[(&str, &str, &str)] = &[
    (
        "@angular/build:unit-test",
        "Vitest of Angular",
        "--test-command 'npx ng test --watch=false --reporters=junit --output-file=report.xml' --report report.xml",
    ),
    (
        "@angular-builders/jest:",
        "Jest of Angular",
        "--test-command 'npx ng test --reporters=jest-junit' --report junit.xml (with jest-junit)",
    ),
];

/// The runner of `test` in `angular.json`, if not Karma and the test script is `ng test`.
pub fn angular_runner(site: &Site) -> Option<NamedRunner> {
    let text = site.read_small_text("angular.json")?;
    let settings: serde_json::Value = serde_json::from_str(&text).ok()?;
    let is_own_script = |script: String| !script.split_whitespace().any(|word| word == "ng");
    if site.test_script().is_some_and(is_own_script) {
        return None;
    }
    let targets = settings["projects"]
        .as_object()?
        .values()
        .flat_map(|project| ["architect", "targets"].map(|targets| &project[targets]["test"]));
    targets.filter(|target| target["options"]["runner"] != "karma").find_map(|target| {
        let builder = target["builder"].as_str()?;
        let row = BUILDERS.iter().find(|(start, ..)| builder.starts_with(start));
        row.map(|(_, name, options)| NamedRunner {
            name,
            evidence: format!("the builder {builder} in angular.json"),
            options,
        })
    })
}

const ROWS: &[Row] = &[
    Row {
        name: "Playwright",
        packages: &[
            "@playwright/test",
            "@playwright/experimental-ct-react",
            "@playwright/experimental-ct-vue",
        ],
        settings: &["playwright.config.", "playwright-ct.config."],
        options: "--test-command 'PLAYWRIGHT_JUNIT_OUTPUT_NAME=report.xml npx playwright test --reporter=junit' --report report.xml",
    },
    Row {
        name: "Cypress",
        packages: &["cypress"],
        settings: &["cypress.config."],
        options: "--test-command 'npx cypress run --component --reporter junit --reporter-options mochaFile=reports/[hash].xml' --report 'reports/*.xml'",
    },
    Row {
        name: "Karma of Angular",
        packages: &["@angular-devkit/build-angular"],
        settings: &["angular.json"],
        options: KARMA_OF_ANGULAR,
    },
    Row {
        name: "Karma",
        packages: &["karma"],
        settings: &["karma.conf."],
        options: "--test-command 'npx karma start --single-run --reporters junit' --report '**/TESTS-*.xml' (with karma-junit-reporter)",
    },
];

/// The first of them that a folder uses; asked where no other framework is found.
pub fn find(site: &Site) -> Option<NamedRunner> {
    if let Some(found) = angular_runner(site) {
        return Some(found);
    }
    let entries = std::fs::read_dir(site.working_folder()).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let found = ROWS.iter().find_map(|row| {
        let is_setting = |name: &&String| row.settings.iter().any(|start| name.starts_with(start));
        let file = names.iter().find(is_setting).cloned();
        let listed = || {
            let package = row.packages.iter().find(|package| site.depends_on(package))?;
            Some(format!("{package} in package.json"))
        };
        let evidence = file.or_else(listed)?;
        Some(NamedRunner { name: row.name, evidence, options: row.options })
    });
    let bun = || {
        let script = site.test_script().filter(|script| script.contains("bun test"))?;
        Some(NamedRunner {
            name: "The test runner of Bun",
            evidence: format!("`{script}` in package.json"),
            options: "--test-command 'bun test --reporter=junit --reporter-outfile=report.xml' --report report.xml",
        })
    };
    let pest = || {
        site.file_contains("composer.json", "\"pestphp/pest\"").then(|| NamedRunner {
            name: "Pest",
            evidence: "pestphp/pest in composer.json".to_owned(),
            options: "--test-command 'vendor/bin/pest --log-junit report.xml' --report report.xml",
        })
    };
    found.or_else(bun).or_else(pest)
}
