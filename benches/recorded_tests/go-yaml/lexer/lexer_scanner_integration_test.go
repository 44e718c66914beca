package lexer_test

import (
	"testing"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

func valuesOf(tokens token.Tokens) []string {
	values := make([]string, 0, len(tokens))
	for _, tk := range tokens {
		values = append(values, tk.Value)
	}
	return values
}

func expectValues(t *testing.T, src string, want ...string) token.Tokens {
	t.Helper()
	tokens := lexer.Tokenize(src)
	got := valuesOf(tokens)
	if len(got) != len(want) {
		t.Fatalf("want %q, got %q", want, got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("token %d: want %q, got %q", i, want[i], got[i])
		}
	}
	return tokens
}

func TestShouldScanKeyAndValueWhenTheSourceIsAMapping(t *testing.T) {
	tokens := expectValues(t, "a: 1\nb: x\n", "a", ":", "1", "b", ":", "x")
	types := []token.Type{
		token.StringType, token.MappingValueType, token.IntegerType,
		token.StringType, token.MappingValueType, token.StringType,
	}
	for i, want := range types {
		if tokens[i].Type != want {
			t.Errorf("token %d: want %s, got %s", i, want, tokens[i].Type)
		}
	}
}

func TestShouldReturnNothingWhenTheSourceIsEmpty(t *testing.T) {
	expectValues(t, "")
}

func TestShouldScanAnEntryForEachDashWhenTheSourceIsASequence(t *testing.T) {
	tokens := expectValues(t, "- 1.5\n- true\n- ~\n", "-", "1.5", "-", "true", "-", "~")
	types := []token.Type{
		token.SequenceEntryType, token.FloatType, token.SequenceEntryType,
		token.BoolType, token.SequenceEntryType, token.NullType,
	}
	for i, want := range types {
		if tokens[i].Type != want {
			t.Errorf("token %d: want %s, got %s", i, want, tokens[i].Type)
		}
	}
}

func TestShouldUnescapeTextWhenItStandsInDoubleQuotes(t *testing.T) {
	tokens := expectValues(t, `"a\tb"`, "a\tb")
	if got := tokens[0].Type; got != token.DoubleQuoteType {
		t.Errorf("want %s, got %s", token.DoubleQuoteType, got)
	}
}

func TestShouldKeepLineBreaksWhenTheScalarIsLiteral(t *testing.T) {
	expectValues(t, "a: |\n  one\n  two\n", "a", ":", "|", "one\ntwo\n")
}

func TestShouldGiveAnInvalidTokenWhenAQuoteIsNotClosed(t *testing.T) {
	tokens := lexer.Tokenize(`a: "b`)
	invalid := tokens.InvalidToken()
	if invalid == nil {
		t.Fatalf("want an invalid token, got %q", valuesOf(tokens))
	}
	if want := "could not find end character of double-quoted text"; invalid.Error != want {
		t.Errorf("want %q, got %q", want, invalid.Error)
	}
}
