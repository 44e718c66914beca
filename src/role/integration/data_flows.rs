//! Follows calls over several files: where data passes more than one boundary.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::behaviour::Behaviour;
use crate::domain::id::RepoPath;
use crate::domain::integration::exploration::{DataFlow, IntegrationPoint};

/// Flows that are listed.
const FLOWS: usize = 12;

/// Files of one flow at most.
const LENGTH: usize = 6;

/// A function, by its file and its name.
type Place = (RepoPath, String);

/// Chains of calls over more than two files, longest first. A function continues a chain where it, or
/// one that it calls in its own file, calls across the next boundary.
pub fn find_flows(
    points: &[IntegrationPoint],
    functions: &BTreeMap<RepoPath, Vec<Behaviour>>,
) -> Vec<DataFlow> {
    let mut calls: BTreeMap<Place, BTreeSet<Place>> = BTreeMap::new();
    for point in points {
        let own = functions.get(&point.from).map_or(&[][..], Vec::as_slice);
        for call in &point.calls {
            for caller in find_reaching(&call.caller, own) {
                let target = (point.to.clone(), call.callee.clone());
                calls.entry((point.from.clone(), caller)).or_default().insert(target);
            }
        }
    }
    let called: BTreeSet<&Place> = calls.values().flatten().collect();
    let mut chains: Vec<Vec<Place>> = Vec::new();
    for start in calls.keys().filter(|start| !called.contains(start)) {
        extend_chain(vec![start.clone()], &calls, &mut chains);
    }
    chains.retain(|chain| chain.len() > 2);
    chains.sort_by_key(|chain| std::cmp::Reverse(chain.len()));
    chains.dedup_by_key(|chain| files_of(chain));
    let flow = |chain: Vec<Place>| DataFlow {
        name: chain.first().map_or_else(String::new, |(_, function)| function.clone()),
        path: files_of(&chain),
        transforms: chain.into_iter().map(|(_, function)| function).collect(),
    };
    chains.into_iter().take(FLOWS).map(flow).collect()
}

fn files_of(chain: &[Place]) -> Vec<String> {
    chain.iter().map(|(file, _)| file.to_string()).collect()
}

/// Adds the chains that begin with this one and cannot be continued; no file occurs twice.
fn extend_chain(
    chain: Vec<Place>,
    calls: &BTreeMap<Place, BTreeSet<Place>>,
    chains: &mut Vec<Vec<Place>>,
) {
    let known: BTreeSet<&RepoPath> = chain.iter().map(|(file, _)| file).collect();
    let next = chain.last().and_then(|last| calls.get(last)).into_iter().flatten();
    let next: Vec<Place> = next.filter(|(file, _)| !known.contains(file)).cloned().collect();
    if next.is_empty() || chain.len() >= LENGTH || chains.len() >= FLOWS * 8 {
        chains.push(chain);
        return;
    }
    for place in next {
        extend_chain([chain.clone(), vec![place]].concat(), calls, chains);
    }
}

