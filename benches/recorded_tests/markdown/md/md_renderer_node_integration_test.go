package md_test

import (
	"testing"

	"github.com/gomarkdown/markdown"
	"github.com/gomarkdown/markdown/ast"
	"github.com/gomarkdown/markdown/md"
)

func linkTo(destination, title, text string) *ast.Document {
	link := &ast.Link{Destination: []byte(destination), Title: []byte(title)}
	ast.AppendChild(link, &ast.Text{Leaf: ast.Leaf{Literal: []byte(text)}})
	doc := &ast.Document{}
	ast.AppendChild(doc, link)
	return doc
}

func TestShouldWriteTheDestinationBehindTheTextWhenLinksAreInline(t *testing.T) {
	got := string(markdown.Render(linkTo("/to", "title", "text"), md.NewRenderer()))
	want := "[text](/to \"title\")"
	if got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestShouldDefineTheLinkAtTheEndWhenLinksAreInTheFooter(t *testing.T) {
	renderer := md.NewRenderer(md.WithRenderInFooter(true))
	got := string(markdown.Render(linkTo("/to", "title", "text"), renderer))
	want := "[text]\n[text]: /to \"title\"\n"
	if got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestShouldDefineALinkWithoutTitleWhenItHasNone(t *testing.T) {
	renderer := md.NewRenderer(md.WithRenderInFooter(true))
	got := string(markdown.Render(linkTo("/to", "", "text"), renderer))
	want := "[text]\n[text]: /to\n"
	if got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}
