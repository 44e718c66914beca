//! Outcomes as lines for people. Everything foreign in them is shortened and harmless.

use serde_json::Value;

use crate::app::{Diagnosis, ProviderState, ResumableSession, SessionList, SessionRow};
use crate::domain::characterisation_report::CharacterisationReport;
use crate::domain::text::count;
use crate::report::phrases::single_safe_line;
use crate::report::{characterisation, mutation};

/// The sessions of a repository, one line each.
pub fn sessions(list: &SessionList) -> String {
    if list.sessions.is_empty() && list.sources.is_empty() {
        return "no session here; begin one with `regreen plan WHAT`\n".to_owned();
    }
    let optional = |text: &Option<String>| single_safe_line(text.as_deref().unwrap_or("-"), 160);
    let mut text = String::new();
    for row in &list.sessions {
        text.push_str(&format!(
            "{:<9} {}  {} of {} tasks  {}  {}\n",
            row.marker,
            row.session,
            row.completed,
            row.tasks.len(),
            optional(&row.created_at),
            optional(&row.description),
        ));
    }
    for id in &list.sources {
        text.push_str(&format!("SOURCE    {id}  `regreen plan {id}` plans its tests\n"));
    }
    text
}

/// A session that can be resumed, as one line.
pub fn resumable_session(row: &ResumableSession) -> String {
    let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let progress: String = row.progress.iter().map(|one| format!("  {one}")).collect();
    format!(
        "{}  {}  iteration {} of {}  next: {}  {}{progress}",
        row.session,
        row.status.map_or_else(|| "-".to_owned(), |status| status.to_string()),
        number(row.iteration),
        number(row.max_iterations.map(u64::from)),
        single_safe_line(row.next.as_deref().unwrap_or("-"), 100),
        single_safe_line(row.branch.as_deref().unwrap_or("-"), 200),
    )
}

/// The phases and tasks of one session.
pub fn session(row: &SessionRow) -> String {
    let of = |value: &Value| single_safe_line(value.as_str().unwrap_or("-"), 200);
    let description = single_safe_line(row.description.as_deref().unwrap_or("-"), 200);
    let mut text = format!("{}  {}\n{description}\n", row.session, row.marker);
    for phase in row.phases.as_array().into_iter().flatten() {
        let (name, summary) = (of(&phase["name"]), of(&phase["summary"]));
        text.push_str(&format!("  phase {}  {name:<22} {summary}\n", phase["phase"]));
    }
    for task in &row.tasks {
        let (id, status) = (of(&task["id"]), of(&task["status"]));
        text.push_str(&format!("  {id:<11} {status:<12} {}\n", of(&task["title"])));
    }
    if row.next.is_string() {
        text.push_str(&format!("next: {}\n", of(&row.next)));
    }
    text.push_str(&format!("{}\n", single_safe_line(&row.folder.display().to_string(), 300)));
    text
}

