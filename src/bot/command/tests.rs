//! Tests of comment commands, written by people and by attackers.

use super::parse::{MAX_LINE, words};
use super::table::COMMANDS;
use super::*;
use crate::domain::command::{Dimension, Flags, RunLimits};
use crate::domain::id::{CommitId, SessionId};
use crate::domain::integration::records::{Adjustment, DesignPart};
use proptest::prelude::*;

fn commands(comment: &str) -> Vec<Command> {
    read(comment).into_iter().map(|line| line.command.unwrap()).collect()
}

fn problem(line: &str) -> String {
    parse(line).unwrap_err().to_string()
}

const FIX: Command = Command::Fix {
    flags: Flags {
        limits: RunLimits {
            max_iterations: None,
            minutes: None,
            usd: None,
            tokens: None,
            calls: None,
        },
        suggest: false,
        dry_run: false,
        no_minimise: false,
        yes: false,
        only_missing: false,
    },
};

#[test]
fn commands_are_lines_of_plain_paragraphs() {
    let table = [
        ("alone", "/regreen fix", 1),
        ("after text", "Thanks!\n/regreen fix\nBye", 1),
        ("windows line ends", "a\r\n/regreen fix\r\n", 1),
        ("two", "/regreen fix\n\n/regreen fix", 2),
        ("indented a little", "  /regreen fix", 1),
        ("within a sentence", "try /regreen fix", 0),
        ("another word", "/regreenfix", 0),
        ("case counts", "/Regreen fix", 0),
        ("quote", "> /regreen fix", 0),
        ("lazy quote", "> said\n/regreen fix", 0),
        ("code block", "```\n/regreen fix\n```", 0),
        ("open code block", "```\n/regreen fix", 0),
        ("indented code", "    /regreen fix", 0),
        ("inline code", "`/regreen fix`", 0),
        ("inline code over lines", "`a\n/regreen fix\nb`", 0),
        ("html comment", "<!--\n\n/regreen fix\n\n-->", 0),
        ("inline html comment", "a <!-- b\n/regreen fix\n-->", 0),
        ("html block", "<div>\n/regreen fix\n</div>", 0),
        ("folded", "<details>\n\n/regreen fix\n\n</details>", 0),
        ("after a folded part", "<details>\n\nx\n\n</details>\n\n/regreen fix", 1),
        ("after a break", "a<br>\n/regreen fix", 1),
        ("link text", "[a\n/regreen fix\nb](http://x)", 0),
        ("link", "[/regreen fix](http://x)", 0),
        ("image", "![/regreen fix](http://x)", 0),
        ("image text over lines", "![a\n/regreen fix\n](http://x)", 0),
        ("list", "- /regreen fix", 0),
        ("heading", "# /regreen fix", 0),
        ("struck out", "~~a\n/regreen fix\nb~~", 0),
        ("entity", "&#47;regreen fix", 0),
        ("escape", "\\/regreen fix", 0),
    ];
    for (why, comment, count) in table {
        assert_eq!(commands(comment), vec![FIX; count], "{why}");
    }
}

