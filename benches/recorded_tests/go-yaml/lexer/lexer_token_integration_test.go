package lexer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// chained checks that tokens are linked in their order, and writes each as type, kind of character, kind of
// indicator and value.
func chained(t *testing.T, source string, tokens token.Tokens) string {
	t.Helper()
	lines := make([]string, 0, len(tokens))
	for i, tk := range tokens {
		var before, behind *token.Token
		previousType, nextType := token.UnknownType, token.UnknownType
		if i > 0 {
			before, previousType = tokens[i-1], tokens[i-1].Type
		}
		if i+1 < len(tokens) {
			behind, nextType = tokens[i+1], tokens[i+1].Type
		}
		if tk.Prev != before || tk.Next != behind {
			t.Errorf("%q: token %d: want the tokens before and behind it, got %v and %v", source, i, tk.Prev, tk.Next)
		}
		if tk.PreviousType() != previousType || tk.NextType() != nextType {
			t.Errorf("%q: token %d: want %s before and %s behind, got %s and %s", source, i, previousType, nextType, tk.PreviousType(), tk.NextType())
		}
		lines = append(lines, fmt.Sprintf("%s %s %s %q", tk.Type, tk.CharacterType, tk.Indicator, tk.Value))
	}
	return strings.Join(lines, "\n")
}

func TestShouldLinkTokensOfEachKindWhenThereAreSeveral(t *testing.T) {
	cases := []struct {
		name, source string
		want         []string
	}{
		{"nothing", "", nil},
		{"mappings and sequences", "a: 1\n? b\n: - -1.5\n  - true\n", []string{
			`String Miscellaneous NotIndicator "a"`, `MappingValue Indicator BlockStructure ":"`, `Integer Miscellaneous NotIndicator "1"`,
			`MappingKey Indicator BlockStructure "?"`, `String Miscellaneous NotIndicator "b"`, `MappingValue Indicator BlockStructure ":"`,
			`SequenceEntry Indicator BlockStructure "-"`, `Float Miscellaneous NotIndicator "-1.5"`,
			`SequenceEntry Indicator BlockStructure "-"`, `Bool Miscellaneous NotIndicator "true"`,
		}},
		{"flow collections", "{a: [0x1F, null]}", []string{
			`MappingStart Indicator FlowCollection "{"`, `String Miscellaneous NotIndicator "a"`, `MappingValue Indicator BlockStructure ":"`,
			`SequenceStart Indicator FlowCollection "["`, `HexInteger Miscellaneous NotIndicator "0x1F"`, `CollectEntry Indicator FlowCollection ","`,
			`Null Miscellaneous NotIndicator "null"`, `SequenceEnd Indicator FlowCollection "]"`, `MappingEnd Indicator FlowCollection "}"`,
		}},
		{"anchors, aliases, merge keys and tags", "a: &x !!int 017\n<<: *x\nb: !foo 0b11\n", []string{
			`String Miscellaneous NotIndicator "a"`, `MappingValue Indicator BlockStructure ":"`, `Anchor Indicator NodeProperty "&"`,
			`String Miscellaneous NotIndicator "x"`, `Tag Indicator NodeProperty "!!int"`, `OctetInteger Miscellaneous NotIndicator "017"`,
			`MergeKey Miscellaneous NotIndicator "<<"`, `MappingValue Indicator BlockStructure ":"`, `Alias Indicator NodeProperty "*"`,
			`String Miscellaneous NotIndicator "x"`, `String Miscellaneous NotIndicator "b"`, `MappingValue Indicator BlockStructure ":"`,
			`Tag Indicator NodeProperty "!foo"`, `String Miscellaneous NotIndicator "0b11"`,
		}},
		{"quoted text and blocks", "- 'a'\n- \"1\"\n- |-\n  2\n- >\n  .inf\n", []string{
			`SequenceEntry Indicator BlockStructure "-"`, `SingleQuote Indicator QuotedScalar "a"`,
			`SequenceEntry Indicator BlockStructure "-"`, `DoubleQuote Indicator QuotedScalar "1"`,
			`SequenceEntry Indicator BlockStructure "-"`, `Literal Indicator BlockScalar "|-"`, `String Miscellaneous NotIndicator "2"`,
			`SequenceEntry Indicator BlockStructure "-"`, `Folded Indicator BlockScalar ">"`, `String Miscellaneous NotIndicator ".inf\n"`,
		}},
		{"documents and comments", "%YAML 1.2\n--- # c\n~\n...\n", []string{
			`Directive Indicator Directive "%"`, `String Miscellaneous NotIndicator "YAML"`, `Float Miscellaneous NotIndicator "1.2"`,
			`DocumentHeader Miscellaneous NotIndicator "---"`, `Comment Indicator Comment " c"`, `Null Miscellaneous NotIndicator "~"`,
			`DocumentEnd Miscellaneous NotIndicator "..."`,
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got, want := chained(t, tc.source, lexer.Tokenize(tc.source)), strings.Join(tc.want, "\n"); got != want {
				t.Errorf("%q\nwant:\n%s\ngot:\n%s", tc.source, want, got)
			}
		})
	}
}

