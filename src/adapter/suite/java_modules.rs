//! The modules of a project of Maven or Gradle.

use std::fs;
use std::path::Path;

use crate::code::java_packages::BUILD_FILES;
use crate::domain::id::in_folder;

/// How many folders deep modules are looked for.
const DEPTH: usize = 3;

/// The folders of the modules at and below one, relative to the root, outer ones first.
pub fn list_modules(root: &Path, folder: &str) -> Vec<String> {
    let mut found = vec![folder.to_owned()];
    let mut level = found.clone();
    for _ in 0..DEPTH {
        let mut next: Vec<String> = Vec::new();
        for folder in level {
            let entries = fs::read_dir(root.join(&folder)).into_iter().flatten().flatten();
            let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
            let below = names.map(|name| in_folder(&folder, &name));
            let is_module = |below: &String| {
                BUILD_FILES.iter().any(|file| root.join(below).join(file).is_file())
            };
            next.extend(below.filter(is_module));
        }
        next.sort();
        found.extend(next.iter().cloned());
        level = next;
    }
    found
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "modules are real folders")]

    use super::*;

    #[test]
    fn modules_are_folders_with_a_build_file() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["pom.xml", "shop/pom.xml", "shop/api/pom.xml", "a/build.gradle", "docs/x"] {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        assert_eq!(list_modules(folder.path(), ""), ["", "a", "shop", "shop/api"]);
        assert_eq!(list_modules(folder.path(), "shop"), ["shop", "shop/api"]);
    }
}
