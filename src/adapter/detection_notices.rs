//! What a session says of suites that were detected and are not run.

use crate::domain::shell;

use super::suite::Detection;

/// Other packages that a notice names.
const PACKAGES: usize = 3;

/// Notices about suites beside the one that runs.
pub fn describe_detection(detection: &Detection) -> Vec<String> {
    let mut notices = Vec::new();
    let not_run = &detection.facts.not_run;
    notices.extend((!not_run.is_empty()).then(|| format!("not run: {}", not_run.join("; "))));
    let beside = &detection.beside_command;
    notices.extend(
        (!beside.is_empty()).then(|| {
            format!("the test command decides what runs; also found: {}", beside.join("; "))
        }),
    );
    let unnamed = detection.packages.first().filter(|_| not_run.is_empty());
    notices.extend(unnamed.map(|first| {
        let list = detection.packages.iter().take(PACKAGES);
        let list = list.map(|one| format!("{} in {}", one.framework, one.folder));
        let list = list.collect::<Vec<_>>().join(", ");
        let more = detection.packages.len().saturating_sub(PACKAGES);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        format!(
            "the tests of other packages are not run here: {list}{more}; `regreen fix {}` runs those of the first",
            shell::word(&first.folder)
        )
    }));
    notices
}
