package padding_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/muesli/reflow/padding"
)

var errClosed = errors.New("the other side is closed")

// closedAfter takes a number of writes and fails from then on.
type closedAfter int

func (w *closedAfter) Write(b []byte) (int, error) {
	if *w == 0 {
		return 0, errClosed
	}
	*w--
	return len(b), nil
}

func TestShouldPadToTheWidthWhenALineIsNarrower(t *testing.T) {
	cases := []struct {
		name, text string
		width      uint
		want       string
	}{
		{"no width", "a\n\nb", 0, "a\n\nb"},
		{"a width of one column", "\na\n", 1, " \na\n"},
		{"a width of two columns", "a\n\nab", 2, "a \n  \nab"},
		{"a line one column narrower", "abcd", 5, "abcd "},
		{"a line as wide", "abcde", 5, "abcde"},
		{"a line one column wider", "abcdef\na", 5, "abcdef\na    "},
		{"wide characters", "你好\n你\na", 5, "你好 \n你   \na    "},
		{"a line break at the end", "a\n", 3, "a  \n"},
		{"no text", "", 3, ""},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got := padding.String(tc.text, tc.width); got != tc.want {
				t.Errorf("want %q, got %q", tc.want, got)
			}
			if got := string(padding.Bytes([]byte(tc.text), tc.width)); got != tc.want {
				t.Errorf("want %q, got %q", tc.want, got)
			}
		})
	}
}

func TestShouldEndTheColourAtTheLineBreakWhenItIsOpen(t *testing.T) {
	cases := []struct {
		name, text, want string
	}{
		{"no colour", "a\nb", "a  \nb  "},
		{"open at the line break", "\x1b[31ma\n", "\x1b[31ma  \x1b[0m\n"},
		{"ended before the line break", "\x1b[31ma\x1b[0m\nb", "\x1b[31ma\x1b[0m  \nb  "},
		{"open over an empty line", "\x1b[31ma\n\nb\x1b[0m", "\x1b[31ma  \x1b[0m\n   \x1b[0m\nb\x1b[0m  "},
		{"a line without room", "\x1b[31mabc\nd", "\x1b[31mabc\x1b[0m\nd  "},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got := padding.String(tc.text, 3); got != tc.want {
				t.Errorf("want %q, got %q", tc.want, got)
			}
		})
	}
}

func TestShouldCallTheFunctionForEachMissingColumnWhenOneIsGiven(t *testing.T) {
	w := padding.NewWriter(4, func(w io.Writer) {
		_, _ = io.WriteString(w, ".")
	})
	if _, err := w.Write([]byte("a\n你\nabc\nabcd\n\nab")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := "a...\n你..\nabc.\nabcd\n....\nab.."
	if got := w.String(); got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestShouldGoOnWithTheLineWhenTheTextComesInPieces(t *testing.T) {
	var forwarded bytes.Buffer
	w := padding.NewWriterPipe(&forwarded, 4, nil)
	for _, piece := range []string{"a", "b\x1b[3", "1mc", "\nd"} {
		n, err := w.Write([]byte(piece))
		if err != nil {
			t.Fatal(err)
		}
		if n != len(piece) {
			t.Errorf("%q: want %d bytes, got %d", piece, len(piece), n)
		}
	}
	if got, want := forwarded.String(), "ab\x1b[31mc \x1b[0m\nd"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if got, want := forwarded.String(), "ab\x1b[31mc \x1b[0m\nd   "; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestShouldStartAnewWhenTheWriterIsFlushed(t *testing.T) {
	w := padding.NewWriter(3, nil)
	for _, tc := range []struct{ text, want string }{{"a", "a  "}, {"bc", "bc "}, {"", ""}} {
		if _, err := w.Write([]byte(tc.text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if got := w.String(); got != tc.want {
			t.Errorf("want %q, got %q", tc.want, got)
		}
		if got := string(w.Bytes()); got != tc.want {
			t.Errorf("want %q, got %q", tc.want, got)
		}
	}
}

func TestShouldPassOnTheErrorWhenTheOtherSideIsClosed(t *testing.T) {
	for _, tc := range []struct {
		name string
		room closedAfter
		text string
	}{
		{"at the text", 0, "a"},
		{"at the padding", 1, "a\n"},
		{"at the line break", 2, "a\n"},
	} {
		room := tc.room
		n, err := padding.NewWriterPipe(&room, 3, nil).Write([]byte(tc.text))
		if err != errClosed {
			t.Errorf("%s: want %v, got %v", tc.name, errClosed, err)
		}
		if n != 0 {
			t.Errorf("%s: want 0 bytes, got %d", tc.name, n)
		}
	}
}

func TestShouldFailToCloseWhenTheLastLineCannotBePadded(t *testing.T) {
	room := closedAfter(1)
	w := padding.NewWriterPipe(&room, 3, nil)
	if _, err := w.Write([]byte("a")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != errClosed {
		t.Errorf("want %v, got %v", errClosed, err)
	}
}
