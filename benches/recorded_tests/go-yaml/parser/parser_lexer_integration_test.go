package parser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// leaves collects scalars as path, type, value, line, column and offset.
type leaves struct {
	lines *[]string
}

func (v leaves) Visit(node ast.Node) ast.Visitor {
	if _, ok := node.(ast.ScalarNode); ok {
		tk := node.GetToken()
		pos := tk.Position
		line := fmt.Sprintf("%s %s %q %d:%d@%d", node.GetPath(), node.Type(), tk.Value, pos.Line, pos.Column, pos.Offset)
		*v.lines = append(*v.lines, line)
	}
	return v
}

func TestShouldKnowTheSourcePlaceOfEachScalarWhenTheLexerHasReadIt(t *testing.T) {
	cases := []struct {
		name, source string
		want         []string
	}{
		{"a mapping with a sequence", "a: 1\nb:\n  - x\n  - y\n", []string{
			`$.a String "a" 1:1@1`, `$.a Integer "1" 1:4@4`, `$.b String "b" 2:1@6`,
			`$.b[0] String "x" 3:5@13`, `$.b[1] String "y" 4:5@19`,
		}},
		{"flow collections", "{a: [1, b], c: 'd'}\n", []string{
			`$.a String "a" 1:2@2`, `$.a[0] Integer "1" 1:6@6`, `$.a[1] String "b" 1:9@9`,
			`$.c String "c" 1:13@13`, `$.c String "d" 1:16@16`,
		}},
		{"sequences and mappings in a sequence", "- - a\n  - b\n- c: d\n  e: f\n", []string{
			`$[0][0] String "a" 1:5@5`, `$[0][1] String "b" 2:5@11`,
			`$[1].c String "c" 3:3@15`, `$[1].c String "d" 3:6@18`, `$[1].e String "e" 4:3@22`, `$[1].e String "f" 4:6@25`,
		}},
		{"wide characters and escapes", "你: ä\nb: \"c\\td\"\n", []string{
			`$.你 String "你" 1:1@1`, `$.你 String "ä" 1:4@4`, `$.b String "b" 2:1@6`, `$.b String "c\td" 2:4@9`,
		}},
		{"text over two lines", "a: one\n  two\nb: c\n", []string{
			`$.a String "a" 1:1@1`, `$.a String "one two" 1:4@4`, `$.b String "b" 3:1@14`, `$.b String "c" 3:4@17`,
		}},
		{"reserved words and numbers", "a: null\nb: 1.5\nc: .inf\nd: .nan\ne: true\nf: 0x1F\n", []string{
			`$.a String "a" 1:1@1`, `$.a Null "null" 1:4@4`, `$.b String "b" 2:1@9`, `$.b Float "1.5" 2:4@12`,
			`$.c String "c" 3:1@16`, `$.c Infinity ".inf" 3:4@19`, `$.d String "d" 4:1@24`, `$.d Nan ".nan" 4:4@27`,
			`$.e String "e" 5:1@32`, `$.e Bool "true" 5:4@35`, `$.f String "f" 6:1@40`, `$.f Integer "0x1F" 6:4@43`,
		}},
		{"line breaks of two characters", "a: 1\r\nb: 2\r\n", []string{
			`$.a String "a" 1:1@1`, `$.a Integer "1" 1:4@4`, `$.b String "b" 2:1@7`, `$.b Integer "2" 2:4@10`,
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			file, err := parser.ParseBytes([]byte(tc.source), 0)
			if err != nil {
				t.Fatal(err)
			}
			if len(file.Docs) != 1 {
				t.Fatalf("want 1 document, got %d", len(file.Docs))
			}
			var lines []string
			ast.Walk(leaves{&lines}, file.Docs[0].Body)
			if got, want := strings.Join(lines, "\n"), strings.Join(tc.want, "\n"); got != want {
				t.Errorf("want:\n%s\ngot:\n%s", want, got)
			}
		})
	}
}

