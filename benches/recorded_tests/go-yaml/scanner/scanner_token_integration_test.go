package scanner_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"
)

// scanAll scans a source to its end, and fails on an invalid token.
func scanAll(t *testing.T, s *scanner.Scanner, source string) token.Tokens {
	t.Helper()
	s.Init(source)
	var tokens token.Tokens
	for {
		found, err := s.Scan()
		if err == io.EOF {
			return tokens
		}
		if err != nil {
			t.Fatalf("%q: %v", source, err)
		}
		tokens = append(tokens, found...)
	}
}

// withOrigins lists tokens as type, value, origin, line, column and offset.
func withOrigins(tokens token.Tokens) string {
	lines := make([]string, 0, len(tokens))
	for _, tk := range tokens {
		pos := tk.Position
		lines = append(lines, fmt.Sprintf("%s %q %q %d:%d@%d", tk.Type, tk.Value, tk.Origin, pos.Line, pos.Column, pos.Offset))
	}
	return strings.Join(lines, "\n")
}

func TestShouldMakeTokensWithValueOriginAndPlaceWhenTheSourceIsScanned(t *testing.T) {
	cases := []struct {
		name, source string
		want         []string
	}{
		{"a mapping", "a: 1\n\nb : x\n", []string{
			`String "a" "a" 1:1@1`, `MappingValue ":" ":" 1:2@2`, `Integer "1" " 1\n\n" 1:4@4`,
			`String "b" "b " 3:1@7`, `MappingValue ":" ":" 3:3@9`, `String "x" " x" 3:5@11`,
		}},
		{"a sequence", "- a\n-   b\n- - c\n  - d\n", []string{
			`SequenceEntry "-" "-" 1:1@1`, `String "a" " a\n" 1:3@3`, `SequenceEntry "-" "-" 2:1@5`, `String "b" "   b\n" 2:5@9`,
			`SequenceEntry "-" "-" 3:1@11`, `SequenceEntry "-" " -" 3:3@13`, `String "c" " c\n  " 3:5@15`,
			`SequenceEntry "-" "-" 4:3@19`, `String "d" " d" 4:5@21`,
		}},
		{"entries without a value", "-\n- a\n-", []string{
			`SequenceEntry "-" "-" 1:1@1`, `SequenceEntry "-" "\n-" 2:1@3`, `String "a" " a\n" 2:3@5`, `SequenceEntry "-" "-" 3:1@7`,
		}},
		{"flow collections", "{a: [x, {b: y}], c: http://z}\n", []string{
			`MappingStart "{" "{" 1:1@1`, `String "a" "a" 1:2@2`, `MappingValue ":" ":" 1:3@3`,
			`SequenceStart "[" " [" 1:5@5`, `String "x" "x" 1:6@6`, `CollectEntry "," "," 1:7@7`,
			`MappingStart "{" " {" 1:9@9`, `String "b" "b" 1:10@10`, `MappingValue ":" ":" 1:11@11`, `String "y" " y" 1:13@13`,
			`MappingEnd "}" "}" 1:14@14`, `SequenceEnd "]" "]" 1:15@15`, `CollectEntry "," "," 1:16@16`,
			`String "c" " c" 1:18@18`, `MappingValue ":" ":" 1:19@19`, `String "http://z" " http://z" 1:21@21`,
			`MappingEnd "}" "}" 1:29@29`,
		}},
		{"a flow collection over several lines", "a: [\n  x,\n  y\n]\nb: 1\n", []string{
			`String "a" "a" 1:1@1`, `MappingValue ":" ":" 1:2@2`, `SequenceStart "[" " [" 1:4@4`,
			`String "x" "\n  x" 2:3@8`, `CollectEntry "," "," 2:4@9`, `String "y" "\n  y\n" 3:3@13`, `SequenceEnd "]" "]" 4:1@15`,
			`String "b" "\nb" 5:1@17`, `MappingValue ":" ":" 5:2@18`, `Integer "1" " 1" 5:4@20`,
		}},
		{"flow characters in plain text", "a: b{c}[d], e\n", []string{
			`String "a" "a" 1:1@1`, `MappingValue ":" ":" 1:2@2`, `String "b{c}[d], e" " b{c}[d], e" 1:4@4`,
		}},
		{"anchors, aliases and merge keys", "a: &x 1\n<<: [*x, *y]\n", []string{
			`String "a" "a" 1:1@1`, `MappingValue ":" ":" 1:2@2`, `Anchor "&" " &" 1:4@4`, `String "x" "x" 1:5@5`, `Integer "1" " 1\n" 1:7@7`,
			`MergeKey "<<" "<<" 2:1@9`, `MappingValue ":" ":" 2:3@11`, `SequenceStart "[" " [" 2:5@13`,
			`Alias "*" "*" 2:6@14`, `String "x" "x" 2:7@15`, `CollectEntry "," "," 2:8@16`,
			`Alias "*" " *" 2:10@18`, `String "y" "y" 2:11@19`, `SequenceEnd "]" "]" 2:12@20`,
		}},
		{"tags", "[!!str a, !x b]", []string{
			`SequenceStart "[" "[" 1:1@1`, `Tag "!!str" "!!str " 1:2@2`, `String "a" "a" 1:7@7`, `CollectEntry "," "," 1:8@8`,
			`Tag "!x" " !x " 1:10@10`, `String "b" "b" 1:12@12`, `SequenceEnd "]" "]" 1:13@13`,
		}},
		{"documents", "--- a\n...\n---\nb\n---\n", []string{
			`DocumentHeader "---" "---" 1:1@1`, `String "a" " a\n" 1:5@5`, `DocumentEnd "..." "..." 2:1@7`,
			`DocumentHeader "---" "\n---" 3:1@11`, `String "b" "\nb\n" 4:1@15`, `DocumentHeader "---" "---" 5:1@17`,
		}},
		{"separators within text", "---a: ---\nb:\n  ---\nc: ...\n", []string{
			`String "---a" "---a" 1:1@1`, `MappingValue ":" ":" 1:5@5`, `String "---" " ---\n" 1:7@7`,
			`String "b" "b" 2:1@11`, `MappingValue ":" ":" 2:2@12`, `String "---" "\n  ---\n" 3:3@16`,
			`String "c" "c" 4:1@20`, `MappingValue ":" ":" 4:2@21`, `String "..." " ..." 4:4@23`,
		}},
		{"a document behind indented text", "a:\n  b:\n    c: 1\n---\nd:\n  e: 2\n", []string{
			`String "a" "a" 1:1@1`, `MappingValue ":" ":" 1:2@2`, `String "b" "\n  b" 2:3@6`, `MappingValue ":" ":" 2:4@7`,
			`String "c" "\n    c" 3:5@13`, `MappingValue ":" ":" 3:6@14`, `Integer "1" " 1\n" 3:8@16`,
			`DocumentHeader "---" "---" 4:1@18`, `String "d" "\nd" 5:1@22`, `MappingValue ":" ":" 5:2@23`,
			`String "e" "\n  e" 6:3@27`, `MappingValue ":" ":" 6:4@28`, `Integer "2" " 2" 6:6@30`,
		}},
		{"a directive", "%TAG ! tag:x,2000:\n---\n", []string{
			`Directive "%" "%" 1:1@1`, `String "TAG" "TAG" 1:2@2`, `String "!" " !" 1:6@6`, `String "tag:x,2000:" " tag:x,2000:" 1:8@8`,
			`DocumentHeader "---" "\n---" 2:1@20`,
		}},
		{"complex keys", "? - a\n: - b\n? c: 1\n: d\n", []string{
			`MappingKey "?" "?" 1:1@1`, `SequenceEntry "-" " -" 1:3@3`, `String "a" " a\n" 1:5@5`,
			`MappingValue ":" ":" 2:1@7`, `SequenceEntry "-" " -" 2:3@9`, `String "b" " b\n" 2:5@11`,
			`MappingKey "?" "?" 3:1@13`, `String "c" " c" 3:3@15`, `MappingValue ":" ":" 3:4@16`, `Integer "1" " 1\n" 3:6@18`,
			`MappingValue ":" ":" 4:1@20`, `String "d" " d" 4:3@22`,
		}},
		{"single quotes", "'a''b': ''\nc: 'é\n  f  \n\n  g'\nh: 1\n", []string{
			`SingleQuote "a'b" "'a''b'" 1:1@1`, `MappingValue ":" ":" 1:7@7`, `SingleQuote "" " ''" 1:9@9`,
			`String "c" "\nc" 2:1@12`, `MappingValue ":" ":" 2:2@13`, `SingleQuote "é f\ng" " 'é\n  f  \n\n  g'" 2:4@15`,
			`String "h" "\nh" 6:1@30`, `MappingValue ":" ":" 6:2@31`, `Integer "1" " 1" 6:4@33`,
		}},
		{"double quotes", "\"a b\": \"\"\nc: \"é\n  f  \n\n  g\"\nh: 1\n", []string{
			`DoubleQuote "a b" "\"a b\"" 1:1@1`, `MappingValue ":" ":" 1:6@6`, `DoubleQuote "" " \"\"" 1:8@8`,
			`String "c" "\nc" 2:1@11`, `MappingValue ":" ":" 2:2@12`, `DoubleQuote "é f\ng" " \"é\n  f  \n\n  g\"" 2:4@14`,
			`String "h" "\nh" 6:1@29`, `MappingValue ":" ":" 6:2@30`, `Integer "1" " 1" 6:4@32`,
		}},
		{"escaped line breaks in double quotes", "\"a\\\n  b\": \"c \\\n  \\ d\"\n", []string{
			`DoubleQuote "ab" "\"a\\\n  b\"" 1:1@1`, `MappingValue ":" ":" 2:5@9`, `DoubleQuote "c  d" " \"c \\\n  \\ d\"" 2:7@11`,
		}},
		{"a tab in single quotes", "- 'a\tb'\n- c\n", []string{
			`SequenceEntry "-" "-" 1:1@1`, `SingleQuote "a\tb" " 'a\tb'" 1:3@3`,
			`SequenceEntry "-" "\n-" 2:1@9`, `String "c" " c" 2:3@11`,
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			var s scanner.Scanner
			if got, want := withOrigins(scanAll(t, &s, tc.source)), strings.Join(tc.want, "\n"); got != want {
				t.Errorf("%q\nwant:\n%s\ngot:\n%s", tc.source, want, got)
			}
		})
	}
}

