//! Runners that cannot be installed here, played by scripts: what is started, and reports in their form.

use super::frameworks::{counts, failing, look};
use super::support::{Regreen, TestRepo, write_program};

/// Runs with these programs in front of all others. What they start with stands in `started.log` of the
/// folder in which they run.
struct Played<'a> {
    repo: &'a TestRepo,
    folder: std::path::PathBuf,
}

impl<'a> Played<'a> {
    fn with(repo: &'a TestRepo, program: &str, script: &str) -> Self {
        let folder = repo.around().join("played");
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join(program);
        write_program(&file, &format!("#!/bin/sh\n{script}"));
        Self { repo, folder }
    }

    fn started(&self) -> Vec<String> {
        fn logs(folder: &std::path::Path, found: &mut Vec<String>) {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.file_type().unwrap().is_dir() {
                    logs(&entry.path(), found);
                } else if let Ok(text) = std::fs::read_to_string(entry.path()) {
                    found.extend(
                        text.lines()
                            .filter_map(|line| line.strip_prefix("started: "))
                            .map(str::to_owned),
                    );
                }
            }
        }
        let mut found = Vec::new();
        logs(&self.repo.root().join(".git/regreen"), &mut found);
        logs(&self.repo.around().join("work"), &mut found);
        found
    }
}

impl Regreen for Played<'_> {
    fn command(&self) -> std::process::Command {
        let mut command = self.repo.command();
        let path = format!("{}:{}", self.folder.display(), std::env::var("PATH").unwrap());
        command.env("PATH", path);
        command
    }
}

const DOTNET: &str = r#"[ "$*" = --version ] && { echo 8.0.100; exit; }
printf 'started: %s\n' "dotnet $*"
mkdir -p Shop.Tests/TestResults
cat > Shop.Tests/TestResults/ada_2026.trx <<XML
<?xml version="1.0" encoding="utf-8"?>
<TestRun id="r" xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010">
  <Results>
    <UnitTestResult testId="a" testName="Shop.Tests.CartTests.Adds(n: 1)" outcome="Passed" duration="00:00:00.01" />
    <UnitTestResult testId="b" testName="Zero" outcome="Failed"><Output><ErrorInfo>
      <Message>Assert.Equal() Failure: Values differ&#xD;
Expected: 0
Actual:   1</Message>
      <StackTrace>   at Shop.Tests.CartTests.Zero() in $PWD/Shop.Tests/CartTests.cs:line 4</StackTrace>
    </ErrorInfo></Output></UnitTestResult>
    <UnitTestResult testId="c" testName="Later" outcome="NotExecuted" />
  </Results>
  <TestDefinitions>
    <UnitTest id="b"><TestMethod className="Shop.Tests.CartTests" name="Zero" /></UnitTest>
    <UnitTest id="c"><TestMethod className="Shop.Tests.CartTests" name="Later" /></UnitTest>
  </TestDefinitions>
</TestRun>
XML
exit 1
"#;

#[test]
fn dotnet_test_writes_trx_and_runs_single_methods() {
    let repo = TestRepo::new(&[
        ("Shop.sln", ""),
        (".gitignore", "TestResults\n"),
        ("Shop.Tests/Shop.Tests.csproj", "<PackageReference Include=\"xunit\" />\n"),
        (
            "Shop.Tests/CartTests.cs",
            "namespace Shop.Tests;\npublic class CartTests {\n  [Fact]\n  public void Zero() {}\n}\n",
        ),
    ]);
    let played = Played::with(&repo, "dotnet", DOTNET);
    let document = look(&played);
    assert_eq!(counts(&document), (1, 1), "{document}");
    assert_eq!(failing(&document), ["Shop.Tests.CartTests.Zero"]);
    let failure = document["failing-tests"][0].to_string();
    assert!(
        failure.contains("Expected: 0") && failure.contains("Shop.Tests/CartTests.cs"),
        "{failure}"
    );
    let started = played.started();
    let one = "dotnet test --logger trx -p:TestTfmsInParallel=false --filter FullyQualifiedName=Shop.Tests.CartTests.Zero";
    assert!(started.contains(&one.to_owned()), "{started:?}");
    assert!(
        started
            .iter()
            .all(|line| line == "dotnet test --logger trx -p:TestTfmsInParallel=false"
                || line == one),
        "{started:?}"
    );
}

