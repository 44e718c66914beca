package html_test

import (
	"testing"

	"github.com/gomarkdown/markdown"
	"github.com/gomarkdown/markdown/ast"
	"github.com/gomarkdown/markdown/html"
	"github.com/gomarkdown/markdown/parser"
)

func renderWith(options html.RendererOptions, source string) string {
	extensions := parser.CommonExtensions | parser.Mmark | parser.Footnotes | parser.OrderedListStart
	doc := markdown.Parse([]byte(source), parser.NewWithExtensions(extensions))
	return string(markdown.Render(doc, html.NewRenderer(options)))
}

type renderCase struct{ name, source, want string }

func expectHTML(t *testing.T, options html.RendererOptions, cases []renderCase) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got := renderWith(options, tc.source); got != tc.want {
				t.Errorf("%q\nwant %q\ngot  %q", tc.source, tc.want, got)
			}
		})
	}
}

func TestShouldSeparateBlocksWhenOneFollowsAnother(t *testing.T) {
	expectHTML(t, html.RendererOptions{}, []renderCase{
		{"nothing", "", ""},
		{"one paragraph", "one\n", "<p>one</p>\n"},
		{"paragraphs", "one\n\ntwo\n\nthree\n", "<p>one</p>\n\n<p>two</p>\n\n<p>three</p>\n"},
		{"headings and paragraphs", "# a\n\nb\n\n## c\n\nd\n", "<h1>a</h1>\n\n<p>b</p>\n\n<h2>c</h2>\n\n<p>d</p>\n"},
		{"a list between paragraphs", "a\n\n- b\n\nc\n", "<p>a</p>\n\n<ul>\n<li>b</li>\n</ul>\n\n<p>c</p>\n"},
		{"code between paragraphs", "a\n\n```\nb\n```\n\nc\n", "<p>a</p>\n\n<pre><code>b\n</code></pre>\n\n<p>c</p>\n"},
		{"a rule between paragraphs", "a\n\n***\n\nb\n", "<p>a</p>\n\n<hr>\n\n<p>b</p>\n"},
		{"a paragraph behind markup", "<div>x</div>\n\na\n", "<div>x</div>\n\n<p>a</p>\n"},
		{"paragraphs in a quote", "> a\n>\n> b\n\nc\n", "<blockquote>\n<p>a</p>\n\n<p>b</p>\n</blockquote>\n\n<p>c</p>\n"},
		{"a list in a quote", "> - a\n>\n> b\n", "<blockquote>\n<ul>\n<li>a</li>\n</ul>\n\n<p>b</p>\n</blockquote>\n"},
		{"an aside", "A> a\nA>\nA> b\n\nc\n", "<aside>\n<p>a</p>\n\n<p>b</p>\n</aside>\n\n<p>c</p>\n"},
		{"a figure and a paragraph", "> a\n\nQuote: Ada\n\nb\n", "<figure>\n<blockquote>\n<p>a</p>\n</blockquote>\n<figcaption>Ada\n</figcaption>\n</figure>\n\n<p>b</p>\n"},
	})
}

