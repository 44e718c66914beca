//! Tests of the commands with which whole and partial suites run.

use super::*;

#[test]
fn the_whole_suite_runs_by_these_commands() {
    let project = Project::new(&[]);
    let table = [
        (Framework::Pytest, "python3 -m pytest", "python3 -m pytest -q -p no:cacheprovider"),
        (
            Framework::Unittest,
            "python3 -m unittest discover -s tests",
            "python3 /drivers/unittest_driver.py /results",
        ),
        (
            Framework::Vitest,
            "npx vitest run",
            "npx --no-install vitest run --reporter=json --reporter=default --outputFile.json=/results --bail=0",
        ),
        (
            Framework::Jest,
            "npx jest",
            "npx --no-install jest --json --testLocationInResults --outputFile=/results --bail=0",
        ),
        (
            Framework::Mocha,
            "npx --no-install mocha",
            "sh -c npx --no-install mocha --reporter /drivers/mocha_reporter.cjs",
        ),
        (Framework::Ava, "npx --no-install ava", "sh -c npx --no-install ava --tap"),
        (Framework::NodeTap, "npx --no-install tap", "sh -c npx --no-install tap --reporter=tap"),
        (
            Framework::Tape,
            "npx --no-install tape 'test/**/*.js'",
            "sh -c npx --no-install tape 'test/**/*.js'",
        ),
        (Framework::CargoTest, "cargo test --no-fail-fast", "cargo test --no-fail-fast"),
        (
            Framework::Nextest,
            "cargo nextest run",
            "cargo nextest run --no-fail-fast --tool-config-file regreen:/drivers/nextest.toml --profile regreen",
        ),
        (Framework::GoTest, "go test ./...", "go test -json ./..."),
        (
            Framework::Maven,
            "mvn -B test",
            "mvn -B test -Dmaven.test.failure.ignore=true -DtrimStackTrace=false --fail-at-end",
        ),
        (
            Framework::Gradle,
            "gradle test",
            "gradle test --continue --init-script /drivers/gradle_init.gradle",
        ),
        (Framework::Phpunit, "phpunit", "phpunit --log-junit /results --do-not-cache-result"),
        (
            Framework::Jasmine,
            "npx --no-install jasmine",
            "sh -c npx --no-install jasmine --reporter=/drivers/jasmine_reporter.cjs",
        ),
        (Framework::Dotnet, "dotnet test", "dotnet test --logger trx -p:TestTfmsInParallel=false"),
        (
            Framework::Bazel,
            "bazel test //...",
            "bazel test --keep_going --test_output=errors //...",
        ),
        (
            Framework::Rspec,
            "rspec",
            "sh -c rspec --require /drivers/rspec_report.rb --format progress --format Regreen::RspecReport --no-fail-fast",
        ),
        (
            Framework::Minitest,
            "ruby -Ilib -Itest -e 'Dir[\"./test/**/{*_test,test_*}.rb\"].sort.each { |file| require file }'",
            "sh -c ruby -Ilib -Itest -e 'Dir[\"./test/**/{*_test,test_*}.rb\"].sort.each { |file| require file }'",
        ),
    ];
    for (framework, displayed, argv) in table {
        let command = project.run(framework, None);
        assert_eq!(command.display, displayed, "{framework}");
        assert_eq!(command.argv.join(" "), argv, "{framework}");
        // What is shown is what runs, with options of ours between the words; our driver stands for the
        // module `unittest` with its options.
        let mut run = argv.split_whitespace();
        let is_run = displayed.split_whitespace().all(|shown| run.any(|word| word == shown));
        assert!(is_run || framework == Framework::Unittest, "{framework}: {displayed} runs {argv}");
    }
}

