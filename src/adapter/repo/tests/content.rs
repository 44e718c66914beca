//! A private checkout has the bytes of the checkout that git itself wrote.

use std::collections::BTreeMap;
use std::fs;

use sha2::{Digest as _, Sha256};

use crate::domain::checkout_gap::{CheckoutGap, GapCause};
use crate::domain::id::{RepoPath, TreeId};
use crate::domain::proposal::{EditSet, FileEdit};
use crate::effect::{INDEX_OF_COPIES, Worktree as _};

use super::*;

/// A repository with these files in one commit, below a folder that holds everything of a test.
fn repository(around: &Path, name: &str, files: &[(&str, &[u8])]) -> PathBuf {
    let root = around.join(name);
    fs::create_dir_all(&root).unwrap();
    git(&root, &["init", "-q", "-b", "main"]);
    commit_files(&root, files);
    root
}

fn commit_files(root: &Path, files: &[(&str, &[u8])]) {
    for (path, bytes) in files {
        fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        fs::write(root.join(path), bytes).unwrap();
    }
    git(root, &["add", "-A"]);
    git(root, &["commit", "-q", "-m", "files"]);
}

fn add_submodule(root: &Path, from: &Path, path: &str) {
    let url = format!("file://{}", from.display());
    git(root, &["-c", "protocol.file.allow=always", "submodule", "add", "-q", &url, path]);
    git(root, &["commit", "-q", "-m", "a submodule"]);
}

fn open(root: &Path) -> RepoWorktree {
    let facts = discover(root).unwrap();
    let session = session();
    RepoWorktree::open(
        &facts,
        &WorktreeSettings {
            session: &session,
            branch: "regreen/x",
            head: &facts.head.clone(),
            work_root: &root.parent().unwrap().join("work"),
            state_folder: ".workflow",
            branching: Branching::Branch,
        },
    )
    .unwrap()
}

/// Checks out the head twice, since a second checkout must leave what the first one wrote.
fn checked_out(root: &Path) -> (RepoWorktree, TreeId) {
    let worktree = open(root);
    let head = discover(root).unwrap().head;
    let tree = futures::executor::block_on(async {
        let tree = worktree.tree_of(&head).await.unwrap();
        worktree.checkout(&tree).await.unwrap();
        worktree.checkout(&tree).await.unwrap();
        tree
    });
    (worktree, tree)
}

