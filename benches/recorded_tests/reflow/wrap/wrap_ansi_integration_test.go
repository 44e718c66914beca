package wrap_test

import (
	"testing"

	"github.com/muesli/reflow/wrap"
)

func TestShouldNotCountASequenceWhenALetterEndsIt(t *testing.T) {
	for _, sequence := range []string{
		"\x1b[0m", "\x1b[38;5;196m", "\x1b[2K", "\x1b[10;20H", "\x1b[?25l", "\x1b[3A", "\x1b[3Z", "\x1b[3a", "\x1b[3z", "\x1b[3@",
	} {
		want := "f" + sequence + "oo\nbar"
		if got := wrap.String("f"+sequence+"oobar", 3); got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}

func TestShouldKeepTheColourOverTheBreakWhenItIsOpen(t *testing.T) {
	cases := []struct {
		name, text, want string
	}{
		{"a colour around all", "\x1b[31mfoobar\x1b[0m", "\x1b[31mfoo\nbar\x1b[0m"},
		{"a colour at the break", "foo\x1b[31mbar\x1b[0m", "foo\x1b[31m\nbar\x1b[0m"},
		{"a colour behind a line break", "a\n\x1b[31mfoob\x1b[0m", "a\n\x1b[31mfoo\nb\x1b[0m"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got := wrap.String(tc.text, 3); got != tc.want {
				t.Errorf("want %q, got %q", tc.want, got)
			}
		})
	}
}

func TestShouldEndTheSequenceInTheNextPieceWhenItIsCutInTwo(t *testing.T) {
	w := wrap.NewWriter(3)
	for _, piece := range []string{"foob\x1b[3", "1marfoo"} {
		if _, err := w.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := w.String(), "foo\nb\x1b[31mar\nfoo"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}
