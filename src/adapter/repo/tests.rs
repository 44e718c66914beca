//! Remotes and bundles against git's own server on loopback.

#![expect(clippy::disallowed_methods, reason = "tests build the world that the program then meets")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::adapter::host::http::Http;
use crate::domain::id::{CommitId, SessionId};
use crate::domain::secret::Key;
use crate::effect::{PushRequest, Pushed, Rebased, Refuser, Remote as _, RemoteError, Wanted};

use super::*;

const TOKEN: &str = "ghs_canaryCanary0123456789";

fn git(folder: &Path, arguments: &[&str]) -> String {
    git_with(folder, arguments, "")
}

fn git_with(folder: &Path, arguments: &[&str], input: &str) -> String {
    let mut child = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var("PATH").expect("a path"))
        .env("HOME", folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "Ada")
        .env("GIT_AUTHOR_EMAIL", "ada@localhost")
        .env("GIT_COMMITTER_NAME", "Ada")
        .env("GIT_COMMITTER_EMAIL", "ada@localhost")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("git starts");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("git reads");
    let output = child.wait_with_output().expect("git ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

/// A server with `main` (100 commits) and `topic`, which leaves it 80 commits before its tip and
/// is 70 commits long; and a checkout of `topic` of depth 1.
struct World {
    folder: tempfile::TempDir,
    server: Child,
    url: String,
    scheme: &'static str,
}

impl Drop for World {
    fn drop(&mut self) {
        self.server.kill().and_then(|()| self.server.wait().map(drop)).expect("it runs");
    }
}

impl World {
    fn new() -> Self {
        Self::serve(None)
    }

    fn serve(tls: Option<(&Path, &Path)>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("srv");
        let bare = root.join("o/r.git");
        std::fs::create_dir_all(&bare).expect("a folder");
        git(&bare, &["init", "-q", "--bare", "-b", "main"]);
        git(&bare, &["config", "http.receivepack", "true"]);
        let mut stream = String::new();
        for number in 1..=100 {
            stream += &commit("main", number, &format!("base {number}"), "a.txt");
        }
        git_with(&bare, &["fast-import", "--quiet"], &stream);
        // A start by distance is only understood when the branch is there.
        let mut stream = "reset refs/heads/topic\nfrom refs/heads/main~80\n\n".to_owned();
        for number in 1..=70 {
            stream += &commit("topic", number, &format!("topic {number}"), "b.txt");
        }
        git_with(&bare, &["fast-import", "--quiet"], &stream);
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/git_server.py");
        let mut command = Command::new("python3");
        command.arg(script).arg(&root).arg(TOKEN);
        if let Some((certificate, key)) = tls {
            command.arg(certificate).arg(key);
        }
        let mut server = command.stdout(Stdio::piped()).spawn().expect("python3 starts");
        let mut port = String::new();
        let out = server.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut port).expect("a port");
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://127.0.0.1:{}/o/r.git", port.trim());
        Self { folder, server, url, scheme }
    }

    fn bare(&self) -> PathBuf {
        self.folder.path().join("srv/o/r.git")
    }

    fn fault(&self, text: &str) {
        std::fs::write(self.folder.path().join("srv/fault"), text).expect("a file");
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("srv/log")).unwrap_or_default()
    }

    /// A checkout as the runner makes it, with the token in the address for once.
    fn clone(&self, depth: Option<u32>, branch: &str) -> PathBuf {
        let name = format!("{branch}-{depth:?}");
        let place = self.folder.path().join(&name);
        let secret = format!("x-access-token:{TOKEN}@");
        let url = self.url.replace("://", &format!("://{secret}"));
        let depth = depth.map_or_else(|| "--no-local".into(), |depth| format!("--depth={depth}"));
        git(self.folder.path(), &["clone", "-q", &depth, "--branch", branch, &url, &name]);
        place
    }

    fn remote(&self, checkout: &Path) -> GitRemote {
        let token = Some(Credential { host: "127.0.0.1".into(), token: Key::new(TOKEN) });
        self.remote_with(checkout, token)
    }

    fn remote_with(&self, checkout: &Path, token: Option<Credential>) -> GitRemote {
        let facts = discover(checkout).expect("a checkout");
        let http = Http::new().expect("a client");
        let transport = Transport::new(http, &self.url, token).expect("an address");
        GitRemote::new(&facts, transport.within(Duration::from_mins(1)))
    }

    fn tip(&self, branch: &str) -> CommitId {
        id(&git(&self.bare(), &["rev-parse", branch]))
    }

    /// Somebody else's commit on a branch of the server.
    fn foreign(&self, branch: &str, file: &str) -> CommitId {
        let more = format!(
            "commit refs/heads/{branch}\ncommitter Bo <bo@localhost> 1767323045 +0000\ndata 4\nmine\nfrom refs/heads/{branch}^0\nM 100644 inline {file}\ndata 4\nelse\n"
        );
        git_with(&self.bare(), &["fast-import", "--quiet", "--force"], &more);
        self.tip(branch)
    }
}

