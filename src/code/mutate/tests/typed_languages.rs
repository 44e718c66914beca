//! What is tried first in Go, Rust and Java, and what is not tried because it would not compile.

use super::*;

/// The rank of an edit among all of a file, from 1.
fn rank(language: Language, source: &str, expected: &str) -> Option<usize> {
    let mut reparser = Reparser::of(language, source).unwrap();
    let mut all = all_of(language, source);
    all.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    all.retain(|one| reparser.parses(&one.range, &one.text, &one.apply(source)));
    all.iter().position(|one| one.apply(source).contains(expected)).map(|at| at + 1)
}

/// Checks that each edit is among the first of its function.
fn check_ranks(language: Language, table: &[(&str, &str, usize)]) {
    for (source, expected, most) in table {
        let rank = rank(language, source, expected);
        assert!(
            rank.is_some_and(|rank| rank <= *most),
            "{language:?} {expected}: {rank:?}\n{source}"
        );
    }
}

#[test]
fn slips_of_go_are_among_the_first() {
    let table = [
        (
            "package a\n\nfunc bulk(quantity int) bool {\n\treturn quantity > 50\n}\n",
            "quantity >= 50",
            3,
        ),
        ("package a\n\nfunc last(xs []int) int {\n\treturn xs[len(xs)]\n}\n", "xs[len(xs)-1]", 12),
        (
            "package a\n\nfunc f(err error) bool {\n\tif err == nil {\n\t\treturn true\n\t}\n\treturn false\n}\n",
            "err != nil",
            3,
        ),
        ("package a\n\nfunc f(s string, n int) string {\n\treturn s[:n]\n}\n", "s[n:]", 12),
        (
            "package a\n\nfunc f(xs []int) int {\n\tsum := 0\n\tfor i := 1; i < len(xs); i++ {\n\t\tsum += xs[i]\n\t}\n\treturn sum\n}\n",
            "i := 0;",
            12,
        ),
        (
            "package a\n\nimport \"strings\"\n\nfunc f(s string) string {\n\treturn strings.ToUpper(s)\n}\n",
            "strings.ToLower(s)",
            3,
        ),
        ("package a\n\nfunc f(a, b int) (int, int) {\n\treturn b, a\n}\n", "return a, b", 6),
        (
            "package a\n\nfunc f(xs []int) (out [][]int) {\n\tfor i := range xs {\n\t\tout = append(out, xs[i:])\n\t}\n\treturn out\n}\n",
            "xs[i+1:]",
            12,
        ),
        ("package a\n\nfunc f(a int) {\n\tfor a < 3 {\n\t\ta--\n\t}\n}\n", "a++", 12),
        (
            "package a\n\nimport \"sort\"\n\nfunc f(xs []int) []int {\n\treturn xs\n}\n\nvar _ = sort.Strings\n",
            "\tsort.Ints(xs)\n\treturn xs",
            40,
        ),
        (
            "package a\n\nimport \"strings\"\n\nfunc f(text string) (n int) {\n\tfor range text {\n\t\tn++\n\t}\n\treturn n + len(strings.Fields(text))\n}\n",
            "range strings.ToLower(text)",
            120,
        ),
        (
            "package a\n\nfunc f(xs []string) string {\n\tif len(xs) == 0 {\n\t\treturn \"\"\n\t}\n\treturn f(xs[1:])\n}\n",
            "return xs[0] + f(xs[1:])",
            60,
        ),
        (
            "package a\n\nfunc (q *Queue) take() int {\n\tq.mu.Lock()\n\treturn q.first\n}\n",
            "Lock()\n\tdefer q.mu.Unlock()",
            12,
        ),
        (
            "package a\n\nfunc f(n *Node) (sum int) {\n\tfor n != nil {\n\t\tsum += n.Value\n\t}\n\treturn sum\n}\n",
            "\t\tn = n.Value",
            40,
        ),
    ];
    check_ranks(Language::Go, &table);
}

