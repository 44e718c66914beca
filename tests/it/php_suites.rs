//! Suites of PHPUnit: whole and partial runs, results, what is started, and the classes that Composer loads.

use super::frameworks::{counts, failing, look};
use super::support::fake_model::{FakeModel, analysis, edit};
use super::support::{Ran, Started, TestRepo};

const CART: &str = "<?php\nnamespace Shop;\n\nclass Cart\n{\n    public function total(array $prices): int\n    {\n        return array_sum($prices) + 1;\n    }\n}\n";

const TEST: &str = r#"<?php
namespace Shop\Tests;

use PHPUnit\Framework\TestCase;
use Shop\Cart;

final class CartTest extends TestCase
{
    public function testZero(): void { $this->assertSame(0, (new Cart())->total([])); }
    public function testOk(): void { $this->assertTrue(true); }
    public function testLater(): void { $this->markTestSkipped('later'); }
    public function testRisky(): void { }
    /** @dataProvider prices */
    public function testSum(array $prices, int $sum): void { $this->assertSame($sum, (new Cart())->total($prices)); }
    public static function prices(): array { return ['a "b"' => [[1], 1], 'c/d' => [[1, 1], 3]]; }
}
"#;

const SETTINGS: &str = "<phpunit bootstrap=\"vendor/autoload.php\"><testsuites><testsuite name=\"all\"><directory>tests</directory></testsuite></testsuites></phpunit>\n";

/// A project as Composer leaves it: the packages are ignored by git, and the autoloader finds the
/// project's own classes from where its files are.
fn project() -> TestRepo {
    let repo = TestRepo::new(&[
        ("composer.json", "{\"autoload\": {\"psr-4\": {\"Shop\\\\\": \"src\"}}}\n"),
        (".gitignore", "/vendor/\n"),
        ("phpunit.xml", SETTINGS),
        ("src/Cart.php", CART),
        ("tests/CartTest.php", TEST),
    ]);
    repo.write(&[
        ("vendor/autoload.php", "<?php\nrequire __DIR__ . '/composer/autoload_real.php';\n"),
        (
            "vendor/composer/autoload_real.php",
            "<?php\n$baseDir = dirname(dirname(__DIR__));\nspl_autoload_register(function ($class) use ($baseDir) {\n    $file = $baseDir . '/src/' . substr($class, 5) . '.php';\n    if (strpos($class, 'Shop\\\\') === 0 && is_file($file)) { require $file; }\n});\n",
        ),
        ("vendor/acme/tool/README.md", "linked\n"),
    ]);
    repo
}

#[test]
#[ignore = "needs PHPUnit"]
fn phpunit_counts_as_it_does_itself_and_runs_single_data_sets() {
    let repo = project();
    let own = repo.shell("phpunit --do-not-cache-result").output().unwrap();
    let own = String::from_utf8_lossy(&own.stdout).into_owned();
    assert!(own.contains("Tests: 6, Assertions: 4, Failures: 2, Skipped: 1, Risky: 1."), "{own}");
    let started = Started::watch(&repo, &["phpunit"]);
    let document = look(&started);
    assert_eq!(counts(&document), (3, 2), "{document}");
    assert_eq!(
        failing(&document),
        [
            "Shop\\Tests\\CartTest::testSum with data set \"a \"b\"\"",
            "Shop\\Tests\\CartTest::testZero"
        ]
    );
    let failure = document["failing-tests"][1].to_string();
    assert!(failure.contains("Failed asserting that 1 is identical to 0."), "{failure}");
    assert!(failure.contains("tests/CartTest.php"), "{failure}");
    let lines = started.lines();
    assert!(!lines.is_empty());
    for line in lines {
        let rest = line.strip_prefix("phpunit --log-junit ").unwrap_or_else(|| panic!("{line}"));
        let (_, options) = rest.split_once("cases ").unwrap_or_else(|| panic!("{line}"));
        let chosen = r#"/^(?:Shop\\Tests\\CartTest::testSum with data set "a "b""|Shop\\Tests\\CartTest::testZero)$/"#;
        let is_known = [
            "--do-not-cache-result".to_owned(),
            format!("--do-not-cache-result --filter {chosen}"),
        ];
        assert!(is_known.contains(&options.to_owned()), "{line}");
    }
}

#[test]
#[ignore = "needs PHPUnit"]
fn a_repair_of_php_is_tested_with_the_classes_of_the_private_checkout() {
    let repo = project();
    let model = FakeModel::serve(vec![(
        "one",
        vec![
            analysis("src/Cart.php:total:6-9", 0.9),
            edit(
                "src/Cart.php",
                "        return array_sum($prices) + 1;\n",
                "        return array_sum($prices);\n",
            ),
        ],
    )]);
    repo.write(&[
        ("tests/CartTest.php", &TEST.replace("[[1, 1], 3]", "[[1, 1], 2]")),
        (
            ".github/regreen.yml",
            &format!("providers: [one]\nprovider:\n{}", model.provider("one", "")),
        ),
    ]);
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-q", "-m", "right"]);
    let mut command = repo.command();
    command.env("ONE_KEY", "key-of-the-test-0123456789").args(["fix", "--json"]);
    let ran: Ran = command.output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
    let kept = std::fs::read_to_string(repo.root().join("src/Cart.php")).unwrap();
    assert_eq!(kept, CART, "the user's own file");
    let files = repo.git(&["diff", "--name-only", "main", "regreen/WFS-test-main"]);
    assert!(!files.contains("vendor") && files.contains("src/Cart.php"), "{files}");
}
