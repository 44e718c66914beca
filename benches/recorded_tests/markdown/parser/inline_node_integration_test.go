package parser_test

import (
	"testing"

	"github.com/gomarkdown/markdown/ast"
	"github.com/gomarkdown/markdown/parser"
)

func inlineTree(source string) string {
	return ast.ToString(parser.NewWithExtensions(parser.CommonExtensions).Parse([]byte(source)))
}

func TestShouldPutTextAroundEmphasisWhenItStandsInTheMiddle(t *testing.T) {
	want := "Paragraph\n  Text 'a'\n  Emph\n    Text 'b'\n  Text 'c'\n"
	if got := inlineTree("a *b* c"); got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestShouldNestEmphasisInStrongWhenThereAreThreeStars(t *testing.T) {
	want := "Paragraph\n  Text\n  Strong\n    Emph\n      Text 'a'\n"
	if got := inlineTree("***a***"); got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestShouldPutTheTextBelowTheLinkWhenItHasATitle(t *testing.T) {
	doc := parser.New().Parse([]byte("[text](/to \"title\")"))
	paragraph := ast.GetFirstChild(doc)
	link, ok := ast.GetLastChild(paragraph).(*ast.Link)
	if !ok {
		t.Fatalf("want a link, got %T", ast.GetLastChild(paragraph))
	}
	if got := string(link.Destination); got != "/to" {
		t.Errorf("want /to, got %q", got)
	}
	if got := string(link.Title); got != "title" {
		t.Errorf("want title, got %q", got)
	}
	if got := string(ast.GetFirstChild(link).AsLeaf().Literal); got != "text" {
		t.Errorf("want text, got %q", got)
	}
	if link.GetParent() != paragraph {
		t.Errorf("want the paragraph as the parent, got %v", link.GetParent())
	}
}

func TestShouldShowTheAddressWithoutItsSchemeWhenALinkIsToMail(t *testing.T) {
	doc := parser.New().Parse([]byte("<mailto:ada@example.org>"))
	link, ok := ast.GetLastChild(ast.GetFirstChild(doc)).(*ast.Link)
	if !ok {
		t.Fatal("want a link")
	}
	if got := string(ast.GetFirstChild(link).AsLeaf().Literal); got != "ada@example.org" {
		t.Errorf("want the address, got %q", got)
	}
	if got := string(link.Destination); got != "mailto:ada@example.org" {
		t.Errorf("got %q", got)
	}
}

func TestShouldPutTheAlternativeBelowTheImageWhenThereIsOne(t *testing.T) {
	doc := parser.New().Parse([]byte("![a picture](/p.png 'title')"))
	image, ok := ast.GetLastChild(ast.GetFirstChild(doc)).(*ast.Image)
	if !ok {
		t.Fatal("want an image")
	}
	if got := string(image.Destination); got != "/p.png" {
		t.Errorf("got %q", got)
	}
	if got := string(image.Title); got != "title" {
		t.Errorf("got %q", got)
	}
	if got := string(ast.GetFirstChild(image).AsLeaf().Literal); got != "a picture" {
		t.Errorf("got %q", got)
	}
}

func TestShouldFollowTheReferenceWhenALinkNamesOne(t *testing.T) {
	for _, source := range []string{"[text][one]\n\n[one]: /to \"title\"\n", "[text][]\n\n[text]: /to \"title\"\n"} {
		doc := parser.New().Parse([]byte(source))
		link, ok := ast.GetLastChild(ast.GetFirstChild(doc)).(*ast.Link)
		if !ok {
			t.Fatalf("%q: want a link, got %T", source, ast.GetLastChild(ast.GetFirstChild(doc)))
		}
		if string(link.Destination) != "/to" || string(link.Title) != "title" {
			t.Errorf("%q: got %q and %q", source, link.Destination, link.Title)
		}
		if got := string(ast.GetFirstChild(link).AsLeaf().Literal); got != "text" {
			t.Errorf("%q: got %q", source, got)
		}
	}
}

func TestShouldLeaveTheTextWhenAReferenceIsNotDefined(t *testing.T) {
	want := "Paragraph\n  Text '[text][one]'\n"
	if got := inlineTree("[text][one]"); got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestShouldLinkAnAddressWhenItStandsInTheText(t *testing.T) {
	doc := parser.NewWithExtensions(parser.CommonExtensions).Parse([]byte("see https://example.org/a?b=1 now"))
	children := ast.GetFirstChild(doc).GetChildren()
	if len(children) != 3 {
		t.Fatalf("want text, link and text, got %d", len(children))
	}
	link, ok := children[1].(*ast.Link)
	if !ok {
		t.Fatalf("want a link, got %T", children[1])
	}
	if got := string(link.Destination); got != "https://example.org/a?b=1" {
		t.Errorf("got %q", got)
	}
	if got := string(ast.GetFirstChild(link).AsLeaf().Literal); got != "https://example.org/a?b=1" {
		t.Errorf("got %q", got)
	}
	if got := string(children[2].AsLeaf().Literal); got != " now" {
		t.Errorf("got %q", got)
	}
}
