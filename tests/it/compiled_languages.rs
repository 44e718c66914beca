//! Go, Rust and Java are repaired without a model, also where the bug is in another package than its test.

use super::support::TestRepo;

/// Repairs a repository, and compares the file with the bug on the fix branch.
fn check_repair(repo: &TestRepo, command: &str, (file, expected): (&str, &str)) {
    let planned =
        repo.regreen(&["fix", ".", "--dry-run", "--json", "--quiet", "--test-command", command]);
    let cluster = &planned.document()["explanation"]["clusters"][0];
    let runs = &cluster["place"]["spectrum"];
    assert!(runs["failing"].as_u64() >= Some(2), "{cluster}");
    assert_eq!(runs["failing"], runs["failing-of"], "{cluster}");
    let suspects = cluster["functions"].as_array().unwrap();
    assert!(suspects.iter().any(|one| one["file"] == file), "{cluster}");
    let ran = repo.regreen(&["fix", ".", "--json", "--quiet", "--test-command", command]);
    let document = ran.document();
    assert_eq!(document["result"], "success", "{document}\n{}", ran.err);
    let branch = document["branch"].as_str().unwrap();
    let text = repo.git(&["show", &format!("{branch}:{file}")]);
    assert!(text.contains(expected), "{text}");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    let changed = repo.git(&["diff", "--name-only", &format!("HEAD...{branch}")]);
    assert_eq!(changed.trim(), file);
}

#[test]
fn a_workspace_of_three_crates_of_rust_turns_green() {
    let manifest = |name: &str, more: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{more}")
    };
    let shop = manifest(
        "shop",
        "\n[dependencies]\nprice = { path = \"price\" }\nstock = { path = \"stock\" }\n\n[workspace]\nmembers = [\"price\", \"stock\"]\n",
    );
    let repo = TestRepo::new(&[
        ("Cargo.toml", &shop),
        (
            "src/lib.rs",
            "use price::rate;\nuse stock::available;\n\npub fn total(n: u32) -> u32 {\n    available(n) * rate(n)\n}\n",
        ),
        (
            "tests/orders.rs",
            "#[test]\nfn sixty_are_a_large_order() {\n    assert_eq!(shop::total(60), 540);\n}\n\n#[test]\nfn one_costs_ten() {\n    assert_eq!(shop::total(1), 10);\n}\n",
        ),
        ("price/Cargo.toml", &manifest("price", "")),
        (
            "price/src/lib.rs",
            "/// The price of one of `n`; more than 50 are cheaper.\n///\n/// ```\n/// assert_eq!(price::rate(60), 9);\n/// ```\npub fn rate(n: u32) -> u32 {\n    if n < 50 {\n        return 9;\n    }\n    10\n}\n",
        ),
        ("stock/Cargo.toml", &manifest("stock", "")),
        (
            "stock/src/lib.rs",
            "pub fn available(n: u32) -> u32 {\n    n.min(1000)\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn no_more_than_there_are() {\n        assert_eq!(super::available(2000), 1000);\n    }\n}\n",
        ),
        (".gitignore", "target\nCargo.lock\n"),
    ]);
    check_repair(&repo, "cargo test --workspace", ("price/src/lib.rs", "n > 50"));
}

#[test]
fn tests_of_one_name_in_two_crates_are_two_tests() {
    let manifest = |name: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n")
    };
    let library = |name: &str, expression: &str| {
        format!(
            "pub fn {name}(n: u32) -> bool {{\n    {expression}\n}}\n\n#[cfg(test)]\nmod tests {{\n    #[test]\n    fn works() {{\n        assert!(super::{name}(50));\n        assert!(!super::{name}(49));\n    }}\n}}\n"
        )
    };
    let repo = TestRepo::new(&[
        (
            "Cargo.toml",
            "[workspace]\nresolver = \"2\"\nmembers = [\"crates/one\", \"crates/other\"]\n",
        ),
        ("crates/one/Cargo.toml", &manifest("one")),
        ("crates/one/src/lib.rs", &library("is_many", "n >= 50")),
        ("crates/other/Cargo.toml", &manifest("other")),
        ("crates/other/src/lib.rs", &library("is_large", "n > 50")),
        (".gitignore", "target\nCargo.lock\n"),
    ]);
    let ran = repo.regreen(&["fix", ".", "--json", "--quiet"]);
    let document = ran.document();
    assert_eq!(document["result"], "success", "{document}\n{}", ran.err);
    let branch = document["branch"].as_str().unwrap();
    let changed = repo.git(&["diff", "--name-only", &format!("HEAD...{branch}")]);
    assert_eq!(changed.trim(), "crates/other/src/lib.rs");
    assert_eq!(document["initial"]["total"], 2, "{document}");
}