/// All files below a folder, without those of git.
fn files_of(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let walk = ignore::WalkBuilder::new(root)
        .standard_filters(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    let files = walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    files
        .map(|entry| {
            let path = entry.path().strip_prefix(root).unwrap().display().to_string();
            (path, fs::read(entry.path()).unwrap())
        })
        .collect()
}

fn pointer_of(content: &[u8]) -> (String, String) {
    let oid: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
    let text = format!(
        "version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {}\n",
        content.len()
    );
    (oid, text)
}

#[test]
fn line_ends_are_those_that_git_writes() {
    let attributes: [(&str, &str); 6] = [
        ("", "false"),
        ("", "true"),
        ("* text=auto\n", "true"),
        ("* text=auto eol=crlf\n", "false"),
        ("*.txt text eol=crlf\n(odd)/* -text\n", "false"),
        ("* text=auto\n*.txt eol=lf\nkeep ident\n", "true"),
    ];
    for (text, autocrlf) in attributes {
        let around = tempfile::tempdir().unwrap();
        let around = around.path().canonicalize().unwrap();
        let root = repository(
            &around,
            "repo",
            &[
                ("(odd)/a.txt", b"one\ntwo\n"),
                ("lf.txt", b"one\ntwo\n"),
                ("crlf.txt", b"one\r\ntwo\r\n"),
                ("mixed.txt", b"one\r\ntwo\n"),
                ("cr.txt", b"one\rtwo\n"),
                ("binary.txt", b"one\0\n\n"),
                ("keep", b"$Id$\n"),
            ],
        );
        commit_files(&root, &[(".gitattributes", text.as_bytes())]);
        git(&root, &["config", "core.autocrlf", autocrlf]);
        git(&root, &["rm", "-q", "--cached", "-r", "."]);
        git(&root, &["reset", "-q", "--hard"]);
        let (worktree, _) = checked_out(&root);
        assert_eq!(files_of(worktree.root()), files_of(&root), "{text:?} {autocrlf}");
        // Git itself calls a file with CRLF modified that is declared to be text.
        let status = git(worktree.root(), &["status", "--porcelain"]);
        assert!(status.is_empty() || text.contains(" text "), "{text:?} {autocrlf}: {status}");
    }
}

#[test]
fn submodules_are_there_as_deep_as_the_user_has_them() {
    let around = tempfile::tempdir().unwrap();
    let around = around.path().canonicalize().unwrap();
    let inner = repository(&around, "inner", &[("x.json", b"{}\n")]);
    let middle = repository(
        &around,
        "middle",
        &[("m.txt", b"m\n"), (".gitattributes", b"*.txt eol=crlf\n")],
    );
    add_submodule(&middle, &inner, "deep/inner");
    let root = repository(&around, "repo", &[("a.txt", b"a\n")]);
    add_submodule(&root, &middle, "third/middle");
    add_submodule(&root, &inner, "other");
    git(&root, &["submodule", "deinit", "-q", "-f", "other"]);
    let (worktree, tree) = checked_out(&root);
    let own = worktree.root();
    assert_eq!(files_of(own), files_of(&root));
    let empty = |path: &str| CheckoutGap { cause: GapCause::Submodule, path: path.into() };
    assert_eq!(worktree.gaps(own), [empty("other"), empty("third/middle/deep/inner")]);
    let recursive =
        ["-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init", "--recursive"];
    git(&root, &recursive);
    let edit = FileEdit {
        file: RepoPath::parse("a.txt").unwrap(),
        before: Some("a\n".into()),
        after: Some("b\n".into()),
    };
    futures::executor::block_on(async {
        let edited = worktree.graft(&tree, &EditSet { files: vec![edit] }).await.unwrap();
        worktree.checkout(&edited).await.unwrap();
        assert!(worktree.gaps(own).is_empty());
        let mut expected = files_of(&root);
        expected.insert("a.txt".into(), b"b\n".to_vec());
        assert_eq!(files_of(own), expected);
        // Git sees the submodule, and none of its files.
        assert_eq!(git(own, &["status", "--porcelain"]), "");
        assert_eq!(worktree.diff(&tree, &edited).await.unwrap().len(), 1);
        let inside = RepoPath::parse("third/middle/m.txt").unwrap();
        assert_eq!(worktree.read(&edited, &inside).await.unwrap(), None);
        let edit = FileEdit { file: inside, before: Some("m\n".into()), after: Some("n\n".into()) };
        worktree.graft(&tree, &EditSet { files: vec![edit] }).await.unwrap_err();
        let confirmed = worktree.export(&edited, "confirm", None).await.unwrap();
        assert_eq!(files_of(&confirmed), expected);
    });
}

#[test]
fn for_git_the_files_under_test_are_what_is_committed() {
    let around = tempfile::tempdir().unwrap();
    let around = around.path().canonicalize().unwrap();
    let root = repository(&around, "repo", &[("a.txt", b"a\n"), ("b.txt", b"b\n")]);
    git(&root, &["tag", "v1"]);
    git(&root, &["remote", "add", "origin", "https://user:secret-word@example.org/a.git"]);
    git(&root, &["config", "http.extraheader", "AUTHORIZATION: secret-word"]);
    let (worktree, tree) = checked_out(&root);
    let own = worktree.root();
    assert_eq!(git(own, &["describe", "--tags", "--dirty"]), "v1");
    assert_eq!(
        git(own, &["branch", "--format=%(refname:short)"]),
        "main",
        "without the fix branch"
    );
    assert_eq!(git(own, &["remote", "get-url", "origin"]), "https://example.org/a.git");
    assert!(!fs::read_to_string(own.join(".git/config")).unwrap().contains("secret-word"));
    let before = git(&root, &["for-each-ref"]);
    git(own, &["commit", "-q", "--allow-empty", "-m", "of a test"]);
    git(own, &["tag", "of-a-test"]);
    assert_eq!(git(&root, &["for-each-ref"]), before, "a test does not reach it");
    let edit = |file: &str, before: Option<&str>, after: Option<&str>| FileEdit {
        file: RepoPath::parse(file).unwrap(),
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
    };
    let edits = vec![
        edit("a.txt", Some("a\n"), Some("edited\n")),
        edit("b.txt", Some("b\n"), None),
        edit("new.txt", None, Some("new\n")),
    ];
    futures::executor::block_on(async {
        let edited = worktree.graft(&tree, &EditSet { files: edits }).await.unwrap();
        worktree.checkout(&edited).await.unwrap();
        let confirmed = worktree.export(&edited, "confirm", None).await.unwrap();
        for folder in [own, &confirmed] {
            assert_eq!(git(folder, &["status", "--porcelain"]), "");
            assert_eq!(git(folder, &["ls-files"]), "a.txt\nnew.txt");
            assert!(git(folder, &["describe", "--tags", "--dirty"]).starts_with("v1-1-g"));
            fs::write(folder.join("a.txt"), "changed by a test\n").unwrap();
            assert_eq!(git(folder, &["status", "--porcelain"]), " M a.txt");
        }
        worktree.checkout(&tree).await.unwrap();
        assert_eq!(git(own, &["diff-index", "HEAD"]), "", "without a refresh of the index");
        fs::write(own.join("b.txt"), "b\n").unwrap();
        worktree.checkout(&tree).await.unwrap();
        let confirmed = worktree.export(&tree, "confirm", None).await.unwrap();
        for folder in [own, &confirmed] {
            assert_eq!(git(folder, &["diff-index", "HEAD"]), "", "nor behind a test that wrote");
        }
        assert_eq!(git(own, &["status", "--porcelain"]), "");
        assert_eq!(git(own, &["rev-parse", "HEAD"]), git(&root, &["rev-parse", "main"]));
    });
    assert_eq!(git(&root, &["branch", "--list", "--format=%(refname:short)"]), "main\nregreen/x");
    let outside = around.join("outside");
    fs::create_dir(&outside).unwrap();
    fs::remove_dir_all(own.join(".git")).unwrap();
    std::os::unix::fs::symlink(&outside, own.join(".git")).unwrap();
    futures::executor::block_on(worktree.checkout(&tree)).unwrap();
    assert!(files_of(&outside).is_empty() && own.join(".git").join("HEAD").is_file());
    assert!(!own.join(".git").is_symlink(), "test code may have laid the link");
    let copy = around.join("copy");
    fs::create_dir(&copy).unwrap();
    let copied = Command::new("cp").arg("-r").arg(own.join(".git")).arg(&copy).status().unwrap();
    assert!(copied.success());
    fs::rename(copy.join(".git").join(INDEX_OF_COPIES), copy.join(".git/index")).unwrap();
    for file in ["a.txt", "b.txt"] {
        fs::write(copy.join(file), "edited by a candidate\n").unwrap();
    }
    assert_eq!(git(&copy, &["status", "--porcelain"]), "");
    assert_eq!(git(&copy, &["describe", "--tags", "--dirty"]), "v1");
}

#[test]
fn ignored_files_of_code_between_the_sources_are_there() {
    let around = tempfile::tempdir().unwrap();
    let around = around.path().canonicalize().unwrap();
    let ignored = b"_version.py\n*.pb.go\n.env\ntest_own.py\n/build/\n";
    let root =
        repository(&around, "repo", &[("shop/a.py", b"a\n"), (".gitignore", ignored.as_slice())]);
    let put = |file: &str| {
        fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
        fs::write(root.join(file), "generated\n").unwrap();
    };
    let present = [
        "shop/_version.py",
        "shop/a.pb.go",
        ".env",
        "shop/test_own.py",
        "build/b.py",
        "shop/new.py",
    ];
    for file in present {
        put(file);
    }
    let (worktree, tree) = checked_out(&root);
    let names = |folder: &Path| files_of(folder).into_keys().collect::<Vec<_>>();
    let expected = [".gitignore", "shop/_version.py", "shop/a.pb.go", "shop/a.py"];
    assert_eq!(names(worktree.root()), expected);
    assert_eq!(git(worktree.root(), &["status", "--porcelain"]), "");
    let confirmed = futures::executor::block_on(worktree.export(&tree, "confirm", None)).unwrap();
    assert_eq!(names(&confirmed), expected);
}

#[test]
fn a_link_in_the_place_of_a_submodule_leads_nowhere() {
    let around = tempfile::tempdir().unwrap();
    let around = around.path().canonicalize().unwrap();
    let inner = repository(&around, "inner", &[("x.json", b"{}\n")]);
    let root = repository(&around, "repo", &[("a.txt", b"a\n")]);
    add_submodule(&root, &inner, "sub");
    let (worktree, tree) = checked_out(&root);
    let outside = around.join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::remove_dir_all(worktree.root().join("sub")).unwrap();
    std::os::unix::fs::symlink(&outside, worktree.root().join("sub")).unwrap();
    futures::executor::block_on(worktree.checkout(&tree)).unwrap();
    assert!(files_of(&outside).is_empty(), "test code may have laid the link");
    assert_eq!(files_of(worktree.root()), files_of(&root));
    fs::rename(root.join("sub"), around.join("moved")).unwrap();
    std::os::unix::fs::symlink(around.join("moved"), root.join("sub")).unwrap();
    let folder = futures::executor::block_on(worktree.export(&tree, "confirm", None)).unwrap();
    assert!(!folder.join("sub/x.json").exists(), "the user's path leads out of the checkout");
    assert_eq!(worktree.gaps(&folder).len(), 1);
}

#[test]
fn objects_of_lfs_are_laid_if_they_are_what_the_pointer_says() {
    let around = tempfile::tempdir().unwrap();
    let around = around.path().canonicalize().unwrap();
    let (oid, stored) = pointer_of(b"stored");
    let (wrong, damaged) = pointer_of(b"damaged");
    let (_, of_user) = pointer_of(b"of the user");
    let (_, missing) = pointer_of(b"missing");
    let root = repository(
        &around,
        "repo",
        &[
            ("stored.bin", stored.as_bytes()),
            ("damaged.bin", damaged.as_bytes()),
            ("user.bin", of_user.as_bytes()),
            ("missing.bin", missing.as_bytes()),
            ("plain.txt", stored.as_bytes()),
            (".gitattributes", b"*.bin filter=lfs -text\n"),
        ],
    );
    for (oid, content) in [(&oid, "stored"), (&wrong, "DAMAGED")] {
        let folder =
            root.join(".git/lfs/objects").join(oid.get(..2).unwrap()).join(oid.get(2..4).unwrap());
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(oid), content).unwrap();
    }
    fs::write(root.join("user.bin"), "of the user").unwrap();
    let (worktree, tree) = checked_out(&root);
    let own = files_of(worktree.root());
    let text = |path: &str| String::from_utf8(own[path].clone()).unwrap();
    assert_eq!((text("stored.bin"), text("user.bin")), ("stored".into(), "of the user".into()));
    assert_eq!((text("damaged.bin"), text("missing.bin")), (damaged, missing));
    assert_eq!(text("plain.txt"), stored, "its attributes do not ask for it");
    let gaps = worktree.gaps(worktree.root());
    let paths: Vec<&str> = gaps.iter().map(|gap| gap.path.as_str()).collect();
    assert_eq!(paths, ["damaged.bin", "missing.bin"]);
    let file = RepoPath::parse("stored.bin").unwrap();
    futures::executor::block_on(async {
        let kept = worktree.read(&tree, &file).await.unwrap();
        assert_eq!(kept.as_deref(), Some(stored.as_bytes()));
        worktree.remove_stand_ins().await.unwrap();
        assert!(!worktree.root().join("missing.bin").exists());
        fs::write(worktree.root().join("stored.bin"), "by a test").unwrap();
        worktree.checkout(&tree).await.unwrap();
    });
    assert_eq!(files_of(worktree.root()), own);
}

