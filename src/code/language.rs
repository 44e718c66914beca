//! The supported languages: file extensions, display names, tree-sitter grammars.

use crate::domain::id::RepoPath;

pub use crate::domain::language::Language;

pub const PY: &[Language] = &[Language::Python];
pub const JS: &[Language] = &[Language::JavaScript, Language::TypeScript, Language::Tsx];
pub const RS: &[Language] = &[Language::Rust];
pub const GO: &[Language] = &[Language::Go];
pub const JAVA: &[Language] = &[Language::Java];

/// The languages with their names and the endings of their files.
pub const LANGUAGES: &[(Language, &str, &[&str])] = &[
    (Language::Python, "Python", &["py", "pyi"]),
    (Language::JavaScript, "JavaScript", &["js", "mjs", "cjs", "jsx"]),
    (Language::TypeScript, "TypeScript", &["ts", "mts", "cts"]),
    (Language::Tsx, "TypeScript", &["tsx"]),
    (Language::Rust, "Rust", &["rs"]),
    (Language::Go, "Go", &["go"]),
    (Language::Java, "Java", &["java"]),
];

/// Languages that are recognised by the endings of their files and not parsed.
pub const UNPARSED: &[(&str, &[&str])] = &[
    (
        "C and C++",
        &[
            "c", "h", "cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "inl", "ipp", "tpp",
            "cu",
        ],
    ),
    (".NET", &["cs", "fs", "vb"]),
    ("PHP", &["php", "phpt"]),
    ("Ruby", &["rb", "rake"]),
];

/// The name of the language of a file, one that is not parsed included.
pub fn name_of(file: &RepoPath) -> Option<&'static str> {
    let ending = file.extension();
    let unparsed = || UNPARSED.iter().find(|(_, endings)| endings.contains(&ending));
    Language::of(file).map(Language::name).or_else(|| unparsed().map(|(name, _)| *name))
}

/// Endings of files that hold data or prose.
pub const DATA: &[&str] = &[
    "",
    "cfg",
    "conf",
    "css",
    "csv",
    "env",
    "html",
    "ini",
    "json",
    "jsonc",
    "lock",
    "md",
    "properties",
    "scss",
    "svg",
    "toml",
    "tsv",
    "txt",
    "xml",
    "yaml",
    "yml",
];

/// The language of a file of code that is not parsed; `None` for data and for what is parsed.
pub fn unread_name(file: &RepoPath) -> Option<String> {
    let ending = file.extension();
    let is_read = Language::of(file).is_some() || DATA.contains(&ending);
    let name = || name_of(file).map_or_else(|| format!("files in `.{ending}`"), str::to_owned);
    (!is_read).then(name)
}

impl Language {
    /// The language of a file, by its ending.
    pub fn of(file: &RepoPath) -> Option<Self> {
        let extension = file.extension();
        LANGUAGES
            .iter()
            .find(|(_, _, endings)| endings.contains(&extension))
            .map(|(language, _, _)| *language)
    }

    /// The name for people; TSX is TypeScript.
    #[must_use]
    pub fn name(self) -> &'static str {
        LANGUAGES.iter().find(|(language, _, _)| *language == self).map_or("", |(_, name, _)| name)
    }

    /// Whether it is JavaScript or TypeScript.
    #[must_use]
    pub fn is_script(self) -> bool {
        matches!(self, Self::JavaScript | Self::TypeScript | Self::Tsx)
    }

    #[must_use]
    pub fn grammar(self) -> tree_sitter::Language {
        match self {
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
            Self::Go => tree_sitter_go::LANGUAGE.into(),
            Self::Java => tree_sitter_java::LANGUAGE.into(),
        }
    }

    /// Parses a text, with error nodes; `None` if recursion over the tree could overflow.
    #[must_use]
    pub fn parse(self, text: &str) -> Option<tree_sitter::Tree> {
        let mut parser = tree_sitter::Parser::new();
        parser.set_language(&self.grammar()).ok()?;
        parser.parse(text, None).filter(is_shallow)
    }
}

/// Maximum depth of a syntax tree.
const DEEPEST: u32 = 1000;

/// Whether a tree is at most [`DEEPEST`] levels deep; checked without recursion.
fn is_shallow(tree: &tree_sitter::Tree) -> bool {
    let mut cursor = tree.walk();
    loop {
        if cursor.depth() > DEEPEST {
            return false;
        }
        if cursor.goto_first_child() || cursor.goto_next_sibling() {
            continue;
        }
        loop {
            if !cursor.goto_parent() {
                return true;
            }
            if cursor.goto_next_sibling() {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_nesting_is_refused_and_ordinary_nesting_is_not() {
        let nested = |depth: usize| format!("x = {}1{}", "(".repeat(depth), ")".repeat(depth));
        assert!(Language::Python.parse(&nested(50)).is_some());
        assert!(Language::Python.parse(&nested(5000)).is_none());
        let long = format!("a = {}1;", "1 + ".repeat(5000));
        assert!(Language::JavaScript.parse(&long).is_none());
    }

    #[test]
    fn every_grammar_loads_and_parses() {
        for (language, name, endings) in LANGUAGES {
            assert!(!endings.is_empty(), "{name} has endings");
            let tree = language.parse("").expect("an empty file parses");
            assert!(!tree.root_node().has_error(), "{name}");
        }
    }

    #[test]
    fn code_that_is_not_parsed_has_a_name_and_data_has_none() {
        let table = [
            ("lib/a.rb", Some("Ruby")),
            ("a.cs", Some(".NET")),
            ("a.kt", Some("files in `.kt`")),
            ("a.py", None),
            ("a.json", None),
            ("Makefile", None),
        ];
        for (path, expected) in table {
            let name = unread_name(&RepoPath::parse(path).unwrap());
            assert_eq!(name.as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn the_extension_of_a_file_selects_its_language() {
        let table = [
            ("a.py", Some(Language::Python)),
            ("types.pyi", Some(Language::Python)),
            ("src/a.jsx", Some(Language::JavaScript)),
            ("a.test.mjs", Some(Language::JavaScript)),
            ("a.d.ts", Some(Language::TypeScript)),
            ("a.tsx", Some(Language::Tsx)),
            ("src/lib.rs", Some(Language::Rust)),
            ("a_test.go", Some(Language::Go)),
            ("src/main/java/A.java", Some(Language::Java)),
            ("README.md", None),
            ("Makefile", None),
            ("py", None),
        ];
        for (path, expected) in table {
            assert_eq!(Language::of(&RepoPath::parse(path).unwrap()), expected, "{path}");
        }
        assert_eq!(Language::Tsx.name(), Language::TypeScript.name());
    }
}
