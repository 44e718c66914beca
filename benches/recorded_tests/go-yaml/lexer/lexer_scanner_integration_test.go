package lexer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// places lists tokens as type, value, line, column and offset.
func places(tokens token.Tokens) string {
	lines := make([]string, 0, len(tokens))
	for _, tk := range tokens {
		pos := tk.Position
		lines = append(lines, fmt.Sprintf("%s %q %d:%d@%d", tk.Type, tk.Value, pos.Line, pos.Column, pos.Offset))
	}
	return strings.Join(lines, "\n")
}

// summary lists tokens as type and value on one line.
func summary(tokens token.Tokens) string {
	words := make([]string, 0, len(tokens))
	for _, tk := range tokens {
		words = append(words, fmt.Sprintf("%s %q", tk.Type, tk.Value))
	}
	return strings.Join(words, ", ")
}

func TestShouldGiveTheSourcePlaceOfEachTokenWhenTheSourceIsScanned(t *testing.T) {
	cases := []struct {
		name, source string
		want         []string
	}{
		{"nothing", "", nil},
		{"a mapping", "a: 1\nbc: x\n", []string{
			`String "a" 1:1@1`, `MappingValue ":" 1:2@2`, `Integer "1" 1:4@4`,
			`String "bc" 2:1@6`, `MappingValue ":" 2:3@8`, `String "x" 2:5@10`,
		}},
		{"mappings in a mapping", "a:\n  b:\n    c: 1\nd: 2\n", []string{
			`String "a" 1:1@1`, `MappingValue ":" 1:2@2`, `String "b" 2:3@6`, `MappingValue ":" 2:4@7`,
			`String "c" 3:5@13`, `MappingValue ":" 3:6@14`, `Integer "1" 3:8@16`,
			`String "d" 4:1@18`, `MappingValue ":" 4:2@19`, `Integer "2" 4:4@21`,
		}},
		{"a sequence of sequences", "- - a\n  - b\n- c\n", []string{
			`SequenceEntry "-" 1:1@1`, `SequenceEntry "-" 1:3@3`, `String "a" 1:5@5`,
			`SequenceEntry "-" 2:3@9`, `String "b" 2:5@11`, `SequenceEntry "-" 3:1@13`, `String "c" 3:3@15`,
		}},
		{"flow collections over two lines", "{a: [x,\n  'y']}\n", []string{
			`MappingStart "{" 1:1@1`, `String "a" 1:2@2`, `MappingValue ":" 1:3@3`, `SequenceStart "[" 1:5@5`,
			`String "x" 1:6@6`, `CollectEntry "," 1:7@7`, `SingleQuote "y" 2:3@11`,
			`SequenceEnd "]" 2:6@14`, `MappingEnd "}" 2:7@15`,
		}},
		{"quoted text over several lines", "a: 'b\n  c'\nd: \"e\n\n  f\"\ng: h\n", []string{
			`String "a" 1:1@1`, `MappingValue ":" 1:2@2`, `SingleQuote "b c" 1:4@4`,
			`String "d" 3:1@12`, `MappingValue ":" 3:2@13`, `DoubleQuote "e\nf" 3:4@15`,
			`String "g" 6:1@24`, `MappingValue ":" 6:2@25`, `String "h" 6:4@27`,
		}},
		{"plain text over several lines", "a: one\n  two\n\n  three\nb: c\n", []string{
			`String "a" 1:1@1`, `MappingValue ":" 1:2@2`, `String "one two\nthree" 1:4@4`,
			`String "b" 5:1@23`, `MappingValue ":" 5:2@24`, `String "c" 5:4@26`,
		}},
		{"an anchor, its alias and a merge key", "a: &x\n  b: 1\nc:\n  <<: *x\n", []string{
			`String "a" 1:1@1`, `MappingValue ":" 1:2@2`, `Anchor "&" 1:4@4`, `String "x" 1:5@5`,
			`String "b" 2:3@9`, `MappingValue ":" 2:4@10`, `Integer "1" 2:6@12`,
			`String "c" 3:1@14`, `MappingValue ":" 3:2@15`, `MergeKey "<<" 4:3@19`, `MappingValue ":" 4:5@21`,
			`Alias "*" 4:7@23`, `String "x" 4:8@24`,
		}},
		{"tags", "a: !!int 1\nb: !foo bar\n", []string{
			`String "a" 1:1@1`, `MappingValue ":" 1:2@2`, `Tag "!!int" 1:4@4`, `Integer "1" 1:9@9`,
			`String "b" 2:1@11`, `MappingValue ":" 2:2@12`, `Tag "!foo" 2:4@14`, `String "bar" 2:8@18`,
		}},
		{"a directive and documents", "%YAML 1.2\n---\na\n...\n--- b\n", []string{
			`Directive "%" 1:1@1`, `String "YAML" 1:2@2`, `Float "1.2" 1:7@7`, `DocumentHeader "---" 2:1@11`,
			`String "a" 3:1@15`, `DocumentEnd "..." 4:1@17`, `DocumentHeader "---" 5:1@21`, `String "b" 5:5@25`,
		}},
		{"a complex key", "? a\n: b\n", []string{
			`MappingKey "?" 1:1@1`, `String "a" 1:3@3`, `MappingValue ":" 2:1@5`, `String "b" 2:3@7`,
		}},
		{"wide characters", "你: 'é你'\nb: ä\n", []string{
			`String "你" 1:1@1`, `MappingValue ":" 1:2@2`, `SingleQuote "é你" 1:4@4`,
			`String "b" 2:1@9`, `MappingValue ":" 2:2@10`, `String "ä" 2:4@12`,
		}},
		{"line breaks of two characters", "a: 1\r\nb: 2\r\n", []string{
			`String "a" 1:1@1`, `MappingValue ":" 1:2@2`, `Integer "1" 1:4@4`,
			`String "b" 2:1@7`, `MappingValue ":" 2:2@8`, `Integer "2" 2:4@10`,
		}},
		{"empty lines at the start", "\n\na: 1\n", []string{
			`String "a" 3:1@3`, `MappingValue ":" 3:2@4`, `Integer "1" 3:4@6`,
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got, want := places(lexer.Tokenize(tc.source)), strings.Join(tc.want, "\n"); got != want {
				t.Errorf("%q\nwant:\n%s\ngot:\n%s", tc.source, want, got)
			}
		})
	}
}

