//! Tests of the parser of code in plain text.

use super::*;
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

fn edit(file: &str, search: &str, replace: &str) -> SearchReplace {
    SearchReplace { file: file.into(), search: search.into(), replace: replace.into() }
}

const BLOCK: &str = "<<<<<<< SEARCH\n    a = 1\n=======\n    a = 2\n>>>>>>> REPLACE\n";

#[test]
fn blocks_are_found_wherever_models_put_path_and_fence() {
    let expected = edit("shop/a.py", "    a = 1\n", "    a = 2\n");
    let table = [
        ("path above the fence", format!("It is wrong.\n\nshop/a.py\n```\n{BLOCK}```\n")),
        ("path in the fence", format!("```python\nshop/a.py\n{BLOCK}```\n")),
        ("path as a comment in the fence", format!("```python\n# shop/a.py\n{BLOCK}```\n")),
        (
            "a comment before the block",
            format!("shop/a.py\n```python\n# Count from two.\n{BLOCK}```\n"),
        ),
        (
            "path and comment in the fence",
            format!("```js\n// shop/a.py\n// Count from two.\n\n{BLOCK}```\n"),
        ),
        ("path as a heading", format!("### `shop/a.py`:\n\n```py\n{BLOCK}```")),
        ("path with a word", format!("**File: shop/a.py**\n{BLOCK}")),
        ("path behind the language", format!("```python shop/a.py\n{BLOCK}```")),
        ("path behind the marker", BLOCK.replace("SEARCH", "SEARCH shop/a.py")),
        ("no fence", format!("shop/a.py\n{BLOCK}")),
        ("prose between", format!("shop/a.py\n\nThe sum is wrong:\n\n```\n{BLOCK}```\n")),
        (
            "other lengths",
            format!(
                "shop/a.py\n{}",
                BLOCK.replace("=======", "========").replace("<<<<<<<", "<<<<<")
            ),
        ),
        ("carriage returns", format!("shop/a.py\n{BLOCK}").replace('\n', "\r\n")),
    ];
    for (why, text) in table {
        let found = parse(&text).unwrap_or_else(|error| panic!("{why}: {error}"));
        assert_eq!(found.edits, std::slice::from_ref(&expected), "{why}");
        assert!(found.files.is_empty(), "{why}");
    }
}

#[test]
fn routes_with_brackets_are_paths_and_calls_are_not() {
    for path in ["app/[id]/page.tsx", "src/(auth)/login.ts", "routes/{slug}/a.svelte"] {
        let found = parse(&format!("lib/b.ts\n{BLOCK}\n{path}\n```\n{BLOCK}```\n")).unwrap();
        assert_eq!(found.edits[1].file, path);
    }
    let found = parse(&format!("shop/a.py\ntotal(a/b)\n[x]\n{BLOCK}")).unwrap();
    assert_eq!(found.edits[0].file, "shop/a.py");
}

#[test]
fn several_blocks_keep_their_files_and_the_rest_is_prose() {
    let text = format!(
        "{{\"notes\": \"x\"}}\n\na.py\n```\n{BLOCK}\n{BLOCK}```\nb.py\n```\n{BLOCK}```\nDone."
    );
    let found = parse(&text).unwrap();
    let files: Vec<&str> = found.edits.iter().map(|one| one.file.as_str()).collect();
    assert_eq!(files, ["a.py", "a.py", "b.py"]);
    assert!(found.rest.contains("{\"notes\": \"x\"}") && found.rest.contains("Done."));
    assert!(!found.rest.contains("SEARCH"), "{}", found.rest);
}

#[test]
fn a_fence_with_a_path_is_a_whole_file_and_without_one_a_quotation() {
    let text = "As `f` does:\n```python\nf()\n```\ntests/test_a.py\n````python\ndef test():\n    \"\"\"\n```\n\"\"\"\n````\n```json\n{\"covers\": []}\n```\n";
    let found = parse(text).unwrap();
    assert_eq!(found.files.len(), 1, "{found:?}");
    assert_eq!(found.files[0].file, "tests/test_a.py");
    assert_eq!(found.files[0].content, "def test():\n    \"\"\"\n```\n\"\"\"\n");
    assert!(found.rest.contains("f()\n") && found.rest.contains("\"covers\""), "{}", found.rest);
}