/// The names of a function and of all functions of its file that reach it by calls.
pub fn find_reaching(name: &str, functions: &[Behaviour]) -> BTreeSet<String> {
    let mut found = BTreeSet::from([name.to_owned()]);
    loop {
        let more: Vec<String> = functions
            .iter()
            .filter(|one| !found.contains(&one.name))
            .filter(|one| one.calls.iter().any(|(_, callee)| calls_one_of(callee, &found)))
            .map(|one| one.name.clone())
            .collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

/// The public functions of a file that contain or pass on one of these, by name.
pub fn find_mentioning(
    names: &BTreeSet<String>,
    functions: &[Behaviour],
    text: &str,
) -> BTreeSet<String> {
    let lines: Vec<&str> = text.lines().collect();
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mentions = |one: &&Behaviour| {
        let (start, end) = (one.start.saturating_sub(1) as usize, one.end as usize);
        let body = lines.get(start..end.min(lines.len())).unwrap_or_default();
        let mut words = body.iter().flat_map(|line| line.split(|c| !is_part(c)));
        one.is_public && words.any(|word| word != one.short_name() && names.contains(word))
    };
    functions.iter().filter(mentions).map(|one| one.name.clone()).collect()
}

/// Whether a callee as written is one of these functions of the same file: by its name, as a method
/// of the same object, or as a class that is made.
fn calls_one_of(callee: &str, names: &BTreeSet<String>) -> bool {
    let last = callee.rsplit(['.', ':']).next().unwrap_or(callee);
    let is_own = !callee.contains(['.', ':'])
        || ["self.", "this.", "cls.", "Self::"].iter().any(|own| callee.starts_with(own));
    names.iter().any(|name| {
        let short = name.rsplit('.').next().unwrap_or(name);
        let class = name.split_once('.').map(|(class, _)| class);
        let is_made = ["__init__", "constructor"].contains(&short) && class == Some(last);
        *name == callee || is_own && (short == last || is_made)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::behaviour;
    use crate::code::language::Language;
    use crate::domain::integration::exploration::{BoundaryCall, IntegrationKind};

    fn path(text: &str) -> RepoPath {
        RepoPath::parse(text).unwrap()
    }

    fn point(from: &str, caller: &str, to: &str, callee: &str) -> IntegrationPoint {
        let (caller, callee) = (caller.to_owned(), callee.to_owned());
        IntegrationPoint {
            from: path(from),
            to: path(to),
            kind: IntegrationKind::Api,
            contract: String::new(),
            calls: vec![BoundaryCall { caller, callee, line: 1, arguments: vec![] }],
            crossed: None,
            crossed_by: vec![],
        }
    }

    #[test]
    fn functions_that_pass_on_or_contain_another_one_are_found() {
        let text = "export default function(a) {\n  return (a ? one : two)(a);\n}\n\nexport function three(a) {\n  return a;\n}\n\nfunction one(a) {\n  return a;\n}\n\nfunction hidden() {\n  return one;\n}\n";
        let functions = behaviour::read(Language::JavaScript, text);
        let found = find_mentioning(&BTreeSet::from(["one".to_owned()]), &functions, text);
        assert_eq!(found, BTreeSet::from(["default".to_owned()]));
    }

    #[test]
    fn a_flow_passes_functions_of_the_same_file_and_ends_at_a_circle() {
        let text =
            "def price(x):\n    return inner(x)\n\n\ndef inner(x):\n    return tax.rate(x)\n";
        let functions =
            BTreeMap::from([(path("price.py"), behaviour::read(Language::Python, text))]);
        let points = [
            point("web.py", "index", "price.py", "price"),
            point("price.py", "inner", "tax.py", "rate"),
            point("tax.py", "rate", "price.py", "price"),
        ];
        let flows = find_flows(&points, &functions);
        let found: Vec<String> = flows.iter().map(|flow| flow.path.join(" ")).collect();
        assert_eq!(found, ["web.py price.py tax.py"]);
        assert_eq!(flows[0].transforms, ["index", "price", "rate"]);
        assert_eq!(find_flows(&points[..1], &functions), []);
    }

    #[test]
    fn the_functions_that_reach_a_call_are_found_through_methods_and_constructors() {
        let text = "class Cart:\n    def __init__(self):\n        self._load()\n\n    def _load(self):\n        pass\n\n    def total(self):\n        return self._sum()\n\n    def _sum(self):\n        return 1\n\n\ndef make():\n    return Cart()\n\n\ndef other(x):\n    return x.total()\n";
        let functions = behaviour::read(Language::Python, text);
        let found = |name: &str| find_reaching(name, &functions).into_iter().collect::<Vec<_>>();
        assert_eq!(found("Cart._sum"), ["Cart._sum", "Cart.total"]);
        assert_eq!(found("Cart._load"), ["Cart.__init__", "Cart._load", "make"]);
    }
}
