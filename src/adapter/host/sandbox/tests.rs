//! Tests of the sandbox decision, without starting a child.

use std::path::{Path, PathBuf};

use super::sensitive_paths::{apart, complement_of, git_configurations, holds_credentials};
use super::*;

const ALL: Facts = Facts { launcher: true, may_change_user: true, landlock: 6 };

#[test]
fn no_more_is_claimed_than_the_machine_can_do() {
    use IsolationLevel::{Files, Off, OtherUser};
    use Network::{Closed, Local, Open};
    let want = |isolation, network| Containment { isolation, network };
    let table = [
        ("switched off", want(Off, Closed), ALL, (None, false, false, Open)),
        (
            "no launcher",
            want(OtherUser, Closed),
            Facts { launcher: false, ..ALL },
            (None, false, false, Open),
        ),
        ("the default", Containment::default(), ALL, (None, true, true, Open)),
        ("everything", want(OtherUser, Closed), ALL, (Some(OTHER), true, true, Closed)),
        (
            "not root",
            want(OtherUser, Local),
            Facts { may_change_user: false, ..ALL },
            (None, true, true, Local),
        ),
        (
            "no signals yet",
            want(Files, Local),
            Facts { landlock: 4, ..ALL },
            (None, true, false, Local),
        ),
        (
            "no ports yet",
            want(Files, Closed),
            Facts { landlock: 3, ..ALL },
            (None, true, false, Open),
        ),
        (
            "too old",
            want(OtherUser, Closed),
            Facts { landlock: 1, ..ALL },
            (Some(OTHER), false, false, Open),
        ),
        ("none", want(Files, Closed), Facts { landlock: 0, ..ALL }, (None, false, false, Open)),
    ];
    for (why, requested, facts, expected) in table {
        let it = decide(requested, facts);
        assert_eq!(
            (it.limits.user, it.limits.files, it.limits.signals, it.limits.network),
            expected,
            "{why}"
        );
        let in_force = it.in_force.join("\n");
        assert_eq!(
            in_force.contains("runs as user"),
            it.limits.user.is_some(),
            "{why}: {in_force}"
        );
        assert_eq!(in_force.contains("writes end"), it.limits.files, "{why}: {in_force}");
        assert_eq!(
            in_force.contains("memory and environment"),
            it.limits.files,
            "{why}: {in_force}"
        );
        assert_eq!(in_force.contains("no signals"), it.limits.signals, "{why}: {in_force}");
        assert_eq!(
            in_force.contains("no outgoing TCP"),
            it.limits.network != Open,
            "{why}: {in_force}"
        );
        let open = it.missing.len() + it.by_choice.len();
        assert!(open > 0, "{why}: something is always open");
        // A network that nobody asked to close is no gap.
        let closed = it.limits.network == requested.network;
        assert_eq!(it.by_choice.len(), usize::from(closed), "{why}: {:?}", it.by_choice);
    }
}

#[test]
fn a_client_is_no_user_of_test_code() {
    let other = Containment { isolation: IsolationLevel::OtherUser, network: Network::Closed };
    let of_client = |requested, facts| client_limits(decide(requested, facts).limits, 7);
    let limits = of_client(other, Facts { landlock: 0, ..ALL });
    assert!(limits.user.is_some_and(|user| user != OTHER && user != 0), "{limits:?}");
    assert_eq!((limits.port, limits.files), (None, false));
    let files = Containment { isolation: IsolationLevel::Files, ..other };
    let limits = of_client(files, ALL);
    assert_eq!((limits.user, limits.port, limits.network), (None, Some(7), Network::Open));
}

#[test]
fn words_of_the_two_variables() {
    let table = [
        (None, None, Some((IsolationLevel::Files, Network::Open))),
        (Some(""), Some(""), Some((IsolationLevel::Files, Network::Open))),
        (Some("off"), Some("closed"), Some((IsolationLevel::Off, Network::Closed))),
        (Some("other-user"), Some("local"), Some((IsolationLevel::OtherUser, Network::Local))),
        (Some("on"), None, None),
        (None, Some("none"), None),
    ];
    for (isolation, network, expected) in table {
        let parsed = Containment::parse(isolation, network).ok();
        assert_eq!(
            parsed.map(|it| (it.isolation, it.network)),
            expected,
            "{isolation:?} {network:?}"
        );
    }
}

#[test]
fn everything_besides_the_closed_places_is_open() {
    let tree = |folder: &Path| -> Vec<PathBuf> {
        let children: &[&str] = match folder.to_str().unwrap() {
            "/" => &["/bin", "/home", "/run"],
            "/home" => &["/home/ada", "/home/bob"],
            "/home/ada" => &["/home/ada/.ssh", "/home/ada/.sshd", "/home/ada/code"],
            other => panic!("{other} need not be looked into"),
        };
        children.iter().map(PathBuf::from).collect()
    };
    let closed = [PathBuf::from("/home/ada/.ssh"), PathBuf::from("/run")];
    let mut open = complement_of(&closed, &tree);
    open.sort();
    let expected = ["/bin", "/home/ada/.sshd", "/home/ada/code", "/home/bob"];
    assert_eq!(open, expected.map(PathBuf::from));
}

#[test]
fn a_temporary_folder_that_holds_something_kept_is_not_shared() {
    let folders = ["/tmp", "/var/tmp"].map(PathBuf::from);
    let protected = [PathBuf::from("/tmp/repo"), PathBuf::from("/tmpfiles")];
    let (shared, private) = apart(&folders, &protected);
    assert_eq!(shared, [PathBuf::from("/var/tmp")]);
    assert_eq!(private, [PathBuf::from("/tmp")]);
}

#[test]
fn a_git_configuration_with_a_password_is_recognised() {
    let table = [
        ("[remote \"origin\"]\n\turl = https://host/a/b\n", false),
        ("[remote \"origin\"]\n\turl = https://ada@host/a/b\n", false),
        ("[remote \"origin\"]\n\turl = https://x-access-token:t0p@host/a/b\n", true),
        ("[http \"https://host/\"]\n\textraheader = AUTHORIZATION: basic eHg=\n", true),
        ("[http] extraheader = AUTHORIZATION: basic eHg=\n", true),
        ("[remote \"origin\"]\n\turl = https://ghp_0123456789abcdefghij@host/a/b\n", true),
        ("[url \"https://u:p@host/\"]\n\tinsteadOf = gh:\n", true),
        ("\turl = https://host/a:b@c\n", false),
        ("", false),
    ];
    for (text, expected) in table {
        assert_eq!(holds_credentials(text), expected, "{text}");
    }
}

#[test]
fn configurations_of_git_are_found_with_those_that_they_include() {
    let folder = tempfile::tempdir().unwrap();
    let git = folder.path().join(".git");
    std::fs::create_dir_all(git.join("modules/sub")).unwrap();
    std::fs::create_dir_all(git.join("regreen/active/x")).unwrap();
    crate::adapter::host::files::write(&git.join("config"), b"[include]\n\tpath = own.inc\n")
        .unwrap();
    let expected = ["config", "config.worktree", "FETCH_HEAD", "modules/sub/config", "own.inc"];
    let expected = expected.map(|name| git.join(name));
    assert_eq!(git_configurations(folder.path()), expected);
    assert_eq!(git_configurations(&git.join("regreen/active/x")), expected);
}