func TestShouldReplaceEachEscapeWhenItStandsInDoubleQuotes(t *testing.T) {
	cases := []struct{ escape, want string }{
		{`\0`, "\x00"}, {`\a`, "\a"}, {`\b`, "\b"}, {`\t`, "\t"}, {"\\\t", "\t"}, {`\n`, "\n"}, {`\v`, "\v"}, {`\f`, "\f"},
		{`\r`, "\r"}, {`\e`, "\x1b"}, {`\ `, " "}, {`\"`, `"`}, {`\/`, "/"}, {`\\`, `\`},
		{`\N`, "\u0085"}, {`\_`, "\u00a0"}, {`\L`, "\u2028"}, {`\P`, "\u2029"},
		{`\x41`, "A"}, {`\u00e4`, "ä"}, {`\u4F60`, "你"}, {`\U0001F600`, "😀"}, {`\uD83D\uDE00`, "😀"},
	}
	for _, tc := range cases {
		source := `"y` + tc.escape + `z": 1`
		behind := len(source) - len(": 1") + 1
		want := fmt.Sprintf("DoubleQuote %q 1:1, MappingValue \":\" 1:%d, Integer \"1\" 1:%d", "y"+tc.want+"z", behind, behind+2)
		var s scanner.Scanner
		var words []string
		for _, tk := range scanAll(t, &s, source) {
			words = append(words, fmt.Sprintf("%s %q %d:%d", tk.Type, tk.Value, tk.Position.Line, tk.Position.Column))
		}
		if got := strings.Join(words, ", "); got != want {
			t.Errorf("%s\nwant %s\ngot  %s", source, want, got)
		}
	}
}

func TestShouldKeepTheEscapeInTheOriginWhenItIsReplaced(t *testing.T) {
	for _, escape := range []string{
		`\0`, `\a`, `\b`, `\t`, "\\\t", `\n`, `\v`, `\f`, `\r`, `\e`, `\ `, `\"`, `\/`, `\\`, `\N`, `\_`, `\L`, `\P`, "\\\n", "\\\r\n",
	} {
		source := `"y` + escape + `z"`
		var s scanner.Scanner
		tokens := scanAll(t, &s, source)
		if len(tokens) != 1 {
			t.Errorf("%q: want 1 token, got\n%s", source, withOrigins(tokens))
			continue
		}
		if got := tokens[0].Origin; got != source {
			t.Errorf("want %q, got %q", source, got)
		}
	}
}

func TestShouldCountTheIndentOfEachTokenWhenLinesAreIndented(t *testing.T) {
	source := "a:\n    b:\n      - 1\n      - c: 2\n    d: 3\ne: 4\n"
	want := `String "a" 0 0
MappingValue ":" 0 0
String "b" 4 1
MappingValue ":" 4 1
SequenceEntry "-" 6 2
Integer "1" 6 2
SequenceEntry "-" 6 2
String "c" 6 2
MappingValue ":" 6 2
Integer "2" 6 2
String "d" 4 1
MappingValue ":" 4 1
Integer "3" 4 1
String "e" 0 0
MappingValue ":" 0 0
Integer "4" 0 0`
	var s scanner.Scanner
	var lines []string
	for _, tk := range scanAll(t, &s, source) {
		lines = append(lines, fmt.Sprintf("%s %q %d %d", tk.Type, tk.Value, tk.Position.IndentNum, tk.Position.IndentLevel))
	}
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("want:\n%s\ngot:\n%s", want, got)
	}
}