#[test]
fn selected_tests_are_passed_to_each_framework() {
    let project = Project::new(&[("tests/test_a.py", ""), ("go.mod", "module m\n")]);
    let table: &[(Framework, &[&str], &str)] = &[
        (Framework::Pytest, &["tests/test_a.py::test_x", "gone.py::y"], "tests/test_a.py"),
        (Framework::Unittest, &["tests.test_a.T.test_x"], "--select /selection"),
        (Framework::NodeTest, &["a.test.js::x > y", "a.test.js::z"], " a.test.js"),
        (Framework::Jest, &["a.test.js::x"], "--runTestsByPath a.test.js"),
        (Framework::Vitest, &["a.test.ts::x", "b.test.ts::y"], " a.test.ts b.test.ts"),
        (Framework::CargoTest, &["src/lib.rs::a::b"], "-- --exact a::b"),
        (Framework::CargoTest, &["doc:x::src/lib.rs - f (line 3)"], "--no-fail-fast"),
        (Framework::Nextest, &["x::sums"], "-E (package(=x) & (test(=sums)))"),
        (Framework::GoTest, &["m/a.TestX/sub", "m/a.TestY"], "-run ^(TestX|TestY)$ ./a"),
        (Framework::GoTest, &["m/b"], "-json ./b"),
        (
            Framework::Maven,
            &["com.x.CalcTest::adds", "com.x.CalcTest::subtracts"],
            "-Dtest=com.x.CalcTest -Dsurefire.failIfNoSpecifiedTests=false",
        ),
        (Framework::Maven, &["compiler:compile @ core"], "--fail-at-end"),
        (
            Framework::Gradle,
            &["com.x.CalcTest::adds"],
            "gradle test --tests com.x.CalcTest --continue --init-script /drivers/gradle_init.gradle",
        ),
        (Framework::Gradle, &[":core:compileJava"], "gradle_init.gradle"),
    ];
    for (framework, ids, end) in table {
        let argv = project.run(*framework, Some(ids)).argv.join(" ");
        assert!(argv.ends_with(end), "{framework}: {argv}");
    }
}

#[test]
fn a_quiet_cargo_test_reports_its_tests_nevertheless() {
    for command in ["cargo test -q", "cargo test --quiet -- -q"] {
        let run = Project::with_command(command).run(Framework::CargoTest, None);
        assert!(run.argv[2].starts_with("cargo test --no-fail-fast"), "{command}: {:?}", run.argv);
        assert!(!run.argv[2].contains("-q"), "{command}: {:?}", run.argv);
        assert_eq!(run.display, command);
    }
}