func TestShouldWriteListsAsTightAsTheyAreWhenItemsHaveBlocks(t *testing.T) {
	expectHTML(t, html.RendererOptions{}, []renderCase{
		{"tight", "- one\n- two\n", "<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n"},
		{"loose", "- one\n\n- two\n\n- three\n", "<ul>\n<li><p>one</p></li>\n\n<li><p>two</p></li>\n\n<li><p>three</p></li>\n</ul>\n"},
		{"numbers from five", "5. a\n6. b\n", "<ol start=\"5\">\n<li>a</li>\n<li>b</li>\n</ol>\n"},
		{"a list in an item", "- a\n    1. b\n- c\n", "<ul>\n<li>a\n\n<ol>\n<li>b</li>\n</ol></li>\n<li>c</li>\n</ul>\n"},
		{"a list in a loose item", "- a\n    - b\n\n- c\n", "<ul>\n<li><p>a</p>\n\n<ul>\n<li>b</li>\n</ul></li>\n\n<li><p>c</p></li>\n</ul>\n"},
		{"three levels", "- a\n  - b\n    - c\n- d\n", "<ul>\n<li>a\n\n<ul>\n<li>b\n\n<ul>\n<li>c</li>\n</ul></li>\n</ul></li>\n<li>d</li>\n</ul>\n"},
		{"a list before a paragraph", "- a\n\n    - b\n\n    c\n", "<ul>\n<li><p>a</p>\n\n<ul>\n<li>b</li>\n</ul>\n\n<p>c</p></li>\n</ul>\n"},
		{"paragraphs in an item", "- a\n\n    b\n- c\n", "<ul>\n<li><p>a</p>\n\n<p>b</p></li>\n\n<li><p>c</p></li>\n</ul>\n"},
		{"a heading alone in an item", "- a\n\n    # b\n", "<ul>\n<li><p>a</p>\n\n<h1>b</h1></li>\n</ul>\n"},
		{"a heading and a paragraph in an item", "- # a\n\n    b\n", "<ul>\n<li>\n<h1>a</h1>\n\n<p>b</p></li>\n</ul>\n"},
		{"a quote in an item", "1. a\n\n    > b\n\n2. c\n", "<ol>\n<li><p>a</p>\n\n<blockquote>\n<p>b</p>\n</blockquote>\n</li>\n\n<li><p>c</p></li>\n</ol>\n"},
		{"code in an item", "- a\n\n    ```\n    x\n    ```\n\n- b\n", "<ul>\n<li><p>a</p>\n\n<pre><code>x\n</code></pre></li>\n\n<li><p>b</p></li>\n</ul>\n"},
		{"terms", "a\n: b\n: c\n\nd\n: e\n", "<dl>\n<dt>a</dt>\n<dd>b</dd>\n<dd>c</dd>\n<dt>d</dt>\n<dd>e</dd>\n</dl>\n"},
		{"loose terms", "a\n\n: b\n\nc\n\n: d\n", "<dl>\n<dt>a</dt>\n<dd><p>b</p></dd>\n<dt>c</dt>\n<dd><p>d</p></dd>\n</dl>\n"},
	})
}

func TestShouldWritePartsOfATableWhenItHasThem(t *testing.T) {
	expectHTML(t, html.RendererOptions{}, []renderCase{
		{
			"alignment", "| a | b | c | d |\n|:-:|--:|:--|---|\n| 1 | 2 | 3 | 4 |\n",
			"<table>\n<thead>\n<tr>\n<th align=\"center\">a</th>\n<th align=\"right\">b</th>\n<th align=\"left\">c</th>\n<th>d</th>\n</tr>\n</thead>\n\n" +
				"<tbody>\n<tr>\n<td align=\"center\">1</td>\n<td align=\"right\">2</td>\n<td align=\"left\">3</td>\n<td>4</td>\n</tr>\n</tbody>\n</table>\n",
		},
		{
			"several rows and a foot", "a|b\n-|-\n1|2\n3|4\n=|=\n5|6\n\nc\n",
			"<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n\n<tbody>\n<tr>\n<td>1</td>\n<td>2</td>\n</tr>\n\n" +
				"<tr>\n<td>3</td>\n<td>4</td>\n</tr>\n</tbody>\n\n<tfoot>\n<tr>\n<td>5</td>\n<td>6</td>\n</tr>\n</tfoot>\n</table>\n<p>c</p>\n",
		},
		{
			"no rows", "|a|b|\n|-|-|\n\nc\n",
			"<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n\n<tbody>\n</tbody>\n</table>\n<p>c</p>\n",
		},
		{
			"a cell over two columns", "|a|b|\n|-|-|\n|1||\n",
			"<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n\n<tbody>\n<tr>\n<td colspan=\"2\">1</td>\n</tr>\n</tbody>\n</table>\n",
		},
	})
}

