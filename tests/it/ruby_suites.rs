//! Suites of RSpec and Minitest: whole and partial runs, results, what is started, and repairs by a model.

use super::frameworks::{counts, failing, look};
use super::support::fake_model::{FakeModel, analysis, edit};
use super::support::{Ran, Regreen, Started, TestRepo};

const CART: &str = "class Cart\n  def total(prices)\n    prices.sum + 1\n  end\nend\n";

const SPEC: &str = r"require_relative '../lib/cart'
RSpec.describe Cart do
  describe '#total' do
    it('is zero') { expect(Cart.new.total([])).to eq(0) }
    it('same') { expect(1).to eq(1) }
    it('same') { expect(Cart.new.total([1])).to eq(1) }
    xit('later') { raise 'no' }
  end
end
";

const TEST: &str = r"require 'minitest/autorun'
require 'cart'
class CartTest < Minitest::Test
  def test_zero
    assert_equal(0, Cart.new.total([]))
  end
  def test_ok
    assert(true)
  end
  def test_later
    skip
  end
end
describe Cart do
  it('adds') { _(Cart.new.total([1])).must_equal 1 }
end
";

const RAKEFILE: &str = "require 'rake/testtask'\nRake::TestTask.new(:test) { |task| task.pattern = 'test/**/*_test.rb' }\n";

#[test]
#[ignore = "needs Ruby with RSpec"]
fn rspec_counts_as_it_does_itself_and_runs_single_examples() {
    let repo = TestRepo::new(&[
        (".rspec", "--format documentation --fail-fast\n"),
        ("lib/cart.rb", CART),
        ("spec/cart_spec.rb", SPEC),
    ]);
    let own = repo.shell("rspec --no-fail-fast").output().unwrap();
    let own = String::from_utf8_lossy(&own.stdout).into_owned();
    assert!(own.contains("4 examples, 2 failures, 1 pending"), "{own}");
    let started = Started::watch(&repo, &["rspec"]);
    let document = look(&started);
    assert_eq!(counts(&document), (1, 2), "{document}");
    let ids = [
        "spec/cart_spec.rb::Cart > #total > is zero",
        "spec/cart_spec.rb::Cart > #total > same (2)",
    ];
    assert_eq!(failing(&document), ids);
    let failure = &document["failing-tests"][0];
    assert_eq!(failure["file"], "spec/cart_spec.rb", "{failure:#}");
    assert!(failure.to_string().contains("expected: 0"), "{failure:#}");
    let lines = started.lines();
    assert!(!lines.is_empty());
    for line in lines {
        let (_, options) = line.split_once("rspec --require ").unwrap_or_else(|| panic!("{line}"));
        let (_, rest) = options.split_once("/rspec_report.rb ").unwrap_or_else(|| panic!("{line}"));
        assert_eq!(rest, "--format progress --format Regreen::RspecReport --no-fail-fast");
    }
}

#[test]
#[ignore = "needs Ruby with RSpec"]
fn a_spec_that_does_not_load_is_a_failing_test() {
    let repo = TestRepo::new(&[
        (".rspec", ""),
        ("lib/cart.rb", CART),
        ("spec/cart_spec.rb", SPEC),
        ("spec/price_spec.rb", "require_relative '../lib/price'\n"),
    ]);
    let document = look(&repo);
    assert_eq!(counts(&document), (0, 1), "{document}");
    assert_eq!(failing(&document), ["spec/price_spec.rb"]);
    assert!(document.to_string().contains("cannot load such file"), "{document:#}");
}

#[test]
#[ignore = "needs Ruby with Minitest and Rake"]
fn minitest_runs_by_rake_or_by_ruby_and_counts_as_it_does_itself() {
    for rakefile in [Some(RAKEFILE), None] {
        let repo = TestRepo::new(&[("lib/cart.rb", CART), ("test/cart_test.rb", TEST)]);
        repo.write(rakefile.map(|text| ("Rakefile", text)).as_slice());
        repo.git(&["add", "-A"]);
        repo.git(&["commit", "-q", "--allow-empty", "-m", "rake"]);
        let own = repo.shell("ruby -Ilib test/cart_test.rb").output().unwrap();
        let own = String::from_utf8_lossy(&own.stdout).into_owned();
        assert!(own.contains("4 runs, 3 assertions, 2 failures, 0 errors, 1 skips"), "{own}");
        let started = Started::watch(&repo, &[if rakefile.is_some() { "rake" } else { "ruby" }]);
        let document = look(&started);
        assert_eq!(counts(&document), (1, 2), "{document}");
        assert_eq!(
            failing(&document),
            ["test/cart_test.rb::Cart#test_0001_adds", "test/cart_test.rb::CartTest#test_zero"]
        );
        assert!(document.to_string().contains("Expected: 0"), "{document:#}");
        let expected = match rakefile {
            Some(_) => "rake test",
            None => {
                "ruby -Ilib -Itest -e Dir[\"./test/**/{*_test,test_*}.rb\"].sort.each { |file| require file }"
            }
        };
        let lines = started.lines();
        assert!(!lines.is_empty() && lines.iter().all(|line| line == expected), "{lines:?}");
    }
}

#[test]
#[ignore = "needs Ruby with Minitest"]
fn a_command_of_the_users_for_minitest_runs_as_it_was_given() {
    let repo = TestRepo::new(&[("lib/cart.rb", CART), ("test/cart_test.rb", TEST)]);
    let started = Started::watch(&repo, &["ruby"]);
    let command = "ruby -w -Ilib test/cart_test.rb -n /zero/";
    let mut run = started.command();
    run.args(["fix", "--dry-run", "--json", "--test-command", command]);
    let ran: Ran = run.output().unwrap().into();
    let document = ran.document();
    assert_eq!(counts(&document), (0, 1), "{document}");
    assert!(started.lines().iter().all(|line| line == command), "{:?}", started.lines());
}

#[test]
#[ignore = "needs Ruby with RSpec"]
fn a_model_repairs_ruby_and_the_embedded_engine_says_that_it_cannot() {
    let files = [(".rspec", ""), ("lib/cart.rb", CART), ("spec/cart_spec.rb", SPEC)];
    let repo = TestRepo::new(&files);
    let alone = repo.regreen(&["fix", "--json"]);
    assert_eq!(alone.code, Some(1), "{}\n{}", alone.out, alone.err);
    let reason = "without a model, regreen edits little but product code in Python, JavaScript, TypeScript, Go, Rust or Java that is neither generated nor calls C";
    assert!(alone.err.contains(reason), "{}\n{}", alone.out, alone.err);
    let model = FakeModel::serve(vec![(
        "one",
        vec![
            analysis("lib/cart.rb:total:2-4", 0.9),
            // Tests may not be switched off, so that this is refused and the next answer counts.
            edit("spec/cart_spec.rb", "    it('is zero')", "    xit('is zero')"),
            edit("lib/cart.rb", "    prices.sum + 1\n", "    prices.sum\n"),
        ],
    )]);
    let repo = TestRepo::new(&files);
    let provider = model.provider("one", "");
    repo.write(&[(".github/regreen.yml", &format!("providers: [one]\nprovider:\n{provider}"))]);
    let mut command = repo.command();
    command.env("ONE_KEY", "key-of-the-test-0123456789").args(["fix", "--json"]);
    let ran: Ran = command.output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
    let patch = ran.document()["patch"].as_str().unwrap_or_default().to_owned();
    let shown = repo.git(&["diff", "main", "regreen/WFS-test-main", "--", "lib", "spec"]);
    assert!(shown.contains("-    prices.sum + 1") && !shown.contains("xit('is"), "{shown}{patch}");
}