func TestShouldTellTheTypeOfATokenThatStandsAloneWhenItIsAScalar(t *testing.T) {
	for want, sources := range map[token.Type][]string{
		token.NullType:          {"null", "Null", "NULL", "~"},
		token.BoolType:          {"true", "True", "TRUE", "false", "False", "FALSE"},
		token.IntegerType:       {"0", "1", "-1", "+12", "1_000", "18446744073709551615", "-9223372036854775808"},
		token.HexIntegerType:    {"0x1F", "-0xff", "0x_1"},
		token.OctetIntegerType:  {"0o17", "017", "-0o7"},
		token.BinaryIntegerType: {"0b101", "-0b1"},
		token.FloatType:         {"1.5", "-.5", "+1.", "1.5e3", "1_0.5"},
		token.InfinityType:      {".inf", ".Inf", ".INF", "-.inf", "-.Inf", "-.INF"},
		token.NanType:           {".nan", ".NaN", ".NAN"},
		token.StringType:        {"a", "1 2", "1.2.3", "_1", "0x1G", "0o8", "0b2", "08", "nul", "yes", "2001-01-01", "18446744073709551616"},
	} {
		for _, source := range sources {
			tokens := lexer.Tokenize(source)
			line := fmt.Sprintf("%s Miscellaneous NotIndicator %q", want, source)
			if got := chained(t, source, tokens); got != line {
				t.Errorf("want %s, got %s", line, got)
			}
		}
	}
}

func TestShouldLinkWhatFollowsAnInvalidTokenWhenThereIsOne(t *testing.T) {
	cases := []struct {
		source  string
		invalid int
		want    []string
	}{
		{"a: @b\nc: 1", 2, []string{
			`String Miscellaneous NotIndicator "a"`, `MappingValue Indicator BlockStructure ":"`, `Invalid  NotIndicator " @"`,
			`String Miscellaneous NotIndicator "b"`, `String Miscellaneous NotIndicator "c"`, `MappingValue Indicator BlockStructure ":"`,
			`Integer Miscellaneous NotIndicator "1"`,
		}},
		{"- -0b1\n- @a\n- `b\n", 3, []string{
			`SequenceEntry Indicator BlockStructure "-"`, `BinaryInteger Miscellaneous NotIndicator "-0b1"`,
			`SequenceEntry Indicator BlockStructure "-"`, `Invalid  NotIndicator " @"`, `String Miscellaneous NotIndicator "a"`,
			`SequenceEntry Indicator BlockStructure "-"`, "Invalid  NotIndicator \" `\"", `String Miscellaneous NotIndicator "b"`,
		}},
		{"[1.5, 'b", 3, []string{
			`SequenceStart Indicator FlowCollection "["`, `Float Miscellaneous NotIndicator "1.5"`, `CollectEntry Indicator FlowCollection ","`,
			`Invalid  NotIndicator " 'b"`,
		}},
		{"a: 'b'", -1, []string{
			`String Miscellaneous NotIndicator "a"`, `MappingValue Indicator BlockStructure ":"`, `SingleQuote Indicator QuotedScalar "b"`,
		}},
	}
	for _, tc := range cases {
		tokens := lexer.Tokenize(tc.source)
		if got, want := chained(t, tc.source, tokens), strings.Join(tc.want, "\n"); got != want {
			t.Errorf("%q\nwant:\n%s\ngot:\n%s", tc.source, want, got)
			continue
		}
		var want *token.Token
		if tc.invalid >= 0 {
			want = tokens[tc.invalid]
		}
		if got := tokens.InvalidToken(); got != want {
			t.Errorf("%q: want %v as the first that is invalid, got %v", tc.source, want, got)
		}
	}
}
