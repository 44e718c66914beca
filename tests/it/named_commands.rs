//! Runners that are started only by a command that somebody named.

use super::frameworks::{counts, failing, npm_install};
use super::support::{Ran, Regreen, Started, TestRepo};

#[test]
fn a_runner_that_needs_a_browser_is_named_with_the_line_that_runs_it() {
    let table = [
        (
            "playwright.config.ts",
            "",
            "Playwright was found (playwright.config.ts)",
            "npx playwright test --reporter=junit",
        ),
        (
            "package.json",
            r#"{"devDependencies": {"cypress": "13"}}"#,
            "Cypress was found (cypress in package.json)",
            "npx cypress run --component --reporter junit",
        ),
        (
            "karma.conf.js",
            "",
            "Karma was found (karma.conf.js)",
            "npx karma start --single-run --reporters junit",
        ),
        (
            "angular.json",
            "{}",
            "Karma of Angular was found (angular.json)",
            "npx ng test --watch=false",
        ),
        (
            "angular.json",
            r#"{"projects": {"shop": {"architect": {"test": {"builder": "@angular/build:unit-test"}}}}}"#,
            "Vitest of Angular was found (the builder @angular/build:unit-test in angular.json)",
            "npx ng test --watch=false --reporters=junit --output-file=report.xml",
        ),
        (
            "angular.json",
            r#"{"projects": {"shop": {"targets": {"test": {"builder": "@angular-builders/jest:run"}}}}}"#,
            "Jest of Angular was found (the builder @angular-builders/jest:run in angular.json)",
            "npx ng test --reporters=jest-junit",
        ),
        (
            "angular.json",
            r#"{"projects": {"shop": {"architect": {"test": {"builder": "@angular/build:unit-test", "options": {"runner": "karma"}}}}}}"#,
            "Karma of Angular was found (angular.json)",
            "npx ng test --watch=false --browsers=ChromeHeadless",
        ),
        (
            "composer.json",
            r#"{"require-dev": {"pestphp/pest": "2"}}"#,
            "Pest was found (pestphp/pest in composer.json)",
            "vendor/bin/pest --log-junit report.xml",
        ),
    ];
    for (file, text, found, line) in table {
        let ran = TestRepo::new(&[(file, text)]).regreen(&["fix"]);
        assert_eq!(ran.code, Some(3), "{file}: {}\n{}", ran.out, ran.err);
        assert!(ran.err.contains(found) && ran.err.contains(line), "{file}: {}", ran.err);
        assert!(
            ran.err.contains("--test-command") && ran.err.contains("--report"),
            "{file}: {}",
            ran.err
        );
    }
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs the npm registry"]
fn playwright_runs_by_the_line_that_is_named() {
    let repo = TestRepo::new(&[
        ("package.json", r#"{"devDependencies": {"@playwright/test": "^1"}}"#),
        ("playwright.config.js", "module.exports = { testDir: 'tests' };\n"),
        (".gitignore", "node_modules\npackage-lock.json\nreport.xml\ntest-results\n"),
        ("cart.js", "module.exports = (prices) => prices.reduce((a, b) => a + b, 1);\n"),
        (
            "tests/cart.spec.js",
            "const { test, expect } = require('@playwright/test');\nconst total = require('../cart');\ntest.describe('Cart', () => {\n  test('is zero', () => expect(total([])).toBe(0));\n  test('is right', () => expect(1).toBe(1));\n  test.skip('later', () => {});\n});\n",
        ),
    ]);
    npm_install(&repo);
    let hint = repo.regreen(&["fix"]);
    let command = "PLAYWRIGHT_JUNIT_OUTPUT_NAME=report.xml npx playwright test --reporter=junit";
    assert!(hint.err.contains(command), "{}", hint.err);
    let started = Started::watch(&repo, &["npx"]);
    let mut run = started.command();
    run.args(["fix", "--dry-run", "--json", "--test-command", command, "--report", "report.xml"]);
    let ran: Ran = run.output().unwrap().into();
    let document = ran.document();
    assert_eq!(counts(&document), (1, 1), "{document}\n{}", ran.err);
    assert_eq!(failing(&document), ["cart.spec.js::Cart › is zero"]);
    let lines = started.lines();
    assert!(
        !lines.is_empty()
            && lines.iter().all(|line| line == "npx playwright test --reporter=junit"),
        "{lines:?}"
    );
}
