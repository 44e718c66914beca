package lexer_test

import (
	"testing"

	"github.com/goccy/go-yaml/lexer"
)

func TestShouldLinkEachTokenToItsNeighboursWhenThereAreSeveral(t *testing.T) {
	tokens := lexer.Tokenize("a: [1, 2]\n")
	if len(tokens) != 7 {
		t.Fatalf("want 7 tokens, got %d", len(tokens))
	}
	for i := 1; i < len(tokens); i++ {
		if tokens[i].Prev != tokens[i-1] {
			t.Errorf("token %d: want %q before it", i, tokens[i-1].Value)
		}
		if tokens[i-1].Next != tokens[i] {
			t.Errorf("token %d: want %q behind it", i-1, tokens[i].Value)
		}
	}
}

func TestShouldEndTheLinksWhenATokenIsFirstOrLast(t *testing.T) {
	tokens := lexer.Tokenize("a: b")
	if first := tokens[0]; first.Prev != nil {
		t.Errorf("want nothing before the first, got %q", first.Prev.Value)
	}
	if last := tokens[len(tokens)-1]; last.Next != nil {
		t.Errorf("want nothing behind the last, got %q", last.Next.Value)
	}
}

func TestShouldCountLinesAndColumnsWhenTokensStandOnSeveralLines(t *testing.T) {
	tokens := lexer.Tokenize("a: 1\nbc:\n  - x\n")
	want := []struct {
		value        string
		line, column int
	}{
		{"a", 1, 1}, {":", 1, 2}, {"1", 1, 4}, {"bc", 2, 1}, {":", 2, 3}, {"-", 3, 3}, {"x", 3, 5},
	}
	if len(tokens) != len(want) {
		t.Fatalf("want %d tokens, got %d", len(want), len(tokens))
	}
	for i, one := range want {
		position := tokens[i].Position
		if tokens[i].Value != one.value || position.Line != one.line || position.Column != one.column {
			t.Errorf("want %v, got %q at %d:%d", one, tokens[i].Value, position.Line, position.Column)
		}
	}
}