fn commit(branch: &str, number: u32, text: &str, file: &str) -> String {
    format!(
        "commit refs/heads/{branch}\ncommitter Ada <ada@localhost> {} +0000\ndata 1\nx\nM 100644 inline {file}\ndata {}\n{text}\n",
        1_767_300_000 + number,
        text.len()
    )
}

fn id(text: &str) -> CommitId {
    CommitId::parse(text).expect("an id")
}

fn session() -> SessionId {
    SessionId::parse("WFS-test-x").expect("an id")
}

/// A commit of the session in a checkout.
fn fix(checkout: &Path, file: &str, text: &str) -> CommitId {
    let path = checkout.join(file);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    std::fs::write(path, text).expect("a file");
    git(checkout, &["add", "-A"]);
    sealed(checkout)
}

fn sealed(checkout: &Path) -> CommitId {
    let message = "test-cycle: fix\n\nRegreen-Session: WFS-test-x\nRegreen-Kind: fix\n";
    git(checkout, &["commit", "-q", "-m", message]);
    id(&git(checkout, &["rev-parse", "HEAD"]))
}

fn request(branch: &str, expected: Option<CommitId>, new: &CommitId) -> PushRequest {
    PushRequest {
        branch: branch.into(),
        expected,
        new: new.clone(),
        session: session(),
        protected: vec!["main".into()],
    }
}

#[tokio::test]
async fn a_shallow_checkout_is_pushed_from_and_deepened_to_the_merge_base() {
    let world = World::new();
    let checkout = world.clone(Some(1), "topic");
    let remote = world.remote(&checkout);
    let head = world.tip("topic");
    assert_eq!(remote.head_of("topic").await.expect("an answer"), Some(head.clone()));
    assert_eq!(remote.head_of("nothing").await.expect("an answer"), None);
    let new = fix(&checkout, "b.txt", "fixed");
    let ask = request("regreen/WFS-test-x", None, &new);
    assert_eq!(remote.push(&ask).await.expect("an answer"), Pushed::Done);
    assert_eq!(remote.push(&ask).await.expect("an answer"), Pushed::AlreadyThere);
    assert_eq!(world.tip("regreen/WFS-test-x"), new);
    git(&world.bare(), &["fsck", "--strict"]);
    assert_eq!(git(&world.bare(), &["log", "--oneline", "regreen/WFS-test-x"]).lines().count(), 91);
    let base = remote.fetch(&Wanted::Branch("main".into()), Some(1)).await.expect("a commit");
    assert_eq!(base, world.tip("main"));
    let full = Wanted::Reference("refs/heads/main".into());
    assert_eq!(remote.fetch(&full, None).await.expect("a commit"), base);
    git(&checkout, &["fsck", "--strict"]);
    assert_eq!(remote.merge_base(&head, &base, 3).await.expect("an answer"), None, "too deep");
    let found = remote.merge_base(&head, &base, 1000).await.expect("an answer");
    assert_eq!(found, Some(id(&git(&world.bare(), &["merge-base", "main", "topic"]))));
    git(&checkout, &["fsck", "--strict"]);
    assert_eq!(git(&checkout, &["log", "--oneline"]).lines().count(), 91);
    assert!(!discover(&checkout).expect("a checkout").shallow, "all of it is here now");
}

/// The owner is what the system says: this one runs in full only where files can be given away.
#[tokio::test]
async fn a_shallow_checkout_of_another_user_is_pushed_from() {
    let world = World::new();
    let checkout = world.clone(Some(1), "topic");
    let new = fix(&checkout, "b.txt", "fixed");
    let remote = world.remote(&checkout);
    let given = Command::new("chown").args(["-R", "12345"]).arg(&checkout).output();
    let foreign = given.expect("chown starts").status.success();
    assert_eq!(discover(&checkout).is_err(), foreign, "nobody named the folder");
    let ask = request("regreen/WFS-test-x", None, &new);
    assert_eq!(remote.push(&ask).await.expect("an answer"), Pushed::Done);
    assert_eq!(checkout.join(".git/regreen-view/commondir").exists(), foreign);
}

