package parser_test

import (
	"testing"

	"github.com/gomarkdown/markdown/ast"
	"github.com/gomarkdown/markdown/parser"
)

func TestShouldKeepTheLanguageWhenACodeBlockIsFenced(t *testing.T) {
	doc := parser.NewWithExtensions(parser.CommonExtensions).Parse([]byte("```go\nx := 1\n```\n"))
	code, ok := ast.GetFirstChild(doc).(*ast.CodeBlock)
	if !ok {
		t.Fatalf("want a code block, got %T", ast.GetFirstChild(doc))
	}
	if got := string(code.Info); got != "go" {
		t.Errorf("want go, got %q", got)
	}
	if got := string(code.Literal); got != "x := 1\n" {
		t.Errorf("got %q", got)
	}
	if !code.IsFenced {
		t.Error("want a fenced block")
	}
}

func TestShouldPutParagraphsBelowAQuoteWhenItHasSeveral(t *testing.T) {
	doc := parser.New().Parse([]byte("> a\n>\n> b\n"))
	quote, ok := ast.GetFirstChild(doc).(*ast.BlockQuote)
	if !ok {
		t.Fatalf("want a quote, got %T", ast.GetFirstChild(doc))
	}
	if got := len(quote.GetChildren()); got != 2 {
		t.Errorf("want 2 paragraphs, got %d", got)
	}
}

func TestShouldAddACaptionToAQuoteWhenTheExtensionIsOn(t *testing.T) {
	extensions := parser.CommonExtensions | parser.Mmark
	doc := parser.NewWithExtensions(extensions).Parse([]byte("> a\n\nQuote: Ada\n"))
	figure, ok := ast.GetFirstChild(doc).(*ast.CaptionFigure)
	if !ok {
		t.Fatalf("want a figure, got %T", ast.GetFirstChild(doc))
	}
	if _, ok := ast.GetFirstChild(figure).(*ast.BlockQuote); !ok {
		t.Errorf("want the quote first, got %T", ast.GetFirstChild(figure))
	}
	if _, ok := ast.GetLastChild(figure).(*ast.Caption); !ok {
		t.Errorf("want the caption last, got %T", ast.GetLastChild(figure))
	}
}

func TestShouldGiveAttributesToTheNextBlockWhenTheyStandBeforeIt(t *testing.T) {
	extensions := parser.CommonExtensions | parser.Attributes
	doc := parser.NewWithExtensions(extensions).Parse([]byte("{#one .two}\n```\nx\n```\n"))
	code, ok := ast.GetFirstChild(doc).(*ast.CodeBlock)
	if !ok {
		t.Fatalf("want a code block, got %T", ast.GetFirstChild(doc))
	}
	if code.Attribute == nil || string(code.Attribute.ID) != "one" {
		t.Errorf("want the name one, got %v", code.Attribute)
	}
}

func TestShouldNestAListWhenItsItemsAreIndented(t *testing.T) {
	doc := parser.NewWithExtensions(parser.CommonExtensions).Parse([]byte("1. one\n    - two\n    - three\n2. four\n"))
	outer, ok := ast.GetFirstChild(doc).(*ast.List)
	if !ok {
		t.Fatalf("want a list, got %T", ast.GetFirstChild(doc))
	}
	if outer.ListFlags&ast.ListTypeOrdered == 0 {
		t.Error("want a numbered list")
	}
	if got := len(outer.GetChildren()); got != 2 {
		t.Fatalf("want 2 items, got %d", got)
	}
	inner, ok := ast.GetLastChild(outer.GetChildren()[0]).(*ast.List)
	if !ok {
		t.Fatalf("want a list in the first item, got %T", ast.GetLastChild(outer.GetChildren()[0]))
	}
	if inner.ListFlags&ast.ListTypeOrdered != 0 {
		t.Error("want bullets")
	}
	if got := len(inner.GetChildren()); got != 2 {
		t.Errorf("want 2 items, got %d", got)
	}
}