func TestShouldListHeadingsWhenContentsAreAskedFor(t *testing.T) {
	expectHTML(t, html.RendererOptions{Flags: html.TOC}, []renderCase{
		{"no headings", "a\n", "<p>a</p>\n"},
		{
			"one level", "# a\n\n# b\n",
			"<nav>\n\n<ul>\n<li><a href=\"#toc_0\">a</a></li>\n\n<li><a href=\"#toc_1\">b</a></li>\n</ul>\n\n</nav>\n\n" +
				"<h1 id=\"toc_0\">a</h1>\n\n<h1 id=\"toc_1\">b</h1>\n",
		},
		{
			"several levels and markup", "# a\n\n## b *c*\n\n### d\n\n# e\n",
			"<nav>\n\n<ul>\n<li><a href=\"#toc_0\">a</a>\n<ul>\n<li><a href=\"#toc_1\">b <em>c</em></a>\n<ul>\n" +
				"<li><a href=\"#toc_2\">d</a></li>\n</ul></li>\n</ul></li>\n\n<li><a href=\"#toc_3\">e</a></li>\n</ul>\n\n</nav>\n\n" +
				"<h1 id=\"toc_0\">a</h1>\n\n<h2 id=\"toc_1\">b <em>c</em></h2>\n\n<h3 id=\"toc_2\">d</h3>\n\n<h1 id=\"toc_3\">e</h1>\n",
		},
		{
			"a heading with a name", "# a {#x}\n\nb\n\n## c\n",
			"<nav>\n\n<ul>\n<li><a href=\"#x\">a</a>\n<ul>\n<li><a href=\"#toc_1\">c</a></li>\n</ul></li>\n</ul>\n\n</nav>\n\n" +
				"<h1 id=\"x\">a</h1>\n\n<p>b</p>\n\n<h2 id=\"toc_1\">c</h2>\n",
		},
	})
}

func TestShouldWriteFootnotesWhenTheTreeHasThem(t *testing.T) {
	expectHTML(t, html.RendererOptions{}, []renderCase{
		{
			"two, one with blocks", "a[^1]\n\nb[^2]\n\n[^1]: one\n\n[^2]: two\n\n    three\n",
			"<p>a<sup class=\"footnote-ref\" id=\"fnref:1\"><a href=\"#fn:1\">1</a></sup></p>\n\n" +
				"<p>b<sup class=\"footnote-ref\" id=\"fnref:2\"><a href=\"#fn:2\">2</a></sup></p>\n\n" +
				"<div class=\"footnotes\">\n\n<hr>\n\n<ol>\n<li id=\"fn:1\">one</li>\n\n<li id=\"fn:2\"><p>two</p>\n\n<p>three</p></li>\n</ol>\n\n</div>\n",
		},
	})
	options := html.RendererOptions{Flags: html.FootnoteReturnLinks, FootnoteAnchorPrefix: "p-", FootnoteReturnLinkContents: "up"}
	expectHTML(t, options, []renderCase{
		{
			"with links back", "a[^1]\n\n[^1]: one\n",
			"<p>a<sup class=\"footnote-ref\" id=\"fnref:p-1\"><a href=\"#fn:p-1\">1</a></sup></p>\n\n<div class=\"footnotes\">\n\n<hr>\n\n" +
				"<ol>\n<li id=\"fn:p-1\">one <a class=\"footnote-return\" href=\"#fnref:p-1\">up</a></li>\n</ol>\n\n</div>\n",
		},
	})
}

func TestShouldSeeTheNeighboursWhenTheTreeIsBuiltByHand(t *testing.T) {
	paragraph := func(text string) ast.Node {
		node := &ast.Paragraph{}
		ast.AppendChild(node, &ast.Text{Leaf: ast.Leaf{Literal: []byte(text)}})
		return node
	}
	doc := &ast.Document{}
	first, second, third := paragraph("a & b"), paragraph("c"), paragraph("d")
	for _, node := range []ast.Node{first, second, third} {
		ast.AppendChild(doc, node)
	}
	render := func() string { return string(markdown.Render(doc, html.NewRenderer(html.RendererOptions{}))) }
	if got, want := render(), "<p>a &amp; b</p>\n\n<p>c</p>\n\n<p>d</p>\n"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
	ast.RemoveFromTree(second)
	if got, want := render(), "<p>a &amp; b</p>\n\n<p>d</p>\n"; got != want {
		t.Errorf("without the second: want %q, got %q", want, got)
	}
	list := &ast.List{Tight: false}
	for _, text := range []string{"x", "y"} {
		item := &ast.ListItem{}
		ast.AppendChild(item, paragraph(text))
		ast.AppendChild(list, item)
	}
	doc.SetChildren([]ast.Node{list, third})
	list.SetParent(doc)
	if got, want := render(), "<ul>\n<li><p>x</p></li>\n\n<li><p>y</p></li>\n</ul>\n\n<p>d</p>\n"; got != want {
		t.Errorf("with a list: want %q, got %q", want, got)
	}
}