#[tokio::test]
async fn a_push_moves_a_branch_only_from_where_it_is_known_to_be() {
    let world = World::new();
    let checkout = world.clone(None, "topic");
    let remote = world.remote(&checkout);
    let head = world.tip("topic");
    let new = fix(&checkout, "c.txt", "fixed");
    // The list says `head`; by the time of the push somebody else was faster.
    let other = world.foreign("topic", "other.txt");
    git(&world.bare(), &["update-ref", "refs/heads/topic", head.as_str()]);
    world.fault(&format!("race refs/heads/topic {other}"));
    let ask = request("topic", Some(head.clone()), &new);
    assert_eq!(
        remote.push(&ask).await.expect("an answer"),
        Pushed::Moved { now: Some(other.clone()) }
    );
    world.fault("");
    let answer = remote.push(&ask).await.expect("an answer");
    assert_eq!(answer, Pushed::Moved { now: Some(other.clone()) });
    assert_eq!(world.tip("topic"), other, "nothing was overwritten");
    // To know where it stands is not enough: the commit there is somebody else's.
    let force = remote.push(&request("topic", Some(other.clone()), &new)).await;
    assert!(matches!(force, Err(RemoteError::Foreign { .. })), "{force:?}");
    let protected = remote.push(&request("main", None, &new)).await;
    assert!(matches!(protected, Err(RemoteError::Protected { .. })), "{protected:?}");
    let odd = remote.push(&request("a..b\nc", None, &new)).await;
    assert!(matches!(odd, Err(RemoteError::Git(_))), "{odd:?}");
    // Our own earlier commit may go.
    let branch = "regreen/WFS-test-x";
    assert_eq!(remote.push(&request(branch, None, &new)).await.expect("yes"), Pushed::Done);
    git(&checkout, &["reset", "-q", "--hard", head.as_str()]);
    let better = fix(&checkout, "c.txt", "better");
    let again = remote.push(&request(branch, Some(new), &better)).await.expect("yes");
    assert_eq!(again, Pushed::Done);
    assert_eq!(world.tip(branch), better);
}

#[tokio::test]
async fn our_commits_go_once_on_top_of_theirs_when_no_file_is_in_both() {
    let world = World::new();
    let checkout = world.clone(Some(1), "topic");
    let remote = world.remote(&checkout);
    let head = world.tip("topic");
    fix(&checkout, "c.txt", "one");
    let new = fix(&checkout, "d/e.txt", "two");
    let other = world.foreign("topic", "other.txt");
    let ask = request("topic", Some(head.clone()), &new);
    let answer = remote.push_rebased(&ask).await.expect("an answer");
    let Rebased::OnTop { onto, tip, pushed: Pushed::Done } = answer else { panic!("{answer:?}") };
    assert_eq!((onto, world.tip("topic")), (other, tip.clone()));
    let trailers = git(
        &world.bare(),
        &["log", "-3", "--format=%(trailers:key=Regreen-Session,valueonly,separator=)", "topic"],
    );
    assert_eq!(trailers, "WFS-test-x\nWFS-test-x");
    assert_eq!(git(&world.bare(), &["show", "topic:d/e.txt"]), "two");
    assert_eq!(git(&world.bare(), &["show", "topic:other.txt"]), "else");
    git(&world.bare(), &["fsck", "--strict"]);
    // Repeated after a crash, with what was known before it: nothing of anybody's is lost.
    let again = remote.push_rebased(&ask).await.expect("an answer");
    assert!(matches!(again, Rebased::Stopped { .. }), "{again:?}");
    assert_eq!(world.tip("topic"), tip);
}

#[tokio::test]
async fn a_file_changed_by_both_stops_and_keeps_everything() {
    let world = World::new();
    let checkout = world.clone(None, "topic");
    let remote = world.remote(&checkout);
    let head = world.tip("topic");
    let new = fix(&checkout, "b.txt", "ours");
    let other = world.foreign("topic", "b.txt");
    let ask = request("topic", Some(head), &new);
    let answer = remote.push_rebased(&ask).await.expect("an answer");
    let reason = "somebody else changed b.txt too".to_owned();
    assert_eq!(answer, Rebased::Stopped { now: Some(other.clone()), reason });
    assert_eq!(world.tip("topic"), other);
    assert_eq!(git(&checkout, &["rev-parse", "HEAD"]), new.as_str());
    git(&world.bare(), &["update-ref", "-d", "refs/heads/topic"]);
    let gone = remote.push_rebased(&ask).await.expect("an answer");
    assert!(matches!(gone, Rebased::Stopped { now: None, .. }), "{gone:?}");
    let plain = remote.push_rebased(&request("fresh", None, &new)).await.expect("an answer");
    assert_eq!(plain, Rebased::Plain(Pushed::Done));
}

