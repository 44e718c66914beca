//! Tests of bundles: what they carry, and which of them are rejected.

use super::*;
use crate::domain::secret::Redactor;

/// A checkout with two commits of the session on top of `head`, and its bundle.
struct Bundled {
    folder: tempfile::TempDir,
    head: CommitId,
    of: BundleOf,
}

impl Bundled {
    fn new(change: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let repo = folder.path().join("work");
        std::fs::create_dir_all(&repo).expect("a folder");
        git(&repo, &["init", "-q", "-b", "main"]);
        std::fs::write(repo.join("a.py"), "old\n").expect("a file");
        git(&repo, &["add", "-A"]);
        git(&repo, &["commit", "-q", "-m", "first"]);
        let head = id(&git(&repo, &["rev-parse", "HEAD"]));
        // The publisher's clone has the head, but no commit of the worker.
        let place = folder.path().join("publish");
        git(&repo, &["clone", "-q", ".", place.to_str().expect("text")]);
        fix(&repo, "a.py", "new\n");
        fix(&repo, ".workflow/active/WFS-test-x/state.json", "{}");
        change(&repo);
        let of = BundleOf {
            session: session(),
            repository: "o/r".into(),
            branch: "regreen/WFS-test-x".into(),
            head: head.clone(),
            base: None,
            tip: id(&git(&repo, &["rev-parse", "HEAD"])),
        };
        Self { folder, head, of }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn export(&self) -> Result<super::bundle::Bundle, BundleError> {
        export_bundle(&discover(&self.at("work")).expect("facts"), &self.of, &self.at("bundle"))
    }

    fn present(&self) -> Present {
        Present {
            repository: "o/r".into(),
            head: self.head.clone(),
            base: None,
            state_folder: ".workflow/active/WFS-test-x".into(),
            secrets: Redactor::default(),
        }
    }

    fn import(&self, present: &Present) -> Result<super::bundle::Imported, BundleError> {
        let facts = discover(&self.at("publish")).expect("facts");
        import_bundle(&facts, &self.at("bundle"), present, &self.at("scratch"))
    }

    /// Rewrites the manifest so that it matches the pack in the folder, then applies `change`.
    fn forge(&self, change: impl FnOnce(&mut serde_json::Value)) {
        let path = self.at("bundle/bundle.json");
        let pack = std::fs::read(self.at("bundle/commits.pack")).expect("a pack");
        let mut value: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&path).expect("a list")).expect("JSON");
        value["pack_digest"] = crate::domain::id::sha256_hex(&pack).into();
        value["pack_bytes"] = pack.len().into();
        change(&mut value);
        std::fs::write(path, value.to_string()).expect("a file");
    }

    /// Replaces the pack by one that holds these objects.
    fn repack(&self, objects: &str) {
        let work = self.at("work");
        let name = git_with(&work, &["pack-objects", "-q", "../forged"], objects);
        let made = self.at(&format!("forged-{name}.pack"));
        std::fs::remove_file(self.at("bundle/commits.pack")).expect("it is there");
        std::fs::copy(made, self.at("bundle/commits.pack")).expect("a copy");
    }
}

#[test]
fn a_bundle_carries_commits_to_a_clone_that_never_saw_them() {
    let bundled = Bundled::new(|_| {});
    let bundle = bundled.export().expect("a bundle");
    assert_eq!(bundle.commits.len(), 2);
    let first = &bundle.files[0];
    assert_eq!((first.file.as_str(), first.bytes), (".workflow/active/WFS-test-x/state.json", 2));
    for round in 0..2 {
        let imported = bundled.import(&bundled.present()).expect("it is taken");
        assert_eq!(imported.bundle, bundle, "round {round}");
        let files: Vec<_> = imported.diff.iter().map(|one| one.file.as_str()).collect();
        assert_eq!(files, ["a.py"], "state files are not for the guards");
        assert_eq!(imported.diff[0].after.as_deref(), Some("new\n"));
    }
    let publish = bundled.at("publish");
    let log = git(&publish, &["log", "--format=%s", bundled.of.tip.as_str()]);
    assert_eq!(log, "test-cycle: fix\ntest-cycle: fix\nfirst");
    git(&publish, &["fsck", "--strict"]);
    assert!(!bundled.at("scratch").exists());
}

#[test]
fn what_is_not_a_plain_change_is_neither_exported_nor_taken() {
    type Change = fn(&Path);
    let table: [(&str, Change, &str); 4] = [
        (
            "a link",
            |repo| {
                std::os::unix::fs::symlink("/etc/passwd", repo.join("link")).expect("a link");
                git(repo, &["add", "-A"]);
                sealed(repo);
            },
            "link: it is a link",
        ),
        (
            "a link that is gone again",
            |repo| {
                std::os::unix::fs::symlink("/etc/passwd", repo.join("link")).expect("a link");
                git(repo, &["add", "-A"]);
                sealed(repo);
                git(repo, &["rm", "-q", "link"]);
                sealed(repo);
            },
            "link: it is a link",
        ),
        (
            "a mode",
            |repo| {
                git(repo, &["update-index", "--chmod=+x", "a.py"]);
                sealed(repo);
            },
            "a.py: its mode changes",
        ),
        (
            "a commit of somebody else",
            |repo| {
                git(repo, &["commit", "-q", "--allow-empty", "-m", "not of the session"]);
            },
            "not of the session",
        ),
    ];
    for (why, change, expected) in table {
        let error = Bundled::new(change).export().expect_err(why);
        assert!(error.to_string().contains(expected), "{why}: {error}");
    }
}

