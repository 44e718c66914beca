//! State of the fake GitHub: pull requests, issues, comments, checks, branches, permissions.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Who wrote something; `None` is a deleted account.
pub type Author = Option<(u64, String)>;

/// The repository and everything in it.
#[derive(Clone, Debug)]
pub struct State {
    /// `owner/name`.
    pub repository: String,
    /// A former name that redirects to this repository.
    pub old_name: Option<String>,
    /// The default branch, such as `main`.
    pub default_branch: String,
    /// The user that `GET /user` returns; `None` refuses, as for the token of a job.
    pub user: Author,
    /// The account that posts with the token.
    pub me: (u64, String),
    /// The App behind the token; it may change only its own check runs.
    pub app: String,
    /// `permission` and `role_name` by login.
    pub permissions: BTreeMap<String, (String, String)>,
    /// `active` or `pending`, by `organisation/team/login`; `None` when the token may not read
    /// teams, as that of a job.
    pub teams: Option<BTreeMap<String, String>>,
    /// Pull requests of the repository.
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
    /// Reactions: `issues` or `pulls`, comment, and content.
    pub reactions: Vec<(String, u64, String)>,
    /// Branches, with the commits they point to.
    pub branches: BTreeMap<String, String>,
    /// Commits by their id.
    pub commits: BTreeMap<String, Commit>,
    /// Messages of the commits of each pull request.
    pub pull_commits: BTreeMap<u64, Vec<String>>,
    /// Workflows that were started: file and reference.
    pub dispatches: Vec<(String, String)>,
    /// Whether a workflow may open pull requests.
    pub may_open_pulls: bool,
    /// Whether labels may be created.
    pub may_label: bool,
    /// Whether everything that writes is refused, as with the token of a fork.
    pub read_only: bool,
    /// A bare repository from which the branches are read.
    pub git: Option<std::path::PathBuf>,
    /// The last number that was assigned.
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
    /// Written files with their content in base64; `null` for a removed file.
    pub files: BTreeMap<String, Value>,
}

/// A commit id that is derived from a number.
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
    /// A number that was not used before.
    pub fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Reads the branches from the git repository, if there is one.
    pub fn look(&mut self) {
        let Some(folder) = &self.git else { return };
        let repository = git2::Repository::open_bare(folder).expect("a bare repository");
        let heads = repository.references_glob("refs/heads/*").expect("branches are listed");
        let pair = |head: git2::Reference<'_>| {
            let name = head.name().ok()?.strip_prefix("refs/heads/")?.to_owned();
            Some((name, head.target()?.to_string()))
        };
        self.branches = heads.flatten().filter_map(pair).collect();
    }

    /// Adds a comment by this author.
    pub fn comment(&mut self, number: u64, author: Author, body: &str) -> u64 {
        let id = self.next();
        let at = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        self.comments.push(Comment { id, number, body: body.into(), author, writes: 1, at });
        id
    }

    /// Opens a pull request from a branch of this repository into the default branch.
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