#[test]
fn verbs_arguments_and_flags_are_read() {
    let session = SessionId::parse("WFS-test_pr_7").unwrap();
    let flags = Flags {
        limits: RunLimits { max_iterations: Some(3), usd: Some(0.5), ..RunLimits::default() },
        yes: true,
        suggest: true,
        ..Flags::default()
    };
    let sha = "a".repeat(40);
    let table = [
        (
            "/regreen fix --max-iterations=3 -y --suggest --budget-usd 0.5".to_owned(),
            Command::Fix { flags },
        ),
        (
            "/regreen resume WFS-test_pr_7".into(),
            Command::Resume { session: Some(session), flags: Flags::default() },
        ),
        ("/regreen continue".into(), Command::Resume { session: None, flags: Flags::default() }),
        ("/regreen rollback 3".into(), Command::Rollback { iteration: Some(3) }),
        ("/regreen undo".into(), Command::Rollback { iteration: None }),
        (
            "/regreen issue test,doc test".into(),
            Command::Issue { dimensions: vec![Dimension::Test, Dimension::Doc] },
        ),
        (
            format!("/regreen apply {sha}"),
            Command::Apply { commit: CommitId::parse(sha.as_str()).unwrap() },
        ),
        (
            "/regreen test \"a b\" 'c'".into(),
            Command::Test { what: "a b c".into(), flags: Flags::default() },
        ),
        ("/regreen explain".into(), Command::Explain { flags: Flags::default() }),
        (
            "/regreen plan docs/x.md --dry-run".into(),
            Command::Plan {
                what: "docs/x.md".into(),
                flags: Flags { dry_run: true, ..Flags::default() },
            },
        ),
        ("/regreen run".into(), Command::Run { flags: Flags::default() }),
        (
            "/regreen integration \"the cart\" -y --max-iterations=3".into(),
            Command::Integration {
                module: "the cart".into(),
                flags: Flags {
                    limits: RunLimits { max_iterations: Some(3), ..RunLimits::default() },
                    yes: true,
                    ..Flags::default()
                },
            },
        ),
        ("/regreen confirm".into(), Command::Confirm { flags: Flags::default() }),
        (
            "/regreen adjust scope: shop/a.py".into(),
            Command::Adjust {
                adjustment: Adjustment { part: DesignPart::Scope, text: "shop/a.py".into() },
                flags: Flags::default(),
            },
        ),
        (
            "/regreen adjust mocks:no network: never".into(),
            Command::Adjust {
                adjustment: Adjustment {
                    part: DesignPart::Mocks,
                    text: "no network: never".into(),
                },
                flags: Flags::default(),
            },
        ),
        ("/regreen recreate".into(), Command::Recreate { flags: Flags::default() }),
        ("/regreen extend".into(), Command::Extend { flags: Flags::default() }),
        ("/regreen show-plan".into(), Command::ShowPlan),
        ("/regreen cancel -y".into(), Command::Cancel),
        ("/regreen validate".into(), Command::Validate { strict: false, fix: false }),
        ("/regreen validate --fix --strict".into(), Command::Validate { strict: true, fix: true }),
        ("/regreen session list".into(), Command::Status),
        ("/regreen complete".into(), Command::Complete),
        ("/regreen sync".into(), Command::Sync),
        ("/regreen rebase".into(), Command::Rebase),
        ("/regreen estimate".into(), Command::Estimate),
    ];
    for (line, expected) in table {
        assert_eq!(commands(&line), [expected], "{line}");
    }
}