#[test]
fn a_heading_in_the_code_does_not_divide_a_block() {
    let search = "Usage\n=====\nold\n";
    let replace = "Usage\n=====\nnew\n";
    let table = [
        ("seven signs", "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"),
        ("nine signs", "<<<<<<<<< SEARCH", "=========", ">>>>>>>>> REPLACE"),
    ];
    for (why, head, middle, tail) in table {
        let text = format!("docs/a.rst\n{head}\n{search}{middle}\n{replace}{tail}\n");
        let found = parse(&text).unwrap();
        assert_eq!(found.edits, [edit("docs/a.rst", search, replace)], "{why}");
    }
    let nine = "a.md\n<<<<<<<<< SEARCH\na\n=========\nx\n=======\n>>>>>>>\n>>>>>>>>> REPLACE\n";
    assert_eq!(parse(nine).unwrap().edits[0].replace, "x\n=======\n>>>>>>>\n");
}

#[test]
fn a_fence_in_a_list_is_closed_where_it_was_opened() {
    let text = "1. tests/test_a.py\n\n   tests/test_a.py\n   ```python\n   def test():\n       \"\"\"\n       ```\n       \"\"\"\n   ```\n\n{\"notes\": \"x\"}\n";
    let found = parse(text).unwrap();
    assert_eq!(found.files[0].content, "def test():\n    \"\"\"\n    ```\n    \"\"\"\n");
    assert!(found.rest.contains("\"notes\""), "{}", found.rest);
    let less = parse("a.py\n```python\nx = 1\n  ```\nDone.\n").unwrap();
    assert_eq!((less.files[0].content.as_str(), less.rest.as_str()), ("x = 1\n", "Done.\n"));
    let block = format!("a.py\n  ```\n{BLOCK}  ```\nb.py\n```\nx = 1\n```\n");
    let found = parse(&block).unwrap();
    assert_eq!((found.edits.len(), found.files.len()), (1, 1));
}

#[test]
fn a_longer_fence_holds_shorter_ones() {
    let page = "# Use\n\n```bash\nrun\n```\n\nDone.\n";
    let code = "def test():\n    pass\n";
    let table = [
        ("four around a page", format!("a.md\n````markdown\n{page}````\n"), "a.md", page),
        ("three around a page", format!("a.md\n```markdown\n{page}```\n"), "a.md", page),
        (
            "four around an answer",
            format!("````markdown\nt/test_a.py\n```python\n{code}```\n````\n"),
            "t/test_a.py",
            code,
        ),
        ("four around code", format!("t/test_a.py\n````python\n{code}````\n"), "t/test_a.py", code),
    ];
    for (why, text, file, content) in table {
        let (file, content) = (file.to_owned(), content.to_owned());
        assert_eq!(parse(&text).unwrap().files, [WholeFile { file, content }], "{why}");
    }
    let text = format!("````\nIt is wrong:\n\na.py\n```python\n{BLOCK}```\n````\nDone.\n");
    let found = parse(&text).unwrap();
    assert_eq!((found.edits.len(), found.files.len()), (1, 0));
    assert_eq!(found.edits[0].file, "a.py");
}

#[test]
fn prose_and_answers_in_a_fence_are_no_files() {
    let object = "{\"notes\": \"x\"}";
    for text in [
        format!("shop/a.py\n```json\n{object}\n```\n"),
        format!("shop/a.py\n```\n{object}\n```\n"),
        format!("```application/json\n{object}\n```\n"),
        "and/or\n```\nx\n```\n".to_owned(),
        "`self.total`\n```python\nx = 1\n```\n".to_owned(),
        "shop/a.py\n```text\nAssertionError: 1 != 2\n```\n".to_owned(),
        "shop/a.py\n```bash\npytest -q shop/a.py\n```\n".to_owned(),
    ] {
        let found = parse(&text).unwrap();
        assert!(found.files.is_empty(), "{text}: {found:?}");
        assert!(found.rest.lines().count() >= 3, "{text}: {}", found.rest);
    }
    for text in
        ["shop/a.json\n```json\n{\"a\": 1}\n```\n", "Makefile\n\nbuild/Makefile\n```\nall:\n```\n"]
    {
        assert_eq!(parse(text).unwrap().files.len(), 1, "{text}");
    }
}

