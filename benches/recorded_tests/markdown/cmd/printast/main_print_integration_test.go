package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// printed runs the program with arguments and returns what it writes to the standard output.
func printed(t *testing.T, arguments ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "output")
	output, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	args, stdout, flags := os.Args, os.Stdout, flag.CommandLine
	defer func() { os.Args, os.Stdout, flag.CommandLine = args, stdout, flags }()
	os.Args, os.Stdout = append([]string{"printast"}, arguments...), output
	flag.CommandLine = flag.NewFlagSet("printast", flag.PanicOnError)
	main()
	if err := output.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// source writes a file with a text and returns its path.
func source(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "source.md")
	if err := os.WriteFile(path, []byte(text), 0600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestShouldPrintTheTreeIndentedByOneSpaceWhenAFileIsGiven(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"blocks", "# a\n\nb *c*\n", "Heading\n Text 'a'\nParagraph\n Text 'b'\n Emph\n  Text 'c'\n"},
		{"a list", "1. a\n2. b\n", "List 'tight flags=ordered start'\n ListItem 'flags=ordered start'\n  Paragraph\n   Text 'a'\n" +
			" ListItem 'flags=ordered'\n  Paragraph\n   Text 'b'\n"},
		{"a link and an image", "[a](/b) ![c](/d)\n", "Paragraph\n Text\n Link 'url=/b'\n  Text 'a'\n Text\n Image 'url=/d'\n  Text 'c'\n"},
		{"code with line breaks of another system", "```go\r\na\tb\r\n```\r\n", "CodeBlock:go 'a\\tb\\n'\n"},
		{"a long text", "123456789 123456789 123456789 123456789 1\n", "Paragraph\n Text '123456789 123456789 123456789 1234567…'\n"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			path := source(t, tc.text)
			want := fmt.Sprintf("Ast of file '%s':\n%s\n", path, tc.want)
			if got := printed(t, path); got != want {
				t.Errorf("want %q, got %q", want, got)
			}
		})
	}
}

func TestShouldPrintEachFileThatCanBeReadWhenThereAreSeveral(t *testing.T) {
	first, second := source(t, "a\n"), source(t, "> b\n")
	want := fmt.Sprintf("Ast of file '%s':\nParagraph\n Text 'a'\n\nAst of file '%s':\nBlockQuote\n Paragraph\n  Text 'b'\n\n", first, second)
	if got := printed(t, first, filepath.Join(t.TempDir(), "none.md"), second); got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}
