package report

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"graft/results/document"
	"graft/results/figure"
	"graft/results/page"
	"graft/results/plot"
	"graft/results/runs"
)

const (
	// MostPageRuns is how many runs have a section each; of more there is the
	// comparison, unless all are asked for.
	MostPageRuns = 12
	// mostPageRows is how many rows of a table are in a page, unless all are asked for.
	mostPageRows = 200
)

// hasTimeline is met by details of runs in which things happened one after the other.
type hasTimeline interface{ timeline() *page.Timeline }

// Page makes the page of runs: the comparison of several, and each by itself. More is
// how to see what of it is left out unless all is asked for.
func Page(found []*runs.Run, skipped []runs.SkippedRun, all bool, more, version string) (*page.Page, *Report, error) {
	r, err := New(found, skipped, true)
	if err != nil {
		return nil, nil, err
	}
	b := &pager{report: r, all: all, more: more}
	p := &page.Page{Title: "Report of " + document.Counted(len(found), "run"), Version: version}
	if len(found) == 1 {
		p.Title = found[0].Heading()
	} else {
		p.Lead = "What differs comes first, then each run by itself. Nothing is ranked."
	}
	p.Sections = append(p.Sections, b.leftOut()...)
	few := all || len(found) <= MostPageRuns
	for _, c := range r.Side {
		if c.count() > 1 || !few {
			p.Sections = append(p.Sections, b.comparison(c))
		}
	}
	if !few {
		p.Lead = fmt.Sprintf("What differs comes first, then what came out. Nothing is ranked. More than %d runs have no section each; %s gives them one.", MostPageRuns, more)
		return p, r, nil
	}
	sections := make([][]page.Section, len(found))
	runs.Parallel(len(found), func(k int) { sections[k] = b.run(k, found[k]) })
	for _, list := range sections {
		p.Sections = append(p.Sections, list...)
	}
	return p, r, nil
}

// pager makes the sections of a page.
type pager struct {
	report *Report
	all    bool
	more   string // how to see all
}

// leftOut is a section about the folders that could not be used, if there are any.
func (b *pager) leftOut() []page.Section {
	if len(b.report.Skipped) == 0 {
		return nil
	}
	var lines []string
	for _, s := range b.report.Skipped {
		lines = append(lines, strings.Split(document.PrintableLines(s.Line()), "\n")...)
	}
	return []page.Section{{Title: "Left out", Parts: []page.Part{{Sentences: lines}}}}
}

// comparison is the section of runs of a kind side by side.
func (b *pager) comparison(c *comparison) page.Section {
	d := &document.Document{}
	c.write(d, true)
	names := map[string]bool{}
	var list []*runs.Run
	for _, col := range c.Columns {
		names[col.Name] = true
		list = append(list, col.runs...)
	}
	for _, diff := range c.Differs {
		names[diff.Key] = true
	}
	s := page.Section{Title: "Comparison"}
	if len(d.Blocks) > 0 && d.Blocks[0].Heading != "" {
		s.Title = "Comparison of " + document.Printable(d.Blocks[0].Heading)
		d.Blocks = d.Blocks[1:]
	}
	s.Parts = append(b.parts(d, names, nil), figureParts(list, true)...)
	return s
}

// run is the sections of a run: one beside others, several where it is alone; and one
// for each run that is a part of it.
func (b *pager) run(k int, r *runs.Run) []page.Section {
	detail, err := b.detail(r)
	parts := b.about(&b.report.Runs[k], r, detail, err)
	below := b.below(r)
	if len(b.report.Runs) > 1 {
		return append([]page.Section{{Title: r.Heading(), Parts: parts}}, below...)
	}
	return append(divided(parts), below...)
}