#[test]
fn unified_diffs_are_read_without_their_numbers() {
    let diff = "--- a/shop/a.py\n+++ b/shop/a.py\n@@ -7,9 +9,1 @@ def f():\n def f():\n-    a = 1\n+    a = 2\n\n     return a\n";
    let expected = edit(
        "shop/a.py",
        "def f():\n    a = 1\n\n    return a\n",
        "def f():\n    a = 2\n\n    return a\n",
    );
    for text in
        [diff.to_owned(), format!("```diff\n{diff}```\n"), format!("Here:\n\n{diff}\nDone.\n")]
    {
        assert_eq!(parse(&text).unwrap().edits, std::slice::from_ref(&expected), "{text}");
    }
    let counted = diff.replace("-7,9 +9,1", "-7,4 +9,4");
    for list in ["\n- The first element counts.\n- So does the last.\n", "\n+ It is faster.\n"] {
        let found = parse(&format!("{counted}{list}")).unwrap();
        assert_eq!(found.edits, std::slice::from_ref(&expected), "{list}");
        assert!(found.rest.contains(list.trim()), "{}", found.rest);
    }
    let blank = parse(&format!("{counted}\n@@ -1 +1 @@\n-x\n+y\n")).unwrap();
    assert_eq!(blank.edits.len(), 2, "an empty line between hunks");
    let two = format!("{diff}@@ -1 +1 @@\n-x\n+y\n");
    assert_eq!(parse(&two).unwrap().edits[1], edit("shop/a.py", "x\n", "y\n"));
    let new = "--- /dev/null\n+++ b/new.py\n@@ -0,0 +1,2 @@\n+a = 1\n+b = 2\n";
    let found = parse(new).unwrap();
    assert_eq!(
        found.files,
        [WholeFile { file: "new.py".into(), content: "a = 1\nb = 2\n".into() }]
    );
}

#[test]
fn what_is_incomplete_is_refused_with_what_is_missing() {
    let table = [
        ("a.py\n<<<<<<< SEARCH\na\n=======\nb\n", ">>>>>>> REPLACE"),
        ("a.py\n<<<<<<< SEARCH\na\n", "======="),
        ("a.py\n<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n", "======="),
        (
            "a.py\n<<<<<<< SEARCH\na\n=======\nb\n<<<<<<< SEARCH\nc\n=======\nd\n>>>>>>> REPLACE\n",
            ">>>>>>> REPLACE",
        ),
        (BLOCK, "no path"),
        ("a.py\n```\nx = 1\n", "never closed"),
        (
            "a.py\n<<<<<<< SEARCH\na\n=======\n# ... rest of the function unchanged\n>>>>>>> REPLACE\n",
            "left out",
        ),
        (
            "a.rst\n<<<<<<< SEARCH\nCommand\n=======\n=======\nOptions\n=======\n>>>>>>> REPLACE\n",
            "nine signs",
        ),
        ("a.js\n```\n/* ... existing code ... */\n```\n", "left out"),
        ("a.py\n```\nx = 1\n# the rest of the file is unchanged\n```\n", "left out"),
    ];
    for (text, expected) in table {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn code_that_only_looks_like_an_elision_is_kept() {
    let table = [
        "    ...\n",
        "# the rest of the world\n",
        "# unchanged since 2020\n",
        "x = '... existing ...'\n",
        "def rest(): ...\n",
    ];
    for line in table {
        let text = format!("a.py\n<<<<<<< SEARCH\na\n=======\n{line}>>>>>>> REPLACE\n");
        assert_eq!(parse(&text).unwrap().edits[0].replace, line);
    }
    let kept = "a.py\n<<<<<<< SEARCH\n# ... the rest is unchanged\n=======\n# ... the rest is unchanged\nb\n>>>>>>> REPLACE\n";
    assert_eq!(parse(kept).unwrap().edits.len(), 1, "a comment of the file");
    let gone = "a.py\n<<<<<<< SEARCH\n# ... existing code ...\n=======\nb\n>>>>>>> REPLACE\n";
    assert_eq!(parse(gone).unwrap().edits.len(), 1, "the file shows whether it is one");
}

#[test]
fn prose_is_no_path() {
    let table = [
        ("shop/price.py", true),
        ("File: `shop/price.py`", true),
        ("Makefile", false),
        ("Done.", false),
        ("0.9", false),
        ("in shop/price.py", false),
        ("\"shop/price.py:total:1-2\"", false),
        ("https://x.example/a", false),
        ("total(a.b)", false),
    ];
    for (line, expected) in table {
        assert_eq!(path_of(line).is_some(), expected, "{line}");
    }
}

proptest! {
    #[test]
    fn no_answer_makes_it_panic(text in r"([-<>=+ `~a\n@\./é]|<<<<<<< SEARCH\n|=======\n|>>>>>>> REPLACE\n|```\n|--- a\n\+\+\+ b\n){0,60}") {
        if let Ok(found) = parse(&text) {
            prop_assert!(found.rest.len() <= text.len() + 1);
        }
    }

    #[test]
    fn a_written_block_is_read_as_it_was(search in "([a-z (){}.:]{1,20}\n){1,4}", replace in "([a-z (){}.:]{0,20}\n){0,4}") {
        let text = format!("Why.\n\n{}", block(&edit("a/b.py", &search, &replace)));
        let found = parse(&text).unwrap();
        prop_assert_eq!(found.edits, [edit("a/b.py", &search, &replace)]);
        prop_assert_eq!(found.rest, "Why.\n\n");
    }
}
