//! Detects what a source uses outside of its process: network, databases, files, environment, clock,
//! other processes.
//!
//! Names are followed to the import, the variable or the global that they come from, so that a name
//! that the file declares itself is none of these.

use std::collections::BTreeMap;
use std::fmt;

use tree_sitter::Node;

use super::crossing_calls::call_sites::call_site;
use super::crossing_calls::file_names::{Binding, FileNames};
use super::crossing_calls::name_path::{CALLED, INSTANCE, NamePath, PathRoot, SourceFile};
use super::imports::Index;
use super::language::{GO, JS, Language, PY};
use super::outline::enclosing;
use super::side_effects::{SideEffect, effect_of_callee};
use super::tree::{around, line, named_nodes};
use crate::domain::id::RepoPath;

/// Something outside of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExternalService {
    Network,
    Database,
    Files,
    Environment,
    Clock,
    ChildProcesses,
}

impl fmt::Display for ExternalService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Network => "network",
            Self::Database => "database",
            Self::Files => "files",
            Self::Environment => "environment",
            Self::Clock => "clock",
            Self::ChildProcesses => "child processes",
        })
    }
}

/// A use of an external service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceUse {
    pub service: ExternalService,
    /// What shows it, by its full name, such as `requests.get` or `os.environ`.
    pub evidence: String,
    /// The line, from 1.
    pub line: u32,
    /// The function that contains it; empty where it runs when the file is loaded.
    pub function: String,
}

type ServiceRow = (ExternalService, &'static [Language], &'static str);

/// Full names of what uses a service, separated by spaces, each with everything in it, besides
/// what [`effect_of_callee`] knows. Modules are written with dots.
const SERVICES: &[ServiceRow] = &[
    (ExternalService::Network, PY, "urllib3 websockets paramiko boto3 grpc"),
    (
        ExternalService::Network,
        JS,
        "node-fetch cross-fetch undici superagent ky got ws XMLHttpRequest EventSource \
         http.createServer https.createServer net.createServer http2.connect socket.io-client",
    ),
    (
        ExternalService::Network,
        GO,
        "net.http.Client net.http.DefaultClient net.http.ListenAndServe net.http.NewRequest \
         net.http.PostForm net.Listen",
    ),
    (
        ExternalService::Database,
        PY,
        "sqlite3 psycopg2 psycopg pymysql MySQLdb mysql.connector asyncpg aiosqlite \
         sqlalchemy.create_engine sqlalchemy.orm pymongo redis peewee duckdb django.db",
    ),
    (
        ExternalService::Database,
        JS,
        "pg mysql mysql2 better-sqlite3 sqlite3 sqlite mongodb mongoose redis ioredis knex \
         sequelize typeorm @prisma.client",
    ),
    (
        ExternalService::Database,
        GO,
        "database.sql.Open database.sql.DB database.sql.Tx gorm.io.gorm github.com.jmoiron.sqlx",
    ),
    (
        ExternalService::Files,
        PY,
        "open io.open shutil tempfile glob os.listdir os.makedirs os.mkdir os.rename os.replace \
         os.scandir os.walk os.stat os.path.exists os.path.getmtime os.path.getsize \
         os.path.isdir os.path.isfile pathlib.Path.exists pathlib.Path.glob pathlib.Path.is_dir \
         pathlib.Path.is_file pathlib.Path.iterdir pathlib.Path.mkdir pathlib.Path.open \
         pathlib.Path.read_bytes pathlib.Path.read_text pathlib.Path.rename pathlib.Path.rglob \
         pathlib.Path.stat pathlib.Path.touch pathlib.Path.write_bytes pathlib.Path.write_text",
    ),
    (ExternalService::Files, JS, "fs fs-extra graceful-fs rimraf glob Deno.readTextFile Bun.file"),
    (
        ExternalService::Files,
        GO,
        "os.Create os.CreateTemp os.Mkdir os.MkdirAll os.MkdirTemp os.Open os.OpenFile \
         os.ReadDir os.ReadFile os.Rename os.Stat os.WriteFile io.ioutil.ReadDir \
         io.ioutil.ReadFile io.ioutil.WriteFile path.filepath.Glob path.filepath.Walk \
         path.filepath.WalkDir",
    ),
    (ExternalService::Environment, PY, "os.environ os.getenv os.putenv"),
    (ExternalService::Environment, JS, "process.env"),
    (ExternalService::Environment, GO, "os.Environ os.Getenv os.LookupEnv os.Setenv"),
    (
        ExternalService::Clock,
        PY,
        "time.time time.time_ns time.monotonic time.perf_counter time.sleep \
         datetime.datetime.now datetime.datetime.today datetime.datetime.utcnow \
         datetime.date.today django.utils.timezone.now",
    ),
    (ExternalService::Clock, JS, "Date.now performance.now"),
    (ExternalService::Clock, GO, "time.After time.Now time.Since time.Sleep time.Until"),
    (ExternalService::ChildProcesses, PY, "subprocess multiprocessing.Process os.execv"),
    (ExternalService::ChildProcesses, JS, "child_process execa cross-spawn"),
    (ExternalService::ChildProcesses, GO, "os.exec.Command os.exec.CommandContext"),
];

