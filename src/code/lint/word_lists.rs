//! Lists of the standard modules of Python and Node, and of Python package aliases.

use std::collections::BTreeSet;
use std::sync::LazyLock;

fn lines(text: &'static str) -> BTreeSet<&'static str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// Python's standard modules (`sys.stdlib_module_names`), and those of every installation.
pub static PYTHON_MODULES: LazyLock<BTreeSet<&str>> =
    LazyLock::new(|| lines(include_str!("lists/python-stdlib.txt")));

/// Built-in modules of Node (`module.builtinModules`).
pub static NODE_MODULES: LazyLock<BTreeSet<&str>> =
    LazyLock::new(|| lines(include_str!("lists/node-builtins.txt")));

/// Python modules named differently from the package that provides them, with that package.
pub fn python_aliases() -> impl Iterator<Item = (&'static str, &'static str)> {
    include_str!("lists/python-aliases.txt").lines().filter_map(|line| line.split_once(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_hold_what_every_installation_has_and_no_packages() {
        for module in ["os", "json", "asyncio", "unittest"] {
            assert!(PYTHON_MODULES.contains(module), "{module}");
        }
        for module in ["fs", "path", "crypto"] {
            assert!(NODE_MODULES.contains(module), "{module}");
        }
        assert!(!PYTHON_MODULES.contains("requests") && !NODE_MODULES.contains("express"));
    }

    #[test]
    fn every_alias_names_a_module_once_and_leads_to_a_package() {
        let modules: Vec<&str> = python_aliases().map(|(module, _)| module).collect();
        let distinct: BTreeSet<&&str> = modules.iter().collect();
        assert_eq!(distinct.len(), modules.len());
        assert!(python_aliases().any(|alias| alias == ("yaml", "pyyaml")));
        for (module, package) in python_aliases() {
            assert!(!package.is_empty() && !PYTHON_MODULES.contains(module), "{module}");
        }
    }
}
