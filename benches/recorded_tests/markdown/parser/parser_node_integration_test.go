package parser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gomarkdown/markdown/ast"
	"github.com/gomarkdown/markdown/parser"
)

// outline parses a source and writes its tree.
func outline(extensions parser.Extensions, source string) string {
	return ast.ToString(parser.NewWithExtensions(extensions).Parse([]byte(source)))
}

func TestShouldAddEachBlockWhereItBelongsWhenThereAreSeveral(t *testing.T) {
	cases := []struct {
		name, source string
		want         []string
	}{
		{"nothing", "", nil},
		{"blocks of each kind", "# one\n\ntwo\n\n- three\n\n***\n\n> four\n\n    five\n\n<div>six</div>\n", []string{
			"Heading", "  Text 'one'", "Paragraph", "  Text 'two'",
			"List 'tight flags=start'", "  ListItem 'flags=start end'", "    Paragraph", "      Text 'three'",
			"HorizontalRule '***'", "BlockQuote", "  Paragraph", "    Text 'four'", `CodeBlock: 'five\n'`, "HTMLBlock '<div>six</div>'",
		}},
		{"a list behind a list", "- a\n    - b\n\nc\n\n- d\n", []string{
			"List 'tight flags=start'", "  ListItem 'flags=start end'", "    Paragraph", "      Text 'a'",
			"    List 'tight flags=start'", "      ListItem 'flags=start'", "        Paragraph", "          Text 'b'",
			"Paragraph", "  Text 'c'",
			"List 'tight flags=start'", "  ListItem 'flags=start'", "    Paragraph", "      Text 'd'",
		}},
		{"a table between paragraphs", "a\n\n|b|c|\n|-|-|\n|d|e|\n\nf\n", []string{
			"Paragraph", "  Text 'a'",
			"Table", "  TableHeader", "    TableRow", "      TableCell", "        Text 'b'", "      TableCell", "        Text 'c'",
			"  TableBody", "    TableRow", "      TableCell", "        Text 'd'", "      TableCell", "        Text 'e'",
			"Paragraph", "  Text 'f'",
		}},
		{"line breaks of other systems", "# a\r\n\r\nb\rc\r\n", []string{"Heading", "  Text 'a'", "Paragraph", `  Text 'b\nc'`}},
		{"text of each block", "# a *b*\n\nc *d*\n\n> e *f*\n\n- g *h* i\n", []string{
			"Heading", "  Text 'a'", "  Emph", "    Text 'b'",
			"Paragraph", "  Text 'c'", "  Emph", "    Text 'd'",
			"BlockQuote", "  Paragraph", "    Text 'e'", "    Emph", "      Text 'f'",
			"List 'tight flags=start'", "  ListItem 'flags=start'", "    Paragraph", "      Text 'g'", "      Emph", "        Text 'h'", "      Text 'i'",
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			got, want := strings.TrimRight(outline(parser.CommonExtensions, tc.source), "\n"), strings.Join(tc.want, "\n")
			if got != want {
				t.Errorf("%q\nwant:\n%s\ngot:\n%s", tc.source, want, got)
			}
		})
	}
}

func TestShouldChainTheBlocksWhenTheyAreAdded(t *testing.T) {
	source := "# a\n\nb *c*\n\n- d\n    1. e\n    2. f\n\n- g\n\n> h\n>\n> i\n\n|j|k|\n|-|-|\n|l|m|\n\nn[^1]\n\n[^1]: o\n"
	doc := parser.NewWithExtensions(parser.CommonExtensions | parser.Footnotes).Parse([]byte(source))
	if doc.GetParent() != nil {
		t.Errorf("want nothing above the document, got %T", doc.GetParent())
	}
	nodes := 0
	ast.WalkFunc(doc, func(node ast.Node, entering bool) ast.WalkStatus {
		if !entering {
			return ast.GoToNext
		}
		children := node.GetChildren()
		for i, child := range children {
			nodes++
			var before, behind ast.Node
			if i > 0 {
				before = children[i-1]
			}
			if i+1 < len(children) {
				behind = children[i+1]
			}
			if child.GetParent() != node {
				t.Errorf("want %T above %T, got %T", node, child, child.GetParent())
			}
			if got := ast.GetPrevNode(child); got != before {
				t.Errorf("want %T before %T, got %T", before, child, got)
			}
			if got := ast.GetNextNode(child); got != behind {
				t.Errorf("want %T behind %T, got %T", behind, child, got)
			}
		}
		if container := node.AsContainer(); container != nil {
			switch node.(type) {
			case *ast.Paragraph, *ast.Heading, *ast.TableCell:
				if len(container.Content) != 0 {
					t.Errorf("want no source left in %T, got %q", node, container.Content)
				}
			}
		}
		return ast.GoToNext
	})
	if nodes < 30 {
		t.Errorf("want a tree with all blocks, got\n%s", ast.ToString(doc))
	}
}

