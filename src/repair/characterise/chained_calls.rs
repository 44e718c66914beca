//! Calls on what the functions of a file give: `format(".2f")(3)`, `parse("a").select(doc)`.

use crate::effect::Call;

use super::{FileTask, ObservedFunction, inputs};

/// Most calls on results of one function.
const CHAINS: usize = 60;

/// The calls on results of the functions, with the indexes of these.
pub fn list_chained_calls(task: &FileTask<'_>, found: &[ObservedFunction]) -> Vec<(usize, Call)> {
    let mut calls = Vec::new();
    let supported = found.iter().enumerate().filter(|(_, one)| one.callable.unsupported.is_none());
    for (index, one) in supported {
        let callees = inputs::list_callees(task.language, &one.callable, &one.local);
        let Some(callee) = callees.first() else { continue };
        let chains = task.chains.get(one.callable.called_name()).into_iter().flatten();
        calls.extend(chains.take(CHAINS).map(|chain| {
            let callee = format!("{callee}({}){}", chain.first.join(", "), chain.path);
            (index, Call::new(callee, chain.arguments.clone()))
        }));
    }
    calls
}
