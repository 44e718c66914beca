//! Types that a TypeScript source takes from other files.

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::tree::{named_children, text_of};

/// The declarations of types in a TypeScript source, one behind the other.
pub fn type_declarations(language: Language, text: &str) -> String {
    let Some(tree) = language.parse(text) else { return String::new() };
    let is_type = |node: &Node<'_>| {
        let kinds = ["interface_declaration", "type_alias_declaration", "enum_declaration"];
        kinds.contains(&node.kind())
    };
    let mut found = String::new();
    for statement in named_children(tree.root_node()) {
        let declared = statement.child_by_field_name("declaration").unwrap_or(statement);
        if is_type(&declared) {
            found.push_str(&format!("{}\n", text_of(declared, text)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::signature::callables_among;

    #[test]
    fn imported_types_tell_what_a_parameter_allows() {
        let text = "import type { Interval } from '../types.js';\nimport fs from 'fs';\nexport function days(interval: Interval) { return interval.end - interval.start; }\n";
        let types = "import x from 'x';\nexport interface Interval { start: number; end: number }\nexport function other() {}\nconst y = 1;\n";
        assert_eq!(
            type_declarations(Language::TypeScript, types),
            "interface Interval { start: number; end: number }\n"
        );
        let found = callables_among(Language::TypeScript, text, &[types.to_owned()]);
        let [days] = found.as_slice() else { panic!("{found:?}") };
        let declared = days.parameters[0].declared.clone().unwrap_or_default();
        assert_eq!(declared.values.first().map(String::as_str), Some("{ start: 1, end: 10 }"));
    }
}
