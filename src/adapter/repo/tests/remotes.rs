//! Tests of fetch and push: shallow checkouts, leases, rebases, credentials, TLS and faults.

use super::*;

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
    assert_eq!(remote.push(&ask).await.expect("an answer"), PushOutcome::Done);
    assert_eq!(remote.push(&ask).await.expect("an answer"), PushOutcome::AlreadyThere);
    assert_eq!(world.tip("regreen/WFS-test-x"), new);
    git(&world.bare(), &["fsck", "--strict"]);
    assert_eq!(git(&world.bare(), &["log", "--oneline", "regreen/WFS-test-x"]).lines().count(), 91);
    let base = remote.fetch(&FetchTarget::Branch("main".into()), Some(1)).await.expect("a commit");
    assert_eq!(base, world.tip("main"));
    let full = FetchTarget::Reference("refs/heads/main".into());
    assert_eq!(remote.fetch(&full, None).await.expect("a commit"), base);
    git(&checkout, &["fsck", "--strict"]);
    assert_eq!(remote.merge_base(&head, &base, 3).await.expect("an answer"), None, "too deep");
    let found = remote.merge_base(&head, &base, 1000).await.expect("an answer");
    assert_eq!(found, Some(id(&git(&world.bare(), &["merge-base", "main", "topic"]))));
    git(&checkout, &["fsck", "--strict"]);
    assert_eq!(git(&checkout, &["log", "--oneline"]).lines().count(), 91);
    assert!(!discover(&checkout).expect("a checkout").shallow, "all of it is here now");
}

/// Tests ownership in full only where the process may change the owner of files.
#[tokio::test]
async fn a_shallow_checkout_of_another_user_is_pushed_from() {
    let world = World::new();
    let checkout = world.clone(Some(1), "topic");
    let new = fix(&checkout, "b.txt", "fixed");
    let remote = world.remote(&checkout);
    let (mut given, _live) = start(Command::new("chown").args(["-R", "12345"]).arg(&checkout));
    let foreign = given.wait().expect("chown ends").success();
    assert_eq!(discover(&checkout).is_err(), foreign, "nobody named the folder");
    let ask = request("regreen/WFS-test-x", None, &new);
    assert_eq!(remote.push(&ask).await.expect("an answer"), PushOutcome::Done);
    assert_eq!(checkout.join(".git/regreen-view/commondir").exists(), foreign);
}

#[tokio::test]
async fn a_push_moves_a_branch_only_from_where_it_is_known_to_be() {
    let world = World::new();
    let checkout = world.clone(None, "topic");
    let remote = world.remote(&checkout);
    let head = world.tip("topic");
    let new = fix(&checkout, "c.txt", "fixed");
    // The server lists `head`, but somebody else moves the branch before the push.
    let other = world.foreign("topic", "other.txt");
    git(&world.bare(), &["update-ref", "refs/heads/topic", head.as_str()]);
    world.fault(&format!("race refs/heads/topic {other}"));
    let ask = request("topic", Some(head.clone()), &new);
    assert_eq!(
        remote.push(&ask).await.expect("an answer"),
        PushOutcome::Moved { now: Some(other.clone()) }
    );
    world.fault("");
    let answer = remote.push(&ask).await.expect("an answer");
    assert_eq!(answer, PushOutcome::Moved { now: Some(other.clone()) });
    assert_eq!(world.tip("topic"), other, "nothing was overwritten");
    // Knowing the tip is not enough: the commit there is somebody else's.
    let force = remote.push(&request("topic", Some(other.clone()), &new)).await;
    assert!(matches!(force, Err(RemoteError::Foreign { .. })), "{force:?}");
    let protected = remote.push(&request("main", None, &new)).await;
    assert!(matches!(protected, Err(RemoteError::Protected { .. })), "{protected:?}");
    let odd = remote.push(&request("a..b\nc", None, &new)).await;
    assert!(matches!(odd, Err(RemoteError::Git(_))), "{odd:?}");
    // Our own earlier commit may be replaced.
    let branch = "regreen/WFS-test-x";
    assert_eq!(remote.push(&request(branch, None, &new)).await.expect("yes"), PushOutcome::Done);
    git(&checkout, &["reset", "-q", "--hard", head.as_str()]);
    let better = fix(&checkout, "c.txt", "better");
    let again = remote.push(&request(branch, Some(new), &better)).await.expect("yes");
    assert_eq!(again, PushOutcome::Done);
    assert_eq!(world.tip(branch), better);
}