const DOTNET_BROKEN: &str = r#"[ "$*" = --version ] && { echo 8.0.100; exit; }
echo "$PWD/Shop/Cart.cs(7,3): error CS1002: ; expected [$PWD/Shop/Shop.csproj]"
exit 1
"#;

#[test]
fn a_project_of_dotnet_that_does_not_compile_is_a_failing_build_with_its_place() {
    let repo = TestRepo::new(&[
        ("Shop.sln", ""),
        ("Shop/Cart.cs", "class Cart {\n"),
        ("Shop.Tests/Shop.Tests.csproj", "<PackageReference Include=\"xunit\" />\n"),
    ]);
    let document = look(&Played::with(&repo, "dotnet", DOTNET_BROKEN));
    assert_eq!(failing(&document), ["dotnet build Shop.csproj"]);
    let failure = document["failing-tests"][0].to_string();
    assert!(
        failure.contains("CS1002: ; expected") && failure.contains("Shop/Cart.cs"),
        "{failure}"
    );
}

const BAZEL: &str = r#"[ "$*" = --version ] && { echo 'bazel 7.4.1'; exit; }
printf 'started: %s\n' "bazel $*"
mkdir -p out/pkg/cart_test out/pkg/price_test out/pkg/old_test
[ -e bazel-testlogs ] || ln -s out bazel-testlogs
echo '<testsuites><testsuite name="CartTest"><testcase name="Zero" classname="CartTest"><failure message="Expected: 0, got 1">pkg/cart_test.cc:4: no</failure></testcase><testcase name="Ok" classname="CartTest"/></testsuite></testsuites>' > out/pkg/cart_test/test.xml
echo '<testsuites><testsuite name="pkg/price_test"><testcase name="pkg/price_test" status="run"></testcase></testsuite></testsuites>' > out/pkg/price_test/test.xml
echo '<testsuites><testsuite name="old"><testcase name="gone"><failure/></testcase></testsuite></testsuites>' > out/pkg/old_test/test.xml
echo 'pkg/broken.cc:3:1: error: expected ;'
echo '//pkg:price_test                      (cached) PASSED in 0.1s'
echo '//pkg:cart_test                                FAILED in 0.2s'
echo '  /home/ada/.cache/bazel/testlogs/pkg/cart_test/test.log'
echo '//pkg:broken_test                      FAILED TO BUILD'
exit 3
"#;

#[test]
fn bazel_test_is_read_by_target_and_reports_of_earlier_runs_do_not_count() {
    let repo = TestRepo::new(&[
        ("MODULE.bazel", ""),
        (".gitignore", "bazel-*\nout\n"),
        ("pkg/cart_test.cc", "1\n2\n3\n4\n"),
    ]);
    let played = Played::with(&repo, "bazel", BAZEL);
    let document = look(&played);
    assert_eq!(counts(&document), (2, 2), "{document}");
    assert_eq!(failing(&document), ["//pkg:broken_test", "//pkg:cart_test > CartTest::Zero"]);
    let text = document["failing-tests"].to_string();
    assert!(text.contains("Expected: 0, got 1") && text.contains("pkg/cart_test.cc"), "{text}");
    let started = played.started();
    let all = "bazel test --keep_going --test_output=errors //...";
    let some = "bazel test --keep_going --test_output=errors //pkg:broken_test //pkg:cart_test";
    assert!(started.contains(&some.to_owned()), "{started:?}");
    assert!(started.iter().all(|line| line == all || line == some), "{started:?}");
}
