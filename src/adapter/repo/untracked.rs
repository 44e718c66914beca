//! What a private checkout takes over of the files that the user's has and git does not track.

use std::fs;
use std::path::{Path, PathBuf};

use git2::{Repository, StatusOptions, StatusShow};

use crate::adapter::host::{files, packages};
use crate::code::{language, test_paths};
use crate::domain::id::RepoPath;
use crate::effect::GitError;

use super::io;

/// Untracked folders that test tools need; linked into every private checkout.
const DEPENDENCIES: &[&str] = &["node_modules", ".venv", "venv", "vendor", ".bundle"];

/// Depth below the root to which dependency folders are searched.
const DEPENDENCY_DEPTH: usize = 3;

/// Ignored files of code that are taken over, at most, and the largest of them in bytes: what a build step
/// generates between the sources, such as `_version.py`.
const GENERATED: usize = 200;
const GENERATED_LIMIT: u64 = 1 << 20;

/// Links a folder of dependencies. The autoloader of Composer finds the project's own classes from the
/// real path of its files, so that these are copied: a link would lead to the classes of the user's checkout.
fn link_dependency(from: &Path, to: &Path) -> std::io::Result<()> {
    let is_composer = from.join("composer").is_dir() && from.join("autoload.php").is_file();
    if !is_composer {
        return std::os::unix::fs::symlink(from, to);
    }
    copy_files(from, to, &["composer", "bin"])
}

/// Copies the plain files of a folder and of those below it that are named, and links the rest.
fn copy_files(from: &Path, to: &Path, below: &[&str]) -> std::io::Result<()> {
    files::create_folder(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_file() {
            fs::copy(entry.path(), target)?;
        } else if kind.is_dir() && below.iter().any(|name| entry.file_name() == *name) {
            copy_files(&entry.path(), &target, &[])?;
        } else {
            std::os::unix::fs::symlink(entry.path(), target)?;
        }
    }
    Ok(())
}

/// The untracked files of the user's checkout that tests need.
pub struct Untracked {
    checkout: PathBuf,
    /// Ignored files of code that no test is; whole folders that are ignored are not looked into.
    generated: Vec<RepoPath>,
}

impl Untracked {
    /// The files of a checkout; without generated ones where git cannot say which they are.
    pub fn find_in(repo: &Repository, checkout: &Path) -> Self {
        let mut options = StatusOptions::new();
        options.show(StatusShow::Workdir).include_untracked(false).include_ignored(true);
        options.recurse_ignored_dirs(false).exclude_submodules(true);
        let list = |statuses: git2::Statuses<'_>| {
            let ignored = statuses.iter().filter(|entry| entry.status().is_ignored());
            let paths = ignored.filter_map(|entry| RepoPath::parse(entry.path().ok()?).ok());
            let is_code =
                |file: &RepoPath| language::name_of(file).is_some() && !test_paths::is_test(file);
            paths.filter(is_code).take(GENERATED).collect()
        };
        let generated = repo.statuses(Some(&mut options)).map(list).unwrap_or_default();
        Self { checkout: checkout.to_owned(), generated }
    }

    /// Links the folders of dependencies and copies generated files, where nothing is in their places.
    pub fn take_over(&self, root: &Path) -> Result<(), GitError> {
        for file in &self.generated {
            let (from, to) = (self.checkout.join(file.as_str()), root.join(file.as_str()));
            let is_small = fs::symlink_metadata(&from)
                .is_ok_and(|facts| facts.is_file() && facts.len() <= GENERATED_LIMIT);
            let is_free =
                to.parent().is_some_and(Path::is_dir) && fs::symlink_metadata(&to).is_err();
            if is_small && is_free {
                fs::read(&from)
                    .and_then(|bytes| files::write_below(root, Path::new(file.as_str()), &bytes))
                    .map_err(io(format!("copy {file}")))?;
            }
        }
        self.link_dependencies(root)
    }

    fn link_dependencies(&self, root: &Path) -> Result<(), GitError> {
        let mut folders = vec![(PathBuf::new(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            for name in DEPENDENCIES {
                let (from, to) =
                    (self.checkout.join(&folder).join(name), root.join(&folder).join(name));
                let linked = match fs::symlink_metadata(&to).is_err() {
                    _ if !from.is_dir() => continue,
                    _ if *name == packages::FOLDER => packages::link_packages(&from, &to),
                    true => link_dependency(&from, &to),
                    false => continue,
                };
                linked.map_err(io(format!("link {name}")))?;
            }
            if depth == DEPENDENCY_DEPTH {
                continue;
            }
            let Ok(entries) = fs::read_dir(root.join(&folder)) else { continue };
            for entry in entries.flatten() {
                let name = entry.file_name();
                let hidden = name.to_string_lossy().starts_with('.');
                let is_own = !hidden && name != packages::FOLDER;
                if is_own && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push((folder.join(name), depth + 1));
                }
            }
        }
        Ok(())
    }
}