func TestShouldReadHeaderCommentAndTextWhenAScalarIsABlock(t *testing.T) {
	cases := []struct {
		name, source string
		want         []string
	}{
		{"literal", "a: |\n  one\n  two\nb: 1\n", []string{
			`1:1 String "a" "a"`, `1:2 MappingValue ":" ":"`, `1:4 Literal "|" " |\n"`, `text "one\ntwo\n" "  one\n  two\n"`,
			`4:1 String "b" "b"`, `4:2 MappingValue ":" ":"`, `4:4 Integer "1" " 1"`,
		}},
		{"literal at the end", "a: |+\n  one\n  two\n", []string{
			`1:1 String "a" "a"`, `1:2 MappingValue ":" ":"`, `1:4 Literal "|+" " |+\n"`, `text "one\ntwo\n" "  one\n  two\n"`,
		}},
		{"folded with the indent", "a: >2-\n   one\n  two\nb: 1\n", []string{
			`1:1 String "a" "a"`, `1:2 MappingValue ":" ":"`, `1:4 Folded ">2-" " >2-\n"`, `text " one\ntwo" "   one\n  two\n"`,
			`4:1 String "b" "b"`, `4:2 MappingValue ":" ":"`, `4:4 Integer "1" " 1"`,
		}},
		{"a comment behind the header", "a: |- # note\n  one\nb: 1\n", []string{
			`1:1 String "a" "a"`, `1:2 MappingValue ":" ":"`, `1:4 Literal "|-" " |- "`, `1:8 Comment " note" "# note\n"`,
			`text "one" "  one\n"`, `3:1 String "b" "b"`, `3:2 MappingValue ":" ":"`, `3:4 Integer "1" " 1"`,
		}},
		{"no text", "a: >\nb: 1\n", []string{
			`1:1 String "a" "a"`, `1:2 MappingValue ":" ":"`, `1:4 Folded ">" " >\n"`, `text "" ""`,
			`2:1 String "b" "b"`, `2:2 MappingValue ":" ":"`, `2:4 Integer "1" " 1"`,
		}},
		{"a document behind", "a: |\n  one\n---\nb\n", []string{
			`1:1 String "a" "a"`, `1:2 MappingValue ":" ":"`, `1:4 Literal "|" " |\n"`, `text "one\n" "  one\n"`,
			`3:1 DocumentHeader "---" "---"`, `4:1 String "b" "\nb"`,
		}},
		{"line breaks of two characters", "a: |\r\n  one\r\n  two\r\nb: 1\n", []string{
			`1:1 String "a" "a"`, `1:2 MappingValue ":" ":"`, `1:4 Literal "|" " |\r\n"`, `text "one\ntwo\n" "  one\r\n  two\r\n"`,
			`4:1 String "b" "b"`, `4:2 MappingValue ":" ":"`, `4:4 Integer "1" " 1"`,
		}},
		{"in a sequence", "- |\n  one\n- >\n  two\n  three\n- b\n", []string{
			`1:1 SequenceEntry "-" "-"`, `1:3 Literal "|" " |\n"`, `text "one\n" "  one\n"`,
			`3:1 SequenceEntry "-" "-"`, `3:3 Folded ">" " >\n"`, `text "two three\n" "  two\n  three\n"`,
			`6:1 SequenceEntry "-" "-"`, `6:3 String "b" " b"`,
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			var s scanner.Scanner
			var lines []string
			isInBlock := false
			for _, tk := range scanAll(t, &s, tc.source) {
				place := fmt.Sprintf("%d:%d %s", tk.Position.Line, tk.Position.Column, tk.Type)
				switch {
				case tk.Type == token.LiteralType || tk.Type == token.FoldedType:
					isInBlock = true
				case isInBlock && tk.Type == token.StringType:
					// Nothing says whether the text begins at its first or last line.
					place, isInBlock = "text", false
				}
				lines = append(lines, fmt.Sprintf("%s %q %q", place, tk.Value, tk.Origin))
			}
			if got, want := strings.Join(lines, "\n"), strings.Join(tc.want, "\n"); got != want {
				t.Errorf("%q\nwant:\n%s\ngot:\n%s", tc.source, want, got)
			}
		})
	}
}

