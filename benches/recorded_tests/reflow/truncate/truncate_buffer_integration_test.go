package truncate_test

import (
	"testing"

	"github.com/muesli/reflow/truncate"
)

func TestShouldLeaveRoomForTheTailWhenTheTextIsCut(t *testing.T) {
	cases := []struct {
		name, tail, want string
	}{
		{"no tail", "", "foobar"},
		{"a tail of one column", ".", "fooba."},
		{"a tail of several columns", "...", "foo..."},
		{"a wide character", "你", "foob你"},
		{"a character of several bytes", "…", "fooba…"},
		{"a coloured tail", "\x1b[2m..\x1b[0m", "foob\x1b[2m..\x1b[0m"},
		{"a tail as wide as the width", "......", "......"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got := truncate.StringWithTail("foobar baz", 6, tc.tail); got != tc.want {
				t.Errorf("want %q, got %q", tc.want, got)
			}
		})
	}
}

func TestShouldWriteTheTailAloneWhenItIsWiderThanTheWidth(t *testing.T) {
	w := truncate.NewWriter(3, "你好")
	n, err := w.Write([]byte("foobar"))
	if err != nil {
		t.Fatal(err)
	}
	if want := len("你好"); n != want {
		t.Errorf("want %d bytes, got %d", want, n)
	}
	if got := w.String(); got != "你好" {
		t.Errorf("want %q, got %q", "你好", got)
	}
	if got := string(w.Bytes()); got != "你好" {
		t.Errorf("want %q, got %q", "你好", got)
	}
}

func TestShouldCutBeforeAWideCharacterWhenHalfOfItFits(t *testing.T) {
	for width, want := range []string{"", "", "你", "你", "你好", "你好a"} {
		if got := truncate.String("你好a", uint(width)); got != want {
			t.Errorf("width %d: want %q, got %q", width, want, got)
		}
	}
}