#[test]
fn what_is_wrong_is_named_with_the_nearest() {
    let table = [
        ("/regreen", "No command"),
        ("/regreen fx", "Did you mean `fix`?"),
        ("/regreen frobnicate", "Unknown command `frobnicate`. `/regreen help`"),
        ("/regreen refactor x", "Unknown command `refactor`."),
        ("/regreen confrim", "Did you mean `confirm`?"),
        ("/regreen integration", "`integration` expects a module"),
        ("/regreen adjust", "`scope: TEXT`"),
        ("/regreen adjust scope", "`scope: TEXT`"),
        ("/regreen adjust mocks:", "`mocks: TEXT`"),
        ("/regreen adjust tests: x", "`scenarios: TEXT`"),
        ("/regreen fix --max-iteration=3", "Did you mean `--max-iterations`?"),
        ("/regreen fix --base-url=http://x", "Unknown flag `--base-url`."),
        ("/regreen fix --engine=x", "Unknown flag `--engine`."),
        ("/regreen fix --max-iterations=51", "from 1 to 50"),
        ("/regreen fix --max-iterations", "from 1 to 50"),
        ("/regreen fix --budget-usd=NaN", "dollars"),
        ("/regreen fix --budget-usd=-1", "dollars"),
        ("/regreen fix --budget-calls 0", "from 1"),
        ("/regreen fix --suggest=yes", "no value"),
        ("/regreen fix --suggest --dry-run", "beside"),
        ("/regreen fix now", "no argument"),
        ("/regreen status --max-iterations=3", "no flags"),
        ("/regreen resume ../x", "a session id"),
        ("/regreen rollback 0", "an iteration"),
        ("/regreen rollback 1 2", "one argument at most"),
        ("/regreen issue", "some of test"),
        ("/regreen issue tests", "some of test"),
        ("/regreen apply abc", "40 hexadecimal"),
        ("/regreen plan", "what to test"),
        ("/regreen validate src", "nothing but"),
        ("/regreen session archive", "`list`"),
        ("/regreen cancel --max-iterations=3", "no flags"),
        ("/regreen resume \"x", "not closed"),
    ];
    for (line, part) in table {
        let message = problem(line);
        assert!(message.contains(part), "{line}: {message}");
    }
    assert_eq!(read("/regreen resume `x`")[0].command, Err(Problem::Markup));
    let line = &read("a\n/regreen resume <b>x</b>")[0];
    assert_eq!((line.line, &line.command), (2, &Err(Problem::Markup)));
    assert_eq!(line.text, "/regreen resume <b>x</b>");
}

#[test]
fn words_are_split_like_a_shell_does_and_nothing_is_expanded() {
    let table: [(&str, &[&str]); 5] = [
        ("a  'b c' \"d \\\" e\"", &["a", "b c", "d \" e"]),
        ("x='1 2'3", &["x=1 23"]),
        ("$HOME $(id) ~ * ;", &["$HOME", "$(id)", "~", "*", ";"]),
        ("'' \"\"", &["", ""]),
        ("\"a\\n\"", &["a\\n"]),
    ];
    for (text, expected) in table {
        assert_eq!(words(text).unwrap(), expected, "{text}");
    }
}

#[test]
fn a_flood_is_bounded() {
    let lines = read(&"/regreen help\n".repeat(1000));
    assert_eq!(lines.len(), MAX_COMMANDS + 1);
    assert_eq!(lines.last().unwrap().command, Err(Problem::Many));
    let long = format!("/regreen issue {}", "x".repeat(MAX_LINE));
    assert_eq!(read(&long)[0].command, Err(Problem::Long));
    assert_eq!(read(&"x".repeat(MAX_COMMENT + 1)), []);
}

#[test]
fn the_table_has_each_name_once_and_writes_the_help() {
    for spec in COMMANDS {
        let same = COMMANDS.iter().filter(|other| other.name == spec.name);
        assert_eq!(same.count(), 1, "{}", spec.name);
        assert!(!spec.help.ends_with('.'), "{}", spec.name);
        assert_eq!(help().contains(&format!("`{PREFIX} {}", spec.name)), !spec.is_alias());
    }
    let aliases: Vec<&str> =
        COMMANDS.iter().filter(|spec| spec.is_alias()).map(|spec| spec.name).collect();
    assert_eq!(aliases, ["continue", "session", "undo"]);
}

proptest! {
    #[test]
    fn any_comment_is_read(comment in "(/regreen |fix|<[a-z/!-]{0,4}>|[`\"'>\\[\\]()\\\\~*\n -]|\\PC){0,60}") {
        for line in read(&comment) {
            prop_assert!(comment.lines().nth(line.line - 1).unwrap().trim_start().starts_with(PREFIX));
            if let Err(problem) = line.command {
                prop_assert!(!problem.to_string().contains('\n'));
            }
        }
    }

    #[test]
    fn a_quoted_comment_commands_nothing(comment in "(/regreen fix|[a-z`<>\n ]){0,20}") {
        let quoted: String = comment.lines().map(|line| format!("> {line}\n")).collect();
        prop_assert_eq!(read(&quoted), vec![]);
    }
}
