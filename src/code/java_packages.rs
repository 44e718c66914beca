//! What files of Java projects say about packages, imports and the version of JUnit.

use std::collections::BTreeSet;

use super::pattern::Pattern;

/// Classes of the library that generated values use, by package.
const STANDARD: &[(&str, &[&str])] = &[
    ("java.io", &["ByteArrayInputStream", "StringReader", "StringWriter"]),
    ("java.math", &["BigDecimal", "BigInteger"]),
    ("java.net", &["URI"]),
    ("java.nio.charset", &["StandardCharsets"]),
    ("java.time", &["DayOfWeek", "Duration", "Instant", "LocalDate", "LocalDateTime", "LocalTime"]),
    (
        "java.util",
        &[
            "ArrayList",
            "Arrays",
            "Collections",
            "Comparator",
            "Date",
            "HashMap",
            "HashSet",
            "List",
            "Locale",
            "Map",
            "Optional",
            "Set",
            "UUID",
        ],
    ),
];

static PACKAGE: Pattern = Pattern::new(r"(?m)^\s*package\s+([\w.]+)\s*;");
static IMPORT: Pattern = Pattern::new(r"(?m)^\s*import\s+[\w.*\s]+;");
static NAME: Pattern = Pattern::new(r#""(?:\\.|[^"\\])*"|(?:^|[^.\w])([A-Z]\w*)"#);
static ASSERT_THROWS: Pattern = Pattern::new(r"junit[^0-9]{1,80}4\.(?:1[3-9]|[2-9]\d)");
static OLD_SOURCE: Pattern = Pattern::new(
    r#"(?:[sS]ource|release|sourceCompatibility|(?:java|jdk)\.?[vV]ersion)[>\s='"]+(?:JavaVersion\.VERSION_)?(?:1[._])?[5-7]\b"#,
);

/// The version of JUnit that a project has, as far as tests are written differently for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JUnit {
    /// JUnit 4 before 4.13 without `assertThrows`, or sources before Java 8 without lambdas.
    Early,
    Four,
    #[default]
    Jupiter,
}

impl JUnit {
    /// The version that the build files of a project ask for; `None` if there is none.
    pub fn asked_by(build_files: &str) -> Option<Self> {
        let has = |word: &str| build_files.contains(word);
        if has("jupiter") || has("spring-boot-starter-test") || has("useJUnitPlatform") {
            return Some(Self::Jupiter);
        }
        let throws = ASSERT_THROWS.is_match(build_files) && !OLD_SOURCE.is_match(build_files);
        let four = if throws { Self::Four } else { Self::Early };
        has("junit").then_some(four)
    }
}

/// The names of files that may ask for JUnit, where they are.
pub const BUILD_FILES: &[&str] =
    &["pom.xml", "build.gradle", "build.gradle.kts", "gradle/libs.versions.toml"];

/// The package of a file; empty for the default package.
pub fn package_of(text: &str) -> String {
    let found = PACKAGE.captures(text).next();
    found.and_then(|found| Some(found.get(1)?.as_str().to_owned())).unwrap_or_default()
}

/// The import statements of a file.
pub fn imports_of(text: &str) -> Vec<String> {
    IMPORT
        .captures(text)
        .filter_map(|found| Some(found.get(0)?.as_str().trim().to_owned()))
        .collect()
}

/// The classes of the library that a text names and has to import.
pub fn standard_imports(text: &str) -> BTreeSet<String> {
    let names = NAME.captures(text).filter_map(|found| Some(found.get(1)?.as_str().to_owned()));
    let names: BTreeSet<String> = names.collect();
    let path = |(package, classes): &(&str, &[&str])| -> Vec<String> {
        let used = classes.iter().filter(|class| names.contains(**class));
        used.map(|class| format!("{package}.{class}")).collect()
    };
    STANDARD.iter().flat_map(path).collect()
}

/// The commas and brackets outside of other brackets and of quotes.
pub fn outer_marks(text: &str) -> Vec<(usize, char)> {
    let (mut found, mut depth, mut quote, mut is_escaped) = (Vec::new(), 0, None, false);
    for (at, letter) in text.char_indices() {
        if let Some(open) = quote {
            quote = quote.filter(|_| is_escaped || letter != open);
            is_escaped = letter == '\\' && !is_escaped;
            continue;
        }
        found.extend(Some((at, letter)).filter(|_| depth == 0 && ",()[]{}".contains(letter)));
        match letter {
            '"' | '\'' => quote = Some(letter),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = 0.max(depth - 1),
            _ => {}
        }
    }
    found
}

/// Import statements for all classes of the library that values use.
pub fn all_standard_imports() -> String {
    STANDARD.iter().map(|(package, _)| format!("import {package}.*;\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_files_tell_the_version_of_junit() {
        let table = [
            ("<artifactId>junit-jupiter</artifactId>", Some(JUnit::Jupiter)),
            ("<artifactId>junit</artifactId>\n  <version>4.13.2</version>", Some(JUnit::Four)),
            ("testImplementation 'junit:junit:4.12'", Some(JUnit::Early)),
            ("test { useJUnitPlatform() }", Some(JUnit::Jupiter)),
            ("<artifactId>testng</artifactId>", None),
        ];
        for (text, expected) in table {
            assert_eq!(JUnit::asked_by(text), expected, "{text}");
        }
        let levels = [
            ("<source>1.7</source>", JUnit::Early),
            ("<maven.compiler.source>6</maven.compiler.source>", JUnit::Early),
            ("<java.version>1.7</java.version>", JUnit::Early),
            ("sourceCompatibility = '1.7'", JUnit::Early),
            ("sourceCompatibility = JavaVersion.VERSION_1_6", JUnit::Early),
            ("<source>1.8</source>", JUnit::Four),
            ("<release>17</release>", JUnit::Four),
            ("sourceCompatibility = JavaVersion.VERSION_17", JUnit::Four),
            ("<project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>", JUnit::Four),
        ];
        for (level, expected) in levels {
            let text = format!("{level}\ntestImplementation 'junit:junit:4.13.2'");
            assert_eq!(JUnit::asked_by(&text), Some(expected), "{level}");
        }
    }

    #[test]
    fn classes_of_the_library_are_imported_where_they_are_named() {
        let text = "assertEquals(List.of(\"Map\"), java.util.Set.of(new BigDecimal(\"1\")));";
        let found: Vec<String> = standard_imports(text).into_iter().collect();
        assert_eq!(found, ["java.math.BigDecimal", "java.util.List"]);
        assert_eq!(outer_marks("f(1, 2), \"a,\\\",\", ','"), [(1, '('), (7, ','), (16, ',')]);
        assert_eq!(outer_marks("g({1, [2]})) = 3").get(1), Some(&(11, ')')));
        assert_eq!(package_of("// a\npackage org.shop;\n"), "org.shop");
        assert_eq!(imports_of("import java.util.List;\nimport static a.B.c;\n").len(), 2);
    }
}