/// What a configured command becomes: all of its words in order, with ours between them.
#[test]
fn a_configured_command_keeps_all_of_its_words() {
    let chosen: Option<&[&str]> = Some(&["m/a.TestX"]);
    let table: &[(Framework, &str, Option<&[&str]>, &str)] = &[
        (
            Framework::Unittest,
            "python3.11 -B -m unittest -k 'price of' tests.test_a",
            None,
            "python3.11 -B /drivers/unittest_driver.py /results -- -k 'price of' tests.test_a",
        ),
        (
            Framework::Unittest,
            "python3 -W error -m unittest",
            None,
            "python3 -W error /drivers/unittest_driver.py /results --",
        ),
        (
            Framework::Unittest,
            "python3 -m unittest",
            Some(&["tests.test_a.T.test_x"]),
            "python3 /drivers/unittest_driver.py /results --select /selection --",
        ),
        (
            Framework::Jest,
            "CI=1 npx jest --selectProjects \"a b\" src/**",
            None,
            "CI=1 npx jest --selectProjects \"a b\" src/** --json --testLocationInResults --outputFile=/results --bail=0",
        ),
        (
            Framework::Jest,
            "npx jest -c jest.unit.js",
            Some(&["a b.test.js::x"]),
            "npx jest -c jest.unit.js --json --testLocationInResults --outputFile=/results --bail=0 --coverage=false 'a b\\.test\\.js'",
        ),
        (
            Framework::Vitest,
            "pnpm exec vitest --project web",
            None,
            "pnpm exec vitest --project web --run --reporter=json --reporter=default --outputFile.json=/results --bail=0",
        ),
        (
            Framework::NodeTest,
            "node --import tsx --test test/*.ts",
            None,
            "node --import tsx --test --require=/drivers/early_exit.cjs --require=/drivers/node_tests.cjs --test-reporter=/drivers/node_reporter.mjs --test-reporter-destination=stderr --test-reporter=spec --test-reporter-destination=stdout test/*.ts",
        ),
        (
            Framework::CargoTest,
            "cargo +nightly test -p x -- --skip 'a b'",
            None,
            "cargo +nightly test -p x --no-fail-fast -- --skip 'a b'",
        ),
        (
            Framework::CargoTest,
            "cargo test -- --nocapture",
            Some(&["src/lib.rs::a"]),
            "cargo test --no-fail-fast --lib -- --nocapture --exact a",
        ),
        (
            Framework::CargoTest,
            "cargo test",
            Some(&["tests/api/main.rs::a", "tests/fees.rs::b"]),
            "cargo test --no-fail-fast --test api --test fees -- --exact a b",
        ),
        (
            Framework::CargoTest,
            "cargo test",
            Some(&["tests/fees.rs"]),
            "cargo test --no-fail-fast --test fees",
        ),
        (
            Framework::CargoTest,
            "cargo test --lib",
            Some(&["src/lib.rs::a", "tests/fees.rs::b"]),
            "cargo test --lib --no-fail-fast -- --exact a b",
        ),
        (
            Framework::CargoTest,
            "cargo test",
            Some(&["src/main.rs::a", "tests/fees.rs::b"]),
            "cargo test --no-fail-fast -- --exact a b",
        ),
        (
            Framework::Nextest,
            "cargo nextest run -p x --no-fail-fast",
            None,
            "cargo nextest run -p x --no-fail-fast --tool-config-file regreen:/drivers/nextest.toml --profile regreen",
        ),
        (
            Framework::Nextest,
            "cargo nextest run -P ci",
            None,
            "cargo nextest run -P ci --no-fail-fast --tool-config-file regreen:/drivers/nextest.toml",
        ),
        (
            Framework::GoTest,
            "CGO_ENABLED=1 go test -race -tags=\"a b\" ./...",
            None,
            "CGO_ENABLED=1 go test -json -race -tags=\"a b\" ./...",
        ),
        (
            Framework::GoTest,
            "go test ./... -args -v",
            chosen,
            "go test -json -run '^(TestX)$' .m/a -args -v",
        ),
        (
            Framework::Maven,
            "./mvnw -B -pl core verify",
            None,
            "./mvnw -B -pl core verify -Dmaven.test.failure.ignore=true -DtrimStackTrace=false --fail-at-end",
        ),
        (
            Framework::Gradle,
            "./gradlew :core:test",
            None,
            "./gradlew :core:test --continue --init-script /drivers/gradle_init.gradle",
        ),
        (
            Framework::Gradle,
            "./gradlew check",
            Some(&["com.x.CalcTest::adds"]),
            "./gradlew check --continue --init-script /drivers/gradle_init.gradle",
        ),
        (
            Framework::Gradle,
            "./gradlew :core:integrationTest -x lint",
            Some(&["com.x.CalcTest::adds"]),
            "./gradlew :core:integrationTest --tests com.x.CalcTest -x lint --continue --init-script /drivers/gradle_init.gradle",
        ),
        (
            Framework::Jest,
            "npm exec -- jest --ci",
            None,
            "npm exec -- jest --ci --json --testLocationInResults --outputFile=/results --bail=0",
        ),
        (
            Framework::Unittest,
            "X=1 uv run ./manage.py test shop",
            None,
            "X=1 uv run ./manage.py test --testrunner=regreen_django.Runner shop",
        ),
        (
            Framework::Unittest,
            "python3 -W error::Warning src/manage.py test -k price",
            None,
            "python3 -W error::Warning src/manage.py test --testrunner=regreen_django.Runner -k price",
        ),
        (Framework::GoTest, "go test -C sub ./...", None, "go test -C sub -json ./..."),
        (
            Framework::GoTest,
            "go test -race -failfast -shuffle=on ./...",
            None,
            "go test -json -race -failfast -shuffle=on ./...",
        ),
        (
            Framework::GoTest,
            "go test -race -failfast -shuffle=on ./...",
            Some(&["x/shop.TestTotal"]),
            "go test -json -race -run '^(TestTotal)$' .x/shop",
        ),
        (
            Framework::Vitest,
            "npx vitest run --shard=1/2 --bail=1",
            Some(&["a.test.ts::x"]),
            "npx vitest run --run --reporter=json --reporter=default --outputFile.json=/results --bail=0 a.test.ts",
        ),
        (
            Framework::Jest,
            "npx jest",
            Some(&["app/[slug]/page.test.tsx::x"]),
            "npx jest --json --testLocationInResults --outputFile=/results --bail=0 --coverage=false 'app/\\[slug\\]/page\\.test\\.tsx'",
        ),
        (Framework::Pytest, "make lint && pytest -q", None, "make lint && pytest -q"),
        (Framework::Command, "make test | tee log", None, "make test | tee log"),
        (
            Framework::Mocha,
            "npx mocha -R dot 'test/a b.js' -- x",
            None,
            "npx mocha 'test/a b.js' --reporter /drivers/mocha_reporter.cjs -- x",
        ),
        (Framework::Ava, "nyc ava --serial", None, "nyc ava --tap --serial"),
        (
            Framework::Phpunit,
            "vendor/bin/phpunit --testsuite unit",
            Some(&["App\\ATest::testSum with data set \"a/b\"", "App\\BTest::testX"]),
            "vendor/bin/phpunit --testsuite unit --log-junit /results --do-not-cache-result --filter '/^(?:App\\\\ATest::testSum with data set \"a\\/b\"|App\\\\BTest::testX)$/'",
        ),
        (
            Framework::Ctest,
            "ctest --test-dir 'my build'",
            Some(&["few > A.B", "a+b"]),
            "ctest --test-dir 'my build' --output-on-failure --output-junit /results --test-output-size-passed 100000000 --test-output-size-failed 100000000 -R '^(a\\+b|few)$'",
        ),
        (
            Framework::Dotnet,
            "dotnet test Shop.Tests -- RunConfiguration.MaxCpuCount=1",
            Some(&["Shop.ATests.Sums(a: 1)", "Shop.ATests.Sums(a: 2)", "Shop.BTests.X"]),
            "dotnet test Shop.Tests --logger trx -p:TestTfmsInParallel=false --filter 'FullyQualifiedName=Shop.ATests.Sums|FullyQualifiedName=Shop.BTests.X' -- RunConfiguration.MaxCpuCount=1",
        ),
        (
            Framework::Bazel,
            "bazel test //pkg/...",
            Some(&["//pkg:a > A::b"]),
            "bazel test --keep_going --test_output=errors //pkg/...",
        ),
        (
            Framework::Rspec,
            "bundle exec rspec 'spec/a b_spec.rb'",
            Some(&["spec/a_spec.rb::A > adds"]),
            "bundle exec rspec 'spec/a b_spec.rb' --require /drivers/rspec_report.rb --format progress --format Regreen::RspecReport --no-fail-fast",
        ),
        (
            Framework::Minitest,
            "bundle exec rake test TEST=test/a_test.rb",
            Some(&["test/a_test.rb::ATest#test_adds"]),
            "bundle exec rake test TEST=test/a_test.rb",
        ),
        (Framework::NodeTap, "npx tap -j4 test", None, "npx tap --reporter=tap -j4 test"),
        (Framework::Tape, "npx tape test/*.js", None, "npx tape test/*.js"),
    ];
    for (framework, command, selection, line) in table {
        let project = Project::with_command(command);
        let run = project.run(*framework, *selection);
        assert_eq!(run.argv[..2], ["sh", "-c"], "{command}");
        assert_eq!(run.argv[2], *line, "{framework}");
        assert_eq!(run.display, *command, "what is shown is what was asked");
        let words = TestCommand::new(command);
        let mut rest = run.argv[2].as_str();
        let is_replaced = |word: &&String| {
            let is_module = *framework == Framework::Unittest;
            (is_module && ["-m", "unittest"].contains(&word.as_str()))
                || word.starts_with("--bail")
                || *framework == Framework::Mocha && ["-R", "dot"].contains(&word.as_str())
                // What would keep a chosen test from running, or change its order.
                || (selection.is_some()
                    && ["./...", "-failfast", "-shuffle=", "--shard="]
                        .iter()
                        .any(|start| word.starts_with(start)))
        };
        for word in words.words().iter().filter(|word| !is_replaced(word)) {
            let Some((_, after)) = rest.split_once(word.as_str()) else {
                panic!("{framework}: `{word}` is lost in {}", run.argv[2]);
            };
            rest = after;
        }
    }
}

