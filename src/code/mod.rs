//! Static analysis of source text: parsing, functions, imports, tests, linting, edit operators.
//!
//! Pure: text in, values out, without access to files or to the rest of the program.

pub mod behaviour;
pub mod block_counts;
pub mod conditions;
pub mod conventions;
pub mod coverage;
pub mod crossing_calls;
pub mod declared_name;
pub mod demands;
pub mod description_match;
pub mod doc_examples;
pub mod documented;
pub mod edit_blocks;
pub mod external_services;
pub mod go_packages;
pub mod imports;
pub mod java_packages;
pub mod language;
pub mod line_probes;
pub mod lint;
pub mod mutate;
pub mod number_constants;
pub mod outline;
pub mod parallel;
pub mod pattern;
pub mod rust_crate;
pub mod search_replace;
pub mod side_effects;
pub mod signature;
pub mod special_case;
pub mod statement_counts;
pub mod switched_source;
pub mod syntax;
pub mod test_cases;
pub mod test_evidence;
pub mod test_paths;
pub mod test_switches;
pub mod tree;
