//! What a task file has its writer shown and told: the readers of `pre_analysis`, the steps of
//! `implementation_approach`, and requirements that a person added (specification.md 5.9).

use globset::{Glob, GlobMatcher};

use crate::domain::id::{RepoPath, TreeId};
use crate::domain::test_plan::plan::TestPlan;
use crate::domain::test_plan::reader_command::ReaderCommand;
use crate::domain::test_plan::task::{OnError, TestTask};
use crate::effect::{EffectError, Effects};
use crate::role::prompt::PromptPart;

/// Largest file that is read, in bytes.
const READ_LIMIT: usize = 256 << 10;

/// Lines that a search shows at most, and names of a pattern.
const LISTED: usize = 100;

/// Characters of one line that a search shows.
const LINE: usize = 200;

/// The parts of the prompt and what a person is told about readers that failed; or why the task
/// cannot be done, where a reader failed whose step says so.
pub type TaskSteps = Result<(Vec<PromptPart>, Vec<String>), String>;

/// Runs the readers of a task file on a tree.
pub async fn read_task_steps(
    task: &TestTask,
    plan: &TestPlan,
    tree: &TreeId,
    fx: &Effects<'_>,
) -> Result<TaskSteps, EffectError> {
    let flow = &task.flow_control;
    let (mut parts, mut notices) = (Vec::new(), Vec::new());
    let steps = task.own_steps(plan.all_requirements().map(|(_, one)| one)).iter();
    let lines: String = steps
        .map(|step| format!("{}. {}: {}\n", step.step, step.title, step.description))
        .collect();
    if !lines.is_empty() {
        parts.push(PromptPart::new("The steps of this task", lines, true));
    }
    let added = task.added_requirements().join("\n");
    if !added.is_empty() {
        parts.push(PromptPart::new("Requirements that a person added", added, true));
    }
    if flow.pre_analysis.is_empty() {
        return Ok(Ok((parts, notices)));
    }
    let files = fx.worktree.files(tree).await?;
    for step in &flow.pre_analysis {
        for command in &step.commands {
            let reason = match read(command, &files, tree, fx).await? {
                Ok(text) => {
                    let title = format!("{}: {command}", step.action);
                    parts.push(PromptPart::new(title, text, true));
                    continue;
                }
                Err(reason) => {
                    format!("step {} of {}: `{command}`: {reason}", step.step, task.id)
                }
            };
            match step.on_error {
                OnError::Fail => return Ok(Err(reason)),
                OnError::Continue => notices.push(format!("{reason}; going on without it")),
                OnError::Skip => {
                    notices.push(format!("{reason}; the rest of the step is left out"));
                    break;
                }
            }
        }
    }
    Ok(Ok((parts, notices)))
}

/// What one command reads, or why it reads nothing.
async fn read(
    command: &str,
    files: &[RepoPath],
    tree: &TreeId,
    fx: &Effects<'_>,
) -> Result<Result<String, String>, EffectError> {
    let command = match ReaderCommand::parse(command) {
        Ok(command) => command,
        Err(error) => return Ok(Err(error.to_string())),
    };
    Ok(match command {
        ReaderCommand::Read(file) => text_of(&file, tree, fx).await?,
        ReaderCommand::Glob(pattern) => match Glob::new(&pattern) {
            Ok(glob) => matching(files, &glob.compile_matcher()),
            Err(error) => Err(error.to_string()),
        },
        ReaderCommand::Search { text, place } => {
            let mut lines = Vec::new();
            for file in
                files.iter().filter(|file| place.as_ref().is_none_or(|at| file.is_at_or_below(at)))
            {
                let Ok(content) = text_of(file, tree, fx).await? else { continue };
                let hits = (1..).zip(content.lines()).filter(|(_, line)| line.contains(&text));
                lines.extend(hits.map(|(number, line)| {
                    let line: String = line.trim().chars().take(LINE).collect();
                    format!("{file}:{number}: {line}")
                }));
                if lines.len() > LISTED {
                    break;
                }
            }
            listed(lines).ok_or_else(|| "no line contains it".to_owned())
        }
    })
}

fn matching(files: &[RepoPath], glob: &GlobMatcher) -> Result<String, String> {
    let names = files.iter().filter(|file| glob.is_match(file.as_str()));
    listed(names.map(ToString::to_string).collect()).ok_or_else(|| "no file matches".to_owned())
}

/// The first entries as lines; `None` without any.
fn listed(mut entries: Vec<String>) -> Option<String> {
    if entries.is_empty() {
        return None;
    }
    if entries.len() > LISTED {
        entries.truncate(LISTED);
        entries.push("and more".to_owned());
    }
    Some(entries.join("\n"))
}

/// The text of a file of the tree, or why it has none to show.
async fn text_of(
    file: &RepoPath,
    tree: &TreeId,
    fx: &Effects<'_>,
) -> Result<Result<String, String>, EffectError> {
    let Some(bytes) = fx.worktree.read(tree, file).await? else {
        return Ok(Err("the commit has no such file".to_owned()));
    };
    if bytes.len() > READ_LIMIT {
        return Ok(Err(format!("it is larger than {} KiB", READ_LIMIT >> 10)));
    }
    Ok(String::from_utf8(bytes).map_err(|_error| "it is not UTF-8".to_owned()))
}
