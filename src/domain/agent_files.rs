//! Files by which a repository configures coding agents and editors. An agent never sees those of
//! the checkout, and what it does to them is no edit.

use super::id::RepoPath;

/// Folders of settings, hooks, tool servers, skills and instructions, at any depth.
const FOLDERS: &[&str] = &[
    ".agents",
    ".aider",
    ".amazonq",
    ".claude",
    ".clinerules",
    ".codex",
    ".continue",
    ".copilot",
    ".cursor",
    ".gemini",
    ".idea",
    ".junie",
    ".kiro",
    ".opencode",
    ".qwen",
    ".roo",
    ".vscode",
    ".windsurf",
    ".zed",
];

/// Files of settings and instructions, at any depth.
const FILES: &[&str] = &[
    ".aider.conf.yml",
    ".claude.json",
    ".cursorrules",
    ".geminiignore",
    ".goosehints",
    ".mcp.json",
    ".qwenignore",
    ".windsurfrules",
    "agent.md",
    "agents.md",
    "agents.override.md",
    "claude.local.md",
    "claude.md",
    "gemini.md",
    "lsp.json",
    "opencode.json",
    "qwen.md",
];

/// What clients read below `.github`.
const GITHUB: &[&str] = &[
    "agents",
    "copilot",
    "lsp.json",
    "chatmodes",
    "copilot-instructions.md",
    "hooks",
    "instructions",
    "mcp.json",
    "prompts",
    "skills",
];

/// Whether a file configures an agent or editor, or sets its variables (`.env`), upper case too.
pub fn configures_agents(file: &RepoPath) -> bool {
    is_path_of_agents(file.as_str())
}

/// The same for any relative path with `/` between its parts.
pub fn is_path_of_agents(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let parts: Vec<&str> = path.split('/').collect();
    let github =
        parts.windows(2).any(|pair| matches!(pair, [".github", below] if GITHUB.contains(below)));
    let name = parts.last().copied().unwrap_or_default();
    github
        || parts.iter().any(|part| FOLDERS.contains(part))
        || FILES.contains(&name)
        || name == ".env"
        || name.starts_with(".env.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_and_instructions_are_recognised_at_any_depth() {
        let table = [
            (".env", true),
            ("web/.env.local", true),
            (".claude/settings.json", true),
            ("shop/.gemini/settings.json", true),
            ("AGENTS.md", true),
            ("docs/Claude.md", true),
            (".github/hooks/x.json", true),
            (".github/copilot-instructions.md", true),
            (".agents/skills/a/SKILL.md", true),
            (".mcp.json", true),
            (".github/copilot/settings.json", true),
            (".github/lsp.json", true),
            (".github/workflows/ci.yml", false),
            ("environment.py", false),
            ("shop/claude.py", false),
            ("docs/agents.md.txt", false),
            ("src/hooks/mcp.json", false),
            (".environment/a", false),
        ];
        for (path, expected) in table {
            assert_eq!(configures_agents(&RepoPath::parse(path).unwrap()), expected, "{path}");
        }
    }
}
