package md_test

import (
	"testing"

	"github.com/gomarkdown/markdown"
	"github.com/gomarkdown/markdown/ast"
	"github.com/gomarkdown/markdown/md"
	"github.com/gomarkdown/markdown/parser"
)

func linkTo(destination, title, text string) *ast.Link {
	link := &ast.Link{Destination: []byte(destination), Title: []byte(title)}
	ast.AppendChild(link, &ast.Text{Leaf: ast.Leaf{Literal: []byte(text)}})
	return link
}

func documentOf(nodes ...ast.Node) *ast.Document {
	doc := &ast.Document{}
	for _, node := range nodes {
		ast.AppendChild(doc, node)
	}
	return doc
}

func TestShouldWriteTheDestinationBehindTheTextWhenLinksAreInline(t *testing.T) {
	for want, doc := range map[string]ast.Node{
		"[text](/to \"title\")": documentOf(linkTo("/to", "title", "text")),
		"[text](/to)":           documentOf(linkTo("/to", "", "text")),
		`[ab](/c\\d)`:           documentOf(linkTo(`/c\d`, "", "ab")),
		"[](/to)":               documentOf(linkTo("/to", "", "")),
		"[a](/b)[c](/d)":        documentOf(linkTo("/b", "", "a"), linkTo("/d", "", "c")),
	} {
		for _, renderer := range []*md.Renderer{md.NewRenderer(), md.NewRenderer(md.WithRenderInFooter(false))} {
			if got := string(markdown.Render(doc, renderer)); got != want {
				t.Errorf("want %q, got %q", want, got)
			}
		}
	}
}

func TestShouldDefineEachLinkAtTheEndWhenLinksAreInTheFooter(t *testing.T) {
	cases := []struct {
		name string
		doc  ast.Node
		want string
	}{
		{"a title", documentOf(linkTo("/to", "title", "text")), "[text]\n[text]: /to \"title\"\n"},
		{"no title", documentOf(linkTo("/to", "", "text")), "[text]\n[text]: /to\n"},
		{"two links, in the order of their texts", documentOf(linkTo("/z", "", "b"), linkTo("/y", "t", "a")), "[b][a]\n[a]: /y \"t\"\n[b]: /z\n"},
		{"the same link twice", documentOf(linkTo("/to", "", "text"), linkTo("/to", "", "text")), "[text][text]\n[text]: /to\n"},
		{"no link", documentOf(&ast.Text{Leaf: ast.Leaf{Literal: []byte("text")}}), "text"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			got := string(markdown.Render(tc.doc, md.NewRenderer(md.WithRenderInFooter(true))))
			if got != tc.want {
				t.Errorf("want %q, got %q", tc.want, got)
			}
		})
	}
}

func TestShouldWriteTheLinksOfATextWhenItHasBeenParsed(t *testing.T) {
	cases := []struct{ source, inline, footer string }{
		{"a [b](/c) d\n", "a [b](/c) d\n\n", "a [b] d\n\n\n[b]: /c\n"},
		{"[b](/c \"t\") and [e](/f)\n", "[b](/c \"t\") and [e](/f)\n\n", "[b] and [e]\n\n\n[b]: /c \"t\"\n[e]: /f\n"},
		{"# [a](/b)\n\n[c][]\n\n[c]: /d\n", "# [a](/b)\n\n[c](/d)\n\n", "# [a]\n\n[c]\n\n\n[a]: /b\n[c]: /d\n"},
	}
	for _, tc := range cases {
		doc := markdown.Parse([]byte(tc.source), parser.NewWithExtensions(parser.CommonExtensions))
		if got := string(markdown.Render(doc, md.NewRenderer())); got != tc.inline {
			t.Errorf("%q: want %q, got %q", tc.source, tc.inline, got)
		}
		if got := string(markdown.Render(doc, md.NewRenderer(md.WithRenderInFooter(true)))); got != tc.footer {
			t.Errorf("%q in the footer: want %q, got %q", tc.source, tc.footer, got)
		}
	}
}
