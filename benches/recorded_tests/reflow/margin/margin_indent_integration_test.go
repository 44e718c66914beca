package margin_test

import (
	"io"
	"testing"

	"github.com/muesli/reflow/margin"
)

func TestShouldIndentEachLineWhenThereIsAMargin(t *testing.T) {
	got := margin.String("foo\nbar", 0, 2)
	want := "  foo\n  bar"
	if got != want {
		t.Errorf("want %q, got %q", want, got)
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
	written, err := w.Write([]byte("foo"))
	if err != nil {
		t.Fatal(err)
	}
	if want := len(">>>foo"); written != want {
		t.Errorf("want %d bytes, got %d", want, written)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := w.String(), ">>>foo"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}
