//! Calls in compiled languages: one program makes all calls of a request. A call that the compiler
//! refuses is left out of the next build, and the program starts again behind a call that ends it.

mod go;
mod java;
mod mutants;
mod rust;

pub(super) use java::{ModulePlace, class_path_file};

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::adapter::host::files;
use crate::adapter::host::process::{self, ExitReason, Invocation};
use crate::code::language::Language;
use crate::effect::{Call, Observation, ObserveRequest, RunError};

use super::call_record::CallRecord;
use super::io_error::cannot;
use super::project_suite::ProjectSuite;

/// Time limit of one build, which may compile the dependencies.
const BUILDING: Duration = Duration::from_mins(5);

/// Builds of one program: each leaves out what the compiler refused in the one before.
const BUILDS: usize = 5;

/// How often a program starts again behind a call that ended it.
const STARTS: usize = 24;

/// Calls of one callee that may hang before the others are left out.
const HANGS: usize = 3;

/// Bytes of a file of the program that is compared.
const SOURCE_LIMIT: u64 = 16 << 20;

/// Bytes at the end of a build's output in which messages are looked for, and of all results.
const OUTPUT_LIMIT: u64 = 1 << 20;
const RECORDS_LIMIT: u64 = 64 << 20;

/// The name of each program's file of calls, without its ending.
const CALLS_FILE: &str = "zz_regreen_calls";

/// The file beside the class paths with the other options of the process that runs tests.
pub(super) const JVM_OPTIONS: &str = "jvm-options";

/// What a program is written from.
struct CallSource<'a> {
    request: &'a ObserveRequest<'a>,
    text: &'a str,
    /// Folder of the project in the checkout.
    folder: PathBuf,
    /// Folder for the files of the program.
    scratch: PathBuf,
}

struct CallProgram {
    files: Vec<(PathBuf, String)>,
    /// Where it is built.
    directory: PathBuf,
    /// The commands that build it, one after the other.
    build: Vec<Vec<String>>,
    run: Vec<String>,
    /// The line of the first call in its file; each call has one line.
    first_line: usize,
}

type WriteProgram = fn(&CallSource<'_>, &[(usize, &Call)]) -> Result<CallProgram, String>;

/// The languages whose calls are made by a program, with what writes it.
const WRITERS: &[(Language, WriteProgram)] = &[
    (Language::Go, go::write_program),
    (Language::Java, java::write_program),
    (Language::Rust, rust::write_program),
];

/// Whether a program makes the calls of a language.
pub(super) fn is_compiled(language: Language) -> bool {
    WRITERS.iter().any(|(one, _)| *one == language)
}

impl ProjectSuite<'_> {
    /// Builds a program of the calls and runs it; one observation for each call.
    pub(super) async fn observe_compiled(
        &self,
        request: &ObserveRequest<'_>,
    ) -> Result<Vec<Observation>, RunError> {
        let refuse = |reason: &str| -> Vec<Observation> {
            request.calls.iter().map(|_| Observation::refused(reason)).collect()
        };
        let _turn = self.calls.lock().await;
        let language = Language::of(request.file);
        let writer = WRITERS.iter().find(|(one, _)| Some(*one) == language);
        let path = request.root.join(request.file.as_str());
        let text = files::read(&path, OUTPUT_LIMIT).map_err(cannot("read", &path))?;
        let text = String::from_utf8(text.unwrap_or_default()).unwrap_or_default();
        let Some((_, write)) = writer else { return Ok(refuse("its language is not called")) };
        let scratch = self.settings.scratch.join("calls");
        files::create_folder(&scratch).map_err(cannot("create", &scratch))?;
        let folder = self.site(request.root).working_folder();
        let source = CallSource { request, text: &text, folder, scratch };
        let mut found = refuse("the process that made the call ended");
        let mut open: Vec<usize> = (0..request.calls.len()).collect();
        if request.world.number % 2 == 1 {
            open.reverse();
        }
        for _ in 0..BUILDS {
            let calls: Vec<(usize, &Call)> = open
                .iter()
                .filter_map(|index| Some((*index, request.calls.get(*index)?)))
                .collect();
            if calls.is_empty() {
                return Ok(found);
            }
            let program = match write(&source, &calls) {
                Ok(program) => program,
                Err(reason) => return Ok(refuse(&reason)),
            };
            let Some(output) = self.build(&source, &program).await? else {
                self.make_calls(&source, &program, &open, &mut found).await?;
                return Ok(found);
            };
            let refused = refused_calls(&output, program.first_line);
            let is_refused = |place: usize| refused.contains(&place);
            if !(0..open.len()).any(is_refused) {
                let last = output.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
                tracing::warn!(file = %request.file, last, %output, "a program of calls cannot be built");
                return Ok(refuse("its package cannot be built with calls of it"));
            }
            for (place, index) in open.iter().enumerate().filter(|(place, _)| is_refused(*place)) {
                tracing::debug!(place, index, "the compiler refuses a call");
                if let Some(one) = found.get_mut(*index) {
                    *one = Observation::refused("the compiler refuses the call");
                }
            }
            let mut place = 0;
            open.retain(|_| {
                place += 1;
                !is_refused(place - 1)
            });
        }
        Ok(found)
    }

    /// Writes and builds a program; the output of the compiler if that fails.
    async fn build(
        &self,
        source: &CallSource<'_>,
        program: &CallProgram,
    ) -> Result<Option<String>, RunError> {
        for (path, text) in &program.files {
            let folder = path.parent().unwrap_or(&source.scratch);
            files::create_folder(folder).map_err(cannot("create", folder))?;
            // Compilers go by the time of a file.
            if files::read(path, SOURCE_LIMIT).ok().flatten().as_deref() != Some(text.as_bytes()) {
                let below = path.strip_prefix(&source.scratch);
                let written = match below {
                    Ok(below) => files::write_below(&source.scratch, below, text.as_bytes()),
                    Err(_) => files::write(path, text.as_bytes()),
                };
                written.map_err(cannot("write", path))?;
            }
        }
        let log = source.scratch.join("build.log");
        for argv in &program.build {
            let mut invocation = self.watched_child(source.request, argv.clone())?;
            invocation.directory.clone_from(&program.directory);
            let ending = start(&invocation, BUILDING, &log).await?;
            if ending != ExitReason::Exit(0) {
                return Ok(Some(process::tail_of(&log, OUTPUT_LIMIT)));
            }
        }
        Ok(None)
    }

    /// Runs a program until every one of its calls was made, and enters what they gave.
    async fn make_calls(
        &self,
        source: &CallSource<'_>,
        program: &CallProgram,
        open: &[usize],
        found: &mut [Observation],
    ) -> Result<(), RunError> {
        let records = source.scratch.join("records");
        let limit = source.request.limit;
        let callee = |index: usize| source.request.calls.get(index).map(|call| &call.callee);
        let mut left: Vec<usize> = open.to_vec();
        let mut hung: BTreeMap<&String, usize> = BTreeMap::new();
        for _ in 0..STARTS {
            if left.is_empty() {
                break;
            }
            files::remove(&records).map_err(cannot("remove", &records))?;
            let mut invocation = self.watched_child(source.request, program.run.clone())?;
            let numbers: Vec<String> = left.iter().map(usize::to_string).collect();
            for (name, value) in [
                ("REGREEN_CALLS", numbers.join(",")),
                ("REGREEN_LIMIT", format!("{}ms", limit.as_millis())),
                ("REGREEN_RECORDS", records.display().to_string()),
            ] {
                invocation.environment.insert(name.to_owned(), value);
            }
            let count = u32::try_from(left.len()).unwrap_or(u32::MAX);
            let patience = BUILDING.min(limit * count.saturating_add(10));
            start(&invocation, patience, &source.scratch.join("calls.log")).await?;
            let (made, is_late) = enter_records(&records, found)?;
            if is_late {
                let last = made.checked_sub(1).and_then(|last| left.get(last));
                if let Some(one) = last.and_then(|index| callee(*index)) {
                    *hung.entry(one).or_default() += 1;
                }
            }
            // Without a record of its own, the next call ended the process.
            left.drain(..left.len().min(made + usize::from(!is_late)));
            let is_hung =
                |index: usize| callee(index).and_then(|one| hung.get(one)) >= Some(&HANGS);
            for index in left.extract_if(.., |index| is_hung(*index)) {
                if let Some(one) = found.get_mut(index) {
                    *one = Observation::refused("other calls of it take too long");
                }
            }
        }
        Ok(())
    }
}

