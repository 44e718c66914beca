//! What functions of Python read from outside: which parameters name a file or a database, what is in such a
//! file by what the code does with it, and which variables of the environment are asked for.

use std::collections::BTreeSet;

use crate::code::pattern::Pattern;
use crate::domain::text::has_word;

use super::{Callable, DeclaredValues, Parameter, Type, typical_value};

/// A file by its name, and the literal of its text.
pub type FileText = (String, String);

static TOUCHES: Pattern = Pattern::new(
    r"\bopen\(|\.(?:read|write)_(?:text|bytes)\(|\bsqlite3\.|\.execute(?:many|script)?\(|\.cursor\(|\.exists\(|\bis_file\(|\bos\.path\.(?:exists|is|getsize)|\bos\.(?:remove|unlink|rename|replace|listdir)\(|\bshutil\.",
);
static READS: Pattern = Pattern::new(
    r"\bcsv\.(?:DictReader|reader)|\bjson\.loads?\(|\.read\w*\(|\bsafe_load|\btoml\w*\.loads?\(|\bfor \w+ in (?:file|handle|source|stream|lines|fh?|fp|reader)\b",
);
static KEY: Pattern = Pattern::new(r#"\[["']([A-Za-z_]\w*)["']\]|\.get\(["']([A-Za-z_]\w*)["']"#);
static GIVEN: Pattern =
    Pattern::new(r#"([\w.]+)(?:\(\))?(?:\[["'](\w+)["']\]|(\.get)\(["'](\w+)["'])"#);
static SETTING: Pattern = Pattern::new(
    r#"(int\(|float\()?\s*os\.(?:getenv\(|environ\.get\(|environ\[)\s*["'](\w+)["'](?:\s*,\s*["']([^"'\n]*)["'])?"#,
);

/// Words of names of parameters that name files, and of those that name databases.
const PATHS: &[&str] = &["path", "file", "filename", "filepath", "pathname"];
const DATABASES: &[&str] = &["db", "database", "dsn"];

/// Names of parameters that are open databases.
const CONNECTIONS: &[&str] = &["conn", "connection", "db", "database"];

/// Columns or keys that a file has, and variables of the environment that are set for one function.
const COLUMNS: usize = 8;
const SETTINGS: usize = 3;

/// How many calls deep the code of a function is followed.
const DEPTH: usize = 4;

/// What is kept in a file, by what reads or writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Table,
    Json,
    Sections,
    Toml,
    Yaml,
    Database,
    Lines,
}

const FORMATS: &[(&str, Format)] = &[
    ("csv.", Format::Table),
    ("json.", Format::Json),
    ("configparser", Format::Sections),
    ("ConfigParser", Format::Sections),
    ("toml", Format::Toml),
    ("yaml.", Format::Yaml),
    ("sqlite3.", Format::Database),
];

/// What the code of a function tells about the files that it is given.
#[derive(Clone)]
struct Lesson<'a> {
    /// Its name without a class.
    function: String,
    /// The code that its calls run, as far as it is known.
    code: String,
    /// The function, or the class whose objects are made, in which annotations are found.
    header: &'a str,
    /// A function that opens a database.
    maker: Option<&'a str>,
}

/// Gives parameters that name files names of such files, and those that are connections of `SQLite` new databases,
/// and learns which settings each function reads. Returns the files. `others` are the sources that the file
/// imports.
pub fn learn_files(callables: &mut [Callable], text: &str, others: &[String]) -> Vec<FileText> {
    let sources = std::iter::once(text).chain(others.iter().map(String::as_str));
    let blocks: Vec<&str> = sources.flat_map(blocks_of).collect();
    let maker = blocks.iter().find_map(|block| connection_maker(block));
    let maker = maker.filter(|name| has_word(text, name));
    let mut files = Vec::new();
    for callable in callables {
        let code = reached_blocks(callable, &blocks);
        callable.settings = settings_of(&code);
        if !TOUCHES.is_match(&code) {
            continue;
        }
        let own = |name: &str| blocks.iter().find(|one| name_of(one) == name).copied();
        let header = own(callable.subject()).or_else(|| own(callable.short_name()));
        let header = header.unwrap_or_default();
        let lesson = Lesson { function: callable.short_name().to_owned(), code, header, maker };
        let made = callable.class.iter_mut().flat_map(|class| &mut class.parameters);
        let entry = callable.entry.iter_mut().filter(|one| one.route.is_none());
        let words = entry.flat_map(|one| &mut one.inputs).map(|one| &mut one.parameter);
        let words = words.filter(|one| one.declared.is_none());
        for parameter in callable.parameters.iter_mut().chain(made).chain(words) {
            lesson.teach_parameter(parameter, &mut files);
            let Some(class) = &mut parameter.class else { continue };
            let inner = Lesson { header: own(&class.name).unwrap_or_default(), ..lesson.clone() };
            class.parameters.iter_mut().for_each(|one| inner.teach_parameter(one, &mut files));
        }
    }
    files
}

