//! A model writes tests in Go that find a defect.

use super::{LanguageStory, fixing_reply, run_story};

const GO: LanguageStory = LanguageStory {
    files: &[
        ("go.mod", "module example.com/shop\n\ngo 1.19\n"),
        (
            "price/price.go",
            r#"package price

import (
	"errors"
	"strconv"
)

// ParsePrice reads a price; an empty text is an error.
func ParsePrice(text string) (int, error) {
	if text == "" {
		return 0, errors.New("empty price")
	}
	return strconv.Atoi(text)
}

// Discount takes so many percent off an amount; more than 100 is an error.
func Discount(amount, percent int) (int, error) {
	if percent > 100 {
		return 0, errors.New("more than all")
	}
	return amount * (100 + percent) / 100, nil
}
"#,
        ),
        (
            "tax/tax.go",
            "package tax\n\n// Tax is a fifth.\nfunc Tax(price int) int {\n\treturn price / 5\n}\n",
        ),
        (
            "tax/tax_test.go",
            r#"package tax

import "testing"

func TestTax(t *testing.T) {
	if got := Tax(10); got != 2 {
		t.Errorf("got %d", got)
	}
}
"#,
        ),
    ],
    subject: "price/price.go",
    functions: ("ParsePrice", "Discount", 21),
    place: "price/price_test.go",
    good: r#"package price

import "testing"

func TestPrice(t *testing.T) {
	got, err := ParsePrice("25")
	if err != nil || got != 25 {
		t.Errorf("got %d and %v", got, err)
	}
}

func TestEmptyPrice(t *testing.T) {
	_, err := ParsePrice("")
	if err == nil || err.Error() != "empty price" {
		t.Errorf("got %v", err)
	}
}

func TestNothingOff(t *testing.T) {
	got, err := Discount(80, 0)
	if err != nil || got != 80 {
		t.Errorf("got %d and %v", got, err)
	}
}

func TestErrorForMoreThanAll(t *testing.T) {
	_, err := Discount(80, 101)
	if err == nil || err.Error() != "more than all" {
		t.Errorf("got %v", err)
	}
}

func TestZeroAmountAtTheLimit(t *testing.T) {
	got, err := Discount(0, 100)
	if err != nil || got != 0 {
		t.Errorf("got %d and %v", got, err)
	}
}

func TestHalfOff(t *testing.T) {
	got, err := Discount(80, 50)
	if err != nil || got != 40 {
		t.Errorf("got %d and %v", got, err)
	}
}
"#,
    made_up: (
        "import \"testing\"\n",
        "import (\n\t\"testing\"\n\n\t\"github.com/nobody/pricetest\"\n)\n\nvar _ = pricetest.Any\n",
    ),
    refusal: "refused, by one: hallucinated-import: price/price_test.go:6:2: no required module provides package",
    finding: "example.com/shop/price.TestHalfOff",
    fix: (
        "return amount * (100 + percent) / 100, nil",
        "return amount * (100 - percent) / 100, nil",
    ),
    answer: |question| fixing_reply(&GO, question),
};

#[test]
#[ignore = "needs go; a_model_plans_writes_is_refused_finds_a_defect_and_the_suite_gets_green always runs"]
fn a_model_writes_tests_for_go_and_finds_a_defect() {
    let (_, changed) = run_story(&GO);
    assert_eq!(changed, "price/price.go\nprice/price_test.go");
}
