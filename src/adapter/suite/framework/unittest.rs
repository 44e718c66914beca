//! Python's own unittest, through a driver of ours that writes each test as it ends.

use super::super::format::lines;
use super::{Framework, Plan, Read, Site};

/// The row.
pub const FRAMEWORK: Framework = Framework {
    name: "unittest",
    format: "JSON lines of a driver",
    signals: "test*.py",
    detect: |site| {
        if let Some(command) = &site.command {
            return command.contains("unittest").then(|| format!("the command `{command}`"));
        }
        let wanted = |name: &str| name.starts_with("test") && name.ends_with(".py");
        site.has_file(&wanted).then(|| "files named test*.py".into())
    },
    version: |site| vec![site.python(), "--version".into()],
    install: "install Python 3.8 or later",
    plan: |site, chosen, scratch| {
        let typed = site.command.clone().unwrap_or_else(|| "python3 -m unittest discover".into());
        let mut argv = vec![
            site.python(),
            scratch.drivers.join("unittest_driver.py").display().to_string(),
            scratch.cases.display().to_string(),
        ];
        argv.extend(options(site));
        if chosen.is_some() {
            argv.push("--select".into());
            argv.push(scratch.chosen.display().to_string());
        }
        Plan { argv, typed: Some(typed), ..Plan::default() }
    },
    read: |left| {
        let recorded = lines::parse(&left.cases_text()?);
        Ok(Read { told: recorded.told, complete: recorded.complete })
    },
};

/// The discovery options of a configured `python -m unittest discover …`.
pub fn options(site: &Site) -> Vec<String> {
    let mut options = Vec::new();
    let mut words = site.command.as_deref().unwrap_or_default().split_whitespace();
    while let Some(word) = words.next() {
        let name = match word {
            "-s" | "--start-directory" => "--start",
            "-t" | "--top-level-directory" => "--top",
            "-p" | "--pattern" => "--pattern",
            _ => continue,
        };
        if let Some(value) = words.next() {
            options.push(name.to_owned());
            options.push(value.trim_matches(['\'', '"']).to_owned());
        }
    }
    options
}
