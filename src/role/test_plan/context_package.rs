//! What the context package says of the chosen files: their order, and couplings between them.

use crate::domain::id::RepoPath;

use super::survey::Survey;

/// Maximum number of files in one session (specification.md 3.1 mode B 5).
pub const FILES: usize = 50;

/// Code patterns of dynamic couplings, which imports do not show (specification.md 4.4).
const RUNTIME: &[&str] = &[
    "getattr(",
    "importlib",
    "__import__",
    "globals()",
    "eval(",
    "require(",
    "Class.forName",
    "reflect.",
    "render_template",
    "dispatch",
    "registry",
];

/// Files in the order of their imports: what other files need comes first.
pub fn dependency_order(files: &[RepoPath], survey: &Survey) -> Vec<RepoPath> {
    let (mut order, mut left): (Vec<RepoPath>, Vec<&RepoPath>) =
        (Vec::new(), files.iter().collect());
    while !left.is_empty() {
        let free = left.iter().position(|file| {
            let mut needs = survey.graph.imports_of(file);
            needs.all(|other| other == *file || !left.contains(&other))
        });
        // Of files that need one another, the first one goes first.
        order.push(left.remove(free.unwrap_or(0)).clone());
    }
    order
}

/// Dynamic couplings that imports do not show.
pub fn runtime_couplings(files: &[RepoPath], survey: &Survey) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        for (index, line) in survey.text(file).lines().enumerate() {
            let sign = RUNTIME.iter().find(|sign| line.contains(**sign));
            if let Some(sign) = sign
                && !line.trim_start().starts_with(['#', '/', '*'])
            {
                let sign = sign.trim_end_matches('(');
                found.push(format!("{file}:{} looks up names while running (`{sign}`)", index + 1));
                break;
            }
        }
    }
    found.truncate(10);
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn survey(files: &[(&str, &str)]) -> Survey {
        let texts: BTreeMap<RepoPath, String> =
            files.iter().map(|(name, text)| (path(name), (*text).to_owned())).collect();
        Survey::of(texts.keys().cloned().collect(), texts)
    }

    fn path(name: &str) -> RepoPath {
        RepoPath::parse(name).unwrap()
    }

    #[test]
    fn what_other_files_need_comes_first() {
        let chain = survey(&[
            ("shop/a.py", "from shop.b import b\n\n\ndef a():\n    return b()\n"),
            ("shop/b.py", "from shop.c import c\n\n\ndef b():\n    return c()\n"),
            ("shop/c.py", "def c():\n    return 1\n"),
        ]);
        let files = [path("shop/a.py"), path("shop/b.py"), path("shop/c.py")];
        let order = dependency_order(&files, &chain);
        assert_eq!(order, [path("shop/c.py"), path("shop/b.py"), path("shop/a.py")]);
        let circle = survey(&[
            ("shop/a.py", "from shop.b import b\n\n\ndef a():\n    return b()\n"),
            ("shop/b.py", "from shop.a import a\n\n\ndef b():\n    return a()\n"),
        ]);
        assert_eq!(dependency_order(&files[..2], &circle).len(), 2, "a circle ends too");
    }

    #[test]
    fn couplings_that_imports_do_not_show_are_named_with_their_lines() {
        let found =
            survey(&[("a.py", "# getattr(x)\nvalue = getattr(x, 'y')\n"), ("b.py", "value = 1\n")]);
        let found = runtime_couplings(&[path("a.py"), path("b.py")], &found);
        assert_eq!(found, ["a.py:2 looks up names while running (`getattr`)"]);
    }
}
