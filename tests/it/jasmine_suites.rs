//! Suites of Jasmine: results, partial runs, what is started, and a repair.

use super::frameworks::{counts, failing, look, npm_install};
use super::support::{Started, TestRepo};

const SPEC: &str = r"const total = require('../cart');
describe('Cart', () => {
  it('is zero', () => expect(total([])).toBe(0));
  it('adds', () => expect(total([1])).toBe(1));
  describe('deep', () => { it('is right', () => expect(1).toBe(1)); });
  xit('later', () => {});
});
";

#[test]
#[ignore = "needs the npm registry"]
fn jasmine_counts_as_it_does_itself_and_runs_single_specs() {
    let repo = TestRepo::new(&[
        (
            "package.json",
            r#"{"scripts": {"test": "jasmine --random=false 'spec/*.spec.js'"}, "devDependencies": {"jasmine": "7"}}"#,
        ),
        (".gitignore", "node_modules\npackage-lock.json\n"),
        ("cart.js", "module.exports = (prices) => prices.reduce((a, b) => a + b, 1);\n"),
        ("spec/cart.spec.js", SPEC),
    ]);
    npm_install(&repo);
    let own = repo.shell("npx jasmine --random=false 'spec/*.spec.js'").output().unwrap();
    let own = String::from_utf8_lossy(&own.stdout).into_owned();
    assert!(own.contains("4 specs, 2 failures, 1 pending spec"), "{own}");
    let started = Started::watch(&repo, &["node"]);
    let document = look(&started);
    assert_eq!(counts(&document), (1, 2), "{document}");
    assert_eq!(
        failing(&document),
        ["spec/cart.spec.js::Cart > adds", "spec/cart.spec.js::Cart > is zero"]
    );
    let failure = document["failing-tests"][1].to_string();
    assert!(failure.contains("Expected 1 to be 0"), "{failure}");
    let lines = started.lines();
    let is_right = |line: &String| {
        line.contains("/node_modules/.bin/jasmine --random=false spec/cart.spec.js --reporter=/")
            || line
                .contains("/node_modules/.bin/jasmine --random=false spec/*.spec.js --reporter=/")
    };
    assert!(!lines.is_empty() && lines.iter().all(is_right), "{lines:?}");
    let fixed = repo.regreen(&["fix", "--json"]);
    assert_eq!(fixed.code, Some(0), "{}\n{}", fixed.out, fixed.err);
}