/// What is used by reading it, without a call.
const ATTRIBUTES: &[&str] = &["os.environ", "process.env"];

/// Names that need no import.
const GLOBALS: &[&str] = &[
    "open",
    "fetch",
    "process",
    "performance",
    "Date",
    "WebSocket",
    "XMLHttpRequest",
    "EventSource",
    "Deno",
    "Bun",
];

/// Methods that only paths have, so that they show one in a file that imports `pathlib`.
const PATH_METHODS: &[&str] = &["read_bytes", "read_text", "write_bytes", "write_text"];

/// Functions that return a handle of the service whose methods use it again.
const HANDLE_MAKERS: &[&str] =
    &["connect", "connection", "create", "cursor", "new", "open", "session"];

/// The most variables that are followed from one to the next.
const FOLLOWED: u32 = 8;

/// What a source uses outside of its process, in the order of its text.
pub fn external_services(language: Language, text: &str) -> Vec<ServiceUse> {
    let (index, files) = (Index::of(&BTreeMap::new()), BTreeMap::new());
    let (Some(tree), Ok(file)) = (language.parse(text), RepoPath::parse("source")) else {
        return Vec::new();
    };
    let source = SourceFile { file: &file, language, text, index: &index, files: &files };
    let names = FileNames::read(&source);
    let mut found: Vec<ServiceUse> = Vec::new();
    for node in named_nodes(tree.root_node()) {
        let Some((service, evidence)) = use_in(&source, &names, node) else { continue };
        let function = enclosing(&names.functions, line(node));
        let function = function.map(|one| one.name.clone()).unwrap_or_default();
        let found_use = ServiceUse { service, evidence, line: line(node), function };
        if found.last() != Some(&found_use) {
            found.push(found_use);
        }
    }
    found
}

/// The service that a node uses, and the full name that shows it.
fn use_in(
    source: &SourceFile<'_>,
    names: &FileNames,
    node: Node<'_>,
) -> Option<(ExternalService, String)> {
    let at = node.start_byte();
    let Some(call) = call_site(source, node) else {
        let name = full_names(source, names, &attribute_path(source, names, node)?, (at, FOLLOWED));
        let name = name.into_iter().find(|name| ATTRIBUTES.contains(&name.as_str()))?;
        return Some((ExternalService::Environment, name));
    };
    let found = full_names(source, names, &call.callee, (at, FOLLOWED));
    // Without arguments, the constructor reads the clock.
    if call.arguments.is_empty() && found.iter().any(|name| name == "Date") {
        return Some((ExternalService::Clock, "Date".to_owned()));
    }
    let method = call.callee.steps.last();
    if let Some(method) = method.filter(|one| PATH_METHODS.contains(&one.as_str()))
        && found.is_empty()
        && source.language == Language::Python
        && source.text.contains("pathlib")
    {
        return Some((ExternalService::Files, format!("Path.{method}")));
    }
    let service = |name: String| Some((service_of(source.language, &name)?, name));
    // What is only read is found without the call of one of its methods.
    let is_read = |name: &String| ATTRIBUTES.iter().any(|one| is_at_or_in(name, one));
    found.into_iter().filter(|name| !is_read(name)).find_map(service)
}

