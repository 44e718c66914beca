package parser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gomarkdown/markdown/ast"
	"github.com/gomarkdown/markdown/parser"
)

// blockTree parses a source with the extensions that concern blocks.
func blockTree(source string) ast.Node {
	extensions := parser.CommonExtensions | parser.Mmark | parser.Attributes | parser.OrderedListStart
	return parser.NewWithExtensions(extensions).Parse([]byte(source))
}

type blockCase struct {
	name, source string
	want         []string
}

func expectBlocks(t *testing.T, cases []blockCase) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			want := strings.Join(tc.want, "\n")
			if got := strings.TrimRight(ast.ToString(blockTree(tc.source)), "\n"); got != want {
				t.Errorf("%q\nwant:\n%s\ngot:\n%s", tc.source, want, got)
			}
		})
	}
}

func TestShouldKeepTheTextAsItIsWhenItIsABlockOfCode(t *testing.T) {
	expectBlocks(t, []blockCase{
		{"a fence", "```go\nx := 1\n\n  y\n```\n", []string{`CodeBlock:go 'x := 1\n\n  y\n'`}},
		{"a fence of other characters", "~~~~\na\n```\n~~~~\n", []string{"CodeBlock: 'a\\n```\\n'"}},
		{"escapes in the name of the language", "```go &amp; \\*\nx\n```\n", []string{`CodeBlock:go & * 'x\n'`}},
		{"blocks around a fence", "a\n\n```\nx\n```\nb\n", []string{
			"Paragraph", "  Text 'a'", `CodeBlock: 'x\n'`, "Paragraph", "  Text 'b'",
		}},
		{"a fence that is not closed", "```\nx", []string{"Paragraph", "  Text '```\\nx'"}},
		{"indented lines", "    x\n\n      y\n\nz\n", []string{`CodeBlock: 'x\n\n  y\n'`, "Paragraph", "  Text 'z'"}},
	})
}

func TestShouldKnowTheFenceWhenABlockOfCodeHasOne(t *testing.T) {
	for source, want := range map[string]string{
		"```go\nx := 1\n```\n":             `true "go" "x := 1\n"`,
		"    x := 1\n":                     `false "" "x := 1\n"`,
		"{.c}\n```go\nx\n```\n":            `true "go" "x\n"`,
		"> ```go\n> x\n> ```\n":            `true "go" "x\n"`,
		"```go\nx\n```\nFigure: A caption": `true "go" "x\n"`,
	} {
		var found []string
		ast.WalkFunc(blockTree(source), func(node ast.Node, entering bool) ast.WalkStatus {
			if code, ok := node.(*ast.CodeBlock); ok && entering {
				found = append(found, fmt.Sprintf("%v %q %q", code.IsFenced, code.Info, code.Literal))
				if len(code.Content) != 0 {
					t.Errorf("%q: want no content beside the text, got %q", source, code.Content)
				}
			}
			return ast.GoToNext
		})
		if got := strings.Join(found, ", "); got != want {
			t.Errorf("%q: want %s, got %s", source, want, got)
		}
	}
}

func TestShouldPutBlocksBelowAQuoteWhenItHasSeveral(t *testing.T) {
	expectBlocks(t, []blockCase{
		{"paragraphs", "> a\n>\n> b\n", []string{"BlockQuote", "  Paragraph", "    Text 'a'", "  Paragraph", "    Text 'b'"}},
		{"a line without the mark", "> a\nb\n\nc\n", []string{
			"BlockQuote", "  Paragraph", `    Text 'a\nb'`, "Paragraph", "  Text 'c'",
		}},
		{"an empty line between marks", "> a\n\n> b\n", []string{"BlockQuote", "  Paragraph", "    Text 'a'", "  Paragraph", "    Text 'b'"}},
		{"a quote", "> > a\n", []string{"BlockQuote", "  BlockQuote", "    Paragraph", "      Text 'a'"}},
		{"code and text", "> ```\n> x\n> ```\n> y\n", []string{"BlockQuote", `  CodeBlock: 'x\n'`, "  Paragraph", "    Text 'y'"}},
		{"code without the mark", "> ```\nx\n> ```\n\ny\n", []string{"BlockQuote", `  CodeBlock: 'x\n'`, "Paragraph", "  Text 'y'"}},
		{"a heading and a list", "> # a\n> - b\n", []string{
			"BlockQuote", "  Heading", "    Text 'a'", "  List 'tight flags=start'", "    ListItem 'flags=start'", "      Paragraph", "        Text 'b'",
		}},
	})
}

func TestShouldMakeAFigureWhenACaptionFollows(t *testing.T) {
	expectBlocks(t, []blockCase{
		{"a quote", "> a\n>\n> b\n\nQuote: By *Ada* L\n", []string{
			"CaptionFigure", "  BlockQuote", "    Paragraph", "      Text 'a'", "    Paragraph", "      Text 'b'",
			"  Caption", "    Text 'By'", "    Emph", "      Text 'Ada'", "    Text 'L'",
		}},
		{"a block of code", "```\nx\n```\nFigure: A *b* d\n", []string{
			"CaptionFigure", `  CodeBlock: 'x\n'`, "  Caption", "    Text 'A'", "    Emph", "      Text 'b'", "    Text 'd'",
		}},
		{"no caption", "> a\n\nQuote\n\n```\nx\n```\n\nFigure\n", []string{
			"BlockQuote", "  Paragraph", "    Text 'a'", "Paragraph", "  Text 'Quote'", `CodeBlock: 'x\n'`, "Paragraph", "  Text 'Figure'",
		}},
	})
}