// about is all that a page says of a run.
func (b *pager) about(report *reportedRun, r *runs.Run, detail Detail, err error) []page.Part {
	about := &document.Document{}
	report.write(about)
	about.Blocks = about.Blocks[1:] // the section says it
	parts := b.parts(about, nil, nil)
	if err != nil {
		parts = append(parts, page.Part{Sentences: strings.Split("Not all of it can be read: "+document.PrintableLines(err.Error()), "\n")})
	}
	parts = append(parts, figureParts([]*runs.Run{r}, false)...)
	if detail != nil {
		seen := &document.Document{}
		detail.write(seen)
		line, _ := detail.(hasTimeline)
		parts = append(parts, b.parts(seen, nil, line)...)
	}
	return append(parts, repeatParts(report, r)...)
}

// below is a section for each run that a pipeline has left; of many only if all are
// asked for. What is wrong with others stands in what is left out.
func (b *pager) below(r *runs.Run) (list []page.Section) {
	if r.Kind != runs.PipelineKind {
		return nil
	}
	l, err := runs.ReadLedger(r.Fsys, filepath.Join(r.Path, runs.LedgerName))
	if err != nil {
		return nil
	}
	all, _ := l.Parts(r.OpenPart)
	if len(all) > MostPageRuns && !b.all {
		return []page.Section{{Title: "Runs of " + document.Printable(r.Path), Parts: []page.Part{{Sentences: []string{fmt.Sprintf("More than %d runs have no section each; --all gives them one.", MostPageRuns)}}}}}
	}
	for _, p := range all {
		if p.Run == nil {
			continue
		}
		report := ReportRun(p.Run)
		detail, err := DetailOf(p.Run, true)
		list = append(list, page.Section{Title: p.Run.Heading(), Parts: b.about(&report, p.Run, detail, err)})
	}
	return list
}

func (b *pager) detail(r *runs.Run) (Detail, error) {
	if b.report.lone != nil {
		return b.report.seen, nil // its faults stand among what is left out
	}
	return DetailOf(r, true)
}

// divided makes a section of each heading, for a page of one run.
func divided(parts []page.Part) []page.Section {
	list := []page.Section{{Title: "What came out"}}
	for _, part := range parts {
		if part.Heading != "" {
			list = append(list, page.Section{Title: part.Heading})
			continue
		}
		last := &list[len(list)-1]
		last.Parts = append(last.Parts, part)
	}
	return list
}

