//! Performs each operation on the state, and builds the part of its answer that the state knows.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::state::{Author, Check, Comment, Commit, Issue, Pull, State, sha};

/// An answer, before the API description completes it.
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Value,
}

impl Answer {
    /// An answer with this status and body.
    pub fn new(status: u16, body: Value) -> Self {
        Self { status, headers: Vec::new(), body }
    }

    /// A refusal in GitHub's form.
    pub fn refused(status: u16, message: &str) -> Self {
        let body =
            json!({ "message": message, "documentation_url": "https://docs.github.com/rest" });
        Self::new(status, body)
    }

    /// A 422 answer that names the invalid field.
    fn invalid(resource: &str, code: &str, message: &str) -> Self {
        let mut answer = Self::refused(422, "Validation Failed");
        let mut error = json!({ "resource": resource, "code": code });
        if !message.is_empty() {
            error["message"] = json!(message);
        }
        answer.body["errors"] = json!([error]);
        answer
    }
}

/// Longest comment, in characters.
const COMMENT: usize = 65_536;

/// Performs an operation on the state.
pub fn perform(
    state: &mut State,
    operation: &str,
    values: &BTreeMap<String, String>,
    query: &[(String, String)],
    body: &Value,
) -> Answer {
    let value = |name: &str| values.get(name).map_or("", String::as_str);
    let id = |name: &str| value(name).parse::<u64>().unwrap_or_default();
    let asked = |name: &str| query.iter().find(|(known, _)| known == name).map(|(_, v)| v.as_str());
    let text = |name: &str| body[name].as_str().unwrap_or_default();
    if state.read_only && !operation.starts_with("GET") {
        let mut answer = Answer::refused(403, "Resource not accessible by integration");
        answer.headers.push(("x-accepted-github-permissions", "contents=write".into()));
        return answer;
    }
    let rest = operation.replace("/repos/{owner}/{repo}", "");
    match rest.as_str() {
        "GET /user" => match &state.user {
            Some(user) => Answer::new(200, account(&Some(user.clone()))),
            None => Answer::refused(403, "Resource not accessible by integration"),
        },
        "GET " => Answer::new(200, repository(state, &state.repository)),
        "GET /orgs/{org}/teams/{team_slug}/memberships/{username}" => {
            if state.teams.is_none() {
                return Answer::refused(403, "Resource not accessible by integration");
            }
            let key = format!("{}/{}/{}", value("org"), value("team_slug"), value("username"));
            match state.teams.as_ref().and_then(|teams| teams.get(&key)) {
                Some(word) => Answer::new(200, json!({ "state": word, "role": "member" })),
                None => Answer::refused(404, "Not Found"),
            }
        }
        "GET /collaborators/{username}/permission" => {
            match state.permissions.get(value("username")) {
                Some((permission, role)) => Answer::new(
                    200,
                    json!({ "permission": permission, "role_name": role, "user": null }),
                ),
                None => Answer::refused(404, "Not Found"),
            }
        }
        "GET /pulls/{pull_number}" => {
            let found = state.pulls.iter().find(|one| one.number == id("pull_number"));
            found.map_or_else(missing, |one| Answer::new(200, pull(state, one)))
        }
        "GET /pulls" => {
            let list: Vec<Value> = state
                .pulls
                .iter()
                .rev()
                .filter(|one| match asked("state") {
                    Some("all") => true,
                    Some("closed") => !one.open,
                    _ => one.open,
                })
                .filter(|one| {
                    asked("head").is_none_or(|head| {
                        let owner = one.head_repository.as_deref().unwrap_or("gone/gone");
                        let owner = owner.split('/').next().unwrap_or_default();
                        head == format!("{owner}:{}", one.head)
                    })
                })
                .map(|one| pull(state, one))
                .collect();
            paged(&list, query)
        }
        "POST /pulls" => open_pull(state, body),
        "PATCH /pulls/{pull_number}" => {
            let Some(one) = state.pulls.iter_mut().find(|one| one.number == id("pull_number"))
            else {
                return missing();
            };
            set(&mut one.title, &body["title"]);
            set(&mut one.body, &body["body"]);
            if let Some(word) = body["state"].as_str() {
                one.open = word == "open";
            }
            let one = one.clone();
            Answer::new(200, pull(state, &one))
        }
        "GET /pulls/{pull_number}/commits" => {
            let list: Vec<Value> = state
                .pull_commits
                .get(&id("pull_number"))
                .into_iter()
                .flatten()
                .map(|message| json!({ "commit": { "message": message } }))
                .collect();
            paged(&list, query)
        }
        "GET /issues/{issue_number}/comments" => {
            let number = id("issue_number");
            let list: Vec<Value> =
                state.comments.iter().filter(|one| one.number == number).map(comment).collect();
            paged(&list, query)
        }
        "POST /issues/{issue_number}/comments" | "PATCH /issues/comments/{comment_id}"
            if text("body").chars().count() > COMMENT =>
        {
            let words = format!("Body is too long (maximum is {COMMENT} characters)");
            Answer::invalid("IssueComment", "unprocessable", &words)
        }
        "POST /issues/{issue_number}/comments" => {
            let me = Some(state.me.clone());
            state.comment(id("issue_number"), me, text("body"));
            Answer::new(201, state.comments.last().map_or(Value::Null, comment))
        }
        "PATCH /issues/comments/{comment_id}" => {
            let Some(one) = state.comments.iter_mut().find(|one| one.id == id("comment_id")) else {
                return missing();
            };
            set(&mut one.body, &body["body"]);
            one.writes += 1;
            Answer::new(200, comment(one))
        }
        "POST /issues/comments/{comment_id}/reactions"
        | "POST /pulls/comments/{comment_id}/reactions" => {
            let room = if rest.contains("/pulls/") { "pulls" } else { "issues" };
            let one = (room.to_owned(), id("comment_id"), text("content").to_owned());
            let new = !state.reactions.contains(&one);
            if new {
                state.reactions.push(one);
            }
            Answer::new(if new { 201 } else { 200 }, json!({ "content": text("content") }))
        }
        "GET /commits/{ref}/check-runs" => {
            let list: Vec<Value> = state
                .checks
                .iter()
                .filter(|one| one.head_sha == value("ref"))
                .filter(|one| asked("check_name").is_none_or(|name| name == one.name))
                .map(check)
                .collect();
            let total = list.len();
            let page = paged(&list, query);
            Answer::new(200, json!({ "total_count": total, "check_runs": page.body }))
        }
        "GET /check-runs/{check_run_id}" => {
            let found = state.checks.iter().find(|one| one.id == id("check_run_id"));
            found.map_or_else(missing, |one| Answer::new(200, check(one)))
        }
        "POST /check-runs" => {
            let made = Check {
                id: state.next(),
                app: state.app.clone(),
                name: text("name").into(),
                head_sha: text("head_sha").into(),
                external_id: None,
                status: "queued".into(),
                conclusion: None,
                output: json!({}),
                annotations: Vec::new(),
            };
            state.checks.push(made);
            write_check(state.checks.last_mut().expect("just made"), body, 201)
        }
        "PATCH /check-runs/{check_run_id}" => {
            let app = state.app.clone();
            match state.checks.iter_mut().find(|one| one.id == id("check_run_id")) {
                None => missing(),
                Some(one) if one.app != app => Answer::refused(
                    403,
                    "Invalid app_id `15368` - check run can only be modified by the GitHub App that created it.",
                ),
                Some(one) => write_check(one, body, 200),
            }
        }
        "GET /issues" => {
            let wanted = asked("state").unwrap_or("open").to_owned();
            let fits = |open: bool| wanted == "all" || (wanted == "open") == open;
            let mut list: Vec<(u64, Value)> = state
                .issues
                .iter()
                .filter(|one| fits(one.open))
                .map(|one| (one.number, issue(one)))
                .chain(state.pulls.iter().filter(|one| fits(one.open)).map(|one| {
                    let clothes = json!({ "url": null, "html_url": null, "diff_url": null, "patch_url": null });
                    let mut value = issue(&Issue {
                        number: one.number,
                        title: one.title.clone(),
                        body: one.body.clone(),
                        author: one.author.clone(),
                        open: one.open,
                    });
                    value["pull_request"] = clothes;
                    (one.number, value)
                }))
                .collect();
            list.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
            let list: Vec<Value> = list.into_iter().map(|(_, value)| value).collect();
            paged(&list, query)
        }
        "POST /issues" => {
            let number = state.next();
            let author = Some(state.me.clone());
            let (title, text) = (text("title").to_owned(), text("body").to_owned());
            let made = Issue { number, title, body: text, author, open: true };
            let labels = body["labels"].as_array().into_iter().flatten();
            let labels = labels.filter_map(Value::as_str).map(str::to_owned).collect();
            state.labelled.insert(number, labels);
            let answer = Answer::new(201, issue(&made));
            state.issues.push(made);
            answer
        }
        "GET /labels/{name}" => {
            if state.labels.contains(value("name")) {
                Answer::new(200, json!({ "name": value("name") }))
            } else {
                missing()
            }
        }
        "POST /labels" if !state.may_label => {
            Answer::refused(403, "Resource not accessible by integration")
        }
        "POST /labels" => {
            if state.labels.insert(text("name").to_owned()) {
                Answer::new(201, json!({ "name": text("name"), "color": text("color") }))
            } else {
                Answer::invalid("Label", "already_exists", "")
            }
        }
        "POST /issues/{issue_number}/labels" => {
            let labels: Vec<String> = body["labels"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|one| one.as_str().map(str::to_owned))
                .collect();
            let all = state.labelled.entry(id("issue_number")).or_default();
            all.extend(labels);
            let list: Vec<Value> = all.iter().map(|name| json!({ "name": name })).collect();
            Answer::new(200, Value::Array(list))
        }
        "GET /git/ref/{ref}" => {
            let tip =
                value("ref").strip_prefix("heads/").and_then(|branch| state.branches.get(branch));
            tip.map_or_else(missing, |tip| {
                let reference = format!("refs/{}", value("ref"));
                Answer::new(
                    200,
                    json!({ "ref": reference, "object": { "type": "commit", "sha": tip } }),
                )
            })
        }
        "GET /git/commits/{commit_sha}" => match state.commits.get(value("commit_sha")) {
            None => missing(),
            Some(found) => {
                let parents: Vec<Value> =
                    found.parents.iter().map(|one| json!({ "sha": one })).collect();
                Answer::new(
                    200,
                    json!({ "sha": value("commit_sha"), "message": found.message, "parents": parents }),
                )
            }
        },
        "POST /actions/workflows/{workflow_id}/dispatches" => {
            state.dispatches.push((value("workflow_id").into(), text("ref").into()));
            Answer::new(204, Value::Null)
        }
        other => panic!("the fake GitHub does not know {other} yet"),
    }
}

