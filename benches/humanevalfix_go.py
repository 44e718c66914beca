#!/usr/bin/env python3
"""Measures the embedded engine on a set of small Go bugs, one git repository per bug.

    benches/humanevalfix_go.py SET.jsonl [--regreen target/dist/regreen] [--jobs 1] [--only ID,ID] [--check]

Each line of the set holds `import`, `declaration`, `buggy_solution`, `canonical_solution`, `test` and `entry_point`, as
HumanEvalFix (HumanEvalPack, Go) publishes them. The assertions of the tests come from a file of tests in the
repository, so that nothing is downloaded. An edit is *plausible* when the tests pass, and *correct* when it agrees with
the reference on many inputs that the tests do not hold, made by the types of the parameters.
"""

import re

import humanevalfix_sets as sets

MODULE = "module example.com/solution\n\ngo 1.21\n"

ASSERT = '''package solution

import (
	"bytes"
	"math"
	"reflect"
	"testing"
)

// Assertions are those of one test.
type Assertions struct{ t *testing.T }

type maker struct{}

// New starts the assertions of a test.
func (maker) New(t *testing.T) *Assertions { return &Assertions{t} }

var assert maker

func same(expected, actual interface{}) bool {
	if one, ok := expected.([]byte); ok {
		if other, ok := actual.([]byte); ok {
			return bytes.Equal(one, other)
		}
	}
	return reflect.DeepEqual(expected, actual)
}

// Equal fails the test where two values differ.
func (a *Assertions) Equal(expected, actual interface{}, _ ...interface{}) bool {
	a.t.Helper()
	if !same(expected, actual) {
		a.t.Errorf("Not equal: expected: %#v actual: %#v", expected, actual)
		return false
	}
	return true
}

// True fails the test where a value is false.
func (a *Assertions) True(value bool, _ ...interface{}) bool {
	a.t.Helper()
	return a.Equal(true, value)
}

// False fails the test where a value is true.
func (a *Assertions) False(value bool, _ ...interface{}) bool {
	a.t.Helper()
	return a.Equal(false, value)
}

// Nil fails the test where a value is there.
func (a *Assertions) Nil(value interface{}, _ ...interface{}) bool {
	a.t.Helper()
	if value != nil && !reflect.ValueOf(value).IsNil() {
		a.t.Errorf("Expected nil, but got: %#v", value)
		return false
	}
	return true
}

// InDelta fails the test where two numbers are further apart.
func (a *Assertions) InDelta(expected, actual, delta float64, _ ...interface{}) bool {
	a.t.Helper()
	if math.Abs(expected-actual) > delta {
		a.t.Errorf("Max difference between %v and %v allowed is %v", expected, actual, delta)
		return false
	}
	return true
}
'''

JUDGE = '''package solution

import (
	"fmt"
	"math"
	"math/rand"
	"os"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// What the tests of the row hold.
var texts = []string{TEXTS}
var numbers = []int{NUMBERS}

func value(r *rand.Rand, t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(r.Intn(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.Intn(60) - 8))
		if len(numbers) > 0 && r.Intn(2) == 0 {
			v.SetInt(int64(numbers[r.Intn(len(numbers))] + r.Intn(3) - 1))
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(r.Intn(60)))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(math.Round(r.Float64()*2000-500) / 10)
	case reflect.String:
		pool := "aAbBeEyz019 .,()[]<>-"
		text := make([]byte, r.Intn(9))
		for i := range text {
			text[i] = pool[r.Intn(len(pool))]
		}
		v.SetString(string(text))
		if len(texts) > 0 && r.Intn(3) > 0 {
			known := []byte(texts[r.Intn(len(texts))])
			if len(known) > 0 && r.Intn(2) == 0 {
				other := texts[r.Intn(len(texts))] + pool
				known[r.Intn(len(known))] = other[r.Intn(len(other))]
			}
			v.SetString(string(known))
		}
	case reflect.Slice:
		n := r.Intn(6)
		v.Set(reflect.MakeSlice(t, n, n))
		for i := 0; i < n; i++ {
			v.Index(i).Set(value(r, t.Elem()))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		for i := r.Intn(4); i > 0; i-- {
			v.SetMapIndex(value(r, t.Key()), value(r, t.Elem()))
		}
	case reflect.Interface:
		for _, one := range []interface{}{r.Intn(9), "a1", 2.5}[r.Intn(3):][:1] {
			v.Set(reflect.ValueOf(one))
		}
	}
	return v
}

func call(f reflect.Value, in []reflect.Value, limit time.Duration) (said string) {
	done := make(chan string, 1)
	go func() {
		defer func() {
			if recover() != nil {
				done <- "panics"
			}
		}()
		text := ""
		for _, out := range f.Call(in) {
			text += fmt.Sprintf("%#v ", out.Interface())
		}
		done <- text
	}()
	select {
	case said = <-done:
	case <-time.After(limit):
		// Nothing else ends it, and its stack may still grow.
		os.Exit(3)
	}
	return
}

func TestJudge(t *testing.T) {
	debug.SetMaxStack(1 << 20)
	r := rand.New(rand.NewSource(7))
	reference, candidate := reflect.ValueOf(Reference), reflect.ValueOf(ENTRY)
	tried, differ := 0, 0
	for round := 0; round < 600 && differ == 0; round++ {
		var in, again []reflect.Value
		seed := r.Int63()
		one, other := rand.New(rand.NewSource(seed)), rand.New(rand.NewSource(seed))
		for i := 0; i < reference.Type().NumIn(); i++ {
			in = append(in, value(one, reference.Type().In(i)))
			again = append(again, value(other, reference.Type().In(i)))
		}
		if strings.Contains(os.Getenv("SKIPPED"), fmt.Sprintf(",%d,", round)) {
			continue
		}
		fmt.Println("REFERENCE", round)
		expected := call(reference, in, time.Second/3)
		if expected == "panics" {
			continue
		}
		tried++
		fmt.Println("CANDIDATE", round)
		if call(candidate, again, 3*time.Second) != expected {
			differ++
		}
	}
	fmt.Printf("JUDGED %d %d\\n", tried, differ)
}
'''


