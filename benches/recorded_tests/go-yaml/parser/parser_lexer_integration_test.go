package parser_test

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

func TestShouldParseWhatTheLexerReadsWhenTheSourceIsAMapping(t *testing.T) {
	file, err := parser.ParseBytes([]byte("a: 1\nb:\n  - x\n  - y\n"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(file.Docs) != 1 {
		t.Fatalf("want 1 document, got %d", len(file.Docs))
	}
	mapping, ok := file.Docs[0].Body.(*ast.MappingNode)
	if !ok {
		t.Fatalf("want a mapping, got %T", file.Docs[0].Body)
	}
	if len(mapping.Values) != 2 {
		t.Errorf("want 2 values, got %d", len(mapping.Values))
	}
	if got := mapping.Values[0].Value.Type(); got != ast.IntegerType {
		t.Errorf("want %s, got %s", ast.IntegerType, got)
	}
	if got, want := file.String(), "a: 1\nb:\n  - x\n  - y\n"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestShouldParseADocumentForEachSeparatorWhenThereAreSeveral(t *testing.T) {
	file, err := parser.ParseBytes([]byte("a\n---\nb\n"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(file.Docs) != 2 {
		t.Fatalf("want 2 documents, got %d", len(file.Docs))
	}
	if got := file.Docs[1].Body.String(); got != "b" {
		t.Errorf("want %q, got %q", "b", got)
	}
}

func TestShouldFailWithTheReasonOfTheLexerWhenAQuoteIsNotClosed(t *testing.T) {
	file, err := parser.ParseBytes([]byte("a: 'b"), 0)
	if err == nil {
		t.Fatalf("want an error, got %v", file)
	}
	if want := "could not find end character of single-quoted text"; !strings.Contains(err.Error(), want) {
		t.Errorf("want %q in %q", want, err.Error())
	}
	if file != nil {
		t.Errorf("want no file, got %v", file)
	}
}

func TestShouldKeepCommentsWhenTheModeAsksForThem(t *testing.T) {
	source := []byte("a: 1 # one\n")
	with, err := parser.ParseBytes(source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	without, err := parser.ParseBytes(source, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := with.String(); got != "a: 1 # one\n" {
		t.Errorf("got %q", got)
	}
	if got := without.String(); got != "a: 1\n" {
		t.Errorf("got %q", got)
	}
}
