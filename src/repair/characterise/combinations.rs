//! Combines the values of parameters to the arguments of calls. The same values always give the same
//! combinations.

use std::collections::BTreeSet;

use crate::code::language::Language;
use crate::code::signature::Parameter;
use crate::domain::retry::scatter;

use super::arguments::{Values, write_arguments};

/// Literals of the function that are combined for one parameter, and the most combinations.
const LITERAL_VALUES: usize = 6;
const COMBINED: usize = 36;

/// Combines parameter values: one varied at a time, several in parallel, then at random.
pub fn combine_inputs(
    language: Language,
    parameters: &[Parameter],
    pools: &[Vec<String>],
    limit: usize,
) -> Vec<Vec<String>> {
    let at = |index: usize, row: usize| -> Option<String> {
        let pool = pools.get(index)?;
        pool.get(row % pool.len().max(1)).cloned()
    };
    // What stands before the arguments of `*args` has to be given with them.
    let base = |varied: Option<usize>| -> Values {
        let is_rest = varied.and_then(|index| parameters.get(index)).is_some_and(|one| one.rest);
        let given = |(index, one): (usize, &Parameter)| {
            let is_before = is_rest && Some(index) < varied;
            at(index, 0).filter(|_| !one.optional || is_before)
        };
        parameters.iter().enumerate().map(given).collect()
    };
    let mut found: Vec<Vec<String>> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut put = |values: Values| {
        let given = write_arguments(language, parameters, &values);
        if found.len() < limit && seen.insert(given.clone()) {
            found.push(given);
        }
    };
    let longest = pools.iter().map(Vec::len).max().unwrap_or_default();
    let full = parameters.len();
    // What takes any number of values is there for several.
    if let Some(rest) = parameters.iter().position(|one| one.rest) {
        let mut values = base(Some(rest));
        values.splice(rest..=rest, [at(rest, 0)]);
        put(values.into_iter().chain([at(rest, 1)]).collect());
    }
    put(base(None));
    for row in 0..longest {
        if row > 0 {
            // All vary at once, each one step ahead, so that equal pools give different arguments.
            let ahead = |(index, value): (usize, Option<String>)| {
                value.and_then(|_| at(index, row + index))
            };
            put(base(None).into_iter().enumerate().map(ahead).collect());
            put((0..full).map(|index| at(index, row + index)).collect());
        }
        for varied in 0..full {
            if pools.get(varied).is_some_and(|pool| row < pool.len()) {
                let mut values = base(Some(varied));
                values.splice(varied..=varied, [at(varied, row)]);
                put(values);
            }
        }
    }
    for row in 0..u64::try_from(limit * 3).unwrap_or_default() {
        put(random_values(parameters, pools, row));
    }
    found
}

/// The values of the `row`th random choice: required ones, and about half of the others.
fn random_values(parameters: &[Parameter], pools: &[Vec<String>], row: u64) -> Values {
    let turn = |seed: u64, many: usize| {
        usize::try_from(scatter(seed) % 1024).unwrap_or_default() % many.max(1)
    };
    let seed = u64::try_from(parameters.len()).unwrap_or_default() + row * 32;
    let given = |((one, pool), seed): ((&Parameter, &Vec<String>), u64)| {
        let is_given = !one.optional || turn(seed + 16, 2) == 1;
        pool.get(turn(seed, pool.len())).filter(|_| is_given).cloned()
    };
    parameters.iter().zip(pools).zip(seed + 1..).map(given).collect()
}

/// Combinations of the literals of a function, and of the numbers next to them, in place of its
/// required arguments: conditions that are joined by `and` hold together only for some.
pub fn literal_combinations(
    language: Language,
    parameters: &[Parameter],
    own: &BTreeSet<String>,
    pools: &[Vec<String>],
) -> Vec<Vec<String>> {
    let mut rows: Vec<Values> = vec![Vec::new()];
    for (parameter, pool) in parameters.iter().zip(pools) {
        let mut values: Vec<Option<String>> = pool
            .iter()
            .filter(|value| own.contains(*value))
            .take(LITERAL_VALUES)
            .cloned()
            .map(Some)
            .collect();
        if values.is_empty() {
            values.push(pool.first().cloned());
        }
        if parameter.optional {
            values = vec![None];
        }
        let longer = |row: &Values| -> Vec<Values> {
            let with =
                |value: &Option<String>| [row.as_slice(), std::slice::from_ref(value)].concat();
            values.iter().map(with).collect()
        };
        rows = rows.iter().flat_map(longer).take(COMBINED).collect();
    }
    let several = parameters.iter().filter(|one| !one.optional).count() > 1;
    let rows = rows.into_iter().filter(|_| several && !own.is_empty());
    rows.map(|values| write_arguments(language, parameters, &values)).collect()
}