/// The path of an expression that is read, rather than the name of a member or in an import.
fn attribute_path(source: &SourceFile<'_>, names: &FileNames, node: Node<'_>) -> Option<NamePath> {
    let is_member = |kind: &str| matches!(kind, "attribute" | "member_expression");
    let is_last = |step: &String| ATTRIBUTES.iter().any(|known| known.ends_with(step.as_str()));
    if node.kind() == "identifier" {
        let mut bound = names.bindings.get(source.text_of(node))?.iter();
        bound.find(|one| one.path.steps.last().is_some_and(is_last))?;
        let parent = node.parent()?;
        let is_name = is_member(parent.kind()) && parent.named_child(0) != Some(node);
        let imports = ["import_statement", "import_from_statement"];
        return (!is_name && around(node, &imports).is_none()).then(|| source.path_of(node));
    }
    is_member(node.kind())
        .then(|| source.path_of(node))
        .filter(|path| path.steps.last().is_some_and(is_last))
}

/// The service that something with a full name uses.
fn service_of(language: Language, name: &str) -> Option<ExternalService> {
    let row = SERVICES.iter().find(|(_, languages, known)| {
        languages.contains(&language) && known.split_whitespace().any(|one| is_at_or_in(name, one))
    });
    // A module of the repository may have the name of one of these.
    let is_standard = language != Language::Go
        || ["net.", "os.", "io.", "time."].iter().any(|root| name.starts_with(root));
    let has_files = ["os.", "shutil.", "pathlib."].iter().any(|one| name.starts_with(one));
    let effect = || match effect_of_callee(language, name).filter(|_| is_standard)? {
        SideEffect::UsesNetwork => Some(ExternalService::Network),
        SideEffect::StartsPrograms => Some(ExternalService::ChildProcesses),
        SideEffect::DeletesFiles => Some(ExternalService::Files).filter(|_| has_files),
        SideEffect::Sleeps | SideEffect::EndsRun | SideEffect::NeverEnds => None,
    };
    row.map(|(service, ..)| *service).or_else(effect)
}