/// Files with their texts, the framework, and the command that is shown.
type RubyCase<'a> = (&'a [(&'a str, &'a str)], Framework, &'a str);

#[test]
fn ruby_starts_through_bundler_and_rake_where_a_project_uses_them() {
    let table: &[RubyCase<'_>] = &[
        (&[("Gemfile.lock", "")], Framework::Rspec, "bundle exec rspec"),
        (&[("Gemfile", "")], Framework::Rspec, "rspec"),
        (&[("Rakefile", "Rake::TestTask.new\n")], Framework::Minitest, "rake test"),
        (
            &[("Rakefile", "Minitest::TestTask.create\n"), ("Gemfile.lock", "")],
            Framework::Minitest,
            "bundle exec rake test",
        ),
    ];
    for (files, framework, expected) in table {
        let run = Project::new(files).run(*framework, None);
        assert_eq!(run.display, *expected, "{files:?}");
        assert!(!run.environment.contains_key("REGREEN_SELECT"), "{files:?}");
        let some = Project::new(files).run(*framework, Some(&["a_test.rb::A#b"]));
        assert_eq!(some.environment["REGREEN_SELECT"], "/selection", "{files:?}");
    }
}

#[test]
fn a_test_of_php_that_depends_on_another_one_runs_with_its_class() {
    let project = Project::new(&[
        ("tests/ATest.php", "/** @depends testA */"),
        ("tests/BTest.php", ""),
        ("vendor/bin/phpunit", ""),
    ]);
    let run = project.run(Framework::Phpunit, Some(&["App\\ATest::testX", "App\\BTest::testY"]));
    let filter = r"--filter /^(?:App\\ATest::.*|App\\BTest::testY)$/";
    assert!(run.argv.join(" ").ends_with(filter), "{:?}", run.argv);
    assert_eq!(run.display, "vendor/bin/phpunit");
}