impl Lesson<'_> {
    /// Gives a parameter that is a file or a database its values, and adds the files that these name.
    fn teach_parameter(&self, parameter: &mut Parameter, files: &mut Vec<FileText>) {
        let words: Vec<&str> = parameter.name.split('_').collect();
        let last = words.last().copied().unwrap_or_default();
        let is_stream = parameter.types.first() == Some(&Type::File);
        let is_text = parameter.types.iter().any(|one| matches!(one, Type::Text | Type::Any));
        let is_typed = !parameter.is_guessed && !is_text && !parameter.types.is_empty();
        let takes_path = self.is_annotated(&parameter.name, "Path");
        let is_connection = CONNECTIONS.contains(&last)
            && (self.is_annotated(&parameter.name, "Connection")
                || parameter.class.is_none() && self.is_used(&parameter.name));
        let values = if is_connection {
            vec![self.maker.map_or_else(
                || "sqlite3.connect(\":memory:\")".to_owned(),
                |maker| format!("{maker}(\":memory:\")"),
            )]
        } else if takes_path
            || (PATHS.contains(&last) || DATABASES.contains(&last)) && !is_stream && !is_typed
        {
            self.name_files(&parameter.name, takes_path, files)
        } else {
            return;
        };
        parameter.class = None;
        // What the code thinks of other names.
        let wrong = ["\"\"", "\"notes.md\""].map(str::to_owned).to_vec();
        let wrong = if is_connection || takes_path { Vec::new() } else { wrong };
        parameter.declared = Some(DeclaredValues { values, open: Vec::new(), wrong });
    }

    /// Whether the annotation of a parameter has a word in it.
    fn is_annotated(&self, parameter: &str, word: &str) -> bool {
        let mark = format!("{parameter}:");
        let places = self.header.match_indices(&mark);
        let mut annotations = places.filter_map(|(at, found)| {
            self.header.get(at + found.len()..)?.split([',', ')', '=', '\n']).next()
        });
        annotations.any(|one| has_word(one, word))
    }

    /// Whether a parameter is used as a connection.
    fn is_used(&self, parameter: &str) -> bool {
        ["execute", "executemany", "executescript", "commit", "cursor"]
            .iter()
            .any(|method| self.code.contains(&format!("{parameter}.{method}(")))
    }

    /// Names of files for a parameter: one with what the code reads, one with nothing in it, and one that does not
    /// exist. Where the code only writes, no file is there before.
    fn name_files(&self, parameter: &str, as_path: bool, files: &mut Vec<FileText>) -> Vec<String> {
        let words: Vec<&str> = parameter.split('_').collect();
        let is_database = words.iter().any(|word| DATABASES.contains(word));
        let is_named = |format: &&(&str, Format)| {
            words.iter().any(|word| word.len() > 2 && format.0.starts_with(word))
        };
        let known = FORMATS.iter().filter(|(mark, _)| self.code.contains(mark));
        let format = FORMATS.iter().find(is_named).or_else(|| known.clone().next());
        let format =
            if is_database { Format::Database } else { format.map_or(Format::Lines, |one| one.1) };
        let is_own =
            |word: &&&str| !PATHS.contains(*word) && !DATABASES.contains(*word) && word.len() > 2;
        let of_function =
            self.function.rsplit('_').next().filter(|word| self.function.len() > word.len());
        let stem = words.iter().find(is_own).copied().or(of_function).unwrap_or("data");
        let write = |name: String| {
            if as_path { format!("pathlib.Path(\"{name}\")") } else { format!("\"{name}\"") }
        };
        if format == Format::Database {
            let memory = Some("\":memory:\"".to_owned()).filter(|_| !as_path);
            return memory.into_iter().chain([write(format!("{stem}.db"))]).collect();
        }
        let extension = format.extension();
        let name = format!("{stem}.{extension}");
        if !READS.is_match(&self.code) {
            return vec![write(name)];
        }
        let empty = format!("empty.{extension}");
        let mut values = Vec::new();
        for (name, text) in [(name, format.sample(&self.code)), (empty, format.nothing(&self.code))]
        {
            values.push(write(name.clone()));
            if !files.iter().any(|(known, _)| *known == name) {
                files.push((name, format!("{text:?}")));
            }
        }
        values.push(write(format!("missing.{extension}")));
        values
    }
}

