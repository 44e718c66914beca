//! The clients: how each is told what to do, verified by running it (see `docs/providers.md`).

use std::path::Path;

use crate::adapter::model::http::Told;
use crate::domain::provider::ClientProgram;
use crate::effect::ModelErrorKind;

use super::read;

/// What a client is told besides the question.
pub struct Work<'a> {
    /// The model; the client decides without one.
    pub model: Option<&'a str>,
    /// Where the model is.
    pub base_url: Option<&'a str>,
    /// Whether it edits the folder it works in.
    pub agent: bool,
    /// Its private home.
    pub home: &'a Path,
}

/// One client.
pub struct Row {
    /// Which.
    pub program: ClientProgram,
    /// Name of its program.
    pub name: &'static str,
    /// Where it comes from.
    pub package: &'static str,
    /// Oldest version that takes these arguments.
    pub least: (u32, u32, u32),
    /// Variable of its key.
    pub key: &'static str,
    /// Its arguments.
    pub arguments: fn(&Work<'_>) -> Vec<String>,
    /// Its variables, besides the key.
    pub environment: fn(&Work<'_>) -> Vec<(String, String)>,
    /// What it reads in its home.
    pub home: &'static [(&'static str, &'static str)],
    /// A log in its home that tells of its own retries.
    pub log: Option<&'static str>,
    /// The answer in what it printed; an error without a kind is told by its words.
    pub read: fn(&str, &str) -> Result<Told, Option<ModelErrorKind>>,
}

/// All clients.
#[cfg(test)]
pub const CLIENTS: &[Row] = &[GEMINI, QWEN, CODEX, CLAUDE];

/// The row of a client.
pub fn row(program: ClientProgram) -> &'static Row {
    match program {
        ClientProgram::Gemini => &GEMINI,
        ClientProgram::Qwen => &QWEN,
        ClientProgram::Codex => &CODEX,
        ClientProgram::Claude => &CLAUDE,
    }
}

const GEMINI: Row = Row {
    program: ClientProgram::Gemini,
    name: "gemini",
    package: "@google/gemini-cli",
    least: (0, 20, 0),
    key: "GEMINI_API_KEY",
    arguments: |work| {
        let mut list = words("-o json --skip-trust -e none --approval-mode");
        list.push(if work.agent { "auto_edit" } else { "plan" }.into());
        list.extend(words("-p"));
        list.push("Do what stands on standard input.".into());
        list.extend(model("-m", work));
        list
    },
    environment: |work| base("GOOGLE_GEMINI_BASE_URL", work),
    // One attempt, no telemetry, no update, and no question how to log in. Instructions that
    // the repository brings are looked for under a name that no file has.
    home: &[(
        ".gemini/settings.json",
        r#"{"security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"enableAutoUpdate":false,"maxAttempts":1,"retryFetchErrors":false},"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false},"context":{"fileName":"no-such-file-for-regreen"}}"#,
    )],
    log: None,
    read: read::gemini,
};

const QWEN: Row = Row {
    program: ClientProgram::Qwen,
    name: "qwen",
    package: "@qwen-code/qwen-code",
    least: (0, 15, 0),
    key: "OPENAI_API_KEY",
    arguments: |work| {
        let mut list = words("--bare -o json --auth-type openai --approval-mode");
        list.push(if work.agent { "auto-edit" } else { "plan" }.into());
        list.extend(words("--exclude-tools run_shell_command"));
        list.extend(model("-m", work));
        list
    },
    environment: |work| base("OPENAI_BASE_URL", work),
    home: &[],
    log: Some(".qwen/debug/latest"),
    read: read::qwen,
};

const CODEX: Row = Row {
    program: ClientProgram::Codex,
    name: "codex",
    package: "@openai/codex",
    least: (0, 100, 0),
    key: "OPENAI_API_KEY",
    arguments: |work| {
        let mut list =
            words("exec --json --skip-git-repo-check --ephemeral -c project_doc_max_bytes=0 -s");
        list.push(if work.agent { "workspace-write" } else { "read-only" }.into());
        list.extend(model("-m", work));
        let url = work.base_url.unwrap_or("https://api.openai.com/v1");
        list.extend(words("-c model_provider=regreen -c"));
        // The address comes from the configuration and holds no quotes there.
        list.push(format!(
            "model_providers.regreen={{name=\"regreen\",base_url=\"{}\",env_key=\"OPENAI_API_KEY\",wire_api=\"responses\",request_max_retries=0,stream_max_retries=0}}",
            url.replace(['"', '\\', '\n'], "")
        ));
        list.push("-".into());
        list
    },
    environment: |work| vec![("CODEX_HOME".into(), work.home.join(".codex").display().to_string())],
    home: &[(".codex/config.toml", "")],
    log: None,
    read: read::codex,
};

const CLAUDE: Row = Row {
    program: ClientProgram::Claude,
    name: "claude",
    package: "@anthropic-ai/claude-code",
    least: (2, 1, 0),
    key: "ANTHROPIC_API_KEY",
    arguments: |work| {
        let mut list = words("-p --bare --output-format json");
        if work.agent {
            list.extend(words("--permission-mode acceptEdits --tools Read,Edit,Write,Glob,Grep"));
        } else {
            list.extend(words("--tools"));
            list.push(String::new());
        }
        list.extend(model("--model", work));
        list
    },
    environment: |work| {
        let mut list = base("ANTHROPIC_BASE_URL", work);
        list.push(("CLAUDE_CODE_MAX_RETRIES".into(), "0".into()));
        list.push(("DISABLE_TELEMETRY".into(), "1".into()));
        list.push(("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC".into(), "1".into()));
        list
    },
    home: &[],
    log: None,
    read: read::claude,
};

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn model(flag: &str, work: &Work<'_>) -> Vec<String> {
    work.model.map(|model| vec![flag.to_owned(), model.to_owned()]).unwrap_or_default()
}

fn base(variable: &str, work: &Work<'_>) -> Vec<(String, String)> {
    work.base_url.map(|url| (variable.to_owned(), url.to_owned())).into_iter().collect()
}