#[test]
#[ignore = "needs go; a_workspace_of_three_crates_of_rust_turns_green always runs"]
fn a_module_of_go_with_internal_packages_turns_green() {
    let repo = TestRepo::new(&[
        ("go.mod", "module example.com/shop\n\ngo 1.21\n"),
        (
            "internal/price/price.go",
            "package price\n\n// Rate is the price of one of n; more than 50 are cheaper.\nfunc Rate(n int) int {\n\tif n < 50 {\n\t\treturn 9\n\t}\n\treturn 10\n}\n",
        ),
        (
            "internal/check/check.go",
            "// Package check has what the tests share.\npackage check\n\nimport \"testing\"\n\n// Equal fails a test where two numbers differ.\nfunc Equal(t *testing.T, got, want int) {\n\tt.Helper()\n\tif got != want {\n\t\tt.Errorf(\"got %d, want %d\", got, want)\n\t}\n}\n",
        ),
        (
            "shop.go",
            "package shop\n\nimport \"example.com/shop/internal/price\"\n\n// Total is what n cost.\nfunc Total(n int) int { return n * price.Rate(n) }\n",
        ),
        (
            "shop_test.go",
            "package shop\n\nimport (\n\t\"testing\"\n\n\t\"example.com/shop/internal/check\"\n)\n\nfunc TestLarge(t *testing.T) { check.Equal(t, Total(60), 540) }\n\nfunc TestSmall(t *testing.T) { check.Equal(t, Total(1), 10) }\n",
        ),
    ]);
    check_repair(&repo, "go test ./...", ("internal/price/price.go", "n > 50"));
}

#[test]
fn a_test_of_go_that_hangs_is_repaired() {
    let repo = TestRepo::new(&[
        ("go.mod", "module example.com/sum\n\ngo 1.21\n"),
        (
            "sum.go",
            "package sum\n\n// To adds the numbers from 1 to n.\nfunc To(n int) int {\n\ttotal := 0\n\tfor n != 0 {\n\t\ttotal += n\n\t\tn++\n\t}\n\treturn total\n}\n",
        ),
        (
            "sum_test.go",
            "package sum\n\nimport \"testing\"\n\nfunc TestThree(t *testing.T) {\n\tif To(3) != 6 {\n\t\tt.Fatal(To(3))\n\t}\n}\n\nfunc TestNone(t *testing.T) {\n\tif To(0) != 0 {\n\t\tt.Fatal(To(0))\n\t}\n}\n",
        ),
    ]);
    let ran = repo.regreen(&["fix", ".", "--json", "--quiet", "--test-timeout", "30s"]);
    let document = ran.document();
    assert_eq!(document["result"], "success", "{document}\n{}", ran.err);
    let branch = document["branch"].as_str().unwrap();
    assert!(repo.git(&["show", &format!("{branch}:sum.go")]).contains("n--"));
}

