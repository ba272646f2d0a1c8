package report

import (
	"cmp"
	"fmt"
	"graft/results/document"
	"graft/results/page"
	"slices"
	"strings"
)

// parts converts the blocks of a document. A timeline precedes its table.
func (b *pageBuilder) parts(d *document.Document, line hasTimeline) []page.Part {
	var list []page.Part
	caption := ""
	for _, block := range d.Blocks {
		switch {
		case block.Heading != "":
			caption = document.Capitalized(block.Heading)
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
			most := maxPageRows
			if b.all {
				most = 0
			}
			table, left := block.Table.Middle(most)
			list = append(list, page.Part{Table: &page.Table{Table: *table, Caption: cmp.Or(caption, strings.ToLower(table.Columns[0].Name))}})
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