#[test]
fn slips_of_rust_are_among_the_first() {
    let table = [
        ("fn f(n: u32) -> u32 {\n    (1..n).sum()\n}\n", "1..=n", 6),
        ("fn f(a: i32) -> bool {\n    a > 3 && a < 7\n}\n", "a > 3 || a < 7", 12),
        ("fn f(a: Option<i32>) -> bool {\n    a.is_some()\n}\n", "a.is_none()", 3),
        ("fn f(a: &[i32]) -> i32 {\n    *a.iter().min().unwrap()\n}\n", "a.iter().max()", 4),
        ("fn f(a: i32, b: i32) -> i32 {\n    return a - b;\n}\n", "return a + b;", 6),
        (
            "fn f(done: bool) -> bool {\n    if done {\n        return false;\n    }\n    true\n}\n",
            "if !done {",
            6,
        ),
        (
            "fn f(a: &str) -> usize {\n    let mut n = 0;\n    for _ in a.chars() {\n        n -= 1;\n    }\n    n\n}\n",
            "n += 1",
            8,
        ),
        (
            "fn f(arr: &[i32], i: usize) -> Vec<i32> {\n    vec![i as i32, arr[i]]\n}\n",
            "vec![arr[i], i as i32]",
            12,
        ),
        (
            "fn f(n: i32) -> String {\n    format!(\"{}\", vec![n - 1])\n}\n",
            "format!(\"{}\", vec![n + 1])",
            12,
        ),
        (
            "fn f(text: &str) -> usize {\n    text.chars().collect::<std::collections::HashSet<char>>().len()\n}\n",
            "text.to_lowercase().chars()",
            60,
        ),
        (
            "fn f(xs: &[i32]) -> Vec<i32> {\n    let mut out = xs.to_vec();\n    out\n}\n",
            "    out.sort();\n    out",
            60,
        ),
        (
            "fn f(xs: &[i32]) -> Vec<i32> {\n    let mut out = xs.to_vec();\n    out.sort();\n    return out;\n}\n",
            "    out.dedup();\n    return out;",
            100,
        ),
    ];
    check_ranks(Language::Rust, &table);
}

#[test]
fn slips_of_java_are_among_the_first() {
    let table = [
        ("class A {\n    boolean f(int a) {\n        return a > 3;\n    }\n}\n", "a >= 3", 3),
        (
            "class A {\n    int f(int a, int b) {\n        return Math.max(a, b);\n    }\n}\n",
            "Math.min(a, b)",
            3,
        ),
        (
            "class A {\n    int f(int a) {\n        return a > 0 ? -a : a;\n    }\n}\n",
            "a > 0 ? a : -a",
            12,
        ),
        (
            "class A {\n    int f(String s) {\n        int sum = 0;\n        for (char c : s.toCharArray()) {\n            sum += c - c;\n        }\n        return sum + 'a';\n    }\n}\n",
            "sum += c - 'a';",
            100,
        ),
        (
            "class A {\n    String f(String s) {\n        return s.substring(1, s.length());\n    }\n}\n",
            "s.substring(0, s.length())",
            12,
        ),
        (
            "class A {\n    int f(int[] xs) {\n        int sum = 0;\n        for (int i = 0; i <= xs.length; i++) {\n            sum += xs[i];\n        }\n        return sum;\n    }\n}\n",
            "i < xs.length",
            3,
        ),
        (
            "class A {\n    boolean f(String s) {\n        return s.isEmpty();\n    }\n}\n",
            "!s.isEmpty()",
            8,
        ),
    ];
    check_ranks(Language::Java, &table);
}

#[test]
fn tests_in_the_same_file_and_imports_are_left_alone() {
    let source = "use a::b;\n\nfn f(a: i32) -> bool {\n    a < 3\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn g() {\n        assert!(super::f(2));\n        let x = 4 < 5;\n    }\n}\n";
    for one in all_of(Language::Rust, source) {
        assert_eq!(one.line, 4, "{one:?}");
    }
    let source = "package a\n\nimport \"strings\"\n\nfunc f(s string) bool {\n\treturn strings.Contains(s, \"a\")\n}\n";
    for one in all_of(Language::Go, source) {
        assert!(one.line > 4, "{one:?}");
    }
}

#[test]
fn a_value_of_another_type_comes_last_or_never() {
    let table = [
        (
            Language::Go,
            "package a\n\nfunc f(name string, list []int, count int, other int) int {\n\treturn count\n}\n",
        ),
        (
            Language::Rust,
            "fn f(name: &str, list: &[u8], count: u8, other: u8) -> u8 {\n    return count;\n}\n",
        ),
        (
            Language::Java,
            "class A {\n    int f(String name, int[] list, int count, int other) {\n        return count;\n    }\n}\n",
        ),
    ];
    for (language, source) in table {
        let [same, different, never] =
            ["other", "list", "name"].map(|name| rank(language, source, &format!("return {name}")));
        let ranks = [same, different].map(Option::unwrap);
        assert!(ranks[0] * 4 < ranks[1], "{language:?} {ranks:?}");
        assert_eq!(never, None, "{language:?}");
    }
}
