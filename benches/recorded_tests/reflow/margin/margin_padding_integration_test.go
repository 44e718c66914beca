package margin_test

import (
	"io"
	"testing"

	"github.com/muesli/reflow/margin"
)

func TestShouldPadEachLineToTheWidthWhenThereIsNoMargin(t *testing.T) {
	got := margin.String("foo\nfoobar\n", 8, 0)
	want := "foo     \nfoobar  \n"
	if got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestShouldPadTheLastLineWhenItHasNoLineBreak(t *testing.T) {
	got := margin.String("foo", 5, 1)
	want := " foo "
	if got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestShouldLeaveALineAsItIsWhenItIsWiderThanTheWidth(t *testing.T) {
	got := margin.String("foobar\nx", 4, 0)
	want := "foobar\nx   "
	if got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestShouldPadWithTheFunctionWhenOneIsGiven(t *testing.T) {
	w := margin.NewWriter(6, 0, func(w io.Writer) {
		_, _ = w.Write([]byte("."))
	})
	if _, err := w.Write([]byte("foo\n")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := "foo...\n"
	if got := w.String(); got != want {
		t.Errorf("want %q, got %q", want, got)
	}
	if got := string(w.Bytes()); got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}