func TestShouldGiveTheLineAndColumnOfEachTokenWhenThereAreComments(t *testing.T) {
	cases := []struct {
		name, source string
		want         []string
	}{
		{"above, behind and below", "# c\na: 1 # one\n  # two\nb: 2\n# end", []string{
			`1:1 Comment " c"`, `2:1 String "a"`, `2:2 MappingValue ":"`, `2:4 Integer "1"`, `2:6 Comment " one"`,
			`3:3 Comment " two"`, `4:1 String "b"`, `4:2 MappingValue ":"`, `4:4 Integer "2"`, `5:1 Comment " end"`,
		}},
		{"behind a key, an anchor and a document", "--- # c\na:   # d\n  b: &x # e\n    c: 1\n", []string{
			`1:1 DocumentHeader "---"`, `1:5 Comment " c"`, `2:1 String "a"`, `2:2 MappingValue ":"`, `2:6 Comment " d"`,
			`3:3 String "b"`, `3:4 MappingValue ":"`, `3:6 Anchor "&"`, `3:7 String "x"`, `3:9 Comment " e"`,
			`4:5 String "c"`, `4:6 MappingValue ":"`, `4:8 Integer "1"`,
		}},
		{"wide characters", "a: é你 # é\nb: 1\n", []string{
			`1:1 String "a"`, `1:2 MappingValue ":"`, `1:4 String "é你"`, `1:7 Comment " é"`,
			`2:1 String "b"`, `2:2 MappingValue ":"`, `2:4 Integer "1"`,
		}},
		{"no comment without a space before it", "a: b#c\n", []string{
			`1:1 String "a"`, `1:2 MappingValue ":"`, `1:4 String "b#c"`,
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			var lines []string
			for _, tk := range lexer.Tokenize(tc.source) {
				lines = append(lines, fmt.Sprintf("%d:%d %s %q", tk.Position.Line, tk.Position.Column, tk.Type, tk.Value))
			}
			if got, want := strings.Join(lines, "\n"), strings.Join(tc.want, "\n"); got != want {
				t.Errorf("%q\nwant:\n%s\ngot:\n%s", tc.source, want, got)
			}
		})
	}
}