#[test]
fn what_only_a_filter_writes_comes_from_the_unmodified_file_of_the_user() {
    let around = tempfile::tempdir().unwrap();
    let around = around.path().canonicalize().unwrap();
    let root = repository(&around, "repo", &[("a.txt", b"a\n")]);
    for key in ["filter.turn.clean", "filter.turn.smudge"] {
        git(&root, &["config", key, "tr a-z n-za-m"]);
    }
    let attributes =
        b"*.sec filter=turn\n*.none filter=none\n*.u16 text working-tree-encoding=UTF-16LE\n";
    commit_files(
        &root,
        &[
            (".gitattributes", attributes),
            ("a.sec", b"hello\n"),
            ("b.sec", b"hello\n"),
            ("c.none", b"hello\n"),
            ("d.u16", b"h\0i\0"),
        ],
    );
    fs::write(root.join("b.sec"), "modified").unwrap();
    let (worktree, _) = checked_out(&root);
    let own = files_of(worktree.root());
    assert_eq!((&*own["a.sec"], &*own["d.u16"]), (&b"hello\n"[..], &b"h\0i\0"[..]));
    assert_eq!(own["b.sec"], b"uryyb\n");
    let gaps = worktree.gaps(worktree.root());
    let paths: Vec<&str> = gaps.iter().map(|gap| gap.path.as_str()).collect();
    assert_eq!(paths, ["b.sec"], "a filter that is set up nowhere changes no content");
}

