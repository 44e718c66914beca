//! The paths by which a test outside of a crate names what is in a file of it.

use super::language::Language;
use super::tree::{field_of, named_children, text_of};

/// The name of the library that a manifest declares.
pub fn library_name(manifest: &str) -> Option<String> {
    let (mut package, mut library, mut section) = (None, None, "");
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        }
        let name = line.strip_prefix("name").and_then(|rest| rest.trim().strip_prefix('='));
        let name = name.map(|name| name.trim().trim_matches(['"', '\'']).replace('-', "_"));
        match section {
            "[package]" => package = package.or(name),
            "[lib]" => library = library.or(name),
            _ => {}
        }
    }
    library.or(package)
}

/// Whether a manifest is of the edition of 2015, in which tests declare the crate that they use.
pub fn is_first_edition(manifest: &str) -> bool {
    let package =
        manifest.split("\n[").find(|part| part.trim_start_matches('[').starts_with("package]"));
    let mut lines = package.unwrap_or_default().lines();
    let edition = lines.find_map(|line| line.trim().strip_prefix("edition"));
    edition.is_none_or(|edition| edition.contains("2015"))
}

/// The public path of the module of a file: that of the library where the module itself is private, as what
/// is in it may be exported there. `file` is below the folder of the manifest.
pub fn module_path(manifest: &str, library: &str, file: &str) -> Option<String> {
    let name = library_name(manifest)?;
    let inside = file.strip_prefix("src/")?.strip_suffix(".rs")?;
    let module = inside.strip_suffix("/mod").unwrap_or(inside);
    let is_public = |node| {
        let is_pub = |one| text_of(one, library) == "pub";
        field_of(node, "name", library) == module && named_children(node).into_iter().any(is_pub)
    };
    let tree = Language::Rust.parse(library)?;
    let modules = named_children(tree.root_node()).into_iter();
    let mut modules = modules.filter(|node| node.kind() == "mod_item");
    Some(if modules.any(is_public) { format!("{name}::{module}") } else { name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_module_has_a_path_of_its_own() {
        let manifest = "[package]\nname = \"my-shop\"\nversion = \"1.0.0\"\n";
        let own = "[package]\nname = \"my-shop\"\n\n[lib]\nname = \"shop\"\n";
        assert!(is_first_edition(manifest));
        assert!(!is_first_edition("[package]\nname = \"a\"\nedition = \"2021\"\n[lib]\n"));
        let library = "mod fees;\npub mod tax;\n";
        let table = [
            (manifest, "src/lib.rs", Some("my_shop")),
            (manifest, "src/fees.rs", Some("my_shop")),
            (manifest, "src/tax/mod.rs", Some("my_shop::tax")),
            (own, "src/tax.rs", Some("shop::tax")),
            (own, "examples/a.rs", None),
        ];
        for (manifest, file, expected) in table {
            assert_eq!(module_path(manifest, library, file).as_deref(), expected, "{file}");
        }
    }
}