#[tokio::test]
async fn refusals_and_faults_are_named_and_show_no_token() {
    let world = World::new();
    let checkout = world.clone(None, "topic");
    let remote = world.remote(&checkout);
    let new = fix(&checkout, "c.txt", "fixed");
    let ask = request("regreen/x", None, &new);
    let table = [
        ("401", "does not accept the token", false, "valid"),
        ("403", "forbids this: so says ::the server", false, "contents: write"),
        ("forbid-write", "Write access to repository not granted", false, "contents: write"),
        ("404", "hidden from this token", false, "contents: read"),
        ("503", "answered 503", true, "run again"),
        ("429", "answered 429", true, "git server"),
        ("redirect", "has moved to http://127.0.0.1", false, "renamed.git'"),
        ("junk", "not git's protocol", false, "git server"),
        ("cut", "ended in the middle", true, "run again"),
    ];
    for (fault, said, passing, hint) in table {
        world.fault(fault);
        let error = remote.push(&ask).await.expect_err(fault);
        assert!(error.to_string().contains(said), "{fault}: {error}");
        assert!(error.hint().contains(hint), "{fault}: {}", error.hint());
        assert_eq!(error.is_passing(), passing, "{fault}");
        assert!(!format!("{error:?} {error} {remote:?}").contains(TOKEN), "{fault}");
    }
    // The cut answer came after the server had moved the branch: the same push tells so.
    world.fault("");
    assert_eq!(remote.push(&ask).await.expect("an answer"), Pushed::AlreadyThere);
    world.fault("cut");
    let other = world.foreign("main", "z.txt");
    let cut = remote.fetch(&Wanted::Commit(other.clone()), None).await.expect_err("cut");
    assert!(cut.is_passing(), "{cut}");
    world.fault("");
    remote.fetch(&Wanted::Commit(other), None).await.expect("it is repeated");
    world.fault("slow");
    let http = Http::new().expect("a client");
    let hasty = Transport::new(http, &world.url, None).expect("an address");
    let hasty = GitRemote::new(
        &discover(&checkout).expect("facts"),
        hasty.within(Duration::from_millis(200)),
    );
    assert!(hasty.head_of("main").await.is_err());
    world.fault("");
    let hook = world.bare().join("hooks/pre-receive");
    let more = fix(&checkout, "c.txt", "more");
    for (said, by) in [
        ("not on fridays", Refuser::Hook),
        ("GH006: Protected branch update failed", Refuser::Protection),
        (
            "refusing to allow a GitHub App to create or update workflow `.github/workflows/x.yml` without `workflows` permission",
            Refuser::WorkflowFiles,
        ),
    ] {
        std::fs::write(&hook, format!("#!/bin/sh\necho '{said}' >&2\nexit 1\n")).expect("a hook");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&hook, mode).expect("a mode");
        let answer = remote.push(&request("regreen/y", None, &more)).await.expect("an answer");
        let Pushed::Rejected { by: found, text } = answer else { panic!("{answer:?}") };
        assert_eq!(found, by, "{text}");
        assert!(text.contains(said) && !found.hint().is_empty(), "{text}");
    }
}

#[tokio::test]
async fn the_token_goes_to_its_own_host_and_stays_out_of_addresses() {
    let world = World::new();
    let checkout = world.clone(None, "topic");
    let facts = discover(&checkout).expect("a checkout");
    let config = std::fs::read_to_string(checkout.join(".git/config")).expect("a file");
    assert!(config.contains(TOKEN), "the case under test");
    let shown = remote_address(&facts, "origin").expect("an address").expect("a remote");
    assert_eq!(shown, world.url);
    assert_eq!(remote_address(&facts, "upstream").expect("an answer"), None);
    let elsewhere = Credential { host: "github.com".into(), token: Key::new(TOKEN) };
    let before = world.log().len();
    let answer = world.remote_with(&checkout, Some(elsewhere)).head_of("main").await;
    assert!(matches!(answer, Err(RemoteError::Unauthorized { .. })), "{answer:?}");
    let log = world.log();
    let asked = log.get(before..).expect("a line");
    assert!(
        asked.contains("GET ") && asked.contains(" None") && !asked.contains("token"),
        "{asked}"
    );
    assert_eq!(world.remote(&checkout).address(), world.url);
    assert!(redacted(&config).lines().count() <= 1);
}

