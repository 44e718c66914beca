//! What the fake GitHub remembers.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Who wrote something; `None` is a deleted account.
pub type Author = Option<(u64, String)>;

/// The repository and everything in it.
#[derive(Clone, Debug)]
pub struct State {
    /// `owner/name`.
    pub repository: String,
    /// A name that leads here by a redirect.
    pub old_name: Option<String>,
    /// Such as `main`.
    pub default_branch: String,
    /// Whom `GET /user` names; `None` refuses, as for the token of a job.
    pub user: Author,
    /// Who writes what is posted.
    pub me: (u64, String),
    /// The App behind the token, and what it may change.
    pub app: String,
    /// `permission` and `role_name` by login.
    pub permissions: BTreeMap<String, (String, String)>,
    /// `active` or `pending` by `organisation/team/login`; `None` where the token may not ask, as
    /// that of a job.
    pub teams: Option<BTreeMap<String, String>>,
    /// Pull requests.
    pub pulls: Vec<Pull>,
    /// Issues without pull requests.
    pub issues: Vec<Issue>,
    /// Comments below issues and pull requests.
    pub comments: Vec<Comment>,
    /// Check runs.
    pub checks: Vec<Check>,
    /// Names of labels.
    pub labels: BTreeSet<String>,
    /// Labels of issues and pull requests.
    pub labelled: BTreeMap<u64, BTreeSet<String>>,
    /// `issues` or `pulls`, comment and content.
    pub reactions: Vec<(String, u64, String)>,
    /// Tips of branches.
    pub branches: BTreeMap<String, String>,
    /// Commits by name.
    pub commits: BTreeMap<String, Commit>,
    /// Commits of pull requests: their messages.
    pub pull_commits: BTreeMap<u64, Vec<String>>,
    /// Started workflows: file and reference.
    pub dispatches: Vec<(String, String)>,
    /// Whether a workflow may open pull requests.
    pub may_open_pulls: bool,
    /// Whether labels may be made.
    pub may_label: bool,
    /// Whether everything that writes is refused, as for a fork's token.
    pub read_only: bool,
    /// A bare repository whose branches these are.
    pub git: Option<std::path::PathBuf>,
    /// The last number given.
    pub last: u64,
}

/// A pull request.
#[derive(Clone, Debug, Default)]
pub struct Pull {
    pub number: u64,
    pub title: String,
    pub body: String,
    pub head: String,
    /// `owner/name`; `None` for a deleted fork.
    pub head_repository: Option<String>,
    pub base: String,
    pub author: Author,
    pub open: bool,
    pub merged: bool,
    pub draft: bool,
}

/// An issue.
#[derive(Clone, Debug)]
pub struct Issue {
    pub number: u64,
    pub title: String,
    pub body: String,
    pub author: Author,
    pub open: bool,
}

/// A comment.
#[derive(Clone, Debug)]
pub struct Comment {
    pub id: u64,
    pub number: u64,
    pub body: String,
    pub author: Author,
    /// How often it was written.
    pub writes: u32,
    /// When it was written, RFC 3339.
    pub at: String,
}

/// A check run.
#[derive(Clone, Debug)]
pub struct Check {
    pub id: u64,
    pub app: String,
    pub name: String,
    pub head_sha: String,
    pub external_id: Option<String>,
    pub status: String,
    pub conclusion: Option<String>,
    /// Title, summary and text as sent last.
    pub output: Value,
    pub annotations: Vec<Value>,
}

/// A commit.
#[derive(Clone, Debug)]
pub struct Commit {
    pub message: String,
    pub parents: Vec<String>,
    /// Written files with their content in base64; `null` for a removed one.
    pub files: BTreeMap<String, Value>,
}

/// A commit name that a number stands for.
pub fn sha(number: u64) -> String {
    format!("{number:040x}")
}

impl Default for State {
    fn default() -> Self {
        let tip = sha(1);
        let first = Commit { message: "First".into(), parents: Vec::new(), files: BTreeMap::new() };
        Self {
            repository: "octo/demo".into(),
            old_name: None,
            default_branch: "main".into(),
            user: None,
            me: (41_898_282, "github-actions[bot]".into()),
            app: "github-actions".into(),
            permissions: BTreeMap::new(),
            teams: None,
            pulls: Vec::new(),
            issues: Vec::new(),
            comments: Vec::new(),
            checks: Vec::new(),
            labels: BTreeSet::new(),
            labelled: BTreeMap::new(),
            reactions: Vec::new(),
            branches: BTreeMap::from([("main".into(), tip.clone())]),
            commits: BTreeMap::from([(tip, first)]),
            pull_commits: BTreeMap::new(),
            dispatches: Vec::new(),
            may_open_pulls: true,
            may_label: true,
            read_only: false,
            git: None,
            last: 100,
        }
    }
}

impl State {
    /// A number nobody had.
    pub fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Takes the branches of the git repository over, when there is one.
    pub fn look(&mut self) {
        let Some(folder) = &self.git else { return };
        let output = std::process::Command::new("git")
            .arg("--git-dir")
            .arg(folder)
            .args(["for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/heads/"])
            .output()
            .expect("git starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let pairs = text.lines().filter_map(|line| line.split_once(' '));
        self.branches = pairs.map(|(name, tip)| (name.to_owned(), tip.to_owned())).collect();
    }

    /// Somebody comments.
    pub fn comment(&mut self, number: u64, author: Author, body: &str) -> u64 {
        let id = self.next();
        let at = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        self.comments.push(Comment { id, number, body: body.into(), author, writes: 1, at });
        id
    }

    /// Somebody opens a pull request from a branch of the repository into the default branch.
    pub fn open_pull(&mut self, author: Author, head: &str, title: &str) -> u64 {
        let number = self.next();
        let (head_repository, base) = (Some(self.repository.clone()), self.default_branch.clone());
        self.pulls.push(Pull {
            number,
            title: title.into(),
            head: head.into(),
            head_repository,
            base,
            author,
            open: true,
            ..Pull::default()
        });
        number
    }
}
