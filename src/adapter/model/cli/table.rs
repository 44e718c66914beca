//! Table of the supported command-line clients with their arguments, settings and parsers, verified
//! by running them (see `docs/providers.md`).

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::domain::budget::{SpendingLimits, Usage};
use crate::domain::provider::ClientProgram;

use super::output::{self, ParseResult};

/// What a client's command line depends on, besides the question.
pub struct ClientTask<'a> {
    /// The model; `None` leaves the choice to the client.
    pub model: Option<&'a str>,
    /// The base URL that it is to use.
    pub base_url: &'a str,
    /// Whether it connects to the vendor by itself, not to the base URL.
    pub connects_itself: bool,
    /// Whether the client edits files in its working folder. Otherwise it gets no tools.
    pub agent: bool,
    /// The role and the rules of the answer; takes the place of the client's own system prompt. An
    /// agent keeps its own, which describes its tools.
    pub system: &'a str,
    /// A file with the same text.
    pub system_file: &'a Path,
    pub home: &'a Path,
    /// What it may spend.
    pub left: SpendingLimits,
    /// Whether its requests cost what the vendor's list says, which a client may know.
    pub is_list_price: bool,
    /// Time limit of the question.
    pub limit: Duration,
    pub version: Version,
    /// Whether the kernel confines the client, so that it needs no sandbox, which would not nest.
    pub is_confined: bool,
}

