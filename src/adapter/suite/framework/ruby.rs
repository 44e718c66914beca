//! RSpec and Minitest, with reporters of our own.

use crate::domain::framework::Framework;
use crate::domain::test_command::{TestCommand, unquoted};

use super::super::format::driver_lines;
use super::adapter::{
    CoverageRequest, FrameworkAdapter, RunCommand, Site, TypedCommand, read_text, words,
};

/// The table row for RSpec.
pub const RSPEC: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::Rspec,
    format: "JSON lines of a formatter",
    signals: ".rspec, rspec in a Gemfile or gemspec, spec/**/*_spec.rb",
    is_run_by: |command| command.after(&["rspec"]).is_some(),
    detect: |site| {
        if site.has_path(".rspec") {
            return Some(".rspec".into());
        }
        let manifest = manifest_with(site, "rspec")?;
        site.has_path("spec").then(|| format!("rspec in {manifest}"))
    },
    detect_by_tests: |site| {
        let is_spec = |name: &str| name.ends_with("_spec.rb");
        (site.has_path("spec") && site.has_file(&is_spec)).then(|| "*_spec.rb".into())
    },
    version: |site| start(site, &["rspec", "--version"]),
    install: |site| install(site, "gem install rspec"),
    command: |site, selection, files| {
        let mut command = TypedCommand::configured(&chosen(site, "rspec"));
        let driver = files.drivers.join("rspec_report.rb").display().to_string();
        let mut options = vec!["--require".to_owned(), driver];
        // A format of the command line replaces those of `.rspec`; a person reads the first one.
        options.extend(words(&["--format", "progress", "--format", "Regreen::RspecReport"]));
        options.push("--no-fail-fast".into());
        command.insert(command.options_end(), options);
        command.into_run().with_reporter_files(site, selection, files)
    },
    read: |artifacts| Ok(driver_lines::parse(&read_text(artifacts.results)?)),
    coverage,
    persistent: None,
};

/// The table row for Minitest.
pub const MINITEST: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::Minitest,
    format: "JSON lines of a reporter",
    signals: "minitest in a Gemfile, gemspec, Rakefile or test file, test/**/*_test.rb",
    is_run_by: runs_minitest,
    detect: |site| {
        let manifest = manifest_with(site, "minitest")?;
        test_file(site).map(|_| format!("minitest in {manifest}"))
    },
    detect_by_tests: |site| {
        let file = test_file(site)?;
        let text = site.read_small_text(&format!("test/{file}"));
        let helper = site
            .read_small_text("test/test_helper.rb")
            .or_else(|| site.read_small_text("test/helper.rb"));
        let is_named = |text: &String| text.to_ascii_lowercase().contains("minitest");
        let is_used = text.iter().chain(&helper).any(is_named);
        is_used.then(|| format!("minitest in test/{file}"))
    },
    version: |site| start(site, &["ruby", "-rminitest", "-e", "puts Minitest::VERSION"]),
    install: |site| install(site, "gem install minitest rake"),
    command: |site, selection, files| {
        let own = if has_test_task(site) { "rake test" } else { ALL_TESTS };
        let command = chosen(site, own);
        let run =
            RunCommand::new(super::adapter::shell_argv(command.text()), command.text().to_owned());
        let mut run = run.with_reporter_files(site, selection, files);
        // Options in these variables reach the Ruby that Rake starts, and hold no paths with blanks.
        run.environment.insert("RUBYLIB".into(), files.drivers.display().to_string());
        run.environment.insert("RUBYOPT".into(), "-rminitest_report".into());
        run
    },
    read: |artifacts| Ok(driver_lines::parse(&read_text(artifacts.results)?)),
    coverage,
    persistent: None,
};

/// Runs every test file where the project has no task of Rake for it.
const ALL_TESTS: &str = "ruby -Ilib -Itest -e 'Dir[\"./test/**/{*_test,test_*}.rb\"].sort.each { |file| require file }'";

/// Whether a command certainly runs tests of Minitest: the task `test` of Rake, or Ruby with test files.
fn runs_minitest(command: &TestCommand) -> bool {
    if ["rake", "rails"].iter().any(|name| command.after(&[name, "test"]).is_some()) {
        return true;
    }
    let Some(at) = command.after(&["ruby"]) else { return false };
    let arguments = command.words().get(at..).unwrap_or_default();
    arguments.iter().any(|word| {
        let word = unquoted(word);
        word == "-Itest" || word == "-rminitest/autorun" || word.ends_with("_test.rb")
    })
}

/// A test file below `test`, as its path from there.
fn test_file(site: &Site) -> Option<String> {
    let below = Site::new(&site.working_folder(), "test");
    let is_test = |name: &str| {
        name.ends_with("_test.rb") || (name.starts_with("test_") && name.ends_with(".rb"))
    };
    let is_helper = |name: &str| name == "test_helper.rb";
    let found = below.find_files(1, &|name| is_test(name) && !is_helper(name), &|_| false);
    let path = found.first()?.strip_prefix(below.working_folder()).ok()?.to_str()?.to_owned();
    Some(path)
}

/// The file that lists this gem: a Gemfile, a gemspec, or the Rakefile with its task.
fn manifest_with(site: &Site, gem: &str) -> Option<String> {
    let listed = ["Gemfile", "gems.rb", "Rakefile"].into_iter().map(str::to_owned);
    let specs = std::fs::read_dir(site.working_folder()).into_iter().flatten().flatten();
    let specs = specs.filter_map(|entry| entry.file_name().into_string().ok());
    let mut specs: Vec<String> = specs.filter(|name| name.ends_with(".gemspec")).collect();
    specs.sort();
    let is_named = |file: &String| {
        site.read_small_text(file).is_some_and(|text| text.to_ascii_lowercase().contains(gem))
    };
    listed.chain(specs).find(is_named)
}

fn has_test_task(site: &Site) -> bool {
    let marks = ["Rake::TestTask", "Minitest::TestTask", "task :test", "task test:"];
    ["Rakefile", "rakefile", "Rakefile.rb"]
        .iter()
        .any(|file| marks.iter().any(|mark| site.file_contains(file, mark)))
}

/// Whether Bundler decides which gems are loaded.
fn is_bundled(site: &Site) -> bool {
    site.has_path("Gemfile.lock") || site.has_path("gems.locked")
}

/// The configured command, else this one, started by Bundler where it has locked the gems.
fn chosen(site: &Site, command: &str) -> TestCommand {
    let own = || {
        let launcher = if is_bundled(site) { "bundle exec " } else { "" };
        TestCommand::new(&format!("{launcher}{command}"))
    };
    site.command.clone().unwrap_or_else(own)
}

fn start(site: &Site, command: &[&str]) -> Vec<String> {
    let launcher = if is_bundled(site) { words(&["bundle", "exec"]) } else { Vec::new() };
    [launcher, words(command)].concat()
}

fn install(site: &Site, gem: &'static str) -> &'static str {
    if site.has_path("Gemfile") || site.has_path("gems.rb") { "run `bundle install`" } else { gem }
}

fn coverage(_: &CoverageRequest<'_>) -> Result<super::adapter::CoverageCommand, String> {
    Err("regreen starts no coverage tool of Ruby; configure `coverage.command`".into())
}