/// What is detected in a repository, and what is missing.
pub fn diagnosis(found: &Diagnosis) -> String {
    let facts = &found.repository;
    let mut rows = vec![("repository", facts.root.display().to_string())];
    let branch = facts.branch.as_deref().unwrap_or("a detached head");
    rows.push(("head", format!("{} on {branch}", facts.head.short())));
    let state = if facts.modified + facts.untracked == 0 {
        "clean".to_owned()
    } else {
        format!(
            "{} modified, {} untracked (not tested: regreen works on the commit)",
            facts.modified, facts.untracked
        )
    };
    rows.push(("checkout", state));
    rows.extend(facts.shallow.then(|| ("", "shallow clone".to_owned())));
    rows.extend(facts.operation.map(|operation| ("", format!("{operation} is under way"))));
    if let Some(suite) = &found.suite {
        let directory = if suite.directory.is_empty() { "." } else { &suite.directory };
        rows.extend([
            ("framework", format!("{} {}", suite.framework, suite.version)),
            ("detected by", suite.evidence.join(", ")),
            ("command", suite.command.clone()),
            ("results", suite.format.clone()),
            ("folder", directory.to_owned()),
            ("languages", suite.languages.join(", ")),
        ]);
    }
    if !found.others.is_empty() {
        rows.push(("also found", found.others.join(", ")));
    }
    rows.push(("work folder", found.work_folder.display().to_string()));
    let walls = &found.test_code;
    for (name, texts) in [("sandboxed", &walls.holds), ("not sandboxed", &walls.open)] {
        let names = std::iter::once(name).chain(std::iter::repeat(""));
        rows.extend(names.zip(texts.iter().cloned()));
    }
    let names = std::iter::once("providers").chain(std::iter::repeat(""));
    let provider = |(label, one): (&'static str, &ProviderState)| {
        (label, format!("{}: {}", one.name, one.facts.join("; ")))
    };
    rows.extend(names.zip(&found.providers).map(provider));
    rows.extend(found.notices.iter().map(|text| ("notice", text.clone())));
    rows.extend(found.missing.iter().map(|text| ("missing", text.clone())));
    let line = |(name, value): (&str, String)| {
        // What has to be done is of no use when it is cut.
        let longest = if name == "missing" { 1_000 } else { 300 };
        format!("{name:<13} {}\n", single_safe_line(&value, longest))
    };
    let mut text: String = rows.into_iter().map(line).collect();
    if found.missing.is_empty() {
        text.push_str("\nready: `regreen fix` can start\n");
    }
    text
}

/// The characterisation tests of one run.
pub fn characterisation(report: &CharacterisationReport) -> String {
    let mut text = String::new();
    for one in report.functions.iter().filter(|one| one.assertions == 0) {
        let place = single_safe_line(&format!("{}:{} {}", one.file, one.line, one.name), 200);
        let reasons = single_safe_line(&characterisation::reasons(&one.dropped), 300);
        text.push_str(&format!("not pinned  {place}  {reasons}\n"));
    }
    for one in &report.unfinished {
        let one = single_safe_line(one, 200);
        text.push_str(&format!("not done    {one}, for lack of time\n"));
    }
    for one in &report.dropped {
        let reason = single_safe_line(&one.reason, 200);
        let tests = count(one.count, "test");
        text.push_str(&format!("dropped     {tests}: {reason}\n"));
    }
    for one in &report.findings {
        text.push_str(&format!("finding     {}\n", single_safe_line(&one.to_string(), 400)));
    }
    for file in &report.files {
        let name = single_safe_line(file.file.as_str(), 200);
        let tests = count(file.tests.len(), "test");
        let assertions = count(file.assertions, "assertion");
        text.push_str(&format!("kept        {name}  {tests}, {assertions}\n"));
    }
    text.push_str(&format!(
        "\n{} in {:.1} s\nlines reached: {} before, {} after\n",
        characterisation::headline(report),
        report.seconds,
        characterisation::reached(report.before),
        characterisation::reached(report.after)
    ));
    if let Some(score) = &report.score {
        text.push_str(&format!("{}\n", mutation::headline(score)));
    }
    if let Some(branch) = &report.branch {
        let branch = single_safe_line(branch, 200);
        text.push_str(&format!("on branch {branch}; read the tests before you merge them\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::SessionId;
    use crate::domain::session::SessionStatus;

    #[test]
    fn a_session_without_a_loop_has_no_iteration() {
        let planning = ResumableSession {
            session: SessionId::parse("WFS-test-x").unwrap(),
            status: Some(SessionStatus::Planning),
            result: None,
            created_at: None,
            iteration: None,
            max_iterations: Some(10),
            next: None,
            progress: Vec::new(),
            branch: Some("regreen/x\u{1b}[2J".into()),
        };
        assert_eq!(
            resumable_session(&planning),
            "WFS-test-x  planning  iteration - of 10  next: -  regreen/x"
        );
        let fixing = ResumableSession { iteration: Some(3), ..planning };
        assert!(resumable_session(&fixing).contains("iteration 3 of 10"));
    }
}
