//! Calls on changed texts of a file in Java: one process compiles each text and makes the calls on it.

use std::time::Duration;

use serde::Deserialize;
use tokio::time::Instant;

use crate::adapter::host::files;
use crate::code::language::Language;
use crate::effect::{Call, ProbeRequest, ProbeResult, RunError};

use super::{CallProgram, CallSource, OUTPUT_LIMIT, RECORDS_LIMIT, STARTS, java, start};
use crate::adapter::suite::io_error::cannot;
use crate::adapter::suite::project_suite::ProjectSuite;

/// The calls that notice one text.
#[derive(Deserialize)]
struct MutantRecord {
    index: usize,
    noticed: Vec<usize>,
}

impl ProjectSuite<'_> {
    /// Makes calls that the compiler accepts on changed texts; `None` in other languages than Java.
    pub(in crate::adapter::suite) async fn probe_compiled(
        &self,
        request: &ProbeRequest<'_>,
    ) -> Result<Option<ProbeResult>, RunError> {
        let observed = &request.observed;
        if Language::of(observed.file) != Some(Language::Java) {
            return Ok(None);
        }
        let until = Instant::now() + request.time;
        let path = observed.root.join(observed.file.as_str());
        let text = files::read(&path, OUTPUT_LIMIT).map_err(cannot("read", &path))?;
        let text = String::from_utf8(text.unwrap_or_default()).unwrap_or_default();
        let scratch = self.settings.scratch.join("calls");
        let folder = self.site(observed.root).working_folder();
        let source = CallSource { request: observed, text: &text, folder, scratch };
        let calls: Vec<(usize, &Call)> = observed.calls.iter().enumerate().collect();
        let Ok(mut program) = java::write_program(&source, &calls) else { return Ok(None) };
        let mutants = source.scratch.join("mutants");
        files::remove_tree(&mutants).map_err(cannot("remove", &mutants))?;
        let mutant_file = |index: usize| {
            mutants.join(index.to_string()).join(format!("{}.java", observed.file.stem()))
        };
        let texts = request.texts.iter().enumerate();
        program.files.extend(texts.map(|(index, text)| (mutant_file(index), text.clone())));
        if self.build(&source, &program).await?.is_some() {
            return Ok(None);
        }
        let mut found: ProbeResult = vec![None; request.texts.len()];
        for _ in 0..STARTS {
            let left = until.saturating_duration_since(Instant::now());
            let next = found.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
            if left.is_zero() || next >= found.len() {
                break;
            }
            let said = self.run_mutants(&source, &program, (next, left)).await?;
            if said.is_empty() {
                break;
            }
            for MutantRecord { index, noticed } in said {
                if let Some(place) = found.get_mut(index) {
                    *place = Some(noticed);
                }
            }
        }
        Ok(Some(found))
    }

    /// Makes the calls on the texts from a number on, until one of them does not end in time.
    async fn run_mutants(
        &self,
        source: &CallSource<'_>,
        program: &CallProgram,
        (first, left): (usize, Duration),
    ) -> Result<Vec<MutantRecord>, RunError> {
        let records = source.scratch.join("records");
        files::remove(&records).map_err(cannot("remove", &records))?;
        let mut invocation = self.watched_child(source.request, program.run.clone())?;
        for (name, value) in [
            ("REGREEN_CALLS", first.to_string()),
            ("REGREEN_LIMIT", format!("{}ms", source.request.limit.as_millis())),
            ("REGREEN_RECORDS", records.display().to_string()),
            ("REGREEN_MUTANTS", source.scratch.join("mutants").display().to_string()),
        ] {
            invocation.environment.insert(name.to_owned(), value);
        }
        start(&invocation, left, &source.scratch.join("calls.log")).await?;
        let bytes =
            files::read_untrusted(&records, RECORDS_LIMIT).map_err(cannot("read", &records))?;
        let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
        Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }
}
