package scanner_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"
)

// kinds scans a source and lists its tokens as type and value; an error ends the list.
func kinds(source string) string {
	var s scanner.Scanner
	s.Init(source)
	var words []string
	for {
		tokens, err := s.Scan()
		for _, tk := range tokens {
			words = append(words, fmt.Sprintf("%s %q", tk.Type, tk.Value))
		}
		if err == io.EOF {
			return strings.Join(words, ", ")
		}
		if err != nil {
			return strings.Join(append(words, err.Error()), ", ")
		}
	}
}

func TestShouldGiveTheTypeOfTheTextWhenItIsPlain(t *testing.T) {
	cases := []struct {
		want  token.Type
		texts []string
	}{
		{token.NullType, []string{"null", "Null", "NULL", "~"}},
		{token.BoolType, []string{"true", "True", "TRUE", "false", "False", "FALSE"}},
		{token.IntegerType, []string{"0", "1", "-1", "+12", "1_000"}},
		{token.HexIntegerType, []string{"0x1F", "-0xff"}},
		{token.OctetIntegerType, []string{"0o17", "017"}},
		{token.BinaryIntegerType, []string{"0b101"}},
		{token.FloatType, []string{"1.5", "-.5", "1.5e3"}},
		{token.InfinityType, []string{".inf", "-.inf", ".Inf"}},
		{token.NanType, []string{".nan", ".NaN"}},
		{token.StringType, []string{"a", "a b", "1 2", "1.2.3", "0x1G", "x:y", "a#b", "2001-01-01", "-a", "你"}},
	}
	for _, tc := range cases {
		for _, text := range tc.texts {
			want := fmt.Sprintf("%s %q", tc.want, text)
			if got := kinds(text); got != want {
				t.Errorf("alone: want %s, got %s", want, got)
			}
			entry := fmt.Sprintf(`SequenceEntry "-", %s, SequenceEntry "-", %s`, want, want)
			if got := kinds("- " + text + "\n- " + text + " # c"); got != entry+`, Comment " c"` {
				t.Errorf("in a sequence: want %s, got %s", entry, got)
			}
		}
	}
}

func TestShouldTakeTheTypeFromTheTagWhenThereIsOne(t *testing.T) {
	cases := []struct{ source, want string }{
		{"!foo 1", `Tag "!foo", String "1"`},
		{"!foo true", `Tag "!foo", String "true"`},
		{"!foo\nnull", `Tag "!foo", String "null"`},
		{"!!int 1", `Tag "!!int", Integer "1"`},
		{"!!bool true", `Tag "!!bool", Bool "true"`},
		{"a: !foo 1.5\nb: 1.5\n", `String "a", MappingValue ":", Tag "!foo", String "1.5", String "b", MappingValue ":", Float "1.5"`},
		{"[!!null, !foo, 1]", `SequenceStart "[", Tag "!!null", CollectEntry ",", Tag "!foo", CollectEntry ",", Integer "1", SequenceEnd "]"`},
		{"[!foo 1, 1]", `SequenceStart "[", Tag "!foo", String "1", CollectEntry ",", Integer "1", SequenceEnd "]"`},
	}
	for _, tc := range cases {
		if got := kinds(tc.source); got != tc.want {
			t.Errorf("%q\nwant %s\ngot  %s", tc.source, tc.want, got)
		}
	}
}

