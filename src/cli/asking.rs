//! Flags about providers, for every verb that may ask them.

use std::path::PathBuf;

use clap::Args;

/// Which models are asked, and what that may cost.
#[derive(Args, Clone, Debug, Default)]
pub struct AskingArguments {
    /// Providers that analyse, write tests and fix, in this order: gemini, qwen, codex, claude, github, a
    /// provider of the configuration, embedded [default: gemini, qwen and codex as far as their
    /// keys are set, then embedded].
    #[arg(long, alias = "engine", value_name = "NAME,NAME", value_delimiter = ',')]
    pub providers: Vec<String>,
    /// Stop at a checkpoint after so many minutes.
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u64).range(1..))]
    pub budget_minutes: Option<u64>,
    /// Spend at most this many dollars on providers, as far as their prices are known.
    #[arg(long, value_name = "USD")]
    pub budget_usd: Option<f64>,
    /// Use at most this many tokens of providers.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub budget_tokens: Option<u64>,
    /// Make at most so many calls to providers.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub budget_calls: Option<u64>,
    /// Record every exchange with a provider in this folder, without keys.
    #[arg(long, value_name = "FOLDER", conflicts_with = "replay")]
    pub record: Option<PathBuf>,
    /// Answer every call from a folder that `--record` wrote; no provider is called.
    #[arg(long, value_name = "FOLDER")]
    pub replay: Option<PathBuf>,
}
