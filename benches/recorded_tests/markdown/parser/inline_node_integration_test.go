package parser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gomarkdown/markdown/ast"
	"github.com/gomarkdown/markdown/parser"
)

// inlineTree writes the nodes below a node on one line, without empty texts: a leaf with its text, a link with
// destination, title and the id of its reference, an image with destination and title.
func inlineTree(parent ast.Node) string {
	var words []string
	for _, node := range parent.GetChildren() {
		word := strings.TrimPrefix(fmt.Sprintf("%T", node), "*ast.")
		switch node := node.(type) {
		case *ast.Text:
			if len(node.Literal) == 0 {
				continue
			}
		case *ast.Link:
			word += fmt.Sprintf("<%s|%s|%s>", node.Destination, node.Title, node.DeferredID)
		case *ast.Image:
			word += fmt.Sprintf("<%s|%s>", node.Destination, node.Title)
		}
		if leaf := node.AsLeaf(); leaf != nil {
			word += fmt.Sprintf("%q", leaf.Literal)
		} else {
			word += "(" + inlineTree(node) + ")"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// firstBlock parses a source and returns its first block.
func firstBlock(source string) ast.Node {
	return ast.GetFirstChild(parser.NewWithExtensions(parser.CommonExtensions).Parse([]byte(source)))
}

type inlineCase struct{ source, want string }

func expectInline(t *testing.T, cases []inlineCase) {
	t.Helper()
	for _, tc := range cases {
		if got := inlineTree(firstBlock(tc.source)); got != tc.want {
			t.Errorf("%q\nwant %s\ngot  %s", tc.source, tc.want, got)
		}
	}
}

func TestShouldNestEmphasisWhenItIsMarked(t *testing.T) {
	expectInline(t, []inlineCase{
		{"a", `Text"a"`},
		{"a *b* c", `Text"a " Emph(Text"b") Text" c"`},
		{"_a_ **b**", `Emph(Text"a") Text" " Strong(Text"b")`},
		{"***a***", `Strong(Emph(Text"a"))`},
		{"___a___ b", `Strong(Emph(Text"a")) Text" b"`},
		{"**a *b* c**", `Strong(Text"a " Emph(Text"b") Text" c")`},
		{"*a **b** c*", `Emph(Text"a " Strong(Text"b") Text" c")`},
		{"***a** b*", `Emph(Strong(Text"a") Text" b")`},
		{"**bold *ital***", `Strong(Text"bold " Emph(Text"ital"))`},
		{"~~a~~ b", `Del(Text"a") Text" b"`},
		{"*你* é", `Emph(Text"你") Text" é"`},
		{"a_b_c", `Text"a_b_c"`},
		{"a * b *", `Text"a * b *"`},
		{"**a", `Text"**a"`},
		{"a\\*b\\*", `Text"a" Text"*" Text"b" Text"*"`},
	})
}

func TestShouldKeepTheTextAsItIsWhenItIsCodeOrMarkup(t *testing.T) {
	expectInline(t, []inlineCase{
		{"a `*b*` c", `Text"a " Code"*b*" Text" c"`},
		{"``b ` c`` d", "Code\"b ` c\" Text\" d\""},
		{"*a `*` b*", `Emph(Text"a " Code"*" Text" b")`},
		{"<b>x</b>", `HTMLSpan"<b>" Text"x" HTMLSpan"</b>"`},
		{"a <!-- *c* --> d", `Text"a " HTMLSpan"<!-- *c* -->" Text" d"`},
		{"a < b", `Text"a < b"`},
		{"$a_b$ c", `Math"a_b" Text" c"`},
		{"&amp; &lt; &#65; &#x42;", `Text"&" Text" " Text"&lt;" Text" " Text"A" Text" " Text"B"`},
		{"a & b &nope", `Text"a & b &nope"`},
		{"a\nb", `Text"a\nb"`},
		{"a  \nb", `Text"a" Hardbreak"" Text"b"`},
		{"a\\\nb", `Text"a" Hardbreak"" Text"b"`},
	})
}

func TestShouldMakeALinkWithItsTextWhenTheDestinationFollows(t *testing.T) {
	expectInline(t, []inlineCase{
		{"a [text](/to) b", `Text"a " Link</to||>(Text"text") Text" b"`},
		{"[text](/to \"title\")", `Link</to|title|>(Text"text")`},
		{"[text]( /to  'title' )", `Link</to|title|>(Text"text")`},
		{"[a *b* `c`](/to)", `Link</to||>(Text"a " Emph(Text"b") Text" " Code"c")`},
		{"[](/to)", `Link</to||>()`},
		{"[a]()", `Link<||>(Text"a")`},
		{"[a](</t o>)", `Link</t o||>(Text"a")`},
		{"[a](/t\\(o\\))", `Link</t(o)||>(Text"a")`},
		{"[a](/t(o)u)", `Link</t(o)u||>(Text"a")`},
		{"[a ![b](/p)](/c)", `Link</c||>(Text"a " Image</p|>(Text"b"))`},
		{"[http://a.org](/to)", `Link</to||>(Text"http://a.org")`},
		{"[a](/to \"t", `Text"[a](/to \"t"`},
		{"[a", `Text"[a"`},
	})
}

func TestShouldPutTheAlternativeBelowTheImageWhenThereIsOne(t *testing.T) {
	expectInline(t, []inlineCase{
		{"![a picture](/p.png 'title')", `Image</p.png|title>(Text"a picture")`},
		{"a ![b *c*](/p.png) d", `Text"a " Image</p.png|>(Text"b *c*") Text" d"`},
		{"![](/p)", `Image</p|>()`},
		{"![text][one]\n\n[one]: /p 't'\n", `Image</p|t>(Text"text")`},
		{"a! [b](/c)", `Text"a! " Link</c||>(Text"b")`},
	})
}

func TestShouldFollowTheReferenceWhenALinkNamesOne(t *testing.T) {
	expectInline(t, []inlineCase{
		{"[text][one]\n\n[one]: /to \"title\"\n", `Link</to|title|one>(Text"text")`},
		{"[a *b*][one] c\n\n[one]: /to\n", `Link</to||one>(Text"a " Emph(Text"b")) Text" c"`},
		{"[text][]\n\n[text]: /to\n", `Link</to||text>(Text"text")`},
		{"[text]\n\n[text]: /to 'title'\n", `Link</to|title|>(Text"text")`},
		{"[TEXT][ONE]\n\n[one]: /to\n", `Link</to||ONE>(Text"TEXT")`},
		{"[a\nb][]\n\n[a b]: /to\n", `Link</to||a b>(Text"a\nb")`},
		{"[a\nb]\n\n[a b]: /to\n", `Link</to||>(Text"a\nb")`},
		{"[text][one]", `Text"[text][one]"`},
		{"[text]", `Text"[text]"`},
	})
}

func TestShouldTakeTextAndDestinationFromTheOverrideWhenItKnowsTheReference(t *testing.T) {
	p := parser.NewWithExtensions(parser.CommonExtensions)
	p.ReferenceOverride = func(reference string) (*parser.Reference, bool) {
		switch reference {
		case "one":
			return &parser.Reference{Link: "/one", Title: "first", Text: "the *first*"}, true
		case "none":
			return nil, true
		}
		return nil, false
	}
	doc := p.Parse([]byte("[one] a [one][] b [text][one] c [none] d [two]\n\n[none]: /x\n[two]: /two\n"))
	want := `Link</one|first|>(Text"the *first*") Text" a " Link</one|first|one>(Text"the *first*") Text" b ` +
		`" Link</one|first|one>(Text"text") Text" c [none] d " Link</two||>(Text"two")`
	if got := inlineTree(ast.GetFirstChild(doc)); got != want {
		t.Errorf("want %s, got %s", want, got)
	}
}

func TestShouldShowTheAddressWhenALinkStandsInAngleBrackets(t *testing.T) {
	expectInline(t, []inlineCase{
		{"a <https://example.org/a?b=1> c", `Text"a " Link<https://example.org/a?b=1||>(Text"https://example.org/a?b=1") Text" c"`},
		{"<ada@example.org>", `Link<mailto:ada@example.org||>(Text"ada@example.org")`},
		{"<mailto:ada@example.org>", `Link<mailto:ada@example.org||>(Text"ada@example.org")`},
		{"<mailto://ada@example.org>", `Link<mailto://ada@example.org||>(Text"ada@example.org")`},
		{"<https://example.org/ a>", `HTMLSpan"<https://example.org/ a>"`},
		{"<ada@ada@example.org>", `HTMLSpan"<ada@ada@example.org>"`},
	})
}

func TestShouldLinkAnAddressWhenItStandsInTheText(t *testing.T) {
	expectInline(t, []inlineCase{
		{"see https://example.org/a?b=1 now", `Text"see " Link<https://example.org/a?b=1||>(Text"https://example.org/a?b=1") Text" now"`},
		{"HTTP://A.ORG", `Link<HTTP://A.ORG||>(Text"HTTP://A.ORG")`},
		{"ftp://a.org mailto:ada@a.org", `Link<ftp://a.org||>(Text"ftp://a.org") Text" " Link<mailto:ada@a.org||>(Text"mailto:ada@a.org")`},
		{"a http://b.org\nc", `Text"a " Link<http://b.org||>(Text"http://b.org") Text"\nc"`},
		{"http://a.org. b", `Link<http://a.org||>(Text"http://a.org") Text". b"`},
		{"http://a.org, b", `Link<http://a.org||>(Text"http://a.org") Text", b"`},
		{"http://a.org; b", `Link<http://a.org||>(Text"http://a.org") Text"; b"`},
		{"http://a.org/x&amp; b", `Link<http://a.org/x&amp;||>(Text"http://a.org/x&amp;") Text" b"`},
		{"http://a.org/\\*b c", `Link<http://a.org/*b||>(Text"http://a.org/*b") Text" c"`},
		{"(http://a.org/b) c", `Text"(" Link<http://a.org/b||>(Text"http://a.org/b") Text") c"`},
		{"(see http://a.org/b_(c))", `Text"(see " Link<http://a.org/b_(c)||>(Text"http://a.org/b_(c)") Text")"`},
		{"a\n(http://a.org)", `Text"a\n(" Link<http://a.org||>(Text"http://a.org") Text")"`},
		{"[http://a.org] {http://b.org}", `Text"[" Link<http://a.org||>(Text"http://a.org") Text"] {" Link<http://b.org||>(Text"http://b.org") Text"}"`},
		{"http://a.org) b", `Link<http://a.org)||>(Text"http://a.org)") Text" b"`},
		{"http://a.org<b>", `Link<http://a.org||>(Text"http://a.org") HTMLSpan"<b>"`},
		{"<a href=\"http://a.org\">http://a.org</a> b", `HTMLSpan"<a href=\"http://a.org\">" HTMLSpan"http://a.org</a>" Text" b"`},
		{"xhttp://a.org abcdefghttp://a.org", `Text"xhttp://a.org abcdefghttp://a.org"`},
		{"http:// x", `Text"http:// x"`},
	})
}

func TestShouldChainTheNodesOfALineWhenTheyAreAppended(t *testing.T) {
	for _, source := range []string{"a *b **c*** `d` [e *f*](/g) ![h](/i) <j@k.org> http://l.org m", "***a*** b", "[a][b]\n\n[b]: /c\n"} {
		ast.WalkFunc(firstBlock(source), func(node ast.Node, entering bool) ast.WalkStatus {
			var before ast.Node
			for _, child := range node.GetChildren() {
				if child.GetParent() != node {
					t.Errorf("%q: want %T above %T, got %T", source, node, child, child.GetParent())
				}
				if got := ast.GetPrevNode(child); got != before {
					t.Errorf("%q: want %T before %T, got %T", source, before, child, got)
				}
				if before != nil && ast.GetNextNode(before) != child {
					t.Errorf("%q: want %T behind %T, got %T", source, child, before, ast.GetNextNode(before))
				}
				before = child
			}
			if before != nil && ast.GetNextNode(before) != nil {
				t.Errorf("%q: want nothing behind %T, got %T", source, before, ast.GetNextNode(before))
			}
			return ast.GoToNext
		})
	}
}