func TestShouldGoOnBehindTheFigureWhenItsCaptionNamesIt(t *testing.T) {
	for _, source := range []string{"> a\n\nQuote: Ada {#one}\n\nb\n", "```\nx\n```\nFigure: A {#one}\n\nb\n"} {
		children := blockTree(source).GetChildren()
		if len(children) != 2 {
			t.Errorf("%q: want 2 blocks, got %d", source, len(children))
			continue
		}
		figure, ok := children[0].(*ast.CaptionFigure)
		if !ok || figure.HeadingID != "one" || len(figure.GetChildren()) != 2 {
			t.Errorf("%q: want a figure named one with its caption, got %s", source, ast.ToString(children[0]))
		}
		if got, want := ast.ToString(children[1]), "Paragraph\n  Text 'b'\n"; got != want {
			t.Errorf("%q: want %q behind the figure, got %q", source, want, got)
		}
	}
}

func TestShouldGiveAttributesToTheBlockWhenTheyStandBeforeIt(t *testing.T) {
	for source, want := range map[string]string{
		"{#one .two}\n```\nx\n```\n":                "*ast.CodeBlock one [two]",
		"{#one .two}\n> a\n":                        "*ast.BlockQuote one [two]",
		"{#one .two .three}\n- a\n":                 "*ast.List one [two three]",
		"{#one .two}\n```\nx\n```\nFigure: A *b*\n": "*ast.CaptionFigure one [two], *ast.CodeBlock one [two]",
		"{#one .two}\n> a\n\nQuote: Ada\n":          "*ast.CaptionFigure one [two], *ast.BlockQuote one [two]",
		"{#one .two}\n> a\n\nb\n":                   "*ast.BlockQuote one [two]",
	} {
		var found []string
		ast.WalkFunc(blockTree(source), func(node ast.Node, entering bool) ast.WalkStatus {
			var attribute *ast.Attribute
			if leaf := node.AsLeaf(); leaf != nil {
				attribute = leaf.Attribute
			} else {
				attribute = node.AsContainer().Attribute
			}
			if attribute != nil && entering {
				found = append(found, fmt.Sprintf("%T %s %s", node, attribute.ID, attribute.Classes))
			}
			return ast.GoToNext
		})
		if got := strings.Join(found, ", "); got != want {
			t.Errorf("%q: want %s, got %s", source, want, got)
		}
	}
}

func TestShouldNestListsWhenItemsAreIndented(t *testing.T) {
	expectBlocks(t, []blockCase{
		{"bullets below numbers", "1. one\n    - two\n    - three\n2. four\n", []string{
			"List 'tight flags=ordered start'",
			"  ListItem 'flags=ordered start'", "    Paragraph", "      Text 'one'",
			"    List 'tight flags=start'",
			"      ListItem 'flags=start'", "        Paragraph", "          Text 'two'",
			"      ListItem", "        Paragraph", "          Text 'three'",
			"  ListItem 'flags=ordered'", "    Paragraph", "      Text 'four'",
		}},
		{"three levels", "- a\n  - b\n    - c\n- d\n\ne\n", []string{
			"List 'tight flags=start'",
			"  ListItem 'flags=start'", "    Paragraph", "      Text 'a'",
			"    List 'tight flags=start'",
			"      ListItem 'flags=start'", "        Paragraph", "          Text 'b'",
			"        List 'tight flags=start'",
			"          ListItem 'flags=start'", "            Paragraph", "              Text 'c'",
			"  ListItem 'flags=end'", "    Paragraph", "      Text 'd'",
			"Paragraph", "  Text 'e'",
		}},
		{"paragraphs in an item", "- a\n\n    b\n- c\n", []string{
			"List 'flags=start'",
			"  ListItem 'flags=has_block start'", "    Paragraph", "      Text 'a'", "    Paragraph", "      Text 'b'",
			"  ListItem 'flags=has_block'", "    Paragraph", "      Text 'c'",
		}},
		{"a number to start with", "5) a\n6) b\n", []string{
			"List 'start=5 tight flags=ordered start'",
			"  ListItem 'flags=ordered start'", "    Paragraph", "      Text 'a'",
			"  ListItem 'flags=ordered'", "    Paragraph", "      Text 'b'",
		}},
		{"a list of another kind", "* a\n\n1. b\n", []string{
			"List 'tight flags=start'", "  ListItem 'flags=start end'", "    Paragraph", "      Text 'a'",
			"List 'tight flags=ordered start'", "  ListItem 'flags=ordered start'", "    Paragraph", "      Text 'b'",
		}},
		{"terms and definitions", "a\n: b\n: c\n\nd\n: e\n", []string{
			"List 'tight flags=definition start'",
			"  ListItem 'flags=definition term start'", "    Paragraph", "      Text 'a'",
			"  ListItem 'flags=definition'", "    Paragraph", "      Text 'b'",
			"  ListItem 'flags=definition'", "    Paragraph", "      Text 'c'",
			"  ListItem 'flags=definition term'", "    Paragraph", "      Text 'd'",
			"  ListItem 'flags=definition'", "    Paragraph", "      Text 'e'",
		}},
	})
}