fn missing() -> Answer {
    Answer::refused(404, "Not Found")
}

fn set(field: &mut String, value: &Value) {
    if let Some(text) = value.as_str() {
        text.clone_into(field);
    }
}

/// One page of a list.
fn paged(list: &[Value], query: &[(String, String)]) -> Answer {
    let number = |name: &str, default: usize| {
        let found = query.iter().find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.parse().ok()).unwrap_or(default)
    };
    let (size, page) = (number("per_page", 30), number("page", 1));
    let part: Vec<Value> = list.iter().skip((page - 1) * size).take(size).cloned().collect();
    Answer::new(200, Value::Array(part))
}

fn account(author: &Author) -> Value {
    match author {
        Some((id, login)) => {
            let kind = if login.ends_with("[bot]") { "Bot" } else { "User" };
            json!({ "id": id, "login": login, "type": kind })
        }
        None => Value::Null,
    }
}

fn repository(state: &State, name: &str) -> Value {
    json!({
        "full_name": name,
        "default_branch": state.default_branch,
        "private": false,
        "fork": name != state.repository,
    })
}

fn page(state: &State, room: &str, number: u64) -> String {
    format!("https://github.com/{}/{room}/{number}", state.repository)
}

fn pull(state: &State, one: &Pull) -> Value {
    let tip = |branch: &str| state.branches.get(branch).cloned().unwrap_or_else(|| sha(7));
    let labels: Vec<Value> = state
        .labelled
        .get(&one.number)
        .into_iter()
        .flatten()
        .map(|name| json!({ "name": name }))
        .collect();
    json!({
        "number": one.number,
        "html_url": page(state, "pull", one.number),
        "state": if one.open { "open" } else { "closed" },
        "merged_at": one.merged.then_some("2026-11-21T10:00:00Z"),
        "draft": one.draft,
        "title": one.title,
        "body": one.body,
        "labels": labels,
        "user": if one.author.is_some() { account(&one.author) } else { account(&Some((10_137, "ghost".into()))) },
        "head": {
            "ref": one.head,
            "sha": tip(&one.head),
            "repo": one.head_repository.as_deref().map(|name| repository(state, name)),
        },
        "base": {
            "ref": one.base,
            "sha": tip(&one.base),
            "repo": repository(state, &state.repository),
        },
    })
}