/// Somebody else pushes between our push and our look at its result, which may be lost as well.
#[tokio::test]
async fn a_push_on_which_somebody_builds_at_once_is_done() {
    for fault in [None, Some("lost")] {
        let world = World::new();
        let checkout = world.clone(Some(1), "topic");
        let remote = world.remote(&checkout);
        let new = fix(&checkout, "b.txt", "fixed");
        let branch = "regreen/WFS-test-x";
        let script = format!(
            "rm \"$0\"\n\
             git -c user.name=Bea -c user.email=bea@localhost commit-tree -p {new} -m Mine {new}^{{tree}} |\n\
             xargs git update-ref refs/heads/{branch}"
        );
        world.hook("post-receive", &script);
        if let Some(kind) = fault {
            world.fault_once(kind, "POST", "receive");
        }
        let pushed = remote.push(&request(branch, None, &new)).await.expect("an answer");
        assert_eq!(pushed, PushOutcome::Done, "{fault:?}");
        let theirs = world.tip(branch);
        assert_eq!(git(&world.bare(), &["rev-parse", &format!("{theirs}^")]), new.as_str());
        // An earlier push whose answer nobody waited for.
        let again = remote.push_rebased(&request(branch, None, &new)).await.expect("an answer");
        assert_eq!(again, RebasedPushOutcome::Plain(PushOutcome::Done));
        assert_eq!(world.tip(branch), theirs);
    }
}

/// A branch contains the commit to which it is to be set back all the time.
#[tokio::test]
async fn a_branch_that_moves_while_it_is_set_back_is_not_set_back() {
    let world = World::new();
    let checkout = world.clone(None, "topic");
    let remote = world.remote(&checkout);
    let old = fix(&checkout, "b.txt", "fixed");
    let new = fix(&checkout, "b.txt", "better");
    let branch = "regreen/WFS-test-x";
    remote.push(&request(branch, None, &new)).await.expect("an answer");
    let other = world.foreign(branch, "other.txt");
    git(&world.bare(), &["update-ref", &format!("refs/heads/{branch}"), new.as_str()]);
    let moves =
        format!("unset GIT_QUARANTINE_PATH\ngit update-ref refs/heads/{branch} {other}\nexit 1");
    world.hook("pre-receive", &moves);
    let back = remote.push(&request(branch, Some(new), &old)).await.expect("an answer");
    assert_eq!(back, PushOutcome::Moved { now: Some(other) });
}

#[tokio::test]
async fn a_reference_is_deleted_only_from_where_it_is_known_to_be() {
    let world = World::new();
    let checkout = world.clone(Some(1), "topic");
    let remote = world.remote(&checkout);
    let new = fix(&checkout, "b.txt", "fixed");
    let reference = format!("refs/regreen/results/{new}");
    remote.push(&request(&reference, None, &new)).await.expect("an answer");
    remote.delete(&reference, &world.tip("topic")).await.expect("an answer");
    assert_eq!(remote.head_of(&reference).await.expect("an answer"), Some(new.clone()));
    for _ in 0..2 {
        remote.delete(&reference, &new).await.expect("an answer");
        assert_eq!(remote.head_of(&reference).await.expect("an answer"), None);
    }
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
    let RebasedPushOutcome::OnTop { onto, tip, pushed: PushOutcome::Done } = answer else {
        panic!("{answer:?}")
    };
    assert_eq!((onto, world.tip("topic")), (other, tip.clone()));
    let trailers = git(
        &world.bare(),
        &["log", "-3", "--format=%(trailers:key=Regreen-Session,valueonly,separator=)", "topic"],
    );
    assert_eq!(trailers, "WFS-test-x\nWFS-test-x");
    assert_eq!(git(&world.bare(), &["show", "topic:d/e.txt"]), "two");
    assert_eq!(git(&world.bare(), &["show", "topic:other.txt"]), "else");
    git(&world.bare(), &["fsck", "--strict"]);
    // A repeat after a crash, with the old expectation, loses nobody's commits.
    let again = remote.push_rebased(&ask).await.expect("an answer");
    assert!(matches!(again, RebasedPushOutcome::Stopped { .. }), "{again:?}");
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
    let reason = "someone else changed b.txt too".to_owned();
    assert_eq!(answer, RebasedPushOutcome::Stopped { now: Some(other.clone()), reason });
    assert_eq!(world.tip("topic"), other);
    assert_eq!(git(&checkout, &["rev-parse", "HEAD"]), new.as_str());
    git(&world.bare(), &["update-ref", "-d", "refs/heads/topic"]);
    let gone = remote.push_rebased(&ask).await.expect("an answer");
    assert!(matches!(gone, RebasedPushOutcome::Stopped { now: None, .. }), "{gone:?}");
    let plain = remote.push_rebased(&request("fresh", None, &new)).await.expect("an answer");
    assert_eq!(plain, RebasedPushOutcome::Plain(PushOutcome::Done));
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
        ("429", "limits the rate of requests", true, "after the limit"),
        ("redirect", "has moved to http://127.0.0.1", false, "renamed.git'"),
        ("junk", "not git's protocol", true, "git server"),
    ];
    for (fault, message, passing, hint) in table {
        world.fault(fault);
        // A refusal is remembered.
        let remote = world.remote(&checkout);
        let error = remote.push(&ask).await.expect_err(fault);
        assert!(error.to_string().contains(message), "{fault}: {error}");
        assert!(error.hint().contains(hint), "{fault}: {}", error.hint());
        assert_eq!(error.is_transient(), passing, "{fault}");
        assert!(!format!("{error:?} {error} {remote:?}").contains(TOKEN), "{fault}");
    }
    let missing = CommitId::parse("ab".repeat(20)).expect("an id");
    world.fault("");
    let error = remote.fetch(&FetchTarget::Commit(missing), None).await.expect_err("missing");
    assert!(error.to_string().contains("not our ref") && !error.is_transient(), "{error}");
    // The server moves the branch before each response is cut.
    world.fault("cut");
    assert_eq!(remote.push(&ask).await.expect("an answer"), PushOutcome::Done);
    let other = world.foreign("main", "z.txt");
    let cut = remote.fetch(&FetchTarget::Commit(other.clone()), None).await.expect_err("cut");
    assert!(cut.is_transient(), "{cut}");
    world.fault("");
    remote.fetch(&FetchTarget::Commit(other), None).await.expect("it is repeated");
    world.fault("slow");
    let http = Http::new().expect("a client");
    let hasty = Transport::new(http, &world.url, None, waits()).expect("an address");
    let hasty = GitRemote::new(
        &discover(&checkout).expect("facts"),
        hasty.within(Duration::from_millis(200)),
    );
    assert!(hasty.head_of("main").await.is_err());
    world.fault("");
    let more = fix(&checkout, "c.txt", "more");
    for (message, by) in [
        ("not on fridays", Refuser::Hook),
        ("GH006: Protected branch update failed", Refuser::Protection),
        (
            "refusing to allow a GitHub App to create or update workflow `.github/workflows/x.yml` without `workflows` permission",
            Refuser::WorkflowFiles,
        ),
    ] {
        world.hook("pre-receive", &format!("echo '{message}' >&2\nexit 1"));
        let answer = remote.push(&request("regreen/y", None, &more)).await.expect("an answer");
        let PushOutcome::Rejected { by: found, text } = answer else { panic!("{answer:?}") };
        assert_eq!(found, by, "{text}");
        assert!(text.contains(message) && !found.hint().is_empty(), "{text}");
    }
}

