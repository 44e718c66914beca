package wrap_test

import (
	"testing"

	"github.com/muesli/reflow/wrap"
)

func TestShouldLeaveTheTextAsItIsWhenItFits(t *testing.T) {
	cases := []struct {
		name, text string
		limit      int
	}{
		{"no limit", "foo bar", 0},
		{"a negative limit", "foo bar", -1},
		{"text as wide as the limit", "foobar", 6},
		{"wide characters", "你好", 4},
		{"characters of several bytes", "äöü", 3},
		{"coloured text", "\x1b[38;2;249;38;114mfoo\x1b[0m", 3},
		{"no text", "", 1},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got := wrap.String(tc.text, tc.limit); got != tc.text {
				t.Errorf("want %q, got %q", tc.text, got)
			}
		})
	}
}

func TestShouldBreakAtTheColumnWhenTheTextIsWider(t *testing.T) {
	cases := []struct {
		name, text string
		limit      int
		want       string
	}{
		{"a limit of one column", "abc", 1, "a\nb\nc"},
		{"one column too many", "foobar", 5, "fooba\nr"},
		{"several lines", "foobarfoo", 3, "foo\nbar\nfoo"},
		{"a wide character at the limit", "a你好", 2, "a\n你\n好"},
		{"line breaks of the text", "foob\nar", 3, "foo\nb\nar"},
		{"an empty line", "foob\n\nar", 3, "foo\nb\n\nar"},
		{"a space at the break", "foo bar", 3, "foo\nbar"},
		{"a space at the start of a line of the text", "foob\n ar", 3, "foo\nb\n ar"},
		{"a space within a line", "a bcd", 3, "a b\ncd"},
		{"a tab of four columns", "a\tbc", 6, "a    b\nc"},
		{"two tabs", "a\tb\tc", 10, "a    b    \nc"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got := wrap.String(tc.text, tc.limit); got != tc.want {
				t.Errorf("want %q, got %q", tc.want, got)
			}
			if got := string(wrap.Bytes([]byte(tc.text), tc.limit)); got != tc.want {
				t.Errorf("want %q, got %q", tc.want, got)
			}
		})
	}
}

func TestShouldUseTheSettingsWhenTheyAreChanged(t *testing.T) {
	cases := []struct {
		name, text string
		change     func(*wrap.Wrap)
		want       string
	}{
		{"spaces are kept", "foo bar", func(w *wrap.Wrap) { w.PreserveSpace = true }, "foo\n ba\nr"},
		{"line breaks are not kept", "a\nb\ncd", func(w *wrap.Wrap) { w.KeepNewlines = false }, "abc\nd"},
		{"tabs are narrower", "a\tbc", func(w *wrap.Wrap) { w.TabWidth = 1 }, "a b\nc"},
		{"another character breaks lines", "a|bcde", func(w *wrap.Wrap) { w.Newline = []rune{'|'} }, "a\nbcd\ne"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			w := wrap.NewWriter(3)
			tc.change(w)
			n, err := w.Write([]byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			if n != len(tc.text) {
				t.Errorf("want %d bytes, got %d", len(tc.text), n)
			}
			if got := w.String(); got != tc.want {
				t.Errorf("want %q, got %q", tc.want, got)
			}
		})
	}
}

func TestShouldGoOnWithTheLineWhenTheTextComesInPieces(t *testing.T) {
	w := wrap.NewWriter(4)
	for _, piece := range []string{"你", "a", "bc", "de"} {
		if _, err := w.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := w.String(), "你ab\ncde"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}