#[test]
fn ctest_configures_and_builds_in_a_folder_outside_of_the_checkout() {
    let project = Project::new(&[]);
    let run = project.run(Framework::Ctest, None);
    assert_eq!(run.display, "cmake -S . -B build && cmake --build build && ctest --test-dir build");
    let line = &run.argv[2];
    let (_, rest) = line.split_once("cmake -S . -B /build-").unwrap();
    let (name, rest) = rest.split_at(16);
    let tail = "--output-on-failure --output-junit /results --test-output-size-passed 100000000 --test-output-size-failed 100000000";
    let expected =
        format!(" && cmake --build /build-{name} && ctest --test-dir /build-{name} {tail}");
    assert_eq!(rest, expected);
    // CMake ties a build folder to one checkout.
    let other = Project::new(&[]).run(Framework::Ctest, None);
    assert_ne!(other.argv, run.argv);
    let some = project.run(Framework::Ctest, Some(&["few > A.B", "few > A.C"]));
    assert_eq!(some.environment["GTEST_FILTER"], "A.B:A.C");
    let mixed = project.run(Framework::Ctest, Some(&["few > A.B", "price"]));
    assert!(!mixed.environment.contains_key("GTEST_FILTER"), "price may have cases, too");
    let all = project.run(Framework::Ctest, Some(&["cmake --build"]));
    assert!(!all.argv[2].contains(" -R "), "what did not compile hid all tests");
}

#[test]
fn bazel_runs_the_targets_of_some_tests() {
    let some =
        Project::new(&[]).run(Framework::Bazel, Some(&["//a:t > A::b", "//a:t > A::c", "//b:t"]));
    assert_eq!(some.argv.join(" "), "bazel test --keep_going --test_output=errors //a:t //b:t");
}

#[test]
fn the_test_script_says_how_jest_and_vitest_run() {
    let jest = "--json --testLocationInResults --outputFile=/results --bail=0";
    let vitest = "--run --reporter=json --reporter=default --outputFile.json=/results --bail=0";
    let table = [
        (Framework::Jest, "jest", "jest", None),
        (Framework::Jest, "jest --coverage", "jest --coverage", Some("jest --coverage")),
        (
            Framework::Jest,
            "tsc && CI=1 jest --bail 1 src/",
            "CI=1 jest --bail 1 src/",
            Some("CI=1 jest src/"),
        ),
        (
            Framework::Jest,
            "jest --json --outputFile r.json -i",
            "jest --json --outputFile r.json -i",
            Some("jest -i"),
        ),
        (Framework::Jest, "jest --watchAll", "jest --watchAll", Some("jest")),
        (Framework::Vitest, "vitest", "vitest", None),
        (Framework::Vitest, "vitest run", "vitest run", None),
        (
            Framework::Vitest,
            "vitest run --coverage --bail=1",
            "vitest run --coverage --bail=1",
            Some("vitest run --coverage"),
        ),
    ];
    for (framework, script, display, expected) in table {
        let package = serde_json::json!({ "scripts": { "test": script } }).to_string();
        let run = Project::new(&[("package.json", package.as_str())]).run(framework, None);
        let options = if framework == Framework::Jest { jest } else { vitest };
        let Some(expected) = expected else {
            assert_eq!(run.argv[..2], ["npx", "--no-install"], "{script}");
            continue;
        };
        assert_eq!(run.argv, ["sh", "-c", &format!("{expected} {options}")], "{script}");
        assert_eq!(run.display, display, "{script}");
        assert!(run.environment["PATH"].contains("node_modules/.bin"), "{script}");
    }
}
