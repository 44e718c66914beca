//! What tests written in Go can do inside the sandbox.

use super::{LanguageStory, what_is_hidden_is_contained, what_passes_only_together_is_cut};

const GO: LanguageStory = LanguageStory {
    files: &[
        ("go.mod", "module example.com/shop\n\ngo 1.19\n"),
        (
            "price/price.go",
            "package price\n\n// Twice is twice as much.\nfunc Twice(price int) int {\n\treturn price * 2\n}\n",
        ),
    ],
    subject: "price/price.go",
    function: "Twice",
    place: "price/price_test.go",
    tests: r#"package price

import (
	"net"
	"os"
	"testing"
	"time"
)

var remove, call, wait = os.Remove, net.DialTimeout, time.Sleep

var seen = []int{len(os.Args) * 0}

func TestTwice(t *testing.T) {
	if Twice(2) != 4 || Twice(0) != 0 {
		t.Error("not twice as much")
	}
}
BODY"#,
    sly: r#"
func TestSlyRemoval(t *testing.T) {
	if err := remove("FILE"); err != nil || Twice(3) != 6 {
		t.Error(err)
	}
}

func TestSlyCall(t *testing.T) {
	if _, err := call("tcp", "127.0.0.1:PORT", time.Second); err != nil || Twice(3) != 6 {
		t.Error(err)
	}
}
"#,
    slow: r#"
func TestSlow(t *testing.T) {
	wait(24 * time.Hour)
	if Twice(3) != 6 {
		t.Error("not twice")
	}
}
"#,
    together: r"
func TestAFirst(t *testing.T) {
	seen = append(seen, Twice(3))
	if len(seen) != 2 {
		t.Error(seen)
	}
}

func TestBSecond(t *testing.T) {
	if len(seen) != 2 || seen[1] != 6 {
		t.Error(seen)
	}
}
",
    names: ["TestSlyRemoval", "TestSlyCall", "TestBSecond"],
    // The first run compiles the standard library.
    limit: "90s",
    stops_tests: true,
};

#[test]
#[ignore = "needs go; what_a_test_of_python_hides_is_contained always runs"]
fn what_a_test_of_go_hides_is_contained() {
    what_is_hidden_is_contained(&GO);
}

/// Like `GO`, but without anything that takes long to compile.
const GO_TOGETHER: LanguageStory = LanguageStory {
    tests: r#"package price

import "testing"

var seen = []int{0}

func TestTwice(t *testing.T) {
	if Twice(2) != 4 || Twice(0) != 0 {
		t.Error("not twice as much")
	}
}
BODY"#,
    ..GO
};

#[test]
#[ignore = "needs go; tests_of_python_that_pass_only_together_are_cut always runs"]
fn tests_of_go_that_pass_only_together_are_cut() {
    what_passes_only_together_is_cut(&GO_TOGETHER);
}
