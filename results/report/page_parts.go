package report

import (
	"fmt"
	"graft/results/document"
	"graft/results/page"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// parts converts the blocks of a document. Columns in names keep their names; a timeline precedes
// its table.
func (b *pageBuilder) parts(d *document.Document, names map[string]bool, line hasTimeline) []page.Part {
	var list []page.Part
	caption := ""
	for _, block := range d.Blocks {
		switch {
		case block.Heading != "":
			caption = strings.ToUpper(document.Printable(block.Heading[:1])) + document.Printable(block.Heading[1:])
			list = append(list, page.Part{Heading: caption})
			if line != nil && block.Heading == timelineHead {
				if t := line.timeline(); len(t.Events) > 0 {
					list = append(list, page.Part{Timeline: t})
				}
			}
		case block.Lines != nil:
			list = append(list, page.Part{Sentences: strings.Split(document.PrintableLines(strings.Join(block.Lines, "\n")), "\n")})
		case block.Facts != nil:
			list = append(list, page.Part{Facts: factsOf(block.Facts)})
		case block.Table != nil:
			table, left := pageTable(block.Table, names, b.all)
			if table.Caption = caption; caption == "" {
				table.Caption = strings.ToLower(table.Columns[0].Name)
			}
			list = append(list, page.Part{Table: table})
			if left > 0 {
				list = append(list, page.Part{Sentences: []string{fmt.Sprintf("%d rows in the middle are left out; %s shows every one.", left, b.more)}})
			}
		}
	}
	return list
}

// codeFacts lists the facts that a page shows as code.
var codeFacts = []string{"command", "configuration", "images"}

func factsOf(pairs [][2]string) []page.Fact {
	var list []page.Fact
	for _, pair := range pairs {
		list = append(list, page.Fact{Name: pair[0], Text: document.Printable(pair[1]), Code: slices.Contains(codeFacts, pair[0])})
	}
	return list
}

// pageTable converts a table of texts to typed cells. It also returns the number of rows left out
// of its middle.
func pageTable(t *document.Table, names map[string]bool, all bool) (*page.Table, int) {
	p := &page.Table{}
	unit := -1
	for k, head := range t.Rows[0] {
		name, number := strings.CutPrefix(head, ">")
		c := page.Column{Name: document.Printable(name), Number: number}
		if !names[name] {
			c.Name, c.Unit = headWords(c.Name)
		}
		if name == "UNIT" {
			unit = k
		}
		p.Columns = append(p.Columns, c)
	}
	rows, left := t.Rows[1:], 0
	if len(rows) > maxPageRows && !all {
		left = len(rows) - maxPageRows
		rows = slices.Concat(rows[:maxPageRows/2], rows[len(rows)-maxPageRows/2:])
	}
	for _, row := range rows {
		cells := make([]page.Cell, len(row))
		for k, text := range row {
			cells[k] = page.Cell{Text: document.Printable(strings.TrimRight(text, " "))}
			if p.Columns[k].Number {
				if cells[k].Value = leadingNumber(text); unit >= 0 {
					cells[k].Unit = document.Printable(row[unit])
				}
			}
		}
		p.Rows = append(p.Rows, cells)
	}
	return p, left
}

// headWords splits a heading into the name of a column and its unit: "TIME [s]" is Time in s.
func headWords(head string) (name, unit string) {
	if before, rest, found := strings.Cut(head, " ["); found {
		head, unit = before, strings.TrimSuffix(rest, "]")
	}
	if head == "" || head != strings.ToUpper(head) {
		return head, unit
	}
	return head[:1] + strings.ToLower(head[1:]), unit
}

// number matches the number at the beginning of a cell.
var number = regexp.MustCompile(`^[-+]?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?`)

func leadingNumber(text string) *float64 {
	v, err := strconv.ParseFloat(number.FindString(strings.TrimSpace(text)), 64)
	if err != nil {
		return nil
	}
	return &v
}
