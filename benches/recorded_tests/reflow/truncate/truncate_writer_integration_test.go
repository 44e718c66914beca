package truncate_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/muesli/reflow/truncate"
)

var errBroken = errors.New("broken pipe")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) {
	return 0, errBroken
}

func TestShouldEndTheColourBehindTheTailWhenItIsOpenAtTheCut(t *testing.T) {
	cases := []struct {
		name, text, want string
	}{
		{"no colour", "foobar", "fo."},
		{"open at the cut", "\x1b[31mfoobar", "\x1b[31mfo.\x1b[0m"},
		{"two sequences open at the cut", "\x1b[1m\x1b[31mfoobar", "\x1b[1m\x1b[31mfo.\x1b[0m"},
		{"ended before the cut", "\x1b[31mf\x1b[0moobar", "\x1b[31mf\x1b[0mo."},
		{"begun anew before the cut", "\x1b[31mf\x1b[0m\x1b[32moobar", "\x1b[31mf\x1b[0m\x1b[32mo.\x1b[0m"},
		{"a colour behind the cut", "foo\x1b[31mbar", "fo."},
		{"wide characters", "\x1b[31mä你好\x1b[0m", "\x1b[31mä.\x1b[0m"},
		{"no cut", "\x1b[31mfo\x1b[0m", "\x1b[31mfo\x1b[0m"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got := truncate.StringWithTail(tc.text, 3, "."); got != tc.want {
				t.Errorf("want %q, got %q", tc.want, got)
			}
			if got := string(truncate.BytesWithTail([]byte(tc.text), 3, []byte("."))); got != tc.want {
				t.Errorf("want %q, got %q", tc.want, got)
			}
		})
	}
}

func TestShouldKeepASequenceWhenItColoursNothing(t *testing.T) {
	if got, want := truncate.String("\x1b[2Kfoobar", 3), "\x1b[2Kfoo"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestShouldForwardTheTextWhenItFits(t *testing.T) {
	var forwarded bytes.Buffer
	text := "\x1b[31m你\x1b[0mä"
	n, err := truncate.NewWriterPipe(&forwarded, 3, "").Write([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if n != len(text) {
		t.Errorf("want %d bytes, got %d", len(text), n)
	}
	if got := forwarded.String(); got != text {
		t.Errorf("want %q, got %q", text, got)
	}
}

func TestShouldPassOnTheErrorWhenThePipeIsBroken(t *testing.T) {
	n, err := truncate.NewWriterPipe(brokenWriter{}, 3, "").Write([]byte("foo"))
	if err != errBroken {
		t.Errorf("want %v, got %v", errBroken, err)
	}
	if n != 0 {
		t.Errorf("want 0 bytes, got %d", n)
	}
}
