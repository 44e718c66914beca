package lexer_test

import (
	"testing"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

func TestShouldLinkEachTokenToItsNeighboursWhenThereAreSeveral(t *testing.T) {
	cases := []struct {
		name, source string
		want         int
	}{
		{"a flow sequence", "a: [1, 2]\n", 7},
		{"several lines", "a: 1\nb:\n  - x\n  - y\n", 9},
		{"several documents", "a\n---\nb\n...\n", 4},
		{"an invalid token in the middle", "a: @b\nc: 1", 7},
		{"two invalid tokens", "- @a\n- `b\n", 6},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			tokens := lexer.Tokenize(tc.source)
			if len(tokens) != tc.want {
				t.Fatalf("want %d tokens, got %d", tc.want, len(tokens))
			}
			for i := 1; i < len(tokens); i++ {
				if tokens[i].Prev != tokens[i-1] {
					t.Errorf("token %d: want %q before it", i, tokens[i-1].Value)
				}
				if tokens[i-1].Next != tokens[i] {
					t.Errorf("token %d: want %q behind it", i-1, tokens[i].Value)
				}
				if got, want := tokens[i].PreviousType(), tokens[i-1].Type; got != want {
					t.Errorf("token %d: want %s before it, got %s", i, want, got)
				}
				if got, want := tokens[i-1].NextType(), tokens[i].Type; got != want {
					t.Errorf("token %d: want %s behind it, got %s", i-1, want, got)
				}
			}
		})
	}
}

func TestShouldEndTheLinksWhenATokenIsFirstOrLast(t *testing.T) {
	for source, want := range map[string]int{"a": 1, "a: b": 3, "a: 'b": 3} {
		tokens := lexer.Tokenize(source)
		if len(tokens) != want {
			t.Fatalf("%q: want %d tokens, got %d", source, want, len(tokens))
		}
		first, last := tokens[0], tokens[len(tokens)-1]
		if first.Prev != nil || first.PreviousType() != token.UnknownType {
			t.Errorf("%q: want nothing before the first, got %s", source, first.PreviousType())
		}
		if last.Next != nil || last.NextType() != token.UnknownType {
			t.Errorf("%q: want nothing behind the last, got %s", source, last.NextType())
		}
	}
}

func TestShouldFindTheFirstInvalidTokenWhenThereIsOne(t *testing.T) {
	tokens := lexer.Tokenize("- @a\n- `b\n")
	if len(tokens) != 6 {
		t.Fatalf("want 6 tokens, got %d", len(tokens))
	}
	if found := tokens.InvalidToken(); found != tokens[1] {
		t.Errorf("want %q, got %v", tokens[1].Value, found)
	}
	valid := lexer.Tokenize("a: 'b'")
	if len(valid) != 3 {
		t.Errorf("want 3 tokens, got %d", len(valid))
	}
	if found := valid.InvalidToken(); found != nil {
		t.Errorf("want none, got %q", found.Value)
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
