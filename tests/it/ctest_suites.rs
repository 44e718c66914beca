//! Suites of CTest: the build, results with cases of GoogleTest, partial runs, and what is started.

use super::frameworks::{counts, failing, look};
use super::support::{Ran, Regreen, Started, TestRepo};

const CMAKE: &str = r"cmake_minimum_required(VERSION 3.14)
project(shop CXX)
set(CMAKE_CXX_STANDARD 17)
add_library(cart src/cart.cpp)
target_include_directories(cart PUBLIC src)
enable_testing()
add_executable(price_test tests/price_test.cpp)
target_link_libraries(price_test cart)
add_test(NAME price COMMAND price_test)
add_test(NAME off COMMAND price_test)
set_tests_properties(off PROPERTIES DISABLED TRUE)
";

const GOOGLE: &str = r"find_package(GTest REQUIRED)
include(GoogleTest)
add_executable(cart_test tests/cart_test.cpp)
target_link_libraries(cart_test cart GTest::gtest_main)
gtest_discover_tests(cart_test)
add_test(NAME few COMMAND cart_test --gtest_filter=Cart.*)
";

const CART: &str = "#include \"cart.h\"\nint total(const int *prices, int count) {\n  int sum = 1;\n  for (int i = 0; i < count; i++) sum += prices[i];\n  return sum;\n}\n";

const CART_TEST: &str = r#"#include <gtest/gtest.h>
#include "cart.h"
TEST(Cart, Zero) { EXPECT_EQ(total(nullptr, 0), 0); }
TEST(Cart, Ok) { EXPECT_TRUE(true); }
TEST(Cart, Skipped) { GTEST_SKIP() << "later"; }
class Sum : public testing::TestWithParam<int> {};
TEST_P(Sum, One) { int p = GetParam(); EXPECT_EQ(total(&p, 1), p); }
INSTANTIATE_TEST_SUITE_P(Few, Sum, testing::Values(1, 2));
"#;

const PRICE_TEST: &str = "#include <cstdio>\n#include \"cart.h\"\nint main() {\n  int p[] = {1};\n  if (total(p, 1) != 1) {\n    std::printf(\"expected 1, got %d\\n\", total(p, 1));\n    return 1;\n  }\n}\n";

fn project(cmake: &str) -> TestRepo {
    TestRepo::new(&[
        ("CMakeLists.txt", cmake),
        ("src/cart.h", "int total(const int *prices, int count);\n"),
        ("src/cart.cpp", CART),
        ("tests/cart_test.cpp", CART_TEST),
        ("tests/price_test.cpp", PRICE_TEST),
    ])
}

#[test]
#[ignore = "needs CMake, a C++ compiler and GoogleTest"]
fn ctest_counts_as_it_does_itself_with_the_cases_of_google_test() {
    let repo = project(&format!("{CMAKE}{GOOGLE}"));
    let started = Started::watch(&repo, &["ctest", "cmake"]);
    let document = look(&started);
    // CTest alone counts `few` as one test; its three cases are what it ran.
    assert_eq!(
        failing(&document),
        ["Cart.Zero", "Few/Sum.One/1", "Few/Sum.One/2", "few > Cart.Zero", "price"]
    );
    assert_eq!(counts(&document), (2, 5), "{document}");
    let zero = document["failing-tests"][0].to_string();
    assert!(zero.contains("total(nullptr, 0)") && zero.contains("tests/cart_test.cpp"), "{zero}");
    let price = document["failing-tests"][4].to_string();
    assert!(price.contains("expected 1, got 2"), "{price}");
    assert_eq!(repo.git(&["status", "--porcelain", "--ignored"]), "", "nothing is built here");
    let lines = started.lines();
    let parts = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count();
    assert!(parts("cmake -S . -B /") > 0, "{lines:?}");
    assert!(parts("cmake --build /") > 0, "{lines:?}");
    let some = r"-R ^(Cart\.Zero|Few/Sum\.One/1|Few/Sum\.One/2|few|price)$";
    assert!(
        lines.iter().any(|line| line.starts_with("ctest --test-dir /") && line.ends_with(some)),
        "{lines:?}"
    );
}

#[test]
#[ignore = "needs CMake and a C++ compiler"]
fn a_source_that_does_not_compile_is_a_failing_build_with_its_place() {
    let repo = project(CMAKE);
    repo.write(&[(
        "src/cart.cpp",
        "#include \"cart.h\"\nint total(const int *prices, int count) {\n  return sum;\n}\n",
    )]);
    repo.git(&["commit", "-q", "-a", "-m", "broken"]);
    let document = look(&repo);
    assert_eq!(failing(&document), ["cmake --build"]);
    let failure = document["failing-tests"][0].to_string();
    assert!(failure.contains("src/cart.cpp") && failure.contains("sum"), "{failure}");
}

#[test]
#[ignore = "needs CMake and a C++ compiler"]
fn a_command_of_the_users_that_ends_with_ctest_gets_its_report_and_nothing_else() {
    let repo = project(CMAKE);
    let started = Started::watch(&repo, &["cmake", "ctest"]);
    let command =
        "cmake -B out -DCMAKE_BUILD_TYPE=Debug && cmake --build out && ctest --test-dir out";
    let mut run = started.command();
    run.args(["fix", "--dry-run", "--json", "--test-command", command]);
    let ran: Ran = run.output().unwrap().into();
    let document = ran.document();
    assert_eq!(counts(&document), (0, 1), "{document}\n{}", ran.err);
    let lines = started.lines();
    assert!(lines.contains(&"cmake -B out -DCMAKE_BUILD_TYPE=Debug".to_owned()), "{lines:?}");
    assert!(lines.contains(&"cmake --build out".to_owned()), "{lines:?}");
    let tests: Vec<&String> = lines.iter().filter(|line| line.starts_with("ctest ")).collect();
    assert!(!tests.is_empty(), "{lines:?}");
    for line in tests {
        assert!(
            line.starts_with("ctest --test-dir out --output-on-failure --output-junit /"),
            "{line}"
        );
    }
}