fn open_pull(state: &mut State, body: &Value) -> Answer {
    let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    if !state.may_open_pulls {
        return Answer::refused(
            403,
            "GitHub Actions is not permitted to create or approve pull requests.",
        );
    }
    let (head, base) = (text("head"), text("base"));
    if !state.branches.contains_key(&head) {
        let mut answer = Answer::invalid("PullRequest", "invalid", "");
        answer.body["errors"][0]["field"] = json!("head");
        return answer;
    }
    if state.pulls.iter().any(|one| one.open && one.head == head && one.base == base) {
        let owner = state.repository.split('/').next().unwrap_or_default();
        let words = format!("A pull request already exists for {owner}:{head}.");
        return Answer::invalid("PullRequest", "custom", &words);
    }
    let author = Some(state.me.clone());
    state.open_pull(author, &head, &text("title"));
    let made = state.pulls.last_mut().expect("just made");
    made.base = base;
    made.body = text("body");
    made.draft = body["draft"] == true;
    let made = made.clone();
    Answer::new(201, pull(state, &made))
}

fn comment(one: &Comment) -> Value {
    json!({ "id": one.id, "body": one.body, "user": account(&one.author), "created_at": one.at, "updated_at": one.at, "html_url": format!("https://github.com/octo/demo/issues/{}#issuecomment-{}", one.number, one.id) })
}