#[tokio::test]
async fn every_fault_at_every_request_leaves_the_same_state() {
    let world = World::new();
    let checkout = world.clone(None, "topic");
    let remote = world.remote(&checkout);
    let new = fix(&checkout, "c.txt", "fixed");
    let kinds = [
        "500",
        "502",
        "429",
        "limited",
        "limited-unnamed",
        "reset",
        "lost",
        "cut",
        "html",
        "html403",
    ];
    for (kind, number) in kinds.into_iter().zip(1..) {
        for (method, service) in
            [("GET", "upload"), ("POST", "upload"), ("GET", "receive"), ("POST", "receive")]
        {
            let context = format!("{kind} at {method} {service}");
            let other = world.foreign("main", &format!("{method}-{service}-{number}.txt"));
            world.fault_once(kind, method, service);
            let found = remote.fetch(&FetchTarget::Branch("main".into()), None).await;
            assert_eq!(found.expect(&context), other, "{context}");
            let branch = format!("regreen/{method}-{service}-{number}");
            let pushed = remote.push(&request(&branch, None, &new)).await.expect(&context);
            assert_eq!(pushed, PushOutcome::Done, "{context}");
            assert_eq!(world.tip(&branch), new, "{context}");
            assert!(world.fault_happened(), "{context}");
        }
    }
    git(&checkout, &["fsck", "--strict"]);
}

#[tokio::test]
async fn a_branch_that_only_the_session_moved_is_its_own() {
    let world = World::new();
    let checkout = world.clone(None, "topic");
    let remote = world.remote(&checkout);
    let head = world.tip("topic");
    let branch = "regreen/WFS-test-x";
    let done = |pushed: Result<_, RemoteError>| {
        assert_eq!(pushed.expect("an answer"), RebasedPushOutcome::Plain(PushOutcome::Done));
    };
    // The first push was carried out, and nobody heard of it.
    let first = fix(&checkout, "c.txt", "one");
    remote.push(&request(branch, None, &first)).await.expect("an answer");
    let second = fix(&checkout, "c.txt", "two");
    done(remote.push_rebased(&request(branch, None, &second)).await);
    // A killed job's push arrives late.
    git(&checkout, &["reset", "-q", "--hard", first.as_str()]);
    let third = fix(&checkout, "c.txt", "three");
    done(remote.push_rebased(&request(branch, Some(first.clone()), &third)).await);
    assert_eq!(world.tip(branch), third);
    // Whoever moved the branch back wants it there.
    git(&world.bare(), &["update-ref", &format!("refs/heads/{branch}"), first.as_str()]);
    let back = remote.push(&request(branch, Some(third.clone()), &second)).await;
    assert_eq!(back.expect("an answer"), PushOutcome::Moved { now: Some(first.clone()) });
    // Commits of another session, or of a person, are not ours.
    let other = SessionId::parse("WFS-test-y").expect("an id");
    let theirs = PushRequest { session: other, ..request(branch, None, &second) };
    assert_eq!(
        remote.push(&theirs).await.expect("an answer"),
        PushOutcome::Moved { now: Some(first) }
    );
    git(&world.bare(), &["update-ref", "refs/heads/fresh", head.as_str()]);
    assert_eq!(
        remote.push(&request("fresh", None, &second)).await.expect("an answer"),
        PushOutcome::Moved { now: Some(head) }
    );
}

