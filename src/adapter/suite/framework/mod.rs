//! The table of test frameworks: how each is detected, run, measured and read.
//!
//! A new framework is a variant of [`Framework`], a file here, and its row in [`adapter()`].

mod adapter;
mod bazel;
mod cargo_test;
mod command;
mod ctest;
mod dotnet;
mod go_test;
mod gradle;
mod jasmine;
mod jest;
mod maven;
mod mocha;
mod named_commands;
mod nextest;
mod node_test;
mod npm_script;
mod phpunit;
mod pytest;
mod python_command;
mod ruby;
mod site;
mod tap_runners;
#[cfg(test)]
mod tests;
mod unittest;

use crate::domain::framework::Framework;

pub use adapter::{
    CoverageCommand, CoverageRequest, FrameworkAdapter, PersistentRunner, ReportLocation,
    RunArtifacts, RunFiles, SAMPLES, Site, Tracer, heads, read_text, shell_argv, words,
};
pub use cargo_test::crate_folders;
pub use command::matching_files;
pub use go_test::{go_module, go_test_name};
pub use named_commands::{NamedRunner, find as named_runner};
pub use nextest::profile_settings;
pub use npm_script::{find_whole as whole_npm_script, starts_framework};
pub use pytest::{is_certain as is_certainly_pytest, plugins_of_settings};
pub use python_command::PythonCommand;

pub use unittest::is_django;

/// The order in which frameworks are detected, the strongest signal first. A configured command
/// that matches none of them is [`Framework::Command`].
pub const DETECTION_ORDER: [Framework; 21] = [
    Framework::Vitest,
    Framework::Jest,
    Framework::NodeTest,
    Framework::Mocha,
    Framework::Jasmine,
    Framework::Ava,
    Framework::NodeTap,
    Framework::Tape,
    Framework::Pytest,
    Framework::Unittest,
    Framework::Rspec,
    Framework::Minitest,
    Framework::Phpunit,
    Framework::Nextest,
    Framework::CargoTest,
    Framework::GoTest,
    Framework::Maven,
    Framework::Gradle,
    Framework::Ctest,
    Framework::Dotnet,
    Framework::Bazel,
];

/// The table row of a framework.
pub fn adapter(framework: Framework) -> &'static FrameworkAdapter {
    match framework {
        Framework::Pytest => &pytest::ADAPTER,
        Framework::Unittest => &unittest::ADAPTER,
        Framework::NodeTest => &node_test::ADAPTER,
        Framework::Jest => &jest::JEST,
        Framework::Vitest => &jest::VITEST,
        Framework::Mocha => &mocha::ADAPTER,
        Framework::Ava => &tap_runners::AVA,
        Framework::NodeTap => &tap_runners::NODE_TAP,
        Framework::Tape => &tap_runners::TAPE,
        Framework::CargoTest => &cargo_test::ADAPTER,
        Framework::Nextest => &nextest::ADAPTER,
        Framework::GoTest => &go_test::ADAPTER,
        Framework::Maven => &maven::ADAPTER,
        Framework::Gradle => &gradle::ADAPTER,
        Framework::Rspec => &ruby::RSPEC,
        Framework::Minitest => &ruby::MINITEST,
        Framework::Phpunit => &phpunit::ADAPTER,
        Framework::Ctest => &ctest::ADAPTER,
        Framework::Jasmine => &jasmine::ADAPTER,
        Framework::Dotnet => &dotnet::ADAPTER,
        Framework::Bazel => &bazel::ADAPTER,
        Framework::Command => &command::ADAPTER,
    }
}