func TestShouldFailWithTheInvalidTokenWhenTheSourceIsWrong(t *testing.T) {
	cases := []struct{ name, source, reason, origin, place string }{
		{"an open single quote", "a: 'b", "could not find end character of single-quoted text", " 'b", "1:4"},
		{"an open double quote", "a: 1\nb: \"c\\td", "could not find end character of double-quoted text", " \"c\\td", "2:4"},
		{"a reserved character", "a: @b", "'@' is a reserved character", " @", "1:4"},
		{"another reserved character", "`a", "'`' is a reserved character", "`", "1:1"},
		{"a tab as the indent", "a:\n\tb: 1", "found character '\t' that cannot start any token", "\n\t", "2:1"},
		{"a tab before a key", "\ta: 1", "tab character cannot use as a map key directly", "\ta", "1:2"},
		{"a tab before an entry", "\t- a", "tab character cannot use as a sequence delimiter", "\t", "1:1"},
		{"a tab as the indent of single-quoted text", "- 'a\n\tb'", "tab character cannot be used for indentation in single-quoted text", " 'a\n\t", "2:1"},
		{"a tab as the indent of double-quoted text", "- \"a\n\tb\"", "tab character cannot be used for indentation in double-quoted text", " \"a\n\t", "2:1"},
		{"a tab as the indent of a block", "a: |\n\tb\n", "found a tab character where an indentation space is expected", "\t", "2:1"},
		{"a header with a letter", "a: |x\n b", `invalid header option: "x"`, " |x\n", "1:4"},
		{"a header with no indent", "a: >0\n b", `invalid header option: "0"`, " >0\n", "1:4"},
		{"a header with a large indent", "a: |10-\n b", `invalid header option: "10-"`, " |10-\n", "1:4"},
		{"less indent than the header says", "a: |2\n x\n", "invalid number of indent is specified in the multi-line header", " x", "2:2"},
		{"less indent than the spaces before", "a: |\n    \n  x\n", "invalid number of indent is specified after space only", "    \n  x", "3:3"},
		{"a block without text", "|\na", "could not find multi-line content", "", "2:1"},
		{"a brace in a tag", "a: !{x}", "found invalid tag character '{'", " !{", "1:5"},
		{"an unknown escape", `a: "\q"`, "found unknown escape character 'q'", ` "\`, "1:6"},
		{"a short escape of four digits", `"\u12"`, "not enough length for escaped UTF-16 character", `"\`, "1:2"},
		{"a short escape of eight digits", `"\U0001"`, "not enough length for escaped UTF-32 character", `"\`, "1:2"},
		{"a half of a pair at the end", `"\uD800"`, "not enough length for escaped UTF-16 surrogate pair", `"\`, "1:2"},
		{"a half of a pair before text", `"\uD800abcdefg"`, "found unexpected character after high surrogate for UTF-16 surrogate pair", `"\`, "1:2"},
		{"a half of a pair before another escape", `"\uD800\u0041"`, "found unexpected low surrogate after high surrogate", `"\`, "1:2"},
		{"a document in single quotes", "'a\n---\nb'", "found unexpected document separator", "'a\n", "2:1"},
		{"the end of a document in double quotes", "\"a\n...\nb\"", "found unexpected document separator", "\"a\n", "2:1"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			var s scanner.Scanner
			s.Init(tc.source)
			tokens, err := s.Scan()
			var invalid *scanner.InvalidTokenError
			if !errors.As(err, &invalid) {
				t.Fatalf("want an invalid token, got %v", err)
			}
			if len(tokens) == 0 || tokens[len(tokens)-1] != invalid.Token {
				t.Errorf("want the invalid token at the end of\n%s", withOrigins(tokens))
			}
			tk := invalid.Token
			if err.Error() != tc.reason || tk.Error != tc.reason {
				t.Errorf("want %q, got %q and %q", tc.reason, err.Error(), tk.Error)
			}
			if tk.Type != token.InvalidType || tk.Value != tc.origin || tk.Origin != tc.origin {
				t.Errorf("want Invalid %q, got %s %q from %q", tc.origin, tk.Type, tk.Value, tk.Origin)
			}
			if got := fmt.Sprintf("%d:%d", tk.Position.Line, tk.Position.Column); got != tc.place {
				t.Errorf("want it at %s, got %s", tc.place, got)
			}
		})
	}
}

func TestShouldScanTheRestWhenATokenIsInvalid(t *testing.T) {
	cases := []struct {
		source string
		want   []string
	}{
		{"a: @b\nc: 1", []string{
			`String "b" "b\n" 1:5@5`, `String "c" "c" 2:1@7`, `MappingValue ":" ":" 2:2@8`, `Integer "1" " 1" 2:4@10`,
		}},
		{"'a\n---\nb", []string{`DocumentHeader "---" "---" 2:1@4`, `String "b" "\nb" 3:1@8`}},
		{`"\q`, []string{`String "q" "q" 1:3@3`}},
	}
	for _, tc := range cases {
		var s scanner.Scanner
		s.Init(tc.source)
		if _, err := s.Scan(); err == nil {
			t.Errorf("%q: want an error", tc.source)
		}
		tokens, err := s.Scan()
		if err != nil {
			t.Errorf("%q: %v", tc.source, err)
		}
		if got, want := withOrigins(tokens), strings.Join(tc.want, "\n"); got != want {
			t.Errorf("%q\nwant:\n%s\ngot:\n%s", tc.source, want, got)
		}
		if _, err := s.Scan(); err != io.EOF {
			t.Errorf("%q: want %v, got %v", tc.source, io.EOF, err)
		}
	}
}

func TestShouldBeginAnewWhenTheScannerIsGivenAnotherSource(t *testing.T) {
	want := `String "b" "b" 1:1@1
MappingValue ":" ":" 1:2@2
SequenceEntry "-" "\n  -" 2:3@6
String "c" " c" 2:5@8`
	for _, before := range []string{"", "a", "a:\n    x:\n      - y", "- - - a", "# c\n"} {
		var s scanner.Scanner
		scanAll(t, &s, before)
		tokens := scanAll(t, &s, "b:\n  - c\n")
		if got := withOrigins(tokens); got != want {
			t.Errorf("behind %q\nwant:\n%s\ngot:\n%s", before, want, got)
		}
		for i, level := range []int{0, 0, 1, 1} {
			if got := tokens[i].Position.IndentLevel; got != level {
				t.Errorf("behind %q: token %d: want level %d, got %d", before, i, level, got)
			}
		}
	}
}