#[test]
#[ignore = "needs Maven; a_workspace_of_three_crates_of_rust_turns_green always runs"]
fn a_project_of_maven_with_two_modules_turns_green() {
    let head =
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>";
    let parent = format!(
        "{head}<groupId>m</groupId><artifactId>all</artifactId><version>1</version><packaging>pom</packaging><modules><module>price</module><module>shop</module></modules><properties><maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties><dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version><scope>test</scope></dependency></dependencies></project>"
    );
    let module = |name: &str, more: &str| {
        format!(
            "{head}<parent><groupId>m</groupId><artifactId>all</artifactId><version>1</version></parent><artifactId>{name}</artifactId>{more}</project>"
        )
    };
    let needs_price = "<dependencies><dependency><groupId>m</groupId><artifactId>price</artifactId><version>1</version></dependency></dependencies>";
    let repo = TestRepo::new(&[
        ("pom.xml", &parent),
        ("price/pom.xml", &module("price", "")),
        (
            "price/src/main/java/price/Price.java",
            "package price;\n\npublic class Price {\n    /** The price of one of n; more than 50 are cheaper. */\n    public static int rate(int n) {\n        if (n < 50) {\n            return 9;\n        }\n        return 10;\n    }\n}\n",
        ),
        (
            "price/src/test/java/price/PriceTest.java",
            "package price;\n\nimport static org.junit.Assert.assertEquals;\n\nimport org.junit.Test;\n\npublic class PriceTest {\n    @Test\n    public void aLargeOrderIsCheaper() {\n        assertEquals(9, Price.rate(51));\n    }\n\n    @Test\n    public void fiftyAreNoLargeOrder() {\n        assertEquals(10, Price.rate(50));\n    }\n}\n",
        ),
        ("shop/pom.xml", &module("shop", needs_price)),
        (
            "shop/src/main/java/m/Shop.java",
            "package m;\n\nimport price.Price;\n\npublic class Shop {\n    public static int total(int n) {\n        return n * Price.rate(n);\n    }\n}\n",
        ),
        (
            "shop/src/test/java/m/ShopTest.java",
            "package m;\n\nimport static org.junit.Assert.assertEquals;\n\nimport org.junit.Test;\n\npublic class ShopTest {\n    @Test\n    public void sixtyAreALargeOrder() {\n        assertEquals(540, Shop.total(60));\n    }\n\n    @Test\n    public void oneCostsTen() {\n        assertEquals(10, Shop.total(1));\n    }\n}\n",
        ),
        (".gitignore", "target\n"),
    ]);
    check_repair(&repo, "mvn -B test", ("price/src/main/java/price/Price.java", "n > 50"));
}