/// Runs the test below with the certificate of a server that it starts.
#[test]
fn fetch_and_push_over_tls() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("leaf.ext"), "subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")
        .expect("a file");
    for line in [
        "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=test-ca -days 2",
        "req -newkey rsa:2048 -nodes -keyout leaf.key -out leaf.csr -subj /CN=127.0.0.1",
        "x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out leaf.pem -days 2 -extfile leaf.ext",
    ] {
        let made =
            Command::new("openssl").args(line.split(' ')).current_dir(folder.path()).output();
        let made = made.expect("openssl starts");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }
    let child = |certificates: Option<PathBuf>| {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--exact", "--ignored", "--nocapture"]);
        command.arg("adapter::repo::tests::over_tls_with_a_known_certificate");
        command.env("REGREEN_TEST_TLS", folder.path());
        match certificates {
            Some(file) => command.env("SSL_CERT_FILE", file),
            None => command.env_remove("SSL_CERT_FILE"),
        };
        command.output().expect("it starts")
    };
    let known = child(Some(at("ca.pem")));
    let said = String::from_utf8_lossy(&known.stdout) + String::from_utf8_lossy(&known.stderr);
    assert!(known.status.success() && said.contains("1 passed"), "{said}");
    let unknown = child(None);
    let said = String::from_utf8_lossy(&unknown.stdout) + String::from_utf8_lossy(&unknown.stderr);
    assert!(!unknown.status.success() && said.contains("certificate"), "{said}");
}

#[tokio::test]
#[ignore = "needs the certificate that fetch_and_push_over_tls makes"]
async fn over_tls_with_a_known_certificate() {
    let folder = PathBuf::from(std::env::var("REGREEN_TEST_TLS").expect("set by the other test"));
    let world = World::serve(Some((&folder.join("leaf.pem"), &folder.join("leaf.key"))));
    assert_eq!(world.scheme, "https");
    let checkout = world.folder.path().join("topic");
    let place = checkout.to_str().expect("text");
    git(
        &world.bare(),
        &[
            "clone",
            "-q",
            "--depth=1",
            "--branch=topic",
            &format!("file://{}", world.bare().display()),
            place,
        ],
    );
    let remote = world.remote(&checkout);
    let main = remote.fetch(&Wanted::Branch("main".into()), Some(2)).await.expect("a fetch");
    assert_eq!(main, world.tip("main"));
    let new = fix(&checkout, "c.txt", "fixed");
    let pushed = remote.push(&request("regreen/tls", None, &new)).await.expect("a push");
    assert_eq!(pushed, Pushed::Done);
    assert_eq!(world.tip("regreen/tls"), new);
}

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
        // The publisher's clone: it has the head, and nothing of the work.
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

    fn export(&self) -> Result<Bundle, BundleError> {
        export_bundle(&discover(&self.at("work")).expect("facts"), &self.of, &self.at("bundle"))
    }

    fn present(&self) -> Present {
        Present {
            repository: "o/r".into(),
            head: self.head.clone(),
            base: None,
            state_folder: ".workflow/active/WFS-test-x".into(),
        }
    }

    fn import(&self, present: &Present) -> Result<Imported, BundleError> {
        let facts = discover(&self.at("publish")).expect("facts");
        import_bundle(&facts, &self.at("bundle"), present, &self.at("scratch"))
    }

    /// Rewrites the list and makes it fit the pack that lies there.
    fn forge(&self, change: impl FnOnce(&mut serde_json::Value)) {
        use sha2::Digest as _;
        let path = self.at("bundle/bundle.json");
        let pack = std::fs::read(self.at("bundle/commits.pack")).expect("a pack");
        let mut value: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&path).expect("a list")).expect("JSON");
        let digest: String =
            sha2::Sha256::digest(&pack).iter().map(|byte| format!("{byte:02x}")).collect();
        value["pack_digest"] = digest.into();
        value["pack_bytes"] = pack.len().into();
        change(&mut value);
        std::fs::write(path, value.to_string()).expect("a file");
    }

    /// Replaces the pack by one with all objects of these names.
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
    let first: &BundledFile = &bundle.files[0];
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
        assert!(repo.find_commit(remote::oid(&bundled.of.tip).expect("an id")).is_err(), "{why}");
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
        // A tree as git would never write it.
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
