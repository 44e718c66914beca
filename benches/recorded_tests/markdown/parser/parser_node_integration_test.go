package parser_test

import (
	"testing"

	"github.com/gomarkdown/markdown/ast"
	"github.com/gomarkdown/markdown/parser"
)

func TestShouldAddEachBlockBelowTheDocumentWhenThereAreSeveral(t *testing.T) {
	doc := parser.New().Parse([]byte("# one\n\ntwo\n\n- three\n"))
	children := doc.GetChildren()
	if len(children) != 3 {
		t.Fatalf("want 3 blocks, got %d", len(children))
	}
	if _, ok := children[0].(*ast.Heading); !ok {
		t.Errorf("want a heading, got %T", children[0])
	}
	if _, ok := children[2].(*ast.List); !ok {
		t.Errorf("want a list, got %T", children[2])
	}
	for _, child := range children {
		if child.GetParent() != doc {
			t.Errorf("want the document above %T, got %T", child, child.GetParent())
		}
	}
}

func TestShouldParseTheTextOfEachBlockWhenItHasMarkup(t *testing.T) {
	doc := parser.New().Parse([]byte("# a *b*\n\nc *d*\n"))
	emphasised := 0
	ast.WalkFunc(doc, func(node ast.Node, entering bool) ast.WalkStatus {
		if _, ok := node.(*ast.Emph); ok && entering {
			emphasised++
		}
		return ast.GoToNext
	})
	if emphasised != 2 {
		t.Errorf("want 2, got %d", emphasised)
	}
}

func TestShouldListFootnotesAtTheEndWhenTheExtensionIsOn(t *testing.T) {
	doc := parser.NewWithExtensions(parser.Footnotes).Parse([]byte("a[^1]\n\n[^1]: the note\n"))
	notes, ok := ast.GetLastChild(doc).(*ast.List)
	if !ok {
		t.Fatalf("want a list, got %T", ast.GetLastChild(doc))
	}
	if !notes.IsFootnotesList {
		t.Error("want a list of footnotes")
	}
	item, ok := ast.GetFirstChild(notes).(*ast.ListItem)
	if !ok || string(item.RefLink) != "1" {
		t.Errorf("want the note 1, got %v", item)
	}
}

func TestShouldGiveAnEmptyDocumentWhenThereIsNoText(t *testing.T) {
	doc := parser.New().Parse(nil)
	if got := len(doc.GetChildren()); got != 0 {
		t.Errorf("want nothing, got %d blocks", got)
	}
}
