//! End-to-end tests: drives the built program on real repositories, as a person would.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests build the world that the program then meets"
)]
#![cfg_attr(
    not(feature = "slow-tests"),
    allow(dead_code, unused_imports, reason = "some helpers serve slow tests alone")
)]

mod bad_input;
mod bot;
mod characterisation;
mod checkout_content;
mod client_agents;
mod client_install;
mod client_safety;
mod compiled_languages;
mod coverage;
mod crash;
mod ctest_suites;
mod detection;
mod example_verdicts;
mod failing_hooks;
mod fake_github;
mod fake_runners;
mod fix_sessions;
mod frameworks;
mod integration;
mod integration_effects;
mod integration_models;
mod integration_repairs;
mod interrupted_provider_calls;
mod jasmine_suites;
mod large_output;
mod made_for_tests;
mod memory;
mod models;
mod named_commands;
mod objections;
mod php_suites;
mod planning;
#[cfg(feature = "slow-tests")]
mod plugin_matrix;
mod python_environments;
mod python_path;
mod ruby_suites;
mod runner_checkouts;
mod sandbox;
mod sandbox_of_written_tests;
mod session_files;
mod session_page;
mod settings;
mod support;
mod task_files;
mod test_command;
mod test_prompts;
mod test_sessions;
mod test_writing;
mod unfixable;
mod unloaded_tests;
mod validate;
mod warm_python_runner;
mod warm_script_runners;
mod written_checks;
mod written_tests_by_language;
