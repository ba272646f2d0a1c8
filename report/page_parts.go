package report

import (
	"cmp"
	"fmt"
	"graft/report/document"
	"graft/report/page"
	"graft/report/runs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// parts converts the blocks of a document. A timeline precedes its table. Links are relative to a run folder.
func (b *pageBuilder) parts(d *document.Document, line hasTimeline, folder string) []page.Part {
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
			list = append(list,
				page.Part{Sentences: strings.Split(document.PrintableLines(strings.Join(block.Lines, "\n")), "\n")})
		case block.Facts != nil:
			list = append(list, page.Part{Facts: factsOf(block.Facts)})
		case block.Table != nil:
			most := maxPageRows
			if b.All {
				most = 0
			}
			table, left := block.Table.Middle(most)
			b.resolve(table, folder)
			list = append(list, page.Part{Table: &page.Table{Table: *table,
				Caption: cmp.Or(caption, strings.ToLower(table.Columns[0].Name))}})
			if left > 0 {
				list = append(list, page.Part{Sentences: []string{
					fmt.Sprintf("%d rows in the middle are omitted; %s shows all rows.", left, b.More),
				}})
			}
		}
	}
	return list
}

// resolve replaces the links of a table, which are relative to a run folder, by addresses of pages.
func (b *pageBuilder) resolve(t *document.Table, folder string) {
	for _, row := range t.Rows {
		for k := range row {
			link := row[k].Link
			if row[k].Link = ""; link == "" || b.Address == nil {
				continue
			}
			to, query, has := strings.Cut(link, "?")
			row[k].Link = b.Address(filepath.Join(folder, to))
			if has {
				row[k].Link += "?" + query
			}
		}
	}
}

// codeFacts lists the facts that a page shows as code.
var codeFacts = []string{"command", "configuration", "images"}

func factsOf(pairs [][2]string) []page.Fact {
	var list []page.Fact
	for _, pair := range pairs {
		list = append(list, page.Fact{Name: pair[0], Text: document.Printable(pair[1]),
			Code: slices.Contains(codeFacts, pair[0])})
	}
	return list
}

// repeatParts lists the command, versions, seed and digests that reproduce a run.
func repeatParts(report *RunReport, r *runs.Run) []page.Part {
	parts := []page.Part{{Heading: "How to reproduce this run"}}
	if len(report.Command) > 0 {
		words := make([]string, len(report.Command))
		for k, word := range report.Command {
			words[k] = shellWord(document.Printable(word))
		}
		parts = append(parts, page.Part{Code: strings.Join(words, " ")})
	}
	facts := []page.Fact{}
	know := func(name, text string, code bool) {
		if text != "" {
			facts = append(facts, page.Fact{Name: name, Text: document.Printable(text), Code: code})
		}
	}
	know("graft", report.Graft, false)
	if report.Seed != nil {
		know("seed", fmt.Sprint(*report.Seed), false)
	}
	know("device", report.where(), false)
	know("host", report.Host, false)
	know("configuration, SHA-256", report.Config, true)
	know("images, SHA-256", report.Data, true)
	for k := 0; k < len(report.circumstances); k += 2 {
		know(report.circumstances[k], report.circumstances[k+1], false)
	}
	know("folder", report.Path, true)
	parts = append(parts, page.Part{Facts: facts})
	if text := r.Configuration(); text != "" {
		parts = append(parts, page.Part{Folded: &page.Folded{Title: "Configuration, resolved", Text: text}})
	}
	return parts
}

// plainWord matches words that a shell accepts without quotes.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+-]+$`)

func shellWord(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
