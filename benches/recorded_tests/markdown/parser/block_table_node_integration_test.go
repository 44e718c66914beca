package parser_test

import (
	"testing"

	"github.com/gomarkdown/markdown/ast"
	"github.com/gomarkdown/markdown/parser"
)

const table = "| a | b |\n|---|--:|\n| 1 | 2 |\n"

func TestShouldPutHeadAndBodyBelowATableWhenItHasBoth(t *testing.T) {
	doc := parser.NewWithExtensions(parser.CommonExtensions).Parse([]byte(table))
	found, ok := ast.GetFirstChild(doc).(*ast.Table)
	if !ok {
		t.Fatalf("want a table, got %T", ast.GetFirstChild(doc))
	}
	if _, ok := ast.GetFirstChild(found).(*ast.TableHeader); !ok {
		t.Errorf("want a head first, got %T", ast.GetFirstChild(found))
	}
	body, ok := ast.GetLastChild(found).(*ast.TableBody)
	if !ok {
		t.Fatalf("want a body last, got %T", ast.GetLastChild(found))
	}
	cells := ast.GetFirstChild(body).GetChildren()
	if len(cells) != 2 {
		t.Fatalf("want 2 cells, got %d", len(cells))
	}
	if got := cells[1].(*ast.TableCell).Align; got != ast.TableAlignmentRight {
		t.Errorf("want the right, got %s", got)
	}
}

func TestShouldMoveATableIntoAFigureWhenACaptionFollows(t *testing.T) {
	extensions := parser.CommonExtensions | parser.Mmark
	doc := parser.NewWithExtensions(extensions).Parse([]byte(table + "Table: Numbers {#numbers}\n"))
	if got := len(doc.GetChildren()); got != 1 {
		t.Fatalf("want the figure alone, got %d blocks", got)
	}
	figure, ok := ast.GetFirstChild(doc).(*ast.CaptionFigure)
	if !ok {
		t.Fatalf("want a figure, got %T", ast.GetFirstChild(doc))
	}
	moved, ok := ast.GetFirstChild(figure).(*ast.Table)
	if !ok {
		t.Fatalf("want the table first, got %T", ast.GetFirstChild(figure))
	}
	if got := len(moved.GetChildren()); got != 2 {
		t.Errorf("want head and body, got %d parts", got)
	}
	caption, ok := ast.GetLastChild(figure).(*ast.Caption)
	if !ok {
		t.Fatalf("want the caption last, got %T", ast.GetLastChild(figure))
	}
	if got := string(ast.GetFirstChild(caption).AsLeaf().Literal); got != "Numbers " {
		t.Errorf("want the text before the name, got %q", got)
	}
}

func TestShouldKeepAttributesWhenTheTableMovesIntoAFigure(t *testing.T) {
	extensions := parser.CommonExtensions | parser.Mmark | parser.Attributes
	doc := parser.NewWithExtensions(extensions).Parse([]byte("{.wide}\n" + table + "Table: Numbers\n"))
	figure, ok := ast.GetFirstChild(doc).(*ast.CaptionFigure)
	if !ok {
		t.Fatalf("want a figure, got %T", ast.GetFirstChild(doc))
	}
	moved := ast.GetFirstChild(figure).AsContainer()
	if moved.Attribute == nil || string(moved.Attribute.Classes[0]) != "wide" {
		t.Errorf("want the class wide, got %v", moved.Attribute)
	}
}
