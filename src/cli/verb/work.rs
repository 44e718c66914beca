//! `regreen work`: runs the job that another process writes to standard input, as one JSON document.

use std::io::{self, Read};

use crate::adapter::host::environment;
use crate::adapter::host::process::{self, WITH_PARENT};
use crate::app::{self, AppError, Job};
use crate::cli::progress::Terminal;

use super::{code_of, fix, integration, plan, validate};

/// Largest job that is read, in bytes.
const LIMIT: u64 = 1 << 20;

/// Runs the verb: one JSON document on standard output, all else on standard error.
pub async fn run() -> Result<u8, AppError> {
    if environment::variable(WITH_PARENT).is_some() {
        process::end_with_parent();
    }
    let screen = Terminal::of_worker();
    match read(io::stdin().lock())? {
        Job::Fix(request) => fix::show(&request, &screen, true).await,
        Job::Plan(request) => Ok(plan::show(&app::plan(&request, &screen).await?, true)),
        Job::Test(request) => Ok(plan::show(&app::test(&request, &screen).await?, true)),
        Job::Integration(request) => {
            let end = Box::pin(app::write_integration_tests(&request, &screen)).await?;
            Ok(integration::print_end(&end, true))
        }
        Job::Validate(request) => {
            let outcome = app::validate(&request).await?;
            validate::show(&outcome.report, true);
            Ok(code_of(outcome.met))
        }
    }
}

fn read(input: impl Read) -> Result<Job, AppError> {
    let mut text = Vec::new();
    let refused = |reason: String| {
        AppError::usage(
            format!("standard input holds no job: {reason}"),
            "write the JSON document of one job to it",
        )
    };
    input.take(LIMIT).read_to_end(&mut text).map_err(|error| refused(error.to_string()))?;
    Job::from_json(&text).map_err(|error| refused(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::FixRequest;

    #[test]
    fn a_job_is_read_and_anything_else_is_wrong_usage() {
        let job =
            Job::Fix(Box::new(FixRequest { repository: "r".into(), ..FixRequest::default() }));
        assert_eq!(read(job.to_json().as_bytes()).unwrap(), job);
        for text in ["", "fix", "{\"fix\": {\"unknown\": 1}}"] {
            let error = read(text.as_bytes()).unwrap_err();
            assert_eq!(error.class, app::ErrorClass::Usage, "{text}");
        }
    }
}
