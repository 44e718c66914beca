//! Tests of candidates that real compilers build together.

#![expect(clippy::disallowed_methods, reason = "a suite is a real folder")]

use std::time::Duration;

use super::runs::{Shell, failing_case};
use crate::domain::id::{RepoPath, TestId};
use crate::domain::proposal::{EditSet, FileEdit};
use crate::domain::test::Status;
use crate::effect::{CandidateRunnerRequest, CaseResult, Speed, Suite as _};

/// A project with two tests, of which the first fails.
struct Project {
    command: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// The file under repair, and what is wrong in it.
    file: &'static str,
    wrong: &'static str,
    endless: &'static str,
    tests: [&'static str; 2],
}

const RUST: Project = Project {
    command: "cargo test --offline",
    files: &[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"price\"]\n\n[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\nprice = { path = \"price\" }\n",
        ),
        (
            "src/lib.rs",
            "pub fn total(n: u32) -> u32 {\n    n * price::rate(n)\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn large() {\n        assert_eq!(super::total(50), 450);\n    }\n\n    #[test]\n    fn small() {\n        assert_eq!(super::total(1), 10);\n    }\n}\n",
        ),
        (
            "price/Cargo.toml",
            "[package]\nname = \"price\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        ),
        (
            "price/src/lib.rs",
            "/// The price of one of `n`.\npub fn rate(n: u32) -> u32 {\n    if n > 50 {\n        return 9;\n    }\n    10\n}\n",
        ),
    ],
    file: "price/src/lib.rs",
    wrong: "n > 50",
    endless: "loop {}",
    tests: ["src/lib.rs::tests::large", "src/lib.rs::tests::small"],
};

const GO: Project = Project {
    command: "go test ./...",
    files: &[
        ("go.mod", "module example.com/shop\n\ngo 1.21\n"),
        (
            "internal/price/price.go",
            "package price\n\n// Rate is the price of one of n.\nfunc Rate(n int) int {\n\tif n > 50 {\n\t\treturn 9\n\t}\n\treturn 10\n}\n",
        ),
        (
            "shop.go",
            "package shop\n\nimport \"example.com/shop/internal/price\"\n\nfunc Total(n int) int { return n * price.Rate(n) }\n",
        ),
        (
            "shop_test.go",
            "package shop\n\nimport \"testing\"\n\nfunc TestLarge(t *testing.T) {\n\tif Total(50) != 450 {\n\t\tt.Fatal(Total(50))\n\t}\n}\n\nfunc TestSmall(t *testing.T) {\n\tif Total(1) != 10 {\n\t\tt.Fatal(Total(1))\n\t}\n}\n",
        ),
    ],
    file: "internal/price/price.go",
    wrong: "n > 50",
    endless: "for {\n\t\t}",
    tests: ["example.com/shop.TestLarge", "example.com/shop.TestSmall"],
};

impl Project {
    fn text(&self, file: &str) -> &'static str {
        self.files.iter().find(|(name, _)| *name == file).unwrap().1
    }

    fn edit(&self, from: &str, to: &str) -> EditSet {
        let before = self.text(self.file).to_owned();
        let after = Some(before.replace(from, to));
        let file = RepoPath::parse(self.file).unwrap();
        EditSet { files: vec![FileEdit { file, before: Some(before), after }] }
    }

    /// Tries candidates together and one after the other.
    async fn try_candidates(&self) {
        let shell = Shell::new();
        let root = shell.root();
        for (file, text) in self.files {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let suite = shell.suite(self.command, |settings| settings.timeout = Duration::from_mins(2));
        let tests = self.tests.map(TestId::from);
        let failing = [failing_case(self.tests[0])];
        let request = CandidateRunnerRequest { root: &root, failing: &failing, jobs: 2 };
        let runner = suite.open_candidate_runner(&request).await.unwrap();
        assert_eq!(runner.speed(), Speed::Warm);
        assert!(runner.batch() > 1);

        let table = [
            ("n >= 50", [Status::Passed, Status::Passed]),
            ("n > 0", [Status::Passed, Status::Failed]),
            ("n > 51", [Status::Failed, Status::Passed]),
            ("n > name", [Status::Failed, Status::Failed]),
            ("n == 0", [Status::Failed, Status::Passed]),
        ];
        let edits = table.map(|(text, _)| self.edit(self.wrong, text));
        runner.prepare(edits[..4].to_vec()).await;
        let limit = Duration::from_secs(20);
        for (edits, (text, expected)) in edits.iter().zip(table) {
            let results = runner.run(edits, &tests, limit, false).await.unwrap();
            let statuses: Vec<Status> = results.iter().map(|one| one.status).collect();
            assert_eq!(statuses, expected, "{text}");
            let is_refused = results.iter().all(CaseResult::is_not_built);
            assert_eq!(is_refused, text == "n > name", "{text}");
        }
        // One that never ends is stopped, and nothing of it is left for the next.
        let endless = self.edit("return 9", self.endless);
        let slow = [self.edit(self.wrong, "n >= 49"), endless];
        runner.prepare(slow.to_vec()).await;
        let short = Duration::from_secs(2);
        let first = runner.run(&slow[1], &tests[..1], short, true).await.unwrap();
        assert_eq!(first[0].status, Status::Failed);
        let same = self.edit(self.wrong, self.wrong);
        let same = runner.run(&same, &tests, limit, false).await.unwrap();
        let same: Vec<Status> = same.iter().map(|one| one.status).collect();
        assert_eq!(same, [Status::Failed, Status::Passed]);
        for (file, text) in self.files {
            assert_eq!(std::fs::read_to_string(root.join(file)).unwrap(), *text, "{file}");
        }
    }
}

#[tokio::test]
async fn candidates_of_a_workspace_of_rust_share_a_build() {
    RUST.try_candidates().await;
}

#[tokio::test]
#[ignore = "needs go; candidates_of_a_workspace_of_rust_share_a_build always runs"]
async fn candidates_of_internal_packages_of_go_share_a_build() {
    GO.try_candidates().await;
}