/// What starts a client.
#[derive(Debug)]
pub struct CommandLine {
    /// Arguments after the program's name.
    pub arguments: Vec<String>,
    pub environment: Vec<(&'static str, String)>,
    /// Files in its home, with their contents.
    pub files: Vec<(&'static str, String)>,
    /// The variable in which it looks for the key.
    pub key: &'static str,
}

/// How one client is started and its output is read.
pub struct CliRow {
    pub name: &'static str,
    pub package: &'static str,
    /// The version that the tests run: the one that is installed, and the oldest that is accepted.
    pub version: Version,
    /// A script of the package that puts its program in place. Others are not run.
    pub install_script: Option<&'static str>,
    /// The vendor's base URL.
    pub base_url: &'static str,
    /// Hosts to which it connects by itself, with its key, where no base URL is configured: for a
    /// client whose own service has no base URL.
    pub tunnels: &'static [&'static str],
    /// Whether our system prompt takes the place of its own in answer mode.
    pub takes_system_prompt: bool,
    pub command_line: fn(&ClientTask<'_>) -> CommandLine,
    /// Its exit code when it ends itself at the time limit that it was given.
    pub out_of_time: Option<i32>,
    /// A file in its home with its usage, which is parsed after its output.
    pub usage_file: Option<&'static str>,
    /// Parses its output and standard error.
    pub parse: fn(&str, &str) -> ParseResult,
    /// The tokens of all its requests, as its output has them.
    pub usage: fn(&str) -> Usage,
}

/// A version as major, minor and patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(major, minor, patch) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

pub fn row(program: ClientProgram) -> &'static CliRow {
    match program {
        ClientProgram::Gemini => &GEMINI,
        ClientProgram::Qwen => &QWEN,
        ClientProgram::Codex => &CODEX,
        ClientProgram::Claude => &CLAUDE,
        ClientProgram::Copilot => &COPILOT,
    }
}

/// Requests of an agent whose client takes no limit of money or time. A fix needs a few dozen.
const TURNS: u32 = 100;

/// Tools that no agent of Gemini gets: running, searching, starting agents, changing itself.
const GEMINI_OFF: &[&str] = &[
    "run_shell_command",
    "web_fetch",
    "google_web_search",
    "save_memory",
    "invoke_agent",
    "enter_plan_mode",
    "update_topic",
];

const GEMINI: CliRow = CliRow {
    name: ClientProgram::Gemini.word(),
    package: "@google/gemini-cli",
    version: Version(0, 61, 0),
    install_script: None,
    base_url: "https://generativelanguage.googleapis.com",
    tunnels: &[],
    takes_system_prompt: true,
    command_line: |task| {
        let mut arguments = words("-o json --skip-trust -e none");
        if task.agent {
            arguments.extend(words("--approval-mode auto_edit"));
        }
        arguments.extend(words("-p"));
        arguments.push("Do what stands on standard input.".into());
        arguments.extend(model("-m", task));
        let mut of_model = json!({ "disableLoopDetection": true });
        if task.agent {
            of_model["maxSessionTurns"] = TURNS.into();
        }
        let tools = if task.agent {
            json!({ "exclude": GEMINI_OFF, "discoveryCommand": "" })
        } else {
            json!({ "core": ["none"], "discoveryCommand": "" })
        };
        // One attempt, no telemetry, no update, no login prompt, no hooks, no tool servers, and
        // instructions only from a file that no repository has.
        let settings = json!({
            "security": { "auth": { "selectedType": "gemini-api-key" } },
            "general": { "enableAutoUpdate": false, "maxAttempts": 1, "retryFetchErrors": false },
            "model": of_model,
            "privacy": { "usageStatisticsEnabled": false },
            "telemetry": { "enabled": false },
            "hooksConfig": { "enabled": false },
            "admin": { "mcp": { "enabled": false } },
            "mcp": { "allowed": ["none"] },
            "skills": { "enabled": false },
            "context": { "fileName": "no-such-file-for-regreen" },
            "tools": tools,
        });
        let mut environment = vec![
            ("GOOGLE_GEMINI_BASE_URL", task.base_url.to_owned()),
            ("GEMINI_CLI_NO_RELAUNCH", "true".into()),
            ("GEMINI_SANDBOX", "false".into()),
            // The settings of the machine win over all others.
            (
                "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
                task.home.join(".gemini/settings.json").display().to_string(),
            ),
        ];
        if !task.agent {
            environment.push(("GEMINI_SYSTEM_MD", task.system_file.display().to_string()));
        }
        let files = vec![(".gemini/settings.json", settings.to_string())];
        CommandLine { arguments, environment, files, key: "GEMINI_API_KEY" }
    },
    out_of_time: None,
    usage_file: None,
    parse: output::gemini,
    usage: output::gemini_usage,
};

/// The first version of Qwen Code that limits its time.
const WALL_TIME: Version = Version(0, 24, 0);

const QWEN: CliRow = CliRow {
    name: ClientProgram::Qwen.word(),
    package: "@qwen-code/qwen-code",
    version: Version(0, 15, 10),
    install_script: None,
    base_url: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    tunnels: &[],
    takes_system_prompt: true,
    command_line: |task| {
        let mut arguments = words("--bare -o json --auth-type openai");
        let refused = if task.agent {
            arguments.extend(words("--approval-mode auto-edit"));
            "run_shell_command,web_fetch,web_search,get_goal,update_goal"
        } else {
            arguments.extend(["--system-prompt".to_owned(), task.system.to_owned()]);
            "read_file,edit,notebook_edit,write_file,run_shell_command,get_goal,update_goal"
        };
        arguments.extend(["--exclude-tools".to_owned(), refused.to_owned()]);
        if task.version >= WALL_TIME {
            arguments.push("--max-wall-time".into());
            arguments.push(format!("{}s", task.limit.as_secs().max(1)));
        } else if task.agent {
            arguments.extend(["--max-session-turns".to_owned(), TURNS.to_string()]);
        }
        arguments.extend(model("-m", task));
        let mut environment = vec![
            ("OPENAI_BASE_URL", task.base_url.to_owned()),
            ("QWEN_USAGE_STATISTICS_ENABLED", "false".into()),
            ("QWEN_SANDBOX", "false".into()),
        ];
        environment.extend(task.model.map(|model| ("OPENAI_MODEL", model.to_owned())));
        let settings = json!({
            "privacy": { "usageStatisticsEnabled": false },
            "telemetry": { "enabled": false },
            "general": { "enableAutoUpdate": false, "disableAutoUpdate": true },
        });
        let files = vec![(".qwen/settings.json", settings.to_string())];
        CommandLine { arguments, environment, files, key: "OPENAI_API_KEY" }
    },
    out_of_time: Some(55),
    usage_file: None,
    parse: output::qwen,
    usage: output::qwen_usage,
};

/// Everything of Codex that calls home, reads instructions, or acts besides answering.
const CODEX_OFF: &[&str] = &[
    "project_doc_max_bytes=0",
    "analytics.enabled=false",
    "check_for_update_on_startup=false",
    "web_search=\"disabled\"",
    "shell_environment_policy.inherit=\"core\"",
    "features.unbounded_connection_retries=false",
    "features.plugins=false",
    "features.apps=false",
    "features.goals=false",
    "features.multi_agent=false",
    "features.tool_search=false",
    "features.view_image=false",
    "tools.experimental_request_user_input.enabled=false",
    "tools.update_plan.enabled=false",
];

const CODEX: CliRow = CliRow {
    name: ClientProgram::Codex.word(),
    package: "@openai/codex",
    version: Version(0, 169, 0),
    install_script: None,
    base_url: "https://api.openai.com/v1",
    tunnels: &[],
    takes_system_prompt: true,
    command_line: |task| {
        let mut arguments = words(
            "exec --json --ephemeral --ignore-user-config --ignore-rules --skip-git-repo-check -s",
        );
        arguments.push(
            match (task.agent, task.is_confined) {
                (false, _) => "read-only",
                (true, true) => "danger-full-access",
                (true, false) => "workspace-write",
            }
            .into(),
        );
        arguments.extend(model("-m", task));
        let mut set = |value: String| arguments.extend(["-c".to_owned(), value]);
        for off in CODEX_OFF {
            set((*off).to_owned());
        }
        if !task.agent {
            set("features.shell_tool=false".into());
            set("features.unified_exec=false".into());
            set(format!("model_instructions_file={}", json!(task.system_file)));
        }
        set("model_provider=\"regreen\"".into());
        // A JSON string is a TOML string.
        set(format!(
            "model_providers.regreen={{name=\"regreen\",base_url={},env_key=\"OPENAI_API_KEY\",wire_api=\"responses\",request_max_retries=0,stream_max_retries=0,stream_idle_timeout_ms=60000}}",
            json!(task.base_url)
        ));
        arguments.push("-".into());
        let home = task.home.join(".codex").display().to_string();
        CommandLine {
            arguments,
            environment: vec![("CODEX_HOME", home)],
            files: vec![(".codex/config.toml", String::new())],
            key: "OPENAI_API_KEY",
        }
    },
    out_of_time: None,
    usage_file: None,
    parse: output::codex,
    usage: output::codex_usage,
};

const CLAUDE: CliRow = CliRow {
    name: ClientProgram::Claude.word(),
    package: "@anthropic-ai/claude-code",
    version: Version(2, 1, 197),
    install_script: Some("install.cjs"),
    base_url: "https://api.anthropic.com",
    tunnels: &[],
    takes_system_prompt: true,
    command_line: |task| {
        // Without `--setting-sources`, the `env` of a checkout's settings wins over ours.
        let mut arguments = words("-p --bare --no-session-persistence --output-format json");
        arguments.extend(["--setting-sources".to_owned(), String::new()]);
        if task.agent {
            arguments
                .extend(words("--permission-mode acceptEdits --tools Read,Edit,Write,Glob,Grep"));
            arguments.extend(words("--disallowed-tools Bash,WebFetch,WebSearch,Task"));
        } else {
            arguments.extend(["--tools".to_owned(), String::new()]);
            arguments.extend(["--system-prompt".to_owned(), task.system.to_owned()]);
        }
        // It counts by its own list, in which it takes an unknown model for a dear one.
        let counts_right =
            task.is_list_price && task.model.is_some_and(|model| model.contains("claude"));
        if let Some(left) = task.left.micro_usd.filter(|_| counts_right) {
            arguments.extend(["--max-budget-usd".to_owned(), decimal(left.max(1))]);
        }
        arguments.extend(model("--model", task));
        let environment = vec![
            ("ANTHROPIC_BASE_URL", task.base_url.to_owned()),
            ("CLAUDE_CODE_MAX_RETRIES", "0".into()),
            ("DISABLE_TELEMETRY", "1".into()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
        ];
        CommandLine { arguments, environment, files: Vec::new(), key: "ANTHROPIC_API_KEY" }
    },
    out_of_time: None,
    usage_file: None,
    parse: output::claude,
    usage: output::claude_usage,
};

/// What one of GitHub's AI credits costs, in millionths of a dollar.
const CREDIT: u64 = 10_000;

/// The lowest limit of AI credits that Copilot accepts.
const LEAST_CREDITS: u64 = 30;

/// Where Copilot writes its statistics, below its home.
const USAGE: &str = "usage.json";

const COPILOT: CliRow = CliRow {
    name: ClientProgram::Copilot.word(),
    package: "@github/copilot",
    version: Version(1, 0, 102),
    install_script: None,
    base_url: "https://api.github.com",
    tunnels: &["api.github.com", ".githubcopilot.com"],
    takes_system_prompt: false,
    command_line: |task| {
        let mut arguments = words("--output-format json --no-color --no-custom-instructions");
        arguments.extend(words("--disable-builtin-mcps --no-ask-user --no-auto-update"));
        arguments.extend(words("--disable-client-telemetry --stream off"));
        arguments.push("--usage-output-file".into());
        arguments.push(task.home.join(USAGE).display().to_string());
        arguments.extend(words(if task.agent {
            "--available-tools view create edit glob grep --allow-tool write --deny-tool shell --deny-tool url"
        } else {
            "--available-tools none"
        }));
        if let Some(left) = task.left.micro_usd {
            let credits = (left / CREDIT).max(LEAST_CREDITS);
            arguments.extend(["--max-ai-credits".to_owned(), credits.to_string()]);
        }
        arguments.extend(model("--model", task));
        let mut environment =
            vec![("COPILOT_HOME", task.home.join(".copilot").display().to_string())];
        let key = if task.connects_itself { "GITHUB_TOKEN" } else { "COPILOT_PROVIDER_API_KEY" };
        if !task.connects_itself {
            environment.push(("COPILOT_PROVIDER_BASE_URL", task.base_url.to_owned()));
            environment.push(("COPILOT_OFFLINE", "true".into()));
            environment.extend(task.model.map(|model| ("COPILOT_MODEL", model.to_owned())));
        }
        CommandLine { arguments, environment, files: Vec::new(), key }
    },
    out_of_time: None,
    usage_file: Some(USAGE),
    parse: output::copilot,
    usage: output::copilot_usage,
};

/// Millionths of a dollar as dollars.
fn decimal(micro_usd: u64) -> String {
    format!("{}.{:06}", micro_usd / 1_000_000, micro_usd % 1_000_000)
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn model(flag: &str, task: &ClientTask<'_>) -> Vec<String> {
    task.model.map(|model| vec![flag.to_owned(), model.to_owned()]).unwrap_or_default()
}