impl Format {
    fn extension(self) -> &'static str {
        match self {
            Self::Table => "csv",
            Self::Json => "json",
            Self::Sections => "ini",
            Self::Toml => "toml",
            Self::Yaml => "yaml",
            Self::Database => "db",
            Self::Lines => "txt",
        }
    }

    /// The text of a file with what the code reads from it.
    fn sample(self, code: &str) -> String {
        let keys = keys_of(code);
        let pair = |key: &String| (key.clone(), sample_value(key, code, 0));
        let pairs: Vec<(String, String)> = keys.iter().map(pair).collect();
        let lines = |between: &str, quote: fn(&str) -> String| {
            let line =
                |(key, value): &(String, String)| format!("{key}{between}{}\n", quote(value));
            pairs.iter().map(line).collect::<String>()
        };
        match self {
            Self::Table if keys.is_empty() => "Ada,3\nGrace,5\n".to_owned(),
            Self::Table => {
                let row = |number: usize| {
                    let values = keys.iter().map(|key| sample_value(key, code, number));
                    values.collect::<Vec<_>>().join(",") + "\n"
                };
                [keys.join(",") + "\n", row(0), row(1)].concat()
            }
            Self::Json if keys.is_empty() => "[3, 5]".to_owned(),
            Self::Json => {
                let item =
                    |(key, value): &(String, String)| format!("\"{key}\": {}", quote_word(value));
                let object =
                    format!("{{{}}}", pairs.iter().map(item).collect::<Vec<_>>().join(", "));
                let is_list = code.lines().any(|line| {
                    let line = line.trim();
                    line.contains(" in json.load") || line.contains("for ") && line.contains(" in ")
                });
                if is_list { format!("[{object}]") } else { object }
            }
            Self::Sections => match pairs.split_first() {
                Some(((section, _), rest)) => {
                    let line = |(key, value): &(String, String)| format!("{key} = {value}\n");
                    format!("[{section}]\n{}", rest.iter().map(line).collect::<String>())
                }
                None => "[main]\nname = Ada\n".to_owned(),
            },
            Self::Toml => lines(" = ", quote_word),
            Self::Yaml => lines(": ", str::to_owned),
            Self::Database | Self::Lines => "first line\nsecond line\n".to_owned(),
        }
    }

    /// The text of a file without any item.
    fn nothing(self, code: &str) -> String {
        match self {
            Self::Table if !keys_of(code).is_empty() => keys_of(code).join(",") + "\n",
            Self::Json if self.sample(code).starts_with('[') => "[]".to_owned(),
            Self::Json => "{}".to_owned(),
            _ => String::new(),
        }
    }
}

/// The keys that code reads by name, in its order.
fn keys_of(code: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    // Those of the environment are in no file.
    let lines = code.lines().filter(|line| !line.contains("environ"));
    for captures in lines.flat_map(|line| KEY.captures(line)) {
        let key = captures.iter().skip(1).flatten().next().map_or("", |key| key.as_str());
        if found.len() < COLUMNS && !found.iter().any(|known| known == key) {
            found.push(key.to_owned());
        }
    }
    found
}

/// The keys that code reads, whether they may be missing, and what they are read from.
pub fn keys_given(code: &str) -> Vec<(String, bool, String)> {
    let mut found: Vec<(String, bool, String)> = Vec::new();
    for captures in GIVEN.captures(code) {
        let part = |index: usize| captures.get(index).map(|one| one.as_str());
        let Some(key) = part(2).or(part(4)) else { continue };
        if found.len() < COLUMNS && found.iter().all(|(known, ..)| known != key) {
            found.push((key.to_owned(), part(3).is_some(), part(1).unwrap_or_default().to_owned()));
        }
    }
    found
}

