//! Reads the XML reports of `JaCoCo`, the coverage tool for Java.

use crate::domain::id::in_folder;

use super::xml::{Piece, walk};
use super::{BadReport, Report};

/// Reads a report; each path is the package folder joined with the file name.
pub fn read(text: &str) -> Result<Report, BadReport> {
    let mut report = Report::of("JaCoCo XML");
    let (mut package, mut file) = (String::new(), String::new());
    let mut of_class = String::new();
    let mut method: Option<(String, u32)> = None;
    let mut is_jacoco = false;
    walk(text, &mut |piece| match piece {
        Piece::Start("report", _) => is_jacoco = true,
        Piece::Start("package", attribute) => package = attribute("name").unwrap_or_default(),
        Piece::Start("class", attribute) => {
            of_class = join(&package, &attribute("sourcefilename").unwrap_or_default());
        }
        Piece::Start("method", attribute) => {
            let line = attribute("line").and_then(|text| text.parse().ok());
            method = attribute("name").zip(line);
        }
        Piece::Start("counter", attribute) => {
            let kind = attribute("type").unwrap_or_default();
            let covered = attribute("covered").and_then(|text| text.parse().ok());
            if let (Some((name, line)), "METHOD", Some(covered)) = (&method, kind.as_str(), covered)
                && !of_class.is_empty()
            {
                report.file(&of_class).add_function(name, *line, covered);
            }
        }
        Piece::End("method") => method = None,
        Piece::Start("sourcefile", attribute) => {
            file = join(&package, &attribute("name").unwrap_or_default());
            report.file(&file);
        }
        Piece::Start("line", attribute) => {
            let count = |key: &str| attribute(key).and_then(|text| text.parse::<u32>().ok());
            if let Some(line) = count("nr") {
                let own = report.file(&file);
                own.line(line, u64::from(count("ci").unwrap_or(0)));
                let (missed, ran) = (count("mb").unwrap_or(0), count("cb").unwrap_or(0));
                own.branch(line, ran, ran.saturating_add(missed));
            }
        }
        Piece::Start(..) | Piece::End(_) => {}
    })?;
    if !is_jacoco {
        return Err(BadReport::at(1, "a report of Cobertura or JaCoCo"));
    }
    report.files.remove("");
    Ok(report)
}

fn join(package: &str, file: &str) -> String {
    if file.is_empty() { String::new() } else { in_folder(package, file) }
}