#[test]
fn a_sparse_checkout_of_a_partial_clone_leaves_out_the_same() {
    let around = tempfile::tempdir().unwrap();
    let around = around.path().canonicalize().unwrap();
    let files: &[(&str, &[u8])] =
        &[("top", b"t\n"), ("a/a.txt", b"a\n"), ("b/b.txt", b"b\n"), ("b/c/c.txt", b"c\n")];
    let from = repository(&around, "from", files);
    git(&from, &["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", from.display());
    for (name, filter) in [("whole", "--no-tags"), ("partial", "--filter=blob:none")] {
        git(&around, &["clone", "-q", "--no-checkout", filter, &url, name]);
        let root = around.join(name);
        git(&root, &["sparse-checkout", "set", "a"]);
        git(&root, &["checkout", "-q", "main"]);
        let facts = discover(&root).unwrap();
        assert_eq!((facts.modified, facts.untracked), (0, 0), "{name}");
        let (worktree, tree) = checked_out(&root);
        assert_eq!(files_of(worktree.root()), files_of(&root), "{name}");
        let left_out = CheckoutGap { cause: GapCause::LeftOut, path: "b".into() };
        assert_eq!(worktree.gaps(worktree.root()), [left_out], "{name}");
        let file = RepoPath::parse("b/b.txt").unwrap();
        let read = futures::executor::block_on(worktree.read(&tree, &file)).unwrap();
        assert_eq!(read.is_some(), name == "whole", "{name}");
        futures::executor::block_on(worktree.remove()).unwrap();
    }
    let root = around.join("whole");
    git(&root, &["sparse-checkout", "reapply", "--sparse-index"]);
    let error = discover(&root).unwrap_err();
    assert!(error.hint().contains("--no-sparse-index"), "{error}");
    git(&root, &["sparse-checkout", "reapply", "--no-sparse-index"]);
    discover(&root).unwrap();
}

#[test]
fn the_checkout_of_a_job_is_the_origin_of_its_private_ones() {
    let around = tempfile::tempdir().unwrap();
    let around = around.path().canonicalize().unwrap();
    let inner = repository(&around, "inner", &[("x.json", b"{}\n")]);
    let (_, pointer) = pointer_of(b"content");
    let files: &[(&str, &[u8])] = &[
        ("a.txt", b"a\n"),
        ("data.bin", pointer.as_bytes()),
        ("left/out.txt", b"o\n"),
        (".gitattributes", b"*.bin filter=lfs -text\na.txt text\n"),
    ];
    let root = repository(&around, "repo", files);
    add_submodule(&root, &inner, "sub");
    fs::write(root.join("data.bin"), "content").unwrap();
    git(&root, &["config", "core.eol", "crlf"]);
    fs::write(root.join("a.txt"), "a\r\n").unwrap();
    git(&root, &["update-index", "--skip-worktree", "left/out.txt"]);
    fs::remove_dir_all(root.join("left")).unwrap();
    let source = discover(&root).unwrap();
    let scratch = ScratchRepo::make(Some(&source), &around.join("scratch/repository")).unwrap();
    let head = source.head.clone();
    let of = ScratchHead { head, branch: "topic".into(), others: Vec::new() };
    scratch.check_out(&of).unwrap();
    let facts = scratch.check_out(&of).unwrap();
    assert_eq!(scratch.edited(1 << 20).unwrap(), Vec::new());
    let expected = files_of(&root);
    assert_eq!(files_of(&facts.root), expected);
    let (worktree, _) = checked_out(&facts.root);
    assert_eq!(files_of(worktree.root()), expected);
    let left_out = CheckoutGap { cause: GapCause::LeftOut, path: "left".into() };
    assert_eq!(worktree.gaps(worktree.root()), [left_out]);
    fs::write(facts.root.join("a.txt"), "b\r\n").unwrap();
    let edited = scratch.edited(1 << 20).unwrap();
    assert_eq!(edited, [("a.txt".to_owned(), b"b\n".to_vec())], "as git keeps it");
}
