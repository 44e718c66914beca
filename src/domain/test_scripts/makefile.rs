//! The rules of a makefile, read to know which commands a target runs. What cannot be read, such as
//! the rules of patterns, makes every recipe count.

use std::collections::{BTreeMap, BTreeSet};

/// Expansions of variables within variables that are followed at most.
const DEPTH: usize = 5;

/// Bytes of an expanded text at most.
const LONGEST: usize = 64 << 10;

/// A rule: what it makes, from what, and by which commands.
struct Rule {
    targets: Vec<String>,
    needs: Vec<String>,
    recipe: Vec<String>,
}

/// The rules and variables of a makefile.
pub struct Makefile {
    rules: Vec<Rule>,
    variables: BTreeMap<String, String>,
}

impl Makefile {
    /// Reads a text; lines that are no rules, recipes or variables are skipped.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let text = text.replace("\\\n", " ");
        let mut made = Self { rules: Vec::new(), variables: BTreeMap::new() };
        for line in text.lines() {
            if let Some(command) = line.strip_prefix('\t') {
                if let Some(rule) = made.rules.last_mut() {
                    rule.recipe.push(command.to_owned());
                }
            } else if let Some((name, value)) = variable(line) {
                made.variables.entry(name.to_owned()).or_insert_with(|| value.to_owned());
            } else if let Some((targets, rest)) = line.split_once(':')
                && !line.starts_with('#')
            {
                let (needs, command) = match rest.split_once(';') {
                    Some((needs, command)) => (needs, Some(command.trim().to_owned())),
                    None => (rest, None),
                };
                let needs = made.filled(needs.trim_start_matches(':'), DEPTH);
                let targets = made.filled(targets, DEPTH);
                made.rules.push(Rule {
                    targets: words(&targets),
                    needs: words(needs.split('#').next().unwrap_or_default()),
                    recipe: command.into_iter().collect(),
                });
            }
        }
        made
    }

    /// The commands of these targets, or the first, with what they need; all without a rule.
    #[must_use]
    pub fn recipes(&self, targets: &[String]) -> Vec<String> {
        let default = self.rules.iter().flat_map(|rule| &rule.targets);
        let default = default.filter(|name| !name.starts_with('.')).take(1);
        let mut open: Vec<&String> =
            if targets.is_empty() { default.collect() } else { targets.iter().collect() };
        let has_rule = |name: &&String| self.rules.iter().any(|rule| rule.targets.contains(name));
        if !open.iter().all(has_rule) {
            return self.rules.iter().flat_map(|rule| self.commands(rule)).collect();
        }
        let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
        while let Some(name) = open.pop() {
            if !seen.insert(name) {
                continue;
            }
            for rule in self.rules.iter().filter(|rule| rule.targets.contains(name)) {
                open.extend(&rule.needs);
                found.extend(self.commands(rule));
            }
        }
        found
    }

    fn commands(&self, rule: &Rule) -> Vec<String> {
        let (needs, first) = (rule.needs.join(" "), rule.needs.first().map_or("", String::as_str));
        let target = rule.targets.first().map_or("", String::as_str);
        let own = |line: &String| {
            let line = line.replace("$<", first).replace("$^", &needs).replace("$@", target);
            self.filled(&line, DEPTH)
        };
        rule.recipe.iter().map(own).collect()
    }

    /// A text with the values of variables; those without one are left out.
    fn filled(&self, text: &str, depth: usize) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            filled.push_str(before);
            let mut chars = after.chars();
            let close = match chars.next() {
                Some('(') => ')',
                Some('{') => '}',
                Some('$') => {
                    filled.push('$');
                    rest = chars.as_str();
                    continue;
                }
                _ => {
                    rest = chars.as_str();
                    continue;
                }
            };
            let (name, more) = chars.as_str().split_once(close).unwrap_or((chars.as_str(), ""));
            match self.variables.get(name) {
                Some(value) if depth > 0 && filled.len() < LONGEST => {
                    filled.push_str(&self.filled(value, depth - 1));
                    filled.truncate(filled.floor_char_boundary(LONGEST));
                }
                None if name == "MAKE" => filled.push_str("make"),
                Some(_) | None => {}
            }
            rest = more;
        }
        filled + rest
    }
}

/// Name and value, if a line sets a variable.
fn variable(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', '!']).trim();
    let name = name.strip_prefix("export ").unwrap_or(name);
    let is_name = |c: char| c.is_alphanumeric() || "_.-".contains(c);
    (!name.is_empty() && name.chars().all(is_name)).then(|| (name, value.trim()))
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}