/// What stands in a file under a key: a number where the code makes one of it, else what its name suggests.
fn sample_value(key: &str, code: &str, number: usize) -> String {
    let is_made = |maker: &str| {
        let mut places = code.match_indices(maker);
        places.any(|(at, _)| {
            let rest = code.get(at + maker.len()..).unwrap_or_default();
            let rest = rest.split([')', '\n']).next().unwrap_or_default();
            rest.contains(&format!("\"{key}\"")) || rest.contains(&format!("'{key}'"))
        })
    };
    let pick = |values: [&str; 2]| values.get(number).copied().unwrap_or_default().to_owned();
    if is_made("int(") {
        return pick(["3", "250"]);
    }
    if is_made("float(") || is_made("Decimal(") {
        return pick(["2.5", "10.0"]);
    }
    match typical_value(key) {
        Some((Type::Text, "\"Ada\"")) => pick(["Ada", "Grace"]),
        Some((Type::Text, "\"A-1\"")) => pick(["A-1", "B-2"]),
        Some((Type::Text, value)) => value.trim_matches('"').to_owned(),
        Some((_, value)) => pick([value, "7"]),
        None => pick(["hello", "world"]),
    }
}

/// A value in quotes, unless it is a number.
fn quote_word(value: &str) -> String {
    if value.parse::<f64>().is_ok() { value.to_owned() } else { format!("\"{value}\"") }
}

/// The settings that code reads from the environment, each with a value that is not its default.
fn settings_of(code: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for captures in SETTING.captures(code) {
        let part = |index: usize| captures.get(index).map_or("", |one| one.as_str());
        let (name, default) = (part(2).to_owned(), part(3));
        let typical =
            typical_value(&name.to_lowercase()).map_or("other", |one| one.1.trim_matches('"'));
        let value = match (part(1), default) {
            ("int(", _) => "7",
            ("float(", _) => "2.5",
            (_, "0" | "" | "1") if name.to_lowercase().contains("debug") => "1",
            (_, "0") => "1",
            (_, "1") => "0",
            (_, "false") => "true",
            (_, "true") => "false",
            _ if typical == default => "USD",
            _ => typical,
        };
        if found.len() < SETTINGS && found.iter().all(|(known, _)| *known != name) {
            found.push((name, value.to_owned()));
        }
    }
    found
}

/// The definitions at the top of a file, with their decorators before those of the next.
fn blocks_of(text: &str) -> Vec<&str> {
    let is_start =
        |line: &str| ["def ", "class ", "async def "].iter().any(|one| line.starts_with(one));
    let mut starts = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if is_start(line) {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).filter_map(|(start, end)| text.get(*start..end)).collect()
}

/// The name of a definition.
fn name_of(block: &str) -> &str {
    let rest = block.trim_start_matches("async ").split_once(' ').map_or("", |(_, rest)| rest);
    rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default()
}

/// The code of a function, and of what it names, some calls deep.
fn reached_blocks(callable: &Callable, blocks: &[&str]) -> String {
    let mut names: BTreeSet<&str> = BTreeSet::from([callable.subject(), callable.short_name()]);
    names.extend(
        callable.parameters.iter().filter_map(|one| Some(one.class.as_ref()?.name.as_str())),
    );
    let mut found: Vec<&str> = Vec::new();
    for _ in 0..DEPTH {
        let is_named = |block: &&&str| {
            !found.contains(*block)
                && (names.contains(name_of(block))
                    || found.iter().any(|known| has_word(known, name_of(block))))
        };
        let new: Vec<&str> = blocks.iter().filter(is_named).copied().collect();
        if new.is_empty() {
            break;
        }
        found.extend(new);
    }
    found.concat()
}

/// The name of a function that opens the database that it is given.
fn connection_maker<'a>(block: &&'a str) -> Option<&'a str> {
    let (head, body) = block.split_once(':')?;
    let opens =
        block.starts_with("def ") && body.contains("sqlite3.connect(") && body.contains("return ");
    let takes_one = head.contains('(') && !head.contains("()") && !head.contains(',');
    (opens && takes_one).then(|| name_of(block))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::language::Language;
    use crate::code::signature::callables;

    const STORE: &str = "\
import csv
import sqlite3
from pathlib import Path


