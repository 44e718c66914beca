package wordwrap_test

import (
	"testing"

	"github.com/muesli/reflow/wordwrap"
)

func TestShouldBreakBetweenWordsWhenALineIsTooLong(t *testing.T) {
	cases := []struct {
		name, text string
		limit      int
		want       string
	}{
		{"no limit", "foo bar\n\tbaz  \nx", 0, "foo bar\n\tbaz  \nx"},
		{"a limit of one column", "a bc", 1, "a bc"},
		{"words of one column", "a b c", 3, "a b\nc"},
		{"a line that just fits", "foo bar", 7, "foo bar"},
		{"a line one column too long", "foo bars", 7, "foo\nbars"},
		{"three lines", "one two three", 5, "one\ntwo\nthree"},
		{"a word that is longer than the limit", "a longest b", 4, "a\nlongest\nb"},
		{"line breaks of the text", "foo\nbar baz", 7, "foo\nbar baz"},
		{"an empty line", "foo\n\nbar", 4, "foo\n\nbar"},
		{"a line break behind a full line", "foo bar\nfoo bar", 7, "foo bar\nfoo bar"},
		{"a space at the start", " foo", 4, " foo"},
		{"several spaces between", "a   b", 5, "a   b"},
		{"several spaces at the break", "foo   bar", 5, "foo\nbar"},
		{"spaces before a line break", "ab  \ncd", 5, "ab  \ncd"},
		{"spaces before a line break without room", "abcd  \nef", 5, "abcd\nef"},
		{"words behind spaces without room", "abcd  \nef gh", 5, "abcd\nef gh"},
		{"spaces alone on a line", "a\n   \nb", 2, "a\n\nb"},
		{"a word behind a hyphen", "foo-foobar", 7, "foo-\nfoobar"},
		{"a hyphen between spaces", "a - b", 5, "a - b"},
		{"a hyphen before a word", "ab -cd", 6, "ab -cd"},
		{"a word with a hyphen behind another one", "a bcd-ef gh", 6, "a bcd-\nef gh"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got := wordwrap.String(tc.text, tc.limit); got != tc.want {
				t.Errorf("want %q, got %q", tc.want, got)
			}
			if got := string(wordwrap.Bytes([]byte(tc.text), tc.limit)); got != tc.want {
				t.Errorf("want %q, got %q", tc.want, got)
			}
		})
	}
}

func TestShouldMeasureWordsInColumnsWhenCharactersAreWide(t *testing.T) {
	cases := []struct {
		text  string
		limit int
		want  string
	}{
		{"你 好", 5, "你 好"},
		{"你 好", 4, "你\n好"},
		{"ä ö", 3, "ä ö"},
		{"ab 你好 c", 7, "ab 你好\nc"},
	}
	for _, tc := range cases {
		if got := wordwrap.String(tc.text, tc.limit); got != tc.want {
			t.Errorf("%q at %d: want %q, got %q", tc.text, tc.limit, tc.want, got)
		}
	}
}

func TestShouldNotCountSequencesWhenWordsAreMeasured(t *testing.T) {
	cases := []struct {
		name, text, want string
	}{
		{"a colour around a word", "foo \x1b[31mbar\x1b[0m baz", "foo \x1b[31mbar\x1b[0m\nbaz"},
		{"a colour within a word", "foo b\x1b[38;5;1ma\x1b[0mr", "foo b\x1b[38;5;1ma\x1b[0mr"},
		{"a colour over the break", "\x1b[31mfoo bar baz\x1b[0m", "\x1b[31mfoo bar\nbaz\x1b[0m"},
		{"a sequence that colours nothing", "\x1b[2Kfoo \x1b[3@bar", "\x1b[2Kfoo \x1b[3@bar"},
		{"a sequence alone before a line break", "foo \x1b[0m\nbar", "foo \x1b[0m\nbar"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got := wordwrap.String(tc.text, 7); got != tc.want {
				t.Errorf("want %q, got %q", tc.want, got)
			}
		})
	}
}

func TestShouldFillLinesAnewWhenLineBreaksAreNotKept(t *testing.T) {
	w := wordwrap.NewWriter(7)
	w.KeepNewlines = false
	if _, err := w.Write([]byte("\n foo\nbar\nbaz \n")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := w.String(), "foo bar\nbaz"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestShouldBreakAtTheGivenCharactersWhenTheyAreSet(t *testing.T) {
	w := wordwrap.NewWriter(5)
	w.Breakpoints = []rune{':'}
	w.Newline = []rune{'|'}
	if _, err := w.Write([]byte("foo:bar|a-bc d")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := w.String(), "foo:\nbar\na-bc\nd"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestShouldGoOnWithTheWordWhenTheTextComesInPieces(t *testing.T) {
	w := wordwrap.NewWriter(7)
	for _, piece := range []string{"foo b", "\x1b[3", "1mar", "s b", "az"} {
		n, err := w.Write([]byte(piece))
		if err != nil {
			t.Fatal(err)
		}
		if n != len(piece) {
			t.Errorf("%q: want %d bytes, got %d", piece, len(piece), n)
		}
	}
	for i := 0; i < 2; i++ {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got, want := w.String(), "foo\nb\x1b[31mars\nbaz"; got != want {
			t.Errorf("close %d: want %q, got %q", i+1, want, got)
		}
	}
}
