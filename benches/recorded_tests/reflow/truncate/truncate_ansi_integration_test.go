package truncate_test

import (
	"testing"

	"github.com/muesli/reflow/truncate"
)

func TestShouldNotCountASequenceWhenALetterEndsIt(t *testing.T) {
	for _, sequence := range []string{
		"\x1b[0m", "\x1b[38;5;196m", "\x1b[2K", "\x1b[10;20H", "\x1b[?25l", "\x1b[3A", "\x1b[3Z", "\x1b[3a", "\x1b[3z", "\x1b[3@",
	} {
		text := "f" + sequence + "oo"
		if got := truncate.String(text, 3); got != text {
			t.Errorf("want %q, got %q", text, got)
		}
	}
}

func TestShouldCountTheTextWhenASequenceHasEnded(t *testing.T) {
	cases := []struct{ text, want string }{
		{"\x1b[2Kfoobar", "\x1b[2Kfo"},
		{"f\x1b[3@oobar", "f\x1b[3@o"},
		{"\x1b[3Zf\x1b[3Aoobar", "\x1b[3Zf\x1b[3Ao"},
	}
	for _, tc := range cases {
		if got := truncate.String(tc.text, 2); got != tc.want {
			t.Errorf("want %q, got %q", tc.want, got)
		}
	}
}

func TestShouldWriteNoPartOfASequenceWhenItDoesNotEnd(t *testing.T) {
	if got, want := truncate.String("fo\x1b[12;34;56", 2), "fo"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}