#[tokio::test]
async fn the_token_goes_to_its_own_host_and_stays_out_of_addresses() {
    let world = World::new();
    let checkout = world.clone(None, "topic");
    let config = std::fs::read_to_string(checkout.join(".git/config")).expect("a file");
    assert!(config.contains(TOKEN), "the case under test");
    let elsewhere = Credential { host: "github.com".into(), token: SecretKey::new(TOKEN) };
    let before = world.log().len();
    let answer = world.remote_with(&checkout, Some(elsewhere)).head_of("main").await;
    assert!(matches!(answer, Err(RemoteError::Unauthorized { .. })), "{answer:?}");
    let log = world.log();
    let asked = log.get(before..).expect("a line");
    assert!(
        asked.contains("GET ") && asked.contains(" None") && !asked.contains("token"),
        "{asked}"
    );
    assert!(super::transport::redacted(&config).lines().count() <= 1);
}

/// Folder of the certificate, for the process that uses it.
const TLS_FOLDER: &str = "REGREEN_TEST_TLS";

/// Makes a certificate and runs this test in a process that trusts it, and in one that does not.
#[test]
fn fetch_and_push_over_tls() {
    if let Ok(folder) = std::env::var(TLS_FOLDER) {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        return runtime.block_on(fetch_and_push_with_certificate(&PathBuf::from(folder)));
    }
    let folder = tempfile::tempdir().expect("a folder");
    write_certificates(folder.path()).expect("certificates");
    let child = |certificates: Option<PathBuf>| {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--exact", "--nocapture"]);
        command.arg("adapter::repo::tests::remotes::fetch_and_push_over_tls");
        command.env(TLS_FOLDER, folder.path());
        match certificates {
            Some(file) => command.env("SSL_CERT_FILE", file),
            None => command.env_remove("SSL_CERT_FILE"),
        };
        let (child, _live) = start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        child.wait_with_output().expect("it ends")
    };
    let known = child(Some(folder.path().join("ca.pem")));
    let message = String::from_utf8_lossy(&known.stdout) + String::from_utf8_lossy(&known.stderr);
    assert!(known.status.success() && message.contains("1 passed"), "{message}");
    let unknown = child(None);
    let message =
        String::from_utf8_lossy(&unknown.stdout) + String::from_utf8_lossy(&unknown.stderr);
    assert!(!unknown.status.success() && message.contains("certificate"), "{message}");
}

/// Writes a certificate authority (`ca.pem`) and a server certificate for loopback (`leaf.pem`,
/// `leaf.key`), valid at any date, since a runner's clock may be set while a test runs.
fn write_certificates(folder: &Path) -> anyhow::Result<()> {
    use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
    let mut authority = CertificateParams::new([])?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.distinguished_name.push(DnType::CommonName, "authority of a test");
    let key = KeyPair::generate()?;
    std::fs::write(folder.join("ca.pem"), authority.self_signed(&key)?.pem())?;
    let issuer = Issuer::new(authority, key);
    let key = KeyPair::generate()?;
    let leaf = CertificateParams::new(["127.0.0.1".to_owned()])?.signed_by(&key, &issuer)?;
    std::fs::write(folder.join("leaf.pem"), leaf.pem())?;
    std::fs::write(folder.join("leaf.key"), key.serialize_pem())?;
    Ok(())
}

async fn fetch_and_push_with_certificate(folder: &Path) {
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
    let main = remote.fetch(&FetchTarget::Branch("main".into()), Some(2)).await.expect("a fetch");
    assert_eq!(main, world.tip("main"));
    let new = fix(&checkout, "c.txt", "fixed");
    let pushed = remote.push(&request("regreen/tls", None, &new)).await.expect("a push");
    assert_eq!(pushed, PushOutcome::Done);
    assert_eq!(world.tip("regreen/tls"), new);
}
