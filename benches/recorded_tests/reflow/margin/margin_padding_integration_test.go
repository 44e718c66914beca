package margin_test

import (
	"io"
	"testing"

	"github.com/muesli/reflow/margin"
)

func TestShouldPadEachLineToTheWidthWhenThereIsNoMargin(t *testing.T) {
	cases := []struct {
		name, text string
		width      uint
		want       string
	}{
		{"no width", "foo\nfoobar\n", 0, "foo\nfoobar\n"},
		{"lines of several lengths", "foo\nfoobar\n", 8, "foo     \nfoobar  \n"},
		{"a last line without a line break", "foo\nba", 4, "foo \nba  "},
		{"a line as wide as the width", "foo\nba", 3, "foo\nba "},
		{"a line that is wider than the width", "foobar\nx", 4, "foobar\nx   "},
		{"an empty line between", "a\n\nb", 2, "a \n  \nb "},
		{"characters of two columns", "你好\nab", 5, "你好 \nab   "},
		{"characters of several bytes", "äö\nß", 3, "äö \nß  "},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got := margin.String(tc.text, tc.width, 0); got != tc.want {
				t.Errorf("want %q, got %q", tc.want, got)
			}
		})
	}
}

func TestShouldPadTheLastLineWhenItHasNoLineBreak(t *testing.T) {
	got := margin.String("foo", 5, 1)
	want := " foo "
	if got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestShouldNotCountColoursWhenTheWidthIsMeasured(t *testing.T) {
	cases := []struct {
		name, text, want string
	}{
		{"a colour that ends on its line", "a\x1b[31mb\x1b[0m\ncd", "a\x1b[31mb\x1b[0m   \ncd   "},
		{"a colour that stays open at the line break", "a\x1b[31mb\n", "a\x1b[31mb   \x1b[0m\n"},
		{"a colour that stays open at the end", "a\x1b[38;2;1;2;3mb", "a\x1b[38;2;1;2;3mb   "},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got := margin.String(tc.text, 5, 0); got != tc.want {
				t.Errorf("want %q, got %q", tc.want, got)
			}
		})
	}
}

func TestShouldPadWithTheFunctionWhenOneIsGiven(t *testing.T) {
	w := margin.NewWriter(6, 0, func(w io.Writer) {
		_, _ = w.Write([]byte("."))
	})
	if _, err := w.Write([]byte("foo\nlonger\n")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := "foo...\nlonger\n"
	if got := w.String(); got != want {
		t.Errorf("want %q, got %q", want, got)
	}
	if got := string(w.Bytes()); got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestShouldHaveNoResultWhenTheWriterIsNotClosed(t *testing.T) {
	w := margin.NewWriter(6, 1, nil)
	if _, err := w.Write([]byte("foo")); err != nil {
		t.Fatal(err)
	}
	if got := w.String(); got != "" {
		t.Errorf("want nothing, got %q", got)
	}
}

func TestShouldAddNothingWhenTheWriterIsClosedAgain(t *testing.T) {
	w := margin.NewWriter(6, 1, nil)
	if _, err := w.Write([]byte("foo\nba")); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < 2; i++ {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got, want := w.String(), " foo  \n ba   "; got != want {
			t.Errorf("close %d: want %q, got %q", i+1, want, got)
		}
	}
}