async fn start(
    invocation: &Invocation,
    limit: Duration,
    log: &Path,
) -> Result<ExitReason, RunError> {
    process::run(invocation, limit, log).await.map_err(|error| RunError::NotStarted {
        command: invocation.argv.first().cloned().unwrap_or_default(),
        reason: error.to_string(),
    })
}

/// The places of the calls in whose lines the compiler found errors.
fn refused_calls(output: &str, first_line: usize) -> BTreeSet<usize> {
    let line_of = |line: &str| -> Option<usize> {
        let (_, rest) = line.split_once(CALLS_FILE)?;
        let number = rest.split(':').nth(1)?.parse::<usize>().ok()?;
        number.checked_sub(first_line)
    };
    output.lines().filter_map(line_of).collect()
}

/// Enters the records of one run; their number, and whether the last one says why the run ended.
fn enter_records(records: &Path, found: &mut [Observation]) -> Result<(usize, bool), RunError> {
    let bytes = files::read_untrusted(records, RECORDS_LIMIT).map_err(cannot("read", records))?;
    let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
    let (mut made, mut is_late) = (0, false);
    for line in text.lines() {
        let Ok(record) = serde_json::from_str::<CallRecord>(line) else { break };
        let Some(place) = record.index.and_then(|index| found.get_mut(index)) else { break };
        is_late = record.is_late();
        *place = record.into();
        made += 1;
    }
    Ok((made, is_late))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_compilers_name_the_calls_that_they_refuse() {
        let table = [
            ("a/zz_regreen_calls_test.go:12:3: cannot use x", 10, vec![2]),
            (
                "./zz_regreen_calls_test.go:10:3: a\n./zz_regreen_calls_test.go:13:1: b",
                10,
                vec![0, 3],
            ),
            ("tests/zz_regreen_calls.rs:7:5: error[E0308]: mismatched types", 7, vec![0]),
            ("zz_regreen_calls_test.go:3:2: \"fmt\" imported and not used", 10, vec![]),
            ("./shop.go:12:3: undefined: x", 10, vec![]),
        ];
        for (output, first_line, expected) in table {
            let found: Vec<usize> = refused_calls(output, first_line).into_iter().collect();
            assert_eq!(found, expected, "{output}");
        }
    }
}