# One name of each package that the set imports: a bug may leave an import unused, which Go refuses.
NAMES = {"bytes": "Equal", "fmt": "Sprint", "math": "Pi", "md5": "New", "rand": "Intn", "regexp": "MustCompile", "sort": "Ints",
         "strconv": "Itoa", "strings": "ToLower", "time": "Now", "unicode": "IsLower"}

PATHS = {"md5": "crypto/md5", "rand": "math/rand"}


def used(header, code):
    """The source with a use of every package that nothing else uses."""
    packages = [path.split("/")[-1] for path in re.findall(r'"([\w./-]+)"', header)]
    uses = lambda one: re.search(rf"(?<![.\w]){one}\.", code)
    idle = [one for one in packages if not uses(one)]
    lacking = [one for one in NAMES if one not in packages and uses(one)]
    more = "".join(f'\nimport "{PATHS.get(one, one)}"' for one in lacking)
    return header + more + "\n" + "".join(f"\nvar _ = {one}.{NAMES[one]}\n" for one in idle) + code


def solution(row, body):
    return used("package solution\n\n" + row["import"].strip() + "\n", row["declaration"] + body)


def test_file(row):
    setup = row["test_setup"].replace("package main", "package solution")
    setup = setup.replace('"github.com/stretchr/testify/assert"', "")
    return used(setup, "\n" + row["test"])


# Functions that rows call and the set leaves out.
HELPERS = {
    "Go/10": """func IsPalindrome(text string) bool {
	runes := []rune(text)
	for i := range runes {
		if runes[i] != runes[len(runes)-1-i] {
			return false
		}
	}
	return true
}
""",
    "Go/32": """func Poly(coefficients []int, x float64) float64 {
	sum, power := 0.0, 1.0
	for _, one := range coefficients {
		sum += float64(one) * power
		power *= x
	}
	return sum
}
""",
    "Go/38": """func EncodeCyclic(text string) string {
	runes := []rune(text)
	for i := 0; i+2 < len(runes); i += 3 {
		runes[i], runes[i+1], runes[i+2] = runes[i+1], runes[i+2], runes[i]
	}
	return string(runes)
}
""",
    # As in the set itself, where it answers with the text that it was given.
    "Go/50": """func EncodeShift(text string) string {
	return text
}
""",
}


def helper(row):
    text = HELPERS.get(row["task_id"])
    return {"helper.go": "package solution\n\n" + text} if text else {}


def files(row, body):
    return helper(row) | {"go.mod": MODULE, "solution.go": solution(row, body), "solution_test.go": test_file(row),
                          "assert_test.go": ASSERT}


def judge(row, fixed, folder):
    """Whether two solutions agree; the reference gets another name, also for what it calls itself."""
    name = row["entry_point"]
    body = row["declaration"] + row["canonical_solution"]
    others = set(re.findall(r"^func (\w+)", body, re.M)) - {name}
    body = re.sub(rf"\b{name}\b", "Reference", body)
    for other in others:
        body = re.sub(rf"\b{other}\b", other + "OfReference", body)
    body = re.sub(r"^type (\w+)", r"type \1OfReference", body, flags=re.M)
    reference = used("package solution\n\n" + row["import"].strip() + "\n", body)
    text = JUDGE.replace("ENTRY", name)
    for mark, literals in zip(("TEXTS", "NUMBERS"), sets.literals(row)):
        text = text.replace(mark, literals)
    sets.write(folder, {"go.mod": MODULE, "solution.go": fixed, "reference.go": reference, "judge_test.go": text} | helper(row))
    command = ["go", "test", "-vet=off", "-count=1", "-run", "TestJudge", "-v", "."]
    skipped = ","
    for _ in range(60):
        _, out, err = sets.finished(["env", f"SKIPPED={skipped}"] + command, folder, 300)
        if "JUDGED" in out:
            break
        # No test survives what ends the process: a stack that is used up, or what hangs.
        last = re.findall(r"^(REFERENCE|CANDIDATE) (\d+)$", out, re.M)
        if not last or last[-1][0] == "CANDIDATE":
            return False, "it ends the process: " + (out + err)[-200:].strip()
        skipped += last[-1][1] + ","
    if "JUDGED" in out:
        return sets.read_verdict(out, err)
    # The first input that differs would have ended it.
    tried = out.count("CANDIDATE")
    return tried > 0, f"0 of {tried} differ"


if __name__ == "__main__":
    sets.main(__doc__, sets.Language(source="solution.go", test=["go", "test", "-count=1", "."], files=files, judge=judge))