fn issue(one: &Issue) -> Value {
    json!({
        "number": one.number,
        "title": one.title,
        "body": one.body,
        "state": if one.open { "open" } else { "closed" },
        "user": account(&one.author),
        "html_url": format!("https://github.com/octo/demo/issues/{}", one.number),
    })
}

fn write_check(one: &mut Check, body: &Value, status: u16) -> Answer {
    let new = body["output"]["annotations"].as_array().cloned().unwrap_or_default();
    if new.len() > 50 {
        let words = format!(
            "Invalid request.\n\nNo more than 50 items are allowed; {} were supplied.",
            new.len()
        );
        return Answer::refused(422, &words);
    }
    for name in ["summary", "text"] {
        let length = body["output"][name].as_str().unwrap_or_default().chars().count();
        if length > 65_535 {
            let words = format!(
                "Invalid request.\n\nOnly 65535 characters are allowed; {length} were supplied."
            );
            return Answer::refused(422, &words);
        }
    }
    set(&mut one.name, &body["name"]);
    set(&mut one.status, &body["status"]);
    if let Some(id) = body["external_id"].as_str() {
        one.external_id = Some(id.to_owned());
    }
    if let Some(word) = body["conclusion"].as_str() {
        one.conclusion = Some(word.to_owned());
        one.status = "completed".into();
    }
    for name in ["title", "summary", "text"] {
        if body["output"][name].is_string() {
            one.output[name] = body["output"][name].clone();
        }
    }
    one.annotations.extend(new);
    Answer::new(status, check(one))
}