func TestShouldGiveTheTypeOfEachScalarWhenTheSourceIsScanned(t *testing.T) {
	cases := []struct{ source, want string }{
		{"- 1\n- -1\n- 1_000\n- 0x1F\n- 0o17\n- 0b11", `Integer "1", Integer "-1", Integer "1_000", HexInteger "0x1F", OctetInteger "0o17", BinaryInteger "0b11"`},
		{"- 1.5\n- -.5\n- .inf\n- -.inf\n- .nan", `Float "1.5", Float "-.5", Infinity ".inf", Infinity "-.inf", Nan ".nan"`},
		{"- true\n- False\n- null\n- ~\n- Null", `Bool "true", Bool "False", Null "null", Null "~", Null "Null"`},
		{"- \"1\"\n- 'true'\n- 1 2\n- a b\n- x:y", `DoubleQuote "1", SingleQuote "true", String "1 2", String "a b", String "x:y"`},
		{"- !foo 1\n- !!int 1\n- |-\n  1\n- >\n  true\n", `Tag "!foo", String "1", Tag "!!int", Integer "1", Literal "|-", String "1", Folded ">", String "true\n"`},
	}
	for _, tc := range cases {
		var scalars token.Tokens
		for _, tk := range lexer.Tokenize(tc.source) {
			if tk.Type != token.SequenceEntryType {
				scalars = append(scalars, tk)
			}
		}
		if got := summary(scalars); got != tc.want {
			t.Errorf("%q\nwant %s\ngot  %s", tc.source, tc.want, got)
		}
	}
}

func TestShouldKeepAndFoldLineBreaksAsAskedWhenTheScalarIsABlock(t *testing.T) {
	cases := []struct{ name, source, want string }{
		{"literal", "a: |\n  one\n  two\n\n\nb: 1\n", "one\ntwo\n"},
		{"literal, stripped", "a: |-\n  one\n  two\n\n\nb: 1\n", "one\ntwo"},
		{"literal, kept", "a: |+\n  one\n  two\n\n\nb: 1\n", "one\ntwo\n\n\n"},
		{"literal with more indent", "a: |\n  one\n    two\n three\n", "one\n  two\n"},
		{"literal with an indent that is given", "a: |2\n   one\n  two\nb: 1\n", " one\ntwo\n"},
		{"literal with a tab and a hash", "a: |\n  x\ty\n\n  # z\nb: 1\n", "x\ty\n\n# z\n"},
		{"literal at the end", "a: |\n  one\n  two", "one\ntwo"},
		{"literal before a document", "a: |\n  one\n---\nb", "one\n"},
		{"literal with line breaks of two characters", "a: |\r\n  one\r\n  two\r\nb: 1\r\n", "one\ntwo\n"},
		{"literal without text", "a: |\nb: 1\n", ""},
		{"folded", "a: >\n  one\n  two\n\n  three\nb: 1\n", "one two\nthree\n"},
		{"folded, stripped", "a: >-\n  one\n  two\n\nb: 1\n", "one two"},
		{"folded, kept", "a: >+\n  one\n  two\n\nb: 1\n", "one two\n\n"},
		{"folded with more indent", "a: >\n  one\n   two\n  three\nb: 1\n", "one\n two\nthree\n"},
		{"folded behind an empty line", "a: >\n\n  one\nb: 1\n", "\none\n"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			tokens := lexer.Tokenize(tc.source)
			if len(tokens) < 4 {
				t.Fatalf("want the key, its colon, the header and the text, got %s", summary(tokens))
			}
			if got := tokens[3]; got.Type != token.StringType || got.Value != tc.want {
				t.Errorf("want String %q, got %s %q", tc.want, got.Type, got.Value)
			}
		})
	}
}