// parts are the blocks of a document. Names are columns that are called as they are; a
// time line stands before its table.
func (b *pager) parts(d *document.Document, names map[string]bool, line hasTimeline) []page.Part {
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

// codeFacts are names of facts that are texts for machines.
var codeFacts = []string{"command", "configuration", "images"}

func factsOf(pairs [][2]string) []page.Fact {
	var list []page.Fact
	for _, pair := range pairs {
		list = append(list, page.Fact{Name: pair[0], Text: document.Printable(pair[1]), Code: slices.Contains(codeFacts, pair[0])})
	}
	return list
}

// pageTable is a table whose cells are typed, and how many rows of its middle are left
// out.
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
	if len(rows) > mostPageRows && !all {
		left = len(rows) - mostPageRows
		rows = slices.Concat(rows[:mostPageRows/2], rows[len(rows)-mostPageRows/2:])
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

// headWords is the name of a column as a page has it, and its unit: "TIME [s]" is Time
// in s.
func headWords(head string) (name, unit string) {
	if before, rest, found := strings.Cut(head, " ["); found {
		head, unit = before, strings.TrimSuffix(rest, "]")
	}
	if head == "" || head != strings.ToUpper(head) {
		return head, unit
	}
	return head[:1] + strings.ToLower(head[1:]), unit
}

// number is what a cell of numbers begins with.
var number = regexp.MustCompile(`^[-+]?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?`)

func leadingNumber(text string) *float64 {
	v, err := strconv.ParseFloat(number.FindString(strings.TrimSpace(text)), 64)
	if err != nil {
		return nil
	}
	return &v
}

// figureParts are the figures of a run, or those that several make together.
func figureParts(found []*runs.Run, many bool) []page.Part {
	var drawn []page.Figure
	var faults []string
	for _, kind := range plot.Kinds(plot.Given{}) {
		if kind.Many != many {
			continue
		}
		for _, group := range kind.Groups(found) {
			list, err := drawAll(kind, group)
			drawn = append(drawn, list...)
			if err != nil {
				faults = append(faults, strings.Split(fmt.Sprintf("The figure %s is not there: %s", kind.Name, document.PrintableLines(err.Error())), "\n")...)
			}
		}
	}
	if len(drawn)+len(faults) == 0 {
		return nil
	}
	parts := []page.Part{{Heading: "Figures"}}
	if len(drawn) > 0 {
		parts = append(parts, page.Part{Figures: drawn})
	}
	if len(faults) > 0 {
		parts = append(parts, page.Part{Sentences: faults})
	}
	return parts
}

// drawAll draws a kind of figure, as wide as a telephone.
func drawAll(kind plot.Kind, group []*runs.Run) ([]page.Figure, error) {
	drawings, err := kind.Draw(group)
	var list []page.Figure
	for _, d := range drawings {
		var b bytes.Buffer
		if err := figure.Render(&b, d.Figure, figure.Options{Width: figure.Column, Theme: figure.Page}); err != nil {
			return list, err
		}
		p := d.Figure.Layout(figure.Column)
		list = append(list, page.Figure{Caption: document.Printable(p.Title), Description: document.Printable(p.Description), SVG: b.Bytes()})
	}
	return list, err
}

// repeatParts say how to get the same run again.
func repeatParts(report *reportedRun, r *runs.Run) []page.Part {
	parts := []page.Part{{Heading: "How to reproduce it"}}
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
	know("folder", report.Path, true)
	parts = append(parts, page.Part{Facts: facts})
	if text := r.Configuration(); text != "" {
		parts = append(parts, page.Part{Folded: &page.Folded{Title: "Configuration, resolved", Text: text}})
	}
	return parts
}

// plainWord is a word that a shell takes as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+-]+$`)

func shellWord(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// eventKinds are what events of a job look like on a time line.
var eventKinds = map[string]page.Kind{"up": page.Up, "decision": page.Decision, "down": page.Down, "shrink": page.Down}

func (j *JobDetail) timeline() *page.Timeline {
	t := &page.Timeline{Title: "Events of the job over its time", Unit: "s"}
	for _, e := range j.Events {
		name := e.Event
		if what := e.what(); what != "" {
			name += " " + what
		}
		t.Events = append(t.Events, page.Event{At: e.Time, Name: document.Printable(name), Detail: document.Printable(e.consequences()), Kind: eventKinds[e.Event]})
	}
	return t
}

// consequences are what an event changed, in words.
func (e *eventRow) consequences() string {
	list := []string{document.Counted(e.Devices, "device")}
	if e.Before != e.Parameters {
		list = append(list, fmt.Sprintf("%s parameters, %s before", whole(e.Parameters), whole(e.Before)))
	} else {
		list = append(list, whole(e.Parameters)+" parameters")
	}
	switch {
	case e.Accuracy != nil && e.After != nil:
		list = append(list, fmt.Sprintf("accuracy %s%% before and %s%% after it", document.ShareCell(e.Accuracy), document.ShareCell(e.After)))
	case e.Accuracy != nil:
		list = append(list, fmt.Sprintf("accuracy %s%%", document.ShareCell(e.Accuracy)))
	}
	if e.Took > 0 {
		list = append(list, fmt.Sprintf("took %.4f s", e.Took))
	}
	return strings.Join(list, ", ")
}

// whole is a number with gaps at which no line ends.
func whole(n int) string { return strings.ReplaceAll(document.Thousands(n), " ", "\u00a0") }

// Counting counts what is written through it.
type Counting struct {
	W     io.Writer
	Bytes int64
}

func (c *Counting) Write(p []byte) (int, error) {
	n, err := c.W.Write(p)
	c.Bytes += int64(n)
	return n, err
}
