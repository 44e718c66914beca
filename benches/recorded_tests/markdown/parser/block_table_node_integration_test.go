package parser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gomarkdown/markdown/ast"
	"github.com/gomarkdown/markdown/parser"
)

const numbers = "| a | b |\n|---|--:|\n| 1 | 2 |\n"

// tableTree parses a source with captions and attributes.
func tableTree(source string) ast.Node {
	extensions := parser.CommonExtensions | parser.Mmark | parser.Attributes
	return parser.NewWithExtensions(extensions).Parse([]byte(source))
}

// tableRows writes the parts of a table, one a line, with their rows in brackets: each cell with its texts, its
// alignment, and the columns that it spans.
func tableRows(table ast.Node) string {
	var lines []string
	for _, part := range table.GetChildren() {
		line := strings.TrimPrefix(fmt.Sprintf("%T", part), "*ast.Table")
		for _, row := range part.GetChildren() {
			var cells []string
			for _, one := range row.GetChildren() {
				cell := one.(*ast.TableCell)
				text := ""
				ast.WalkFunc(cell, func(node ast.Node, entering bool) ast.WalkStatus {
					if leaf := node.AsLeaf(); leaf != nil {
						text += string(leaf.Literal)
					}
					return ast.GoToNext
				})
				if align := cell.Align.String(); align != "" {
					text += " " + align
				}
				if cell.ColSpan > 0 {
					text += fmt.Sprintf(" %d", cell.ColSpan)
				}
				if _, isHeader := part.(*ast.TableHeader); cell.IsHeader != isHeader {
					text += " misplaced"
				}
				cells = append(cells, text)
			}
			line += fmt.Sprintf(" [%s]", strings.Join(cells, ", "))
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestShouldPutHeadAndBodyBelowATableWhenItHasThem(t *testing.T) {
	cases := []struct{ name, source, want string }{
		{"head and body", numbers, "Header [a, b right]\nBody [1, 2 right]"},
		{"no pipes at the ends", "a|b\n-|-\n1|2\n3|4\n", "Header [a, b]\nBody [1, 2] [3, 4]"},
		{"each alignment", "|a|b|c|d|\n|:--|:-:|--:|---|\n|1|2|3|4|\n", "Header [a left, b center, c right, d]\nBody [1 left, 2 center, 3 right, 4]"},
		{"no body", "|a|b|\n|-|-|\n", "Header [a, b]\nBody"},
		{"no head", "|-|-|\n|1|2|\n", "Body [1, 2]"},
		{"a foot", "|a|b|\n|-|-|\n|1|2|\n|=|=|\n|3|4|\n", "Header [a, b]\nBody [1, 2]\nFooter [3, 4]"},
		{"rows with fewer and more cells", "|a|b|\n|-|-|\n|1|\n|1|2|3|\n", "Header [a, b]\nBody [1, ] [1, 2]"},
		{"a cell over two columns", "|a|b|\n|-|-|\n|1||\n|1|2|\n", "Header [a, b]\nBody [1 2] [1, 2]"},
		{"markup in cells", "|*a*|`b|c`|\n|-|-|\n|d\\|e|**f** g|\n", "Header [a, b|c]\nBody [d|e, f g]"},
		{"spaces and wide characters", "|  你  |é |\n|-|-|\n| 1 |   2|\n", "Header [你, é]\nBody [1, 2]"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			children := tableTree(tc.source).GetChildren()
			if len(children) != 1 {
				t.Fatalf("want the table alone, got %d blocks", len(children))
			}
			if _, ok := children[0].(*ast.Table); !ok {
				t.Fatalf("want a table, got %T", children[0])
			}
			if got := tableRows(children[0]); got != tc.want {
				t.Errorf("%q\nwant:\n%s\ngot:\n%s", tc.source, tc.want, got)
			}
		})
	}
}

func TestShouldEndTheTableWhenALineHasNoPipe(t *testing.T) {
	for source, want := range map[string]string{
		"x\n\n" + numbers + "\ny\n":      "*ast.Paragraph *ast.Table *ast.Paragraph",
		numbers + "y\n":                  "*ast.Table *ast.Paragraph",
		numbers + "\n" + numbers:         "*ast.Table *ast.Table",
		"> |a|b|\n> |-|-|\n> |1|2|\n":    "*ast.BlockQuote",
		"|a|\n":                          "*ast.Paragraph",
		"|a|b|\n|-|x|\n|1|2|\n":          "*ast.Paragraph",
		numbers + "\nTable: A\n\nb\n":    "*ast.Table *ast.Paragraph *ast.Paragraph",
		numbers + "Table: A {#x}\n\nb":   "*ast.CaptionFigure *ast.Paragraph",
		"x\n\n" + numbers + "Table: A\n": "*ast.Paragraph *ast.CaptionFigure",
	} {
		var types []string
		for _, child := range tableTree(source).GetChildren() {
			types = append(types, fmt.Sprintf("%T", child))
		}
		if got := strings.Join(types, " "); got != want {
			t.Errorf("%q: want %s, got %s", source, want, got)
		}
	}
}

func TestShouldMoveATableIntoAFigureWhenACaptionFollows(t *testing.T) {
	doc := tableTree(numbers + "Table: Numbers *of* it {#numbers}\n")
	figure, ok := ast.GetFirstChild(doc).(*ast.CaptionFigure)
	if !ok || len(doc.GetChildren()) != 1 {
		t.Fatalf("want the figure alone, got\n%s", ast.ToString(doc))
	}
	if figure.HeadingID != "numbers" {
		t.Errorf("want the name numbers, got %q", figure.HeadingID)
	}
	if len(figure.GetChildren()) != 2 {
		t.Fatalf("want table and caption, got\n%s", ast.ToString(figure))
	}
	table, ok := figure.GetChildren()[0].(*ast.Table)
	if !ok {
		t.Fatalf("want the table first, got %T", figure.GetChildren()[0])
	}
	if got, want := tableRows(table), "Header [a, b right]\nBody [1, 2 right]"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
	if got, want := ast.ToString(figure.GetChildren()[1]), "Caption\n  Text 'Numbers'\n  Emph\n    Text 'of'\n  Text 'it'\n"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
	if table.GetParent() != figure || ast.GetNextNode(table) != figure.GetChildren()[1] || ast.GetPrevNode(figure.GetChildren()[1]) != table {
		t.Errorf("want the caption behind the table in the figure, got %T below %T", ast.GetNextNode(table), table.GetParent())
	}
}

func TestShouldKeepAttributesWhenTheTableMovesIntoAFigure(t *testing.T) {
	for _, source := range []string{"{.wide}\n" + numbers, "{.wide}\n" + numbers + "Table: Numbers\n"} {
		var found []string
		ast.WalkFunc(tableTree(source), func(node ast.Node, entering bool) ast.WalkStatus {
			if container := node.AsContainer(); container != nil && container.Attribute != nil && entering {
				found = append(found, fmt.Sprintf("%T %s", node, container.Attribute.Classes))
			}
			return ast.GoToNext
		})
		if got, want := strings.Join(found, ", "), "*ast.Table [wide]"; got != want {
			t.Errorf("%q: want %s, got %s", source, want, got)
		}
	}
}
