//! Table of the supported command-line clients with their arguments and parsers, verified by
//! running them (see `docs/providers.md`).

use std::path::Path;

use crate::adapter::model::protocol::ParsedAnswer;
use crate::domain::provider::ClientProgram;
use crate::effect::ModelErrorKind;

use super::output;

/// What a client's command line depends on, besides the question.
pub struct ClientTask<'a> {
    /// The model; `None` leaves the choice to the client.
    pub model: Option<&'a str>,
    pub base_url: Option<&'a str>,
    /// Whether the client edits files in its working folder.
    pub agent: bool,
    pub home: &'a Path,
}

/// How one client is started and its output is read.
pub struct CliRow {
    pub name: &'static str,
    pub package: &'static str,
    /// Oldest version that supports these arguments.
    pub least: Version,
    pub key: &'static str,
    pub arguments: fn(&ClientTask<'_>) -> Vec<String>,
    pub environment: fn(&ClientTask<'_>) -> Vec<(String, String)>,
    /// Files in its home, with their contents.
    pub home: &'static [(&'static str, &'static str)],
    /// A log file in its home that shows its retries.
    pub log: Option<&'static str>,
    /// Parses its output. An error without a kind is classified by its wording.
    pub parse: fn(&str, &str) -> Result<ParsedAnswer, Option<ModelErrorKind>>,
}

/// A version as major, minor and patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

pub fn row(program: ClientProgram) -> &'static CliRow {
    match program {
        ClientProgram::Gemini => &GEMINI,
        ClientProgram::Qwen => &QWEN,
        ClientProgram::Codex => &CODEX,
        ClientProgram::Claude => &CLAUDE,
    }
}

const GEMINI: CliRow = CliRow {
    name: "gemini",
    package: "@google/gemini-cli",
    least: Version(0, 20, 0),
    key: "GEMINI_API_KEY",
    arguments: |task| {
        let mut list = words("-o json --skip-trust -e none --approval-mode");
        list.push(if task.agent { "auto_edit" } else { "plan" }.into());
        list.extend(words("-p"));
        list.push("Do what stands on standard input.".into());
        list.extend(model("-m", task));
        list
    },
    environment: |task| base("GOOGLE_GEMINI_BASE_URL", task),
    // One attempt, no telemetry, no update, no login prompt. The file of instructions gets a name
    // that no file has, so that the repository cannot supply any.
    home: &[(
        ".gemini/settings.json",
        r#"{"security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"enableAutoUpdate":false,"maxAttempts":1,"retryFetchErrors":false},"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false},"context":{"fileName":"no-such-file-for-regreen"}}"#,
    )],
    log: None,
    parse: output::gemini,
};

const QWEN: CliRow = CliRow {
    name: "qwen",
    package: "@qwen-code/qwen-code",
    least: Version(0, 15, 0),
    key: "OPENAI_API_KEY",
    arguments: |task| {
        let mut list = words("--bare -o json --auth-type openai --approval-mode");
        list.push(if task.agent { "auto-edit" } else { "plan" }.into());
        list.extend(words("--exclude-tools run_shell_command"));
        list.extend(model("-m", task));
        list
    },
    environment: |task| base("OPENAI_BASE_URL", task),
    home: &[],
    log: Some(".qwen/debug/latest"),
    parse: output::qwen,
};

const CODEX: CliRow = CliRow {
    name: "codex",
    package: "@openai/codex",
    least: Version(0, 100, 0),
    key: "OPENAI_API_KEY",
    arguments: |task| {
        let mut list =
            words("exec --json --skip-git-repo-check --ephemeral -c project_doc_max_bytes=0 -s");
        list.push(if task.agent { "workspace-write" } else { "read-only" }.into());
        list.extend(model("-m", task));
        let url = task.base_url.unwrap_or("https://api.openai.com/v1");
        list.extend(words("-c model_provider=regreen -c"));
        // The quotes would end the string; an address from the configuration needs none.
        list.push(format!(
            "model_providers.regreen={{name=\"regreen\",base_url=\"{}\",env_key=\"OPENAI_API_KEY\",wire_api=\"responses\",request_max_retries=0,stream_max_retries=0}}",
            url.replace(['"', '\\', '\n'], "")
        ));
        list.push("-".into());
        list
    },
    environment: |task| vec![("CODEX_HOME".into(), task.home.join(".codex").display().to_string())],
    home: &[(".codex/config.toml", "")],
    log: None,
    parse: output::codex,
};

const CLAUDE: CliRow = CliRow {
    name: "claude",
    package: "@anthropic-ai/claude-code",
    least: Version(2, 1, 0),
    key: "ANTHROPIC_API_KEY",
    arguments: |task| {
        let mut list = words("-p --bare --output-format json");
        if task.agent {
            list.extend(words("--permission-mode acceptEdits --tools Read,Edit,Write,Glob,Grep"));
        } else {
            list.extend(words("--tools"));
            list.push(String::new());
        }
        list.extend(model("--model", task));
        list
    },
    environment: |task| {
        let mut list = base("ANTHROPIC_BASE_URL", task);
        list.push(("CLAUDE_CODE_MAX_RETRIES".into(), "0".into()));
        list.push(("DISABLE_TELEMETRY".into(), "1".into()));
        list.push(("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC".into(), "1".into()));
        list
    },
    home: &[],
    log: None,
    parse: output::claude,
};

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn model(flag: &str, task: &ClientTask<'_>) -> Vec<String> {
    task.model.map(|model| vec![flag.to_owned(), model.to_owned()]).unwrap_or_default()
}

fn base(variable: &str, task: &ClientTask<'_>) -> Vec<(String, String)> {
    task.base_url.map(|url| (variable.to_owned(), url.to_owned())).into_iter().collect()
}