#[test]
fn hostile_bundles_are_refused_by_name_and_leave_nothing() {
    type Attack = fn(&Bundled);
    let table: [(&str, Attack, &str); 9] = [
        (
            "a cut pack",
            |bundled| {
                let path = bundled.at("bundle/commits.pack");
                let pack = std::fs::read(&path).expect("a pack");
                std::fs::write(&path, &pack[..pack.len() / 2]).expect("a file");
                bundled.forge(|_| {});
            },
            "commits.pack cannot be read",
        ),
        (
            "another pack",
            |bundled| {
                let path = bundled.at("bundle/commits.pack");
                let mut pack = std::fs::read(&path).expect("a pack");
                pack.push(0);
                std::fs::write(&path, &pack).expect("a file");
            },
            "commits.pack is not what bundle.json says",
        ),
        (
            "another digest of a file",
            |bundled| bundled.forge(|list| list["files"][1]["after"] = "00".into()),
            "a changed file is not what bundle.json says",
        ),
        (
            "a path above the root",
            |bundled| bundled.forge(|list| list["files"][0]["file"] = "../a.py".into()),
            "not a path inside the repository",
        ),
        (
            "a path into git's files",
            |bundled| bundled.forge(|list| list["files"][0]["file"] = ".git/config".into()),
            "git's own files",
        ),
        (
            "an unknown field",
            |bundled| bundled.forge(|list| list["run"] = "sh".into()),
            "unknown field",
        ),
        (
            "a commit left out of the list",
            |bundled| {
                bundled.forge(|list| {
                    list["commits"].as_array_mut().expect("a list").pop();
                });
            },
            "the list of commits",
        ),
        (
            "an object more",
            |bundled| {
                let work = bundled.at("work");
                let extra = git_with(&work, &["hash-object", "-w", "--stdin"], "smuggled");
                let range = format!("{}..{}", bundled.head, bundled.of.tip);
                let all = git(&work, &["rev-list", "--objects", "--no-object-names", &range]);
                bundled.repack(&format!("{all}\n{extra}\n"));
                bundled.forge(|_| {});
            },
            "which no commit of the bundle needs",
        ),
        (
            "no pack at all",
            |bundled| std::fs::remove_file(bundled.at("bundle/commits.pack")).expect("gone"),
            "the bundle has no `commits.pack`",
        ),
    ];
    for (why, attack, expected) in table {
        let bundled = Bundled::new(|_| {});
        bundled.export().expect("a bundle");
        attack(&bundled);
        let error = bundled.import(&bundled.present()).expect_err(why);
        assert!(error.to_string().contains(expected), "{why}: {error}");
        assert!(!error.hint().is_empty());
        let publish = discover(&bundled.at("publish")).expect("facts");
        let repo = git2::Repository::open(publish.root).expect("a repository");
        assert!(repo.find_commit(objects::oid(&bundled.of.tip).expect("an id")).is_err(), "{why}");
    }
}

#[test]
fn trees_that_no_checkout_may_write_are_refused() {
    for (name, mode, expected) in [
        ("..", "100644", "`..` is not a path"),
        (".git", "100644", "git's own files"),
        (".GIT", "100644", "git's own files"),
        ("sub/x", "100644", "a `/` in it"),
        ("link", "120000", "link: it is a link"),
        ("run.sh", "100755", "must not be executable"),
    ] {
        let mut bundled = Bundled::new(|_| {});
        bundled.export().expect("a bundle");
        let work = bundled.at("work");
        let blob = git_with(&work, &["hash-object", "-w", "--stdin"], "evil");
        // A tree that git itself would never write.
        let raw: Vec<u8> = (0..40)
            .step_by(2)
            .map(|at| {
                u8::from_str_radix(blob.get(at..at + 2).expect("digits"), 16).expect("digits")
            })
            .collect();
        let mut bytes = format!("{mode} {name}\0").into_bytes();
        bytes.extend(raw);
        let repo = git2::Repository::open(&work).expect("a repository");
        let odb = repo.odb().expect("a store");
        let tree = odb.write(git2::ObjectType::Tree, &bytes).expect("a tree").to_string();
        let message = "x\n\nRegreen-Session: WFS-test-x\n";
        let tip = git(&work, &["commit-tree", &tree, "-p", bundled.head.as_str(), "-m", message]);
        bundled.repack(&format!("{tip}\n{tree}\n{blob}\n"));
        bundled.forge(|list| {
            list["of"]["tip"] = tip.clone().into();
            list["commits"] = serde_json::json!([tip]);
        });
        bundled.of.tip = id(&tip);
        let error = bundled.import(&bundled.present()).expect_err(name);
        assert!(error.to_string().contains(expected), "{name}: {error}");
    }
}

#[test]
fn a_bundle_for_another_head_base_or_repository_is_stale() {
    let bundled = Bundled::new(|_| {});
    bundled.export().expect("a bundle");
    let present = bundled.present();
    let tip = bundled.of.tip.clone();
    for (what, now) in [
        ("head", Present { head: tip.clone(), ..present.clone() }),
        ("base", Present { base: Some(tip), ..present.clone() }),
        ("repository", Present { repository: "o/other".into(), ..present.clone() }),
    ] {
        let error = bundled.import(&now).expect_err(what);
        assert!(error.to_string().contains(&format!("is for {what} ")), "{error}");
    }
}