func TestShouldMakeAStringOfTheTextWhenItStandsInABlock(t *testing.T) {
	cases := []struct{ header, text, want string }{
		{"|-", "  1\n", "1"},
		{"|-", "  true\n", "true"},
		{">-", "  null\n", "null"},
		{"|", "  one\n  two\n\n\n", "one\ntwo\n"},
		{"|-", "  one\n  two\n\n\n", "one\ntwo"},
		{"|+", "  one\n  two\n\n\n", "one\ntwo\n\n\n"},
		{"|", "  one\n\n    two\n", "one\n\n  two\n"},
		{"|", "  one  \n  x\ty\n", "one  \nx\ty\n"},
		{"|1", "  one\n two\n", " one\ntwo\n"},
		{"|+1", "  one\n two\n\n", " one\ntwo\n\n"},
		{"|1-", "  one\n two\n\n", " one\ntwo"},
		{"|", "  # one\n  - two\n  a: 'b\n", "# one\n- two\na: 'b\n"},
		{"|", "  你\n  é\n", "你\né\n"},
		{">", "  one\n  two\n\n  three\n", "one two\nthree\n"},
		{">-", "  one\n  two\n\n", "one two"},
		{">+", "  one\n  two\n\n", "one two\n\n"},
		{">", "  one\n   two\n  three\n", "one\n two\nthree\n"},
		{">", "\n  one\n", "\none\n"},
	}
	for _, tc := range cases {
		source := "a: " + tc.header + "\n" + tc.text + "b: 1\n"
		name := token.LiteralType
		if strings.HasPrefix(tc.header, ">") {
			name = token.FoldedType
		}
		want := fmt.Sprintf(`String "a", MappingValue ":", %s %q, String %q, String "b", MappingValue ":", Integer "1"`, name, tc.header, tc.want)
		if got := kinds(source); got != want {
			t.Errorf("%q\nwant %s\ngot  %s", source, want, got)
		}
	}
}

func TestShouldJoinTheLinesWhenPlainTextHasSeveral(t *testing.T) {
	cases := []struct {
		source string
		want   []string
	}{
		{"one\ntwo\n\nthree\n", []string{`String "one two\nthree" "one\ntwo\n\nthree" 1:1@1`}},
		{"a: one\n  two\n\n\n  three\nb: c\n", []string{
			`String "a" "a" 1:1@1`, `MappingValue ":" ":" 1:2@2`, `String "one two\n\nthree" " one\n  two\n\n\n  three\n" 1:4@4`,
			`String "b" "b" 6:1@24`, `MappingValue ":" ":" 6:2@25`, `String "c" " c" 6:4@27`,
		}},
		{"a:\n  1\n  2\nb: c\n", []string{
			`String "a" "a" 1:1@1`, `MappingValue ":" ":" 1:2@2`, `String "1 2" "\n  1\n  2\n" 2:3@6`,
			`String "b" "b" 4:1@12`, `MappingValue ":" ":" 4:2@13`, `String "c" " c" 4:4@15`,
		}},
		{"- one\n  - two\n- x\n", []string{
			`SequenceEntry "-" "-" 1:1@1`, `String "one - two" " one\n  - two\n" 1:3@3`,
			`SequenceEntry "-" "-" 3:1@15`, `String "x" " x" 3:3@17`,
		}},
	}
	for _, tc := range cases {
		var s scanner.Scanner
		s.Init(tc.source)
		tokens, err := s.Scan()
		if err != nil {
			t.Errorf("%q: %v", tc.source, err)
		}
		var lines []string
		for _, tk := range tokens {
			pos := tk.Position
			lines = append(lines, fmt.Sprintf("%s %q %q %d:%d@%d", tk.Type, tk.Value, tk.Origin, pos.Line, pos.Column, pos.Offset))
		}
		if got, want := strings.Join(lines, "\n"), strings.Join(tc.want, "\n"); got != want {
			t.Errorf("%q\nwant:\n%s\ngot:\n%s", tc.source, want, got)
		}
	}
}

func TestShouldKeepTheTokensWhenAnotherScannerReadsOn(t *testing.T) {
	var first, second scanner.Scanner
	first.Init("a: [1, x]\n")
	second.Init("- 'other'\n- |\n  text\n")
	tokens, err := first.Scan()
	if err != nil {
		t.Fatal(err)
	}
	others, err := second.Scan()
	if err != nil {
		t.Fatal(err)
	}
	values := func(tokens token.Tokens) string {
		var all []string
		for _, tk := range tokens {
			all = append(all, tk.Value)
		}
		return strings.Join(all, " ")
	}
	if got, want := values(tokens), "a : [ 1 , x ]"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
	if got, want := values(others), "- other - | text\n"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}
