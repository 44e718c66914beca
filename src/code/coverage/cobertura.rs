//! Reads Cobertura XML, as written by coverage.py, c8 and many other tools.

use super::xml::{Piece, walk};
use super::{BadReport, Report};

pub fn read(text: &str) -> Result<Report, BadReport> {
    let mut report = Report::of("Cobertura XML");
    let mut file = String::new();
    let mut method: Option<(String, u32, u64)> = None;
    walk(text, &mut |piece| match piece {
        Piece::Start("class", attribute) => {
            file = attribute("filename").unwrap_or_default();
            report.file(&file);
        }
        Piece::Start("method", attribute) => {
            method = attribute("name").map(|name| (name, 0, 0));
        }
        Piece::Start("line", attribute) => {
            let line = attribute("number").and_then(|text| text.parse().ok());
            let hits = attribute("hits").and_then(|text| text.parse().ok()).unwrap_or(0);
            let Some(line) = line else { return };
            if let Some((_, start, most)) = &mut method {
                *start = if *start == 0 { line } else { (*start).min(line) };
                *most = (*most).max(hits);
                return;
            }
            let own = report.file(&file);
            own.line(line, hits);
            if let Some((ran, all)) = attribute("condition-coverage").and_then(|text| pair(&text)) {
                own.branch(line, ran, all);
            }
        }
        Piece::End("method") => {
            if let Some((name, start, hits)) = method.take() {
                let own = report.file(&file);
                own.line(start, hits);
                own.add_function(&name, start, hits);
            }
        }
        Piece::Start(..) | Piece::End(_) => {}
    })?;
    report.files.remove("");
    Ok(report)
}

/// The covered and total counts in `50% (1/2)`.
fn pair(text: &str) -> Option<(u32, u32)> {
    let (_, rest) = text.split_once('(')?;
    let (ran, all) = rest.trim_end_matches(')').split_once('/')?;
    Some((ran.parse().ok()?, all.parse().ok()?))
}