func TestShouldListFootnotesAtTheEndWhenTheyAreReferredTo(t *testing.T) {
	cases := []struct {
		name, source string
		want         []string
	}{
		{"several, in the order of their references", "a[^1] b[^x] c[^1]\n\n[^x]: three\n\n[^1]: one *two*\n", []string{
			"Paragraph", "  Text 'a'", "  Link 'url=1'", "  Text 'b'", "  Link 'url=x'", "  Text 'c'", "  Link 'url=1'",
			"Footnotes", "List 'footnotes flags=ordered'",
			"  ListItem 'flags=ordered start'", "    Text 'one'", "    Emph", "      Text 'two'", "    Text",
			"  ListItem 'flags=ordered'", "    Text 'three'",
		}},
		{"with blocks", "a[^1]\n\nb[^2]\n\n[^1]: one\n\n    # two *three*\n\n    four\n\n[^2]: five\n", []string{
			"Paragraph", "  Text 'a'", "  Link 'url=1'", "Paragraph", "  Text 'b'", "  Link 'url=2'",
			"Footnotes", "List 'footnotes flags=ordered'",
			"  ListItem 'flags=ordered start'", "    Paragraph", "      Text 'one'",
			"    Heading", "      Text 'two'", "      Emph", "        Text 'three'", "    Paragraph", "      Text 'four'",
			"  ListItem 'flags=ordered'", "    Text 'five'",
		}},
		{"one that refers to another", "a[^1]\n\n[^1]: b[^2]\n\n[^2]: c\n", []string{
			"Paragraph", "  Text 'a'", "  Link 'url=1'", "Footnotes", "List 'footnotes flags=ordered'",
			"  ListItem 'flags=ordered start'", "    Text 'b'", "    Link 'url=2'", "    Text", "  ListItem 'flags=ordered'", "    Text 'c'",
		}},
		{"within the text", "a^[other] b^[note]\n", []string{
			"Paragraph", "  Text 'a'", "  Link 'url=other'", "  Text 'b'", "  Link 'url=note'", "Footnotes", "List 'footnotes flags=ordered'",
			"  ListItem 'flags=ordered start'", "    Text 'other'", "  ListItem 'flags=ordered'", "    Text 'note'",
		}},
		{"none that is defined", "a[^1]\n", []string{"Paragraph", "  Text 'a[^1]'"}},
		{"none that is referred to", "a\n\n[^1]: one\n", []string{"Paragraph", "  Text 'a'"}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			got := strings.TrimRight(outline(parser.CommonExtensions|parser.Footnotes, tc.source), "\n")
			if want := strings.Join(tc.want, "\n"); got != want {
				t.Errorf("%q\nwant:\n%s\ngot:\n%s", tc.source, want, got)
			}
		})
	}
}

func TestShouldNumberFootnotesAndLinkTheirItemsWhenTheyAreReferredTo(t *testing.T) {
	doc := parser.NewWithExtensions(parser.Footnotes).Parse([]byte("a[^x] b[^y]\n\n[^y]: two\n\n[^x]: one\n"))
	list, ok := ast.GetLastChild(doc).(*ast.List)
	if !ok || !list.IsFootnotesList || len(list.GetChildren()) != 2 {
		t.Fatalf("want a list of 2 footnotes, got\n%s", ast.ToString(doc))
	}
	var links []string
	ast.WalkFunc(ast.GetFirstChild(doc), func(node ast.Node, entering bool) ast.WalkStatus {
		if link, ok := node.(*ast.Link); ok && entering {
			for i, item := range list.GetChildren() {
				if link.Footnote == item {
					links = append(links, fmt.Sprintf("%s %s %d: item %d", link.Destination, link.DeferredID, link.NoteID, i))
				}
			}
		}
		return ast.GoToNext
	})
	if got, want := strings.Join(links, ", "), "x x 1: item 0, y y 2: item 1"; got != want {
		t.Errorf("want %s, got %s", want, got)
	}
	var items []string
	for _, one := range list.GetChildren() {
		items = append(items, string(one.(*ast.ListItem).RefLink))
	}
	if got, want := strings.Join(items, " "), "x y"; got != want {
		t.Errorf("want %s, got %s", want, got)
	}
}

func TestShouldListNoFootnotesWhenTheListIsSkipped(t *testing.T) {
	for flags, want := range map[parser.Flags]int{parser.FlagsNone: 3, parser.SkipFootnoteList: 1} {
		p := parser.NewWithExtensions(parser.CommonExtensions | parser.Footnotes)
		p.Opts.Flags = flags
		if got := len(p.Parse([]byte("a[^1]\n\n[^1]: one\n")).GetChildren()); got != want {
			t.Errorf("flags %d: want %d blocks, got %d", flags, want, got)
		}
	}
}

func TestShouldNameHeadingsOnceWhenTheirTextsAreTheSame(t *testing.T) {
	doc := parser.NewWithExtensions(parser.CommonExtensions | parser.AutoHeadingIDs).Parse([]byte("# A b\n\n> # A b\n\n## A b\n\n# A b-1\n\n# c {#A}\n"))
	var names []string
	ast.WalkFunc(doc, func(node ast.Node, entering bool) ast.WalkStatus {
		if heading, ok := node.(*ast.Heading); ok && entering {
			names = append(names, fmt.Sprintf("%d %s", heading.Level, heading.HeadingID))
		}
		return ast.GoToNext
	})
	if got, want := strings.Join(names, ", "), "1 a-b, 1 a-b-1, 2 a-b-2, 1 a-b-1-1, 1 A"; got != want {
		t.Errorf("want %s, got %s", want, got)
	}
}
