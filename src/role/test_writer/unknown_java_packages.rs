//! Finds imports of Java packages that probably do not exist. Java does not map packages to
//! artefacts, so names are compared with the manifests by prefix (specification.md 6.3).

use std::collections::{BTreeMap, BTreeSet};

use crate::code::imports::{Import, read};
use crate::code::language::Language;
use crate::code::lint::is_manifest;
use crate::domain::id::RepoPath;

/// Packages of the Java platform.
const PLATFORM: &[&str] = &["java", "javax", "jdk", "org.w3c", "org.xml", "org.ietf"];

/// Artefacts whose packages have other names: a word in the manifest, and the packages.
const BRINGS: &[(&str, &[&str])] = &[
    ("junit", &["org.junit", "junit", "org.hamcrest", "org.opentest4j", "org.apiguardian"]),
    ("testng", &["org.testng"]),
    ("mockito", &["org.mockito"]),
    ("assertj", &["org.assertj"]),
    ("hamcrest", &["org.hamcrest"]),
    (
        "spring-boot-starter-test",
        &[
            "org.junit",
            "org.mockito",
            "org.assertj",
            "org.hamcrest",
            "com.jayway",
            "org.skyscreamer",
        ],
    ),
    ("kotlin", &["kotlin"]),
];

/// Unknown imports of packages: those not in platform, repository, manifests or sources.
pub fn packages(text: &str, texts: &BTreeMap<RepoPath, String>) -> Vec<(u32, String)> {
    let manifests: Vec<&String> =
        texts.iter().filter(|(file, _)| is_manifest(file)).map(|(_, text)| text).collect();
    if !manifests.iter().any(|text| !text.trim().is_empty()) {
        return Vec::new();
    }
    let mut known: BTreeSet<String> = PLATFORM.iter().map(|one| (*one).to_owned()).collect();
    for (word, packages) in BRINGS {
        if manifests.iter().any(|text| text.contains(word)) {
            known.extend(packages.iter().map(|one| (*one).to_owned()));
        }
    }
    for (file, text) in texts {
        if Language::of(file) == Some(Language::Java) {
            known.extend(own_packages(text).map(head));
            known.extend(imports(text).iter().map(|import| head(&full_name(import))));
        }
    }
    // A mention of `com.google.guava` covers all packages that start with `com.google`.
    let group = |package: &str| manifests.iter().any(|text| text.contains(&head(package)));
    imports(text)
        .iter()
        .map(|import| (import.line, full_name(import)))
        .filter(|(_, name)| {
            let begins = |one: &String| {
                name.strip_prefix(one.as_str()).is_some_and(|rest| rest.starts_with('.'))
            };
            !known.iter().any(begins) && !known.contains(&head(name)) && !group(name)
        })
        .collect()
}

fn imports(text: &str) -> Vec<Import> {
    let tree = Language::Java.parse(text);
    tree.map(|tree| read(Language::Java, &tree, text)).unwrap_or_default()
}

/// The qualified name that is imported, or the package for a wildcard import.
fn full_name(import: &Import) -> String {
    let name = import.names.first().filter(|name| *name != "*");
    name.map_or_else(|| import.module.clone(), |name| format!("{}.{name}", import.module))
}

fn own_packages(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("package "));
    lines.filter_map(|rest| rest.split(';').next()).map(str::trim)
}

/// The first two components of a package name, which identify its owner.
fn head(name: &str) -> String {
    name.split('.').take(2).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_that_nothing_brings_is_made_up() {
        let texts: BTreeMap<RepoPath, String> = [
            (
                "pom.xml",
                "<dependency><groupId>junit</groupId></dependency><dependency><groupId>com.google.guava</groupId></dependency>",
            ),
            ("src/main/java/shop/Price.java", "package shop;\nimport net.other.Thing;\n"),
        ]
        .into_iter()
        .map(|(name, text)| (RepoPath::parse(name).unwrap(), text.to_owned()))
        .collect();
        let table = [
            ("import java.util.List;", None),
            ("import static org.junit.Assert.*;", None),
            ("import org.hamcrest.Matchers;", None),
            ("import shop.Price;", None),
            ("import com.google.common.collect.Lists;", None),
            ("import net.other.More;", None),
            (
                "\nimport com.nobody.prices.PriceMatchers;",
                Some((2, "com.nobody.prices.PriceMatchers")),
            ),
            ("import org.mockito.Mockito;", Some((1, "org.mockito.Mockito"))),
            ("import org.junitish.X;", Some((1, "org.junitish.X"))),
        ];
        for (line, expected) in table {
            let found = packages(line, &texts);
            let found = found.first().map(|(line, name)| (*line, name.as_str()));
            assert_eq!(found, expected, "{line}");
        }
        assert!(packages("import com.nobody.X;", &BTreeMap::new()).is_empty(), "nothing to go by");
    }
}
