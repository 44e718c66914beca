//! The files of the demo project, embedded from `examples/shop`.

/// Path and content of each file.
pub const FILES: &[(&str, &str)] = &[
    (".gitignore", include_str!("../../../../examples/shop/.gitignore")),
    ("README.md", include_str!("../../../../examples/shop/README.md")),
    ("shop/__init__.py", include_str!("../../../../examples/shop/shop/__init__.py")),
    ("shop/__main__.py", include_str!("../../../../examples/shop/shop/__main__.py")),
    ("shop/cart.py", include_str!("../../../../examples/shop/shop/cart.py")),
    ("shop/catalogue.py", include_str!("../../../../examples/shop/shop/catalogue.py")),
    ("shop/cli.py", include_str!("../../../../examples/shop/shop/cli.py")),
    ("shop/dates.py", include_str!("../../../../examples/shop/shop/dates.py")),
    ("shop/importer.py", include_str!("../../../../examples/shop/shop/importer.py")),
    ("shop/inventory.py", include_str!("../../../../examples/shop/shop/inventory.py")),
    ("shop/money.py", include_str!("../../../../examples/shop/shop/money.py")),
    ("shop/orders.py", include_str!("../../../../examples/shop/shop/orders.py")),
    ("shop/pricing.py", include_str!("../../../../examples/shop/shop/pricing.py")),
    ("shop/reports.py", include_str!("../../../../examples/shop/shop/reports.py")),
    ("shop/storage.py", include_str!("../../../../examples/shop/shop/storage.py")),
    ("shop/tax.py", include_str!("../../../../examples/shop/shop/tax.py")),
    ("tests/__init__.py", include_str!("../../../../examples/shop/tests/__init__.py")),
    ("tests/test_cart.py", include_str!("../../../../examples/shop/tests/test_cart.py")),
    ("tests/test_catalogue.py", include_str!("../../../../examples/shop/tests/test_catalogue.py")),
    ("tests/test_cli.py", include_str!("../../../../examples/shop/tests/test_cli.py")),
    ("tests/test_dates.py", include_str!("../../../../examples/shop/tests/test_dates.py")),
    ("tests/test_inventory.py", include_str!("../../../../examples/shop/tests/test_inventory.py")),
    ("tests/test_money.py", include_str!("../../../../examples/shop/tests/test_money.py")),
    ("tests/test_orders.py", include_str!("../../../../examples/shop/tests/test_orders.py")),
    ("tests/test_pricing.py", include_str!("../../../../examples/shop/tests/test_pricing.py")),
    ("tests/test_storage.py", include_str!("../../../../examples/shop/tests/test_storage.py")),
    ("tests/test_tax.py", include_str!("../../../../examples/shop/tests/test_tax.py")),
];

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// Relative paths of all files of the example on disk, without Python's caches.
    fn on_disk(folder: &Path, prefix: &str, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).expect("the example is there") {
            let entry = entry.expect("it can be listed");
            let name = entry.file_name().into_string().expect("plain names");
            if name == "__pycache__" {
                continue;
            }
            if entry.path().is_dir() {
                on_disk(&entry.path(), &format!("{prefix}{name}/"), found);
            } else {
                found.push(format!("{prefix}{name}"));
            }
        }
    }

    #[test]
    fn the_binary_carries_the_whole_example() {
        let mut found = Vec::new();
        on_disk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/shop"), "", &mut found);
        found.sort();
        let carried: Vec<&str> = super::FILES.iter().map(|(path, _)| *path).collect();
        assert_eq!(carried, found);
    }
}