func TestShouldWriteTheSourceAgainWhenTheFileIsPrinted(t *testing.T) {
	for _, source := range []string{
		"a: 1\nb:\n  - x\n  - y\n",
		"{a: [1, b], c: 'd'}\n",
		"a: &x\n  b: 1\nc: *x\n",
		"a: |\n  x\n  y\nb: >-\n  z\n",
		"a: !!str 1\nb: !foo bar\n",
		"# c\na: 1 # one\n# two\nb: 2\n",
		"a\n---\nb: c\n...\n",
		"%YAML 1.2\n---\na: b\n",
		"<<: *x\n\"q\": '你'\n",
	} {
		file, err := parser.ParseBytes([]byte(source), parser.ParseComments)
		if err != nil {
			t.Errorf("%q: %v", source, err)
			continue
		}
		if got := file.String(); got != source {
			t.Errorf("want %q, got %q", source, got)
		}
	}
}

func TestShouldParseADocumentForEachSeparatorWhenThereAreSeveral(t *testing.T) {
	file, err := parser.ParseBytes([]byte("a\n---\nb: 1\n---\n- c\n"), 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, doc := range file.Docs {
		got = append(got, fmt.Sprintf("%s %q", doc.Body.Type(), doc.Body.String()))
	}
	want := `String "a", Mapping "b: 1", Sequence "- c"`
	if joined := strings.Join(got, ", "); joined != want {
		t.Errorf("want %s, got %s", want, joined)
	}
}

func TestShouldFailWithTheReasonOfTheLexerWhenTheSourceIsWrong(t *testing.T) {
	cases := []struct{ source, want string }{
		{"a: 'b", "[1:4] could not find end character of single-quoted text\n>  1 | a: 'b\n          ^\n"},
		{"a: \"b", "[1:4] could not find end character of double-quoted text\n>  1 | a: \"b\n          ^\n"},
		{"a: 1\nb: @c\n", "[2:4] '@' is a reserved character\n   1 | a: 1\n>  2 | b: @c\n          ^\n"},
		{"a:\n\tb: 1", "[2:1] found character '\t' that cannot start any token\n   1 | a:\n>  2 | \tb: 1\n       ^\n"},
		{"a: |x\n b", "[1:4] invalid header option: \"x\"\n>  1 | a: |x\n          ^\n   2 |  b"},
		{"a: !{x}", "[1:5] found invalid tag character '{'\n>  1 | a: !{x}\n           ^\n"},
	}
	for _, tc := range cases {
		file, err := parser.ParseBytes([]byte(tc.source), 0)
		if err == nil {
			t.Errorf("%q: want an error, got %v", tc.source, file)
			continue
		}
		if got := err.Error(); got != tc.want {
			t.Errorf("%q: want %q, got %q", tc.source, tc.want, got)
		}
		if file != nil {
			t.Errorf("%q: want no file, got %v", tc.source, file)
		}
	}
}

func TestShouldPointToTheTokenWhenItsPlaceIsWrong(t *testing.T) {
	cases := []struct{ source, want string }{
		{"a: [b", "[1:4] sequence end token ']' not found\n>  1 | a: [b\n          ^\n"},
		{"a: 1\na: 2\n", "[2:1] mapping key \"a\" already defined at [1:1]\n   1 | a: 1\n>  2 | a: 2\n       ^\n"},
		{"a: - b", "[1:4] block sequence entries are not allowed in this context\n>  1 | a: - b\n          ^\n"},
		{"a:\n  - b\n c: d\n", "[3:2] value is not allowed in this context\n   1 | a:\n   2 |   - b\n>  3 |  c: d\n        ^\n"},
		{"a: *", "[1:4] undefined alias name\n>  1 | a: *\n          ^\n"},
	}
	for _, tc := range cases {
		_, err := parser.ParseBytes([]byte(tc.source), 0)
		if err == nil {
			t.Errorf("%q: want an error", tc.source)
			continue
		}
		if got := err.Error(); got != tc.want {
			t.Errorf("%q: want %q, got %q", tc.source, tc.want, got)
		}
	}
}

func TestShouldKeepCommentsWhenTheModeAsksForThem(t *testing.T) {
	source := []byte("# c\na: 1 # one\nb: 2\n# end\n")
	with, err := parser.ParseBytes(source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	without, err := parser.ParseBytes(source, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := with.String(); got != "# c\na: 1 # one\nb: 2\n# end\n" {
		t.Errorf("got %q", got)
	}
	if got := without.String(); got != "a: 1\nb: 2\n" {
		t.Errorf("got %q", got)
	}
}