fn is_at_or_in(name: &str, known: &str) -> bool {
    name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The full names that a path may have: from the module, or the global, that it begins with.
fn full_names(
    source: &SourceFile<'_>,
    names: &FileNames,
    path: &NamePath,
    (at, left): (usize, u32),
) -> Vec<String> {
    let steps = path.steps.as_slice();
    let Some(further) = left.checked_sub(1) else { return Vec::new() };
    let of_bindings = |found: &[&Binding], steps: &[String]| {
        let mut full: Vec<String> = Vec::new();
        for one in found {
            let mut longer = one.path.clone();
            longer.steps.extend(steps.iter().cloned());
            full.extend(full_names(source, names, &longer, (one.at, further)));
        }
        full
    };
    match (&path.root, steps) {
        (PathRoot::Outside(module), _) if !module.is_empty() => {
            joined(source.language, module, steps).into_iter().collect()
        }
        (PathRoot::Own, [attribute, rest @ ..]) => {
            let class = names.class_at(at).unwrap_or_default().to_owned();
            let found = names.attributes.get(&(class, attribute.clone())).into_iter().flatten();
            of_bindings(&found.collect::<Vec<_>>(), rest)
        }
        (PathRoot::Name(name), _) => {
            let (name, rest) = names.split_bound(name, steps);
            let bound = names.bindings_at(&name, at);
            if !bound.is_empty() || names.declared.contains_key(&name) {
                return of_bindings(&bound, rest);
            }
            let is_global = GLOBALS.contains(&name.as_str());
            let global = joined(source.language, &name, rest).filter(|_| is_global);
            let stars = names.stars.iter().filter_map(|star| match &star.root {
                PathRoot::Outside(module) => {
                    joined(source.language, &format!("{module}.{name}"), rest)
                }
                _ => None,
            });
            global.into_iter().chain(stars).collect()
        }
        _ => Vec::new(),
    }
}

/// The full name of a module's part; `None` inside of an ordinary result, or for own modules.
fn joined(language: Language, module: &str, steps: &[String]) -> Option<String> {
    let module = module.strip_prefix("node:").unwrap_or(module);
    let mut name = module.replace('/', ".");
    let mut last = "";
    for step in steps.iter().filter(|step| *step != "default") {
        match step.as_str() {
            CALLED => {
                let is_maker = HANDLE_MAKERS.iter().any(|one| last.to_lowercase().starts_with(one));
                let is_class = last.starts_with(char::is_uppercase) && language != Language::Go;
                if !(last.is_empty() || is_maker || is_class) {
                    return None;
                }
            }
            INSTANCE => {}
            step => {
                name = format!("{name}.{step}");
                last = step;
            }
        }
    }
    (!module.starts_with('.')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The uses in a text: `service evidence line function`.
    fn uses(language: Language, text: &str) -> Vec<String> {
        let found = external_services(language, text).into_iter();
        let show = |one: ServiceUse| {
            format!("{} {} {} {}", one.service, one.evidence, one.line, one.function)
        };
        found.map(show).map(|row| row.trim_end().to_owned()).collect()
    }

    fn check(language: Language, table: &[(&str, &[&str])]) {
        for (text, expected) in table {
            assert_eq!(uses(language, text), *expected, "{text}");
        }
    }

    #[test]
    fn services_of_python_are_found_by_calls_and_attributes() {
        check(
            Language::Python,
            &[
                (
                    "import requests\ndef f(url):\n    return requests.get(url).json()\n",
                    &["network requests.get 3 f"],
                ),
                ("from requests import get as fetch\nfetch('x')\n", &["network requests.get 2"]),
                (
                    "import urllib.request\nurllib.request.urlopen('x')\n",
                    &["network urllib.request.urlopen 2"],
                ),
                ("import os\nKEY = os.environ['KEY']\n", &["environment os.environ 2"]),
                (
                    "from os import environ, getenv\nenviron.get('A')\ngetenv('B')\n",
                    &["environment os.environ 2", "environment os.getenv 3"],
                ),
                (
                    "from datetime import datetime\nclass Clock:\n    def now(self):\n        return datetime.now().year\n",
                    &["clock datetime.datetime.now 4 Clock.now"],
                ),
                (
                    "import datetime as dt, time\ndt.date.today()\ntime.time()\n",
                    &["clock datetime.date.today 2", "clock time.time 3"],
                ),
                (
                    "import sqlite3\nclass Store:\n    def __init__(self):\n        self.db = sqlite3.connect('a')\n    def save(self):\n        self.db.execute('x')\n",
                    &[
                        "database sqlite3.connect 4 Store.__init__",
                        "database sqlite3.connect.execute 6 Store.save",
                    ],
                ),
                ("with open('a') as f:\n    f.read()\n", &["files open 1", "files open.read 2"]),
                (
                    "from pathlib import Path\ndef f(name: str, home: Path):\n    Path(name).read_text()\n    home.write_text('')\n    (home / name).read_bytes()\n",
                    &[
                        "files pathlib.Path.read_text 3 f",
                        "files pathlib.Path.write_text 4 f",
                        "files Path.read_bytes 5 f",
                    ],
                ),
                (
                    "import os, shutil\nos.remove('a')\nshutil.copy('a', 'b')\n",
                    &["files os.remove 2", "files shutil.copy 3"],
                ),
                (
                    "import subprocess as sp\nsp.run(['ls'])\n",
                    &["child processes subprocess.run 2"],
                ),
                // What the file declares or gets is its own.
                ("def open(path):\n    return path\nopen('a')\n", &[]),
                (
                    "def f(open, requests, time):\n    open('a')\n    requests.get('x')\n    time.time()\n",
                    &[],
                ),
                (
                    "from .clock import time\nfrom .http import requests\ntime.time()\nrequests.get('x')\n",
                    &[],
                ),
                (
                    "import datetime\ndatetime.datetime(2024, 1, 1).isoformat()\nrequests.get('x')\n",
                    &[],
                ),
                ("import os\nos.path.join('a', 'b')\nitems.remove(1)\n'environ'.open()\n", &[]),
            ],
        );
    }

    #[test]
    fn services_of_scripts_are_found_by_calls_and_attributes() {
        let table: &[(&str, &[&str])] = &[
            (
                "import axios from 'axios';\nexport const f = (url) => axios.get(url);\n",
                &["network axios.get 2 f"],
            ),
            (
                "async function f(url) {\n  const r = await fetch(url);\n  return r.json();\n}\n",
                &["network fetch 2 f"],
            ),
            (
                "const key = process.env.KEY;\nconst { PORT } = process.env;\n",
                &["environment process.env 1", "environment process.env 2"],
            ),
            (
                "const now = Date.now();\nconst d = new Date();\n",
                &["clock Date.now 1", "clock Date 2"],
            ),
            (
                "const fs = require('node:fs');\nfs.readFileSync('a');\n",
                &["files fs.readFileSync 2"],
            ),
            (
                "import { readFile as rf } from 'fs/promises';\nrf('a');\n",
                &["files fs.promises.readFile 2"],
            ),
            (
                "const { execSync } = require('child_process');\nexecSync('ls');\n",
                &["child processes child_process.execSync 2"],
            ),
            (
                "const { Pool } = require('pg');\nclass Store {\n  constructor() { this.pool = new Pool(); }\n  save() { return this.pool.query('x'); }\n}\n",
                &["database pg.Pool 3 Store.constructor", "database pg.Pool.query 4 Store.save"],
            ),
            ("import http from 'http';\nhttp.get('x');\n", &["network http.get 2"]),
            (
                "exports.load = function () {\n  return require('fs').readFileSync('a');\n};\n",
                &["files fs.readFileSync 2 load"],
            ),
            ("function fetch(url) { return url; }\nfetch('x');\n", &[]),
            (
                "import { fetch } from './client';\nimport fs from './fs';\nfetch('x');\nfs.readFileSync('a');\n",
                &[],
            ),
            ("new Date(2024, 1);\nconst f = (process) => process.env;\napi.fetch('x');\n", &[]),
        ];
        check(Language::JavaScript, table);
        check(Language::TypeScript, table);
    }

    #[test]
    fn services_of_go_are_found_by_calls() {
        check(
            Language::Go,
            &[
                (
                    "package a\nimport \"os\"\nfunc f() { os.ReadFile(\"a\"); os.Getenv(\"A\") }\n",
                    &["files os.ReadFile 3 f", "environment os.Getenv 3 f"],
                ),
                (
                    "package a\nimport \"net/http\"\nfunc f() { http.Get(\"x\") }\n",
                    &["network net.http.Get 3 f"],
                ),
                (
                    "package a\nimport (\n\t\"database/sql\"\n\t\"time\"\n)\ntype S struct { db *sql.DB }\nfunc (s *S) f() {\n\ttime.Now()\n\tsql.Open(\"a\", \"b\")\n}\n",
                    &["clock time.Now 8 S.f", "database database.sql.Open 9 S.f"],
                ),
                (
                    "package a\nimport \"os/exec\"\nfunc f() { exec.Command(\"ls\").Run() }\n",
                    &["child processes os.exec.Command 3 f"],
                ),
                ("package a\nimport \"example.com/m/http\"\nfunc f() { http.Get(\"x\") }\n", &[]),
                ("package a\nfunc f(os store) { os.ReadFile(\"a\") }\n", &[]),
            ],
        );
    }

    #[test]
    fn every_service_has_rows_for_every_language_and_a_name() {
        use ExternalService::{ChildProcesses, Clock, Database, Environment, Files, Network};
        let languages = [Language::Python, Language::Tsx, Language::Go];
        let all = [Network, Database, Files, Environment, Clock, ChildProcesses];
        for service in all {
            for language in languages {
                let has = |row: &ServiceRow| row.0 == service && row.1.contains(&language);
                assert!(SERVICES.iter().any(has), "{service} {language:?}");
            }
        }
        let names = all.map(|one| one.to_string()).join(", ");
        assert_eq!(names, "network, database, files, environment, clock, child processes");
    }
}