/// Tests that only the launcher of JUnit 5 can run, and a value outside of functions that is wrong.
#[test]
#[ignore = "needs Maven; a_workspace_of_three_crates_of_rust_turns_green always runs"]
fn tests_of_junit_5_with_all_that_belongs_to_them_are_run_without_maven() {
    let repo = TestRepo::new(&[
        (
            "pom.xml",
            "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion><groupId>m</groupId><artifactId>price</artifactId><version>1</version><properties><maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties><dependencies><dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>5.11.4</version><scope>test</scope></dependency></dependencies><build><plugins><plugin><artifactId>maven-surefire-plugin</artifactId><version>3.5.2</version></plugin></plugins></build></project>",
        ),
        (
            "src/main/java/m/Recent.java",
            "package m;\n\nimport java.util.LinkedHashMap;\nimport java.util.Map;\n\npublic class Recent {\n    private final Map<String, Integer> uses = new LinkedHashMap<>(16, 0.75f, false);\n\n    /** What was used, the latest last. */\n    public String use(String name) {\n        uses.put(name, uses.getOrDefault(name, 0) + 1);\n        return String.join(\"\", uses.keySet());\n    }\n}\n",
        ),
        (
            "src/test/java/m/RecentTest.java",
            "package m;\n\nimport static org.junit.jupiter.api.Assertions.assertEquals;\n\nimport org.junit.jupiter.api.BeforeEach;\nimport org.junit.jupiter.api.Nested;\nimport org.junit.jupiter.api.Test;\nimport org.junit.jupiter.params.ParameterizedTest;\nimport org.junit.jupiter.params.provider.CsvSource;\n\nclass RecentTest {\n    private Recent recent;\n\n    @BeforeEach\n    void create() {\n        recent = new Recent();\n        recent.use(\"a\");\n        recent.use(\"b\");\n    }\n\n    @ParameterizedTest\n    @CsvSource({\"a, ba\", \"b, ab\", \"c, abc\"})\n    void isLast(String name, String expected) {\n        assertEquals(expected, recent.use(name));\n    }\n\n    @Nested\n    class AfterThree {\n        @Test\n        void theFirstComesLast() {\n            recent.use(\"c\");\n            assertEquals(\"bca\", recent.use(\"a\"));\n        }\n    }\n}\n",
        ),
        (".gitignore", "target\n"),
    ]);
    let ran = repo.regreen(&["fix", ".", "--verbose", "--test-command", "mvn -B test"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(!ran.err.contains("the warm runner is not used"), "{}", ran.err);
    assert!(ran.out.contains("new LinkedHashMap<>(16, 0.75f, true);"), "{}", ran.out);
}

/// What a session says that finds nothing, after a check that it has changed no source.
fn say_of_failure(repo: &TestRepo) -> String {
    let ran = repo.regreen(&["fix", "."]);
    let said = format!("{}{}", ran.out, ran.err);
    assert_eq!(ran.code, Some(1), "{said}");
    let commits = repo.git(&["log", "--all", "--oneline", "--", "*.go", "*.rs"]);
    assert_eq!(commits.lines().count(), 1, "{commits}");
    said
}

#[test]
#[ignore = "needs go; a_macro_is_left_alone_with_a_word always runs"]
fn a_generated_file_is_left_alone_with_a_word() {
    let repo = TestRepo::new(&[
        ("go.mod", "module example.com/days\n\ngo 1.21\n"),
        (
            "table.go",
            "// Code generated by mktable; DO NOT EDIT.\n\npackage days\n\nfunc Day(m int) int {\n\tif m == 2 {\n\t\treturn 29\n\t}\n\treturn 31\n}\n",
        ),
        (
            "sum.go",
            "package days\n\nfunc Sum(n int) int {\n\ts := 0\n\tfor m := 1; m <= n; m++ {\n\t\ts += Day(m)\n\t}\n\treturn s\n}\n",
        ),
        (
            "days_test.go",
            "package days\n\nimport \"testing\"\n\nfunc TestDay(t *testing.T) {\n\tif Day(2) != 28 {\n\t\tt.Error(Day(2))\n\t}\n}\n\nfunc TestSum(t *testing.T) {\n\tif Sum(2) != 59 {\n\t\tt.Error(Sum(2))\n\t}\n}\n",
        ),
    ]);
    let planned = repo.regreen(&["fix", ".", "--dry-run", "--json", "--quiet"]).document();
    let suspects = &planned["explanation"]["clusters"][0]["functions"];
    assert_eq!(
        (&suspects[0]["file"], &suspects[0]["function"]),
        (&"table.go".into(), &"Day".into())
    );
    let said = say_of_failure(&repo);
    assert!(said.contains("does not edit `table.go`, which is generated"), "{said}");
    assert!(said.contains("that is neither generated nor calls C"), "{said}");
    assert!(said.contains("table.go:5: in `Day`: 1 of 1 failing test and 0 of 0"), "{said}");
}

#[test]
fn a_macro_is_left_alone_with_a_word() {
    let said = say_of_failure(&TestRepo::new(&[
        ("Cargo.toml", "[package]\nname = \"percent\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        (".gitignore", "target\n"),
        (
            "src/lib.rs",
            "macro_rules! clamp {\n    ($v:expr, $lo:expr, $hi:expr) => {\n        if $v < $lo { $lo } else if $v < $hi { $hi } else { $v }\n    };\n}\n\npub fn percent(n: i32) -> i32 {\n    clamp!(n, 0, 100)\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn middle() {\n        assert_eq!(super::percent(40), 40);\n    }\n\n    #[test]\n    fn high() {\n        assert_eq!(super::percent(140), 100);\n    }\n}\n",
        ),
    ]));
    assert!(said.contains("does not edit `clamp!`, which is a macro"), "{said}");
    assert!(said.contains("the cause may be in a macro"), "{said}");
}
