package html_test

import (
	"testing"

	"github.com/gomarkdown/markdown"
	"github.com/gomarkdown/markdown/ast"
	"github.com/gomarkdown/markdown/html"
	"github.com/gomarkdown/markdown/parser"
)

func render(source string) string {
	renderer := html.NewRenderer(html.RendererOptions{})
	doc := markdown.Parse([]byte(source), parser.NewWithExtensions(parser.CommonExtensions))
	return string(markdown.Render(doc, renderer))
}

func TestShouldSeparateParagraphsWhenOneFollowsAnother(t *testing.T) {
	want := "<p>one</p>\n\n<p>two</p>\n"
	if got := render("one\n\ntwo\n"); got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestShouldWriteNoParagraphsInItemsWhenTheListIsTight(t *testing.T) {
	want := "<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n"
	if got := render("- one\n- two\n"); got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestShouldWriteParagraphsInItemsWhenTheListIsLoose(t *testing.T) {
	want := "<ul>\n<li><p>one</p></li>\n\n<li><p>two</p></li>\n</ul>\n"
	if got := render("- one\n\n- two\n"); got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestShouldAlignCellsWhenTheTableSaysHow(t *testing.T) {
	want := "<table>\n<thead>\n<tr>\n<th align=\"center\">a</th>\n<th align=\"right\">b</th>\n</tr>\n</thead>\n\n" +
		"<tbody>\n<tr>\n<td align=\"center\">1</td>\n<td align=\"right\">2</td>\n</tr>\n</tbody>\n</table>\n"
	if got := render("| a | b |\n|:-:|--:|\n| 1 | 2 |\n"); got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestShouldEscapeTextWhenTheTreeIsBuiltByHand(t *testing.T) {
	renderer := html.NewRenderer(html.RendererOptions{})
	first := &ast.Paragraph{}
	ast.AppendChild(first, &ast.Text{Leaf: ast.Leaf{Literal: []byte("a & b")}})
	doc := &ast.Document{}
	ast.AppendChild(doc, first)
	if got, want := string(markdown.Render(doc, renderer)), "<p>a &amp; b</p>\n"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}