def read_rows(path: Path) -> list:
    with path.open() as file:
        return [(row['sku'], int(row['count'])) for row in csv.DictReader(file)]


def connect(path):
    connection = sqlite3.connect(path)
    connection.execute('CREATE TABLE orders (sku TEXT)')
    return connection


def add(connection, sku):
    connection.execute('INSERT INTO orders VALUES (?)', (sku,))
";

    fn learned(text: &str, others: &[&str]) -> (Vec<Callable>, Vec<FileText>) {
        let mut found = callables(Language::Python, text);
        let others: Vec<String> = others.iter().map(|one| (*one).to_owned()).collect();
        let files = learn_files(&mut found, text, &others);
        (found, files)
    }

    fn values(callable: &Callable) -> Vec<&str> {
        let declared = callable.parameters.first().and_then(|one| one.declared.as_ref());
        declared.into_iter().flat_map(|one| &one.values).map(String::as_str).collect()
    }

    #[test]
    fn parameters_that_are_files_name_files_with_what_the_code_reads() {
        let (found, files) = learned(STORE, &[]);
        let table: [&[&str]; 3] = [
            &[
                "pathlib.Path(\"rows.csv\")",
                "pathlib.Path(\"empty.csv\")",
                "pathlib.Path(\"missing.csv\")",
            ],
            &["\":memory:\"", "\"data.db\""],
            &["connect(\":memory:\")"],
        ];
        for (callable, expected) in found.iter().zip(table) {
            assert_eq!(values(callable), expected, "{}", callable.name);
        }
        let texts = ["\"sku,count\\nA-1,3\\nB-2,250\\n\"", "\"sku,count\\n\""];
        let expected: Vec<FileText> = ["rows.csv", "empty.csv"]
            .iter()
            .zip(texts)
            .map(|(name, text)| ((*name).to_owned(), text.to_owned()))
            .collect();
        assert_eq!(files, expected);
    }

    #[test]
    fn what_is_in_a_file_is_told_by_what_reads_it_in_another_file() {
        let text = "from store import load\n\n\ndef total(path: str) -> int:\n    return sum(load(path))\n";
        let table = [
            (
                "import json\ndef load(path):\n    return [one['price'] for one in json.load(open(path))]\n",
                "[{\"price\": 250}]",
            ),
            (
                "import json\ndef load(path):\n    return json.load(open(path))['limit']\n",
                "{\"limit\": 10}",
            ),
            ("def load(path):\n    return open(path).read()\n", "first line\nsecond line\n"),
            (
                "import tomllib\ndef load(path):\n    return tomllib.loads(open(path).read())['name']\n",
                "name = \"Ada\"\n",
            ),
        ];
        for (other, expected) in table {
            let (_, files) = learned(text, &[other]);
            let first = files.first().map(|(_, text)| text.as_str());
            assert_eq!(first, Some(format!("{expected:?}").as_str()), "{other}");
        }
        let (found, files) = learned(text, &["def load(path):\n    return [path]\n"]);
        assert!(files.is_empty() && found[0].parameters[0].declared.is_none());
        let writes =
            "def save(path, text):\n    with open(path, 'w') as file:\n        file.write(text)\n";
        let (found, files) = learned(writes, &[]);
        assert!(files.is_empty(), "{files:?}");
        assert_eq!(values(&found[0]), ["\"data.txt\""]);
    }

    #[test]
    fn settings_have_values_that_are_not_their_defaults() {
        let table = [
            ("os.environ.get('SHOP_CURRENCY', 'EUR')", "USD"),
            ("int(os.getenv(\"PAGE\", \"20\"))", "7"),
            ("os.environ[\"SHOP_COUNTRY\"]", "DE"),
            ("os.getenv('FAST', '0') == '1'", "1"),
            ("os.getenv('REGION')", "other"),
        ];
        for (read, expected) in table {
            let text = format!("import os\n\n\ndef f():\n    return {read}\n");
            let (found, _) = learned(&text, &[]);
            let values: Vec<&str> = found[0].settings.iter().map(|one| one.1.as_str()).collect();
            assert_eq!(values, [expected], "{read}");
        }
    }
}
