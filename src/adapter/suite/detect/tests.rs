//! Tests of detection: versions, and the runners of well-known repositories.

#![expect(clippy::disallowed_methods, reason = "detection reads real folders")]

use super::*;

#[test]
fn rules_and_bold_print_are_no_version() {
    let table = [
        ("\n-----\nGradle 4.4.1\n-----\n", Some("Gradle 4.4.1")),
        ("\u{1b}[1mApache Maven 3.8.7\u{1b}[m\nMaven home: /x1\n", Some("Apache Maven 3.8.7")),
        ("unknown\n", Some("unknown")),
        ("\n", None),
    ];
    for (output, expected) in table {
        assert_eq!(version_line(output).as_deref(), expected, "{output}");
    }
}

/// A repository: its name, what of its files matters here, the texts of some, and its runner.
type Known = (&'static str, &'static str, &'static [(&'static str, &'static str)], Framework);

const PYTEST: &str = "[tool.pytest.ini_options]\n";

/// As they were in 2017 to 2026; of texts only the lines that name a runner.
const KNOWN: &[Known] = &[
    (
        "psf/requests",
        "HISTORY.md Makefile setup.cfg setup.py tests/__init__.py tests/test_requests.py tox.ini",
        &[("pyproject.toml", PYTEST)],
        Framework::Pytest,
    ),
    (
        "pallets/flask",
        "CHANGES.rst tests/test_basic.py uv.lock",
        &[("pyproject.toml", PYTEST)],
        Framework::Pytest,
    ),
    (
        "encode/httpx",
        "mkdocs.yml scripts/test tests/test_api.py",
        &[("pyproject.toml", PYTEST)],
        Framework::Pytest,
    ),
    (
        "pyca/cryptography",
        "Cargo.lock Cargo.toml noxfile.py src/rust/Cargo.toml tests/test_fernet.py vectors/pyproject.toml",
        &[("pyproject.toml", PYTEST)],
        Framework::Pytest,
    ),
    (
        "ijl/orjson",
        "Cargo.lock Cargo.toml build.rs pysrc/orjson/__init__.py test/test_api.py",
        &[("pyproject.toml", "[tool.poetry.dev-dependencies]\npytest = \"^7.4.0\"\n")],
        Framework::Pytest,
    ),
    (
        "openai/tiktoken",
        "Cargo.toml setup.py src/lib.rs tests/test_encoding.py",
        &[("pyproject.toml", "[tool.cibuildwheel]\ntest-command = \"pytest {project}/tests\"\n")],
        Framework::Pytest,
    ),
    (
        "astral-sh/ruff",
        "Cargo.lock Cargo.toml crates/ruff/Cargo.toml scripts/add_rule.py",
        &[("pyproject.toml", "[build-system]\nbuild-backend = \"maturin\"\n")],
        Framework::CargoTest,
    ),
    (
        "BurntSushi/ripgrep",
        "Cargo.lock Cargo.toml build.rs tests/tests.rs",
        &[],
        Framework::CargoTest,
    ),
    (
        "serde-rs/serde",
        "Cargo.toml serde/Cargo.toml test_suite/Cargo.toml",
        &[],
        Framework::CargoTest,
    ),
    (
        "denoland/deno",
        "Cargo.lock Cargo.toml cli/Cargo.toml tests/Cargo.toml tools/lint.js",
        &[],
        Framework::CargoTest,
    ),
    (
        "rust-lang/rust-analyzer",
        "Cargo.toml editors/code/package.json xtask/Cargo.toml",
        &[],
        Framework::CargoTest,
    ),
    ("gin-gonic/gin", "Makefile gin.go gin_test.go go.mod go.sum", &[], Framework::GoTest),
    ("gohugoio/hugo", "go.mod go.sum magefile.go main.go main_test.go", &[], Framework::GoTest),
    (
        "kubernetes/kubernetes",
        "Makefile go.mod go.sum go.work hack/boilerplate/test/fail.py",
        &[("hack/boilerplate/boilerplate_test.py", "import unittest\n")],
        Framework::GoTest,
    ),
    ("google/guava", "android/pom.xml mvnw pom.xml", &[], Framework::Maven),
    (
        "apache/commons-lang",
        "RELEASE-NOTES.txt pom.xml src/main/java/module-info.java",
        &[],
        Framework::Maven,
    ),
    (
        "spring-projects/spring-petclinic",
        "build.gradle gradlew mvnw pom.xml settings.gradle",
        &[],
        Framework::Maven,
    ),
    (
        "square/okhttp",
        "build.gradle.kts gradlew mkdocs.yml settings.gradle.kts",
        &[],
        Framework::Gradle,
    ),
    (
        "spring-projects/spring-framework",
        "build.gradle gradlew settings.gradle",
        &[],
        Framework::Gradle,
    ),
    (
        "expressjs/express",
        "History.md index.js lib/express.js test/app.js",
        &[(
            "package.json",
            r#"{"devDependencies": {"mocha": "3.5.3"}, "scripts": {"test": "mocha --require test/support/env --reporter spec --bail --check-leaks --no-exit test/ test/acceptance/"}}"#,
        )],
        Framework::Mocha,
    ),
    (
        "jshttp/negotiator",
        "index.js lib/charset.js test/charset.js benchmarks/charset.bench.js",
        &[(
            "package.json",
            r#"{"devDependencies": {"mocha": "^11.7.0", "nyc": "^17.1.0", "vitest": "3.2.4"}, "scripts": {"bench": "vitest bench", "test": "mocha --reporter spec --check-leaks test/"}}"#,
        )],
        Framework::Mocha,
    ),
    (
        "eslint/eslint",
        "Makefile.js karma.conf.js lib/api.js tests/lib/api.js",
        &[(
            "package.json",
            r#"{"devDependencies": {"mocha": "^7.1.1"}, "scripts": {"test": "node Makefile.js test"}}"#,
        )],
        Framework::Mocha,
    ),
    (
        "axios/axios",
        "gulpfile.js karma.conf.cjs lib/axios.js test/unit/api.js",
        &[(
            "package.json",
            r#"{"devDependencies": {"karma": "^6.3.17", "mocha": "^10.3.0"}, "scripts": {"test": "npm run test:eslint && npm run test:mocha", "test:mocha": "node bin/ssl_hotfix.js mocha test/unit/**/*.js --timeout 30000 --exit"}}"#,
        )],
        Framework::Mocha,
    ),
    (
        "facebook/react",
        "babel.config.js scripts/jest/jest-cli.js yarn.lock",
        &[(
            "package.json",
            r#"{"devDependencies": {"jest": "^29.4.2"}, "scripts": {"test": "node ./scripts/jest/jest-cli.js"}}"#,
        )],
        Framework::Jest,
    ),
    (
        "koajs/koa",
        "History.md lib/application.js",
        &[("package.json", r#"{"scripts": {"test": "jest"}}"#)],
        Framework::Jest,
    ),
    (
        "prettier/prettier",
        "jest.config.js tests_config/run_spec.js",
        &[("package.json", r#"{"scripts": {"test": "jest"}}"#)],
        Framework::Jest,
    ),
    (
        "vuejs/core",
        "packages/vue/package.json vitest.config.ts",
        &[("package.json", r#"{"scripts": {"test": "vitest"}}"#)],
        Framework::Vitest,
    ),
    (
        "vitejs/vite",
        "packages/vite/package.json vitest.config.e2e.ts vitest.config.ts",
        &[(
            "package.json",
            r#"{"scripts": {"test": "pnpm test-unit && pnpm test-serve", "test-unit": "vitest run"}}"#,
        )],
        Framework::Vitest,
    ),
    (
        "chalk/chalk",
        "index.js test/chalk.js types/test.ts",
        &[(
            "package.json",
            r#"{"devDependencies": {"ava": "*", "xo": "*"}, "scripts": {"test": "xo && tsc -p types && nyc ava"}}"#,
        )],
        Framework::Ava,
    ),
    (
        "sindresorhus/got",
        "index.js test/http.js",
        &[("package.json", r#"{"scripts": {"test": "xo && nyc ava"}}"#)],
        Framework::Ava,
    ),
    (
        "isaacs/node-glob",
        "glob.js test/00-setup.js",
        &[("package.json", r#"{"scripts": {"test": "tap"}}"#)],
        Framework::NodeTap,
    ),
    (
        "fastify/fastify",
        "fastify.js test/404s.test.js test/types/index.ts",
        &[(
            "package.json",
            r#"{"scripts": {"test": "npm run lint && npm run unit && npm run typescript", "unit": "tap -j4 test/*.test.js test/*/*.test.js"}}"#,
        )],
        Framework::NodeTap,
    ),
    (
        "ljharb/qs",
        "lib/index.js test/index.js test/parse.js",
        &[(
            "package.json",
            r#"{"devDependencies": {"tape": "^4.6.3"}, "scripts": {"test": "npm run --silent coverage", "coverage": "covert test"}}"#,
        )],
        Framework::Tape,
    ),
    (
        "minimistjs/minimist",
        "index.js test/parse.js",
        &[(
            "package.json",
            r#"{"scripts": {"test": "npm run tests-only", "tests-only": "nyc tape test/*.js"}}"#,
        )],
        Framework::Tape,
    ),
    (
        "laravel/framework",
        "composer.json phpunit.xml.dist src/Illuminate/Support/Str.php tests/Support/SupportStrTest.php",
        &[],
        Framework::Phpunit,
    ),
    (
        "sebastianbergmann/money",
        "build.xml composer.json package.json phpunit.xml tests/MoneyTest.php",
        &[("package.json", r#"{"scripts": {"build": "webpack"}}"#)],
        Framework::Phpunit,
    ),
    (
        "google/leveldb",
        "CMakeLists.txt db/db_test.cc util/coding_test.cc third_party/googletest",
        &[("CMakeLists.txt", "enable_testing()\n")],
        Framework::Ctest,
    ),
    (
        "jasmine/jasmine-npm",
        "bin/jasmine.js lib/jasmine.js spec/jasmine_spec.js",
        &[(
            "package.json",
            r#"{"devDependencies": {"jasmine": "~5.0.0"}, "scripts": {"test": "node ./bin/jasmine.js"}}"#,
        )],
        Framework::Jasmine,
    ),
    (
        "dotnet/samples",
        "Shop.sln src/Shop/Shop.csproj tests/Shop.Tests/Shop.Tests.csproj",
        &[("tests/Shop.Tests/Shop.Tests.csproj", "<PackageReference Include=\"xunit\" />")],
        Framework::Dotnet,
    ),
    (
        "bazelbuild/examples",
        "MODULE.bazel WORKSPACE README.md main/hello-world.cc",
        &[],
        Framework::Bazel,
    ),
    (
        "rubocop/rubocop",
        ".rspec Gemfile Rakefile rubocop.gemspec spec/spec_helper.rb",
        &[("Gemfile", "gem 'rspec', '~> 3.7'\n")],
        Framework::Rspec,
    ),
    (
        "fastlane/fastlane",
        ".rspec Gemfile.lock fastlane/spec/runner_spec.rb pyproject.txt",
        &[],
        Framework::Rspec,
    ),
    (
        "rack/rack",
        "Gemfile rack.gemspec test/spec_builder.rb test/helper.rb test/test_thread.rb",
        &[("rack.gemspec", "s.add_development_dependency 'minitest', '~> 5.0'\n")],
        Framework::Minitest,
    ),
    (
        "lukeed/clsx",
        "clsx.d.ts src/index.js",
        &[("package.json", r#"{"scripts": {"test": "tape -r esm test/*.js | tap-spec"}}"#)],
        Framework::Tape,
    ),
];

#[test]
fn the_runners_of_well_known_repositories_are_detected() {
    for (name, files, texts, expected) in KNOWN {
        let folder = tempfile::tempdir().unwrap();
        let empty = files.split(' ').map(|file| (file, ""));
        for (file, text) in empty.chain(texts.iter().copied()) {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let found = matches(&Site::new(folder.path(), ""));
        let found = found.first().map(|one| one.adapter.framework);
        assert_eq!(found, Some(*expected), "{name}");
        // Files of another language that lie about change nothing.
        if !expected.is_python() {
            let stray = folder.path().join("scripts/test_release.py");
            std::fs::create_dir_all(stray.parent().unwrap()).unwrap();
            std::fs::write(stray, "import pytest\n").unwrap();
            let found = matches(&Site::new(folder.path(), ""));
            assert_eq!(found.first().map(|one| one.adapter.framework), Some(*expected), "{name}");
        }
    }
}
