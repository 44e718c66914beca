//! The `node_modules` of a private checkout: a folder of its own whose entries are links to the packages of the
//! user's. Tools keep caches beside the packages, so that the folder can be written to while the packages cannot.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::files;

/// The name of the folder.
pub const FOLDER: &str = "node_modules";

/// Words in the names of hidden folders that hold caches and not packages, such as `.vite-temp` and `.cache`.
const CACHES: &[&str] = &["cache", "temp", "tmp", "vite"];

/// Links the packages of `from` into the folder `to`, which is created where it is missing. Repeated, it adds
/// what was installed meanwhile and removes what is gone; a folder
/// with files of its own stays as it is, and so does a link to elsewhere.
///
/// # Errors
///
/// A folder that cannot be read or written.
pub fn link_packages(from: &Path, to: &Path) -> io::Result<()> {
    match fs::read_link(to) {
        Ok(target) if target == from => files::remove(to)?,
        Ok(_elsewhere) => return Ok(()),
        Err(_) => {}
    }
    files::create_folder(to)?;
    for entry in fs::read_dir(to)? {
        let entry = entry?;
        if is_hidden(&entry) {
            continue;
        }
        if !entry.file_type()?.is_symlink() {
            return Ok(());
        }
        if !entry.path().exists() {
            files::remove(&entry.path())?;
        }
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if !is_cache(&entry) && fs::symlink_metadata(&target).is_err() {
            symlink(entry.path(), target)?;
        }
    }
    Ok(())
}

fn is_hidden(entry: &fs::DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with('.')
}

fn is_cache(entry: &fs::DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy().to_ascii_lowercase();
    is_hidden(entry) && CACHES.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "packages are real folders")]

    use super::*;

    #[test]
    fn packages_are_linked_and_caches_are_not() {
        let world = tempfile::tempdir().unwrap();
        let (from, to) = (world.path().join("from"), world.path().join("to"));
        for folder in [".bin", ".vite-temp", ".vite", ".cache", ".pnpm", "@a/b", "old", "vite"] {
            fs::create_dir_all(from.join(folder)).unwrap();
        }
        let names = || {
            let entries = fs::read_dir(&to).unwrap().map(|entry| entry.unwrap().file_name());
            let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
            names.sort();
            names.join(" ")
        };
        symlink(&from, &to).unwrap();
        link_packages(&from, &to).unwrap();
        assert_eq!(names(), ".bin .pnpm @a old vite");
        fs::create_dir(to.join(".vite-temp")).unwrap();
        fs::write(to.join(".vite-temp/x.mjs"), "").unwrap();
        assert!(fs::read_dir(from.join(".vite-temp")).unwrap().next().is_none());
        fs::remove_dir(from.join("old")).unwrap();
        fs::create_dir(from.join("new")).unwrap();
        link_packages(&from, &to).unwrap();
        assert_eq!(names(), ".bin .pnpm .vite-temp @a new vite");
        assert!(to.join("@a/b").is_dir());
    }

    #[test]
    fn a_folder_with_files_of_its_own_stays_as_it_is() {
        let world = tempfile::tempdir().unwrap();
        let (from, to) = (world.path().join("from"), world.path().join("to"));
        fs::create_dir_all(from.join("a")).unwrap();
        fs::create_dir_all(to.join("tracked")).unwrap();
        link_packages(&from, &to).unwrap();
        assert!(!to.join("a").exists());
    }
}