fn check(one: &Check) -> Value {
    json!({
        "id": one.id,
        "name": one.name,
        "head_sha": one.head_sha,
        "external_id": one.external_id,
        "status": one.status,
        "conclusion": one.conclusion,
        "html_url": format!("https://github.com/octo/demo/runs/{}", one.id),
        "output": {
            "title": one.output["title"],
            "summary": one.output["summary"],
            "text": one.output["text"],
            "annotations_count": one.annotations.len(),
        },
        "app": { "slug": one.app },
    })
}

/// Errors in the only mutation (`CreateCommitOnBranchInput` of GitHub's GraphQL schema).
pub fn graph_faults(body: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let input = &body["variables"]["input"];
    let mut fields = |at: &str, value: &Value, known: &[&str], required: &[&str]| {
        let names: Vec<&str> =
            value.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        faults.extend(
            names
                .iter()
                .filter(|name| !known.contains(name))
                .map(|name| format!("{at} has no {name}")),
        );
        faults.extend(
            required
                .iter()
                .filter(|name| !names.contains(name))
                .map(|name| format!("{at} lacks {name}")),
        );
    };
    fields("the request", body, &["query", "variables"], &["query", "variables"]);
    let all = ["branch", "expectedHeadOid", "message", "fileChanges"];
    fields("the input", input, &all, &["branch", "expectedHeadOid", "message"]);
    let branch = ["repositoryNameWithOwner", "branchName"];
    fields("the branch", &input["branch"], &branch, &branch);
    fields("the message", &input["message"], &["headline", "body"], &["headline"]);
    fields("the changes", &input["fileChanges"], &["additions", "deletions"], &[]);
    for one in input["fileChanges"]["additions"].as_array().into_iter().flatten() {
        fields("an addition", one, &["path", "contents"], &["path", "contents"]);
    }
    for one in input["fileChanges"]["deletions"].as_array().into_iter().flatten() {
        fields("a deletion", one, &["path"], &["path"]);
    }
    if !body["query"].as_str().unwrap_or_default().contains("createCommitOnBranch(input: $input)") {
        faults.push("the query is another one".into());
    }
    faults
}

/// Creates a signed commit.
pub fn graph(state: &mut State, body: &Value) -> Value {
    state.look();
    let input = &body["variables"]["input"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let refused = |kind: &str, message: &str| {
        json!({
            "data": { "createCommitOnBranch": null },
            "errors": [{ "type": kind, "path": ["createCommitOnBranch"], "message": message }],
        })
    };
    if state.read_only {
        return refused("FORBIDDEN", "Resource not accessible by integration");
    }
    let (branch, expected) =
        (text(&input["branch"]["branchName"]), text(&input["expectedHeadOid"]));
    match state.branches.get(&branch) {
        None => return refused("NOT_FOUND", "No branch with that name"),
        Some(tip) if *tip != expected => {
            let words = format!(
                "Expected branch to point to \"{expected}\" but it did not. Pull and try again."
            );
            return refused("STALE_DATA", &words);
        }
        Some(_) => {}
    }
    let oid = sha(state.next());
    let mut files = BTreeMap::new();
    for one in input["fileChanges"]["additions"].as_array().into_iter().flatten() {
        files.insert(text(&one["path"]), one["contents"].clone());
    }
    for one in input["fileChanges"]["deletions"].as_array().into_iter().flatten() {
        files.insert(text(&one["path"]), Value::Null);
    }
    let (headline, rest) = (text(&input["message"]["headline"]), text(&input["message"]["body"]));
    let message = if rest.is_empty() { headline } else { format!("{headline}\n\n{rest}") };
    state.commits.insert(oid.clone(), Commit { message, parents: vec![expected], files });
    state.branches.insert(branch, oid.clone());
    json!({ "data": { "createCommitOnBranch": { "commit": { "oid": oid } } } })
}