func TestShouldGiveAnInvalidTokenWithTheReasonWhenTheSourceIsWrong(t *testing.T) {
	cases := []struct{ source, reason, place string }{
		{"a: 'b", "could not find end character of single-quoted text", "1:4"},
		{"a: 1\nb: \"c", "could not find end character of double-quoted text", "2:4"},
		{"a: @b", "'@' is a reserved character", "1:4"},
		{"- `a", "'`' is a reserved character", "1:3"},
		{"a:\n\tb: 1", "found character '\t' that cannot start any token", "2:1"},
		{"a: |x\n b", `invalid header option: "x"`, "1:4"},
		{"a: |\n\tb\n", "found a tab character where an indentation space is expected", "2:1"},
		{"a: !{x}", "found invalid tag character '{'", "1:5"},
		{`a: "\q"`, "found unknown escape character 'q'", "1:6"},
		{"'a\n---\nb'", "found unexpected document separator", "2:1"},
	}
	for _, tc := range cases {
		tk := lexer.Tokenize(tc.source).InvalidToken()
		if tk == nil {
			t.Errorf("%q: want an invalid token, got none", tc.source)
			continue
		}
		if tk.Error != tc.reason {
			t.Errorf("%q: want %q, got %q", tc.source, tc.reason, tk.Error)
		}
		if got := fmt.Sprintf("%d:%d", tk.Position.Line, tk.Position.Column); got != tc.place {
			t.Errorf("%q: want it at %s, got %s", tc.source, tc.place, got)
		}
	}
}

func TestShouldScanTheRestWhenATokenIsInvalid(t *testing.T) {
	tokens := lexer.Tokenize("a: @b\nc: 1")
	want := `String "a" 1:1@1
MappingValue ":" 1:2@2
Invalid " @" 1:4@4
String "b" 1:5@5
String "c" 2:1@7
MappingValue ":" 2:2@8
Integer "1" 2:4@10`
	if got := places(tokens); got != want {
		t.Errorf("want:\n%s\ngot:\n%s", want, got)
	}
}

func TestShouldReadEachSourceAnewWhenOneFollowsAnother(t *testing.T) {
	sources := []struct{ source, want string }{
		{"a:\n    b:\n      - 'c", "String \"a\" 1:1@1\nMappingValue \":\" 1:2@2\nString \"b\" 2:5@8\nMappingValue \":\" 2:6@9\nSequenceEntry \"-\" 3:7@17\nInvalid \" 'c\" 3:9@19"},
		{"{a: [b", "MappingStart \"{\" 1:1@1\nString \"a\" 1:2@2\nMappingValue \":\" 1:3@3\nSequenceStart \"[\" 1:5@5\nString \"b\" 1:6@6"},
		{"x, y: 1\nz: 2", "String \"x, y\" 1:1@1\nMappingValue \":\" 1:5@5\nInteger \"1\" 1:7@7\nString \"z\" 2:1@9\nMappingValue \":\" 2:2@10\nInteger \"2\" 2:4@12"},
	}
	var all []token.Tokens
	for _, one := range sources {
		all = append(all, lexer.Tokenize(one.source))
	}
	for i, one := range sources {
		if got := places(all[i]); got != one.want {
			t.Errorf("%q\nwant:\n%s\ngot:\n%s", one.source, one.want, got)
		}
	}
}
