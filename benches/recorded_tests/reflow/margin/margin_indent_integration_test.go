package margin_test

import (
	"io"
	"testing"

	"github.com/muesli/reflow/margin"
)

func TestShouldIndentEachLineWhenThereIsAMargin(t *testing.T) {
	cases := []struct {
		name, text string
		margin     uint
		want       string
	}{
		{"no margin", "foo\nbar", 0, "foo\nbar"},
		{"a margin of one column", "foo\nbar", 1, " foo\n bar"},
		{"a margin of several columns", "foo\nbar", 3, "   foo\n   bar"},
		{"a line break at the end", "foo\n", 2, "  foo\n"},
		{"an empty line between", "foo\n\nbar", 2, "  foo\n  \n  bar"},
		{"text that is indented already", " foo\n\tbar", 2, "   foo\n  \tbar"},
		{"wide characters", "你好\nä", 2, "  你好\n  ä"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got := margin.String(tc.text, 0, tc.margin); got != tc.want {
				t.Errorf("want %q, got %q", tc.want, got)
			}
		})
	}
}

func TestShouldKeepColoursOutOfTheMarginWhenTheTextHasThem(t *testing.T) {
	cases := []struct {
		name, text, want string
	}{
		{"a colour at the start", "\x1b[31mred", "\x1b[31m\x1b[0m  \x1b[31mred"},
		{"two sequences at the start", "\x1b[1m\x1b[31mred", "\x1b[1m\x1b[31m\x1b[0m  \x1b[1m\x1b[31mred"},
		{"a colour over two lines", "\x1b[31mred\nmore", "\x1b[31m\x1b[0m  \x1b[31mred\x1b[0m\n\x1b[0m  \x1b[31mmore"},
		{"a colour that ends on its line", "a \x1b[31mred\x1b[0m\nplain", "  a \x1b[31mred\x1b[0m\n  plain"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got := margin.String(tc.text, 0, 2); got != tc.want {
				t.Errorf("want %q, got %q", tc.want, got)
			}
		})
	}
}

func TestShouldCountTheMarginAsPartOfTheWidthWhenBothAreGiven(t *testing.T) {
	got := string(margin.Bytes([]byte("foo\nb"), 6, 2))
	want := "  foo \n  b   "
	if got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestShouldReturnNothingWhenTheTextIsEmpty(t *testing.T) {
	if got := margin.String("", 4, 2); got != "" {
		t.Errorf("want nothing, got %q", got)
	}
}

func TestShouldIndentWithTheFunctionWhenOneIsGiven(t *testing.T) {
	w := margin.NewWriter(0, 3, func(w io.Writer) {
		_, _ = w.Write([]byte(">"))
	})
	written, err := w.Write([]byte("foo\nbar"))
	if err != nil {
		t.Fatal(err)
	}
	if want := len(">>>foo\n>>>bar"); written != want {
		t.Errorf("want %d bytes, got %d", want, written)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := w.String(), ">>>foo\n>>>bar"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}
