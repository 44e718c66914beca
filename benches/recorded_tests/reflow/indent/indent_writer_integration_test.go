package indent_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"

	"github.com/muesli/reflow/indent"
)

var errFull = errors.New("no more room")

// limitedWriter takes a number of writes and fails from then on.
type limitedWriter struct {
	room  int
	taken []string
}

func (w *limitedWriter) Write(b []byte) (int, error) {
	if len(w.taken) == w.room {
		return 0, errFull
	}
	w.taken = append(w.taken, string(b))
	return len(b), nil
}

func TestShouldKeepTheColourOutOfTheIndentWhenItIsOpen(t *testing.T) {
	cases := []struct {
		name, text, want string
	}{
		{"no colour", "foo\nbar", "  foo\n  bar"},
		{"a colour at the start", "\x1b[31mred", "\x1b[31m\x1b[0m  \x1b[31mred"},
		{"a colour behind the indent", "a\x1b[31mred", "  a\x1b[31mred"},
		{"a colour over two lines", "a\x1b[31mred\nmore", "  a\x1b[31mred\n\x1b[0m  \x1b[31mmore"},
		{"two sequences over two lines", "a\x1b[1m\x1b[31mred\nmore", "  a\x1b[1m\x1b[31mred\n\x1b[0m  \x1b[1m\x1b[31mmore"},
		{"wide characters in a colour", "a\x1b[31m你\nä", "  a\x1b[31m你\n\x1b[0m  \x1b[31mä"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got := indent.String(tc.text, 2); got != tc.want {
				t.Errorf("want %q, got %q", tc.want, got)
			}
			if got := string(indent.Bytes([]byte(tc.text), 2)); got != tc.want {
				t.Errorf("want %q, got %q", tc.want, got)
			}
		})
	}
}

func TestShouldNotBringBackAColourWhenItHasBeenReset(t *testing.T) {
	cases := []struct {
		name, text, want string
	}{
		{"reset on its line", "a\x1b[31mred\x1b[0m\nplain", "  a\x1b[31mred\x1b[0m\n  plain"},
		{"reset twice", "a\x1b[31mred\x1b[0m\x1b[0m\nplain", "  a\x1b[31mred\x1b[0m\x1b[0m\n  plain"},
		{
			"another colour behind the reset", "a\x1b[31mred\x1b[0m\x1b[32mgreen\nmore",
			"  a\x1b[31mred\x1b[0m\x1b[32mgreen\n\x1b[0m  \x1b[32mmore",
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got := indent.String(tc.text, 2); got != tc.want {
				t.Errorf("want %q, got %q", tc.want, got)
			}
		})
	}
}

func TestShouldKeepTheColourWhenTheTextComesInPieces(t *testing.T) {
	var forwarded bytes.Buffer
	w := indent.NewWriterPipe(&forwarded, 2, nil)
	for _, piece := range []string{"a\x1b[3", "1mr", "ed\n", "more"} {
		n, err := w.Write([]byte(piece))
		if err != nil {
			t.Fatal(err)
		}
		if n != len(piece) {
			t.Errorf("%q: want %d bytes, got %d", piece, len(piece), n)
		}
	}
	if got, want := forwarded.String(), "  a\x1b[31mred\n\x1b[0m  \x1b[31mmore"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestShouldCallTheFunctionForEachColumnWhenOneIsGiven(t *testing.T) {
	for columns, want := range []string{"a\nb", "|a\n|b", "||a\n||b", "|||a\n|||b"} {
		w := indent.NewWriter(uint(columns), func(w io.Writer) {
			_, _ = io.WriteString(w, "|")
		})
		if _, err := w.Write([]byte("a\nb")); err != nil {
			t.Fatal(err)
		}
		if got := w.String(); got != want {
			t.Errorf("%d columns: want %q, got %q", columns, want, got)
		}
	}
}

func TestShouldForwardEachCharacterWholeWhenItHasSeveralBytes(t *testing.T) {
	forwarded := &limitedWriter{room: -1}
	if _, err := indent.NewWriterPipe(forwarded, 0, nil).Write([]byte("ä你a")); err != nil {
		t.Fatal(err)
	}
	var characters []string
	for _, one := range forwarded.taken {
		if one != "" {
			characters = append(characters, one)
		}
	}
	if want := []string{"ä", "你", "a"}; !reflect.DeepEqual(characters, want) {
		t.Errorf("want %q, got %q", want, characters)
	}
}

func TestShouldPassOnTheErrorWhenTheForwardedWriterFails(t *testing.T) {
	for room := 0; room < 2; room++ {
		n, err := indent.NewWriterPipe(&limitedWriter{room: room}, 1, nil).Write([]byte("foo"))
		if err != errFull {
			t.Errorf("room for %d: want %v, got %v", room, errFull, err)
		}
		if n != 0 {
			t.Errorf("room for %d: want 0 bytes, got %d", room, n)
		}
	}
}
