//! `regreen clients install`: the pinned versions, where sessions find them.

use super::support::{Ran, TestRepo};

#[test]
fn without_npm_the_error_says_what_is_missing() {
    let repo = TestRepo::new(&[("a.py", "a = 1\n")]);
    let path = repo.around().join("empty");
    std::fs::create_dir(&path).unwrap();
    let mut command = repo.command();
    let output = command.env("PATH", path).args(["clients", "install", "codex"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(error.contains("`npm` is not installed"), "{error}");
    let output = repo.regreen(&["clients", "install", "clippy"]);
    assert_eq!(output.code, Some(2));
    assert!(output.err.contains("gemini, qwen, codex, claude, copilot"), "{}", output.err);
}

#[test]
fn a_registry_that_is_away_leaves_nothing() {
    let repo = TestRepo::new(&[("a.py", "a = 1\n")]);
    let mut command = repo.command();
    command.env("npm_config_registry", "http://127.0.0.1:9/").env("npm_config_fetch_retries", "0");
    let output = command.args(["clients", "install", "copilot"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(error.contains("@github/copilot@1.0.102"), "{error}");
    let clients = repo.around().join("work/clients");
    let left: Vec<_> = std::fs::read_dir(clients).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "downloads clients with npm"]
fn an_installed_client_is_found_by_sessions() {
    let repo = TestRepo::new(&[("a.py", "a = 1\n")]);
    let text = "providers: [claude-client, codex-client, embedded]\n";
    repo.write(&[(".github/regreen.yml", text)]);
    // The settings of npm on this machine, which lead to the registry.
    let is_of_npm = |name: &str| {
        let name = name.to_ascii_lowercase();
        name.starts_with("npm_config_") || name.ends_with("_proxy") || name.ends_with("_ca_certs")
    };
    let settings = || std::env::vars().filter(|(name, _)| name == "HOME" || is_of_npm(name));
    let mut command = repo.command();
    let first = ["clients", "install", "claude", "codex", "--json"];
    let installed: Ran = command.envs(settings()).args(first).output().unwrap().into();
    assert_eq!(installed.code, Some(0), "{}", installed.err);
    let clients = &installed.document()["clients"];
    assert_eq!(clients[0]["client"], "claude");
    assert!(clients[0]["program"].as_str().unwrap().ends_with("node_modules/.bin/claude"));
    // A second time, nothing is downloaded.
    let again = repo.regreen(&["clients", "install", "claude", "codex"]);
    assert!(again.out.contains("claude-2.1.197/node_modules/.bin/claude"), "{}", again.out);
    let mut command = repo.command();
    command.env("ANTHROPIC_API_KEY", "k-0123456789").env("OPENAI_API_KEY", "k-0123456789");
    let output = command.arg("doctor").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("its client is version 2.1.197"), "{text}");
    assert!(text.contains("its client is version 0.169.0"), "{text}");
}
