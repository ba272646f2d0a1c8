package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"graft/files"
	"graft/results/figure"
	"graft/results/page"
)

const (
	// mostPageRuns is how many runs have a section each; of more there is the
	// comparison, unless all are asked for.
	mostPageRuns = 12
	// mostPageRows is how many rows of a table are in a page, unless all are asked for.
	mostPageRows = 200
)

// mostConfiguration is the largest configuration shown, in bytes.
const mostConfiguration = 256 << 10

// hasTimeline is met by details of runs in which things happened one after the other.
type hasTimeline interface{ timeline() *page.Timeline }

// pageOf makes the page of runs: the comparison of several, and each by itself. More is
// how to see what of it is left out unless all is asked for.
func pageOf(runs []*runData, skipped []skippedRun, all bool, more, version string) (*page.Page, *runsReport, error) {
	r, err := newRunsReport(runs, skipped, true)
	if err != nil {
		return nil, nil, err
	}
	b := &pager{report: r, all: all, more: more}
	p := &page.Page{Title: "Report of " + counted(len(runs), "run"), Version: version}
	if len(runs) == 1 {
		p.Title = runs[0].heading()
	} else {
		p.Lead = "What differs comes first, then each run by itself. Nothing is ranked."
	}
	p.Sections = append(p.Sections, b.leftOut()...)
	few := all || len(runs) <= mostPageRuns
	for _, c := range r.Side {
		if c.count() > 1 || !few {
			p.Sections = append(p.Sections, b.comparison(c))
		}
	}
	if !few {
		p.Lead = fmt.Sprintf("What differs comes first, then what came out. Nothing is ranked. More than %d runs have no section each; %s gives them one.", mostPageRuns, more)
		return p, r, nil
	}
	sections := make([][]page.Section, len(runs))
	inParallel(len(runs), func(k int) { sections[k] = b.run(k, runs[k]) })
	for _, list := range sections {
		p.Sections = append(p.Sections, list...)
	}
	return p, r, nil
}

// heading is what a run is called in a page.
func (r *runData) heading() string {
	return strings.ToUpper(r.Kind.title[:1]) + r.Kind.title[1:] + " " + printable(r.Path)
}

// pager makes the sections of a page.
type pager struct {
	report *runsReport
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
		lines = append(lines, strings.Split(printableLines(s.line()), "\n")...)
	}
	return []page.Section{{Title: "Left out", Parts: []page.Part{{Sentences: lines}}}}
}

// comparison is the section of runs of a kind side by side.
func (b *pager) comparison(c *comparison) page.Section {
	d := &document{}
	c.write(d, true)
	names := map[string]bool{}
	var runs []*runData
	for _, col := range c.Columns {
		names[col.Name] = true
		runs = append(runs, col.runs...)
	}
	for _, diff := range c.Differs {
		names[diff.Key] = true
	}
	s := page.Section{Title: "Comparison"}
	if len(d.blocks) > 0 && d.blocks[0].heading != "" {
		s.Title = "Comparison of " + printable(d.blocks[0].heading)
		d.blocks = d.blocks[1:]
	}
	s.Parts = append(b.parts(d, names, nil), figureParts(runs, true)...)
	return s
}

// run is the sections of a run: one beside others, several where it is alone; and one
// for each run that is a part of it.
func (b *pager) run(k int, r *runData) []page.Section {
	detail, err := b.detail(r)
	parts := b.about(&b.report.Runs[k], r, detail, err)
	below := b.below(r)
	if len(b.report.Runs) > 1 {
		return append([]page.Section{{Title: r.heading(), Parts: parts}}, below...)
	}
	return append(divided(parts), below...)
}

// about is all that a page says of a run.
func (b *pager) about(report *reportedRun, r *runData, detail runDetail, err error) []page.Part {
	about := &document{}
	report.write(about)
	about.blocks = about.blocks[1:] // the section says it
	parts := b.parts(about, nil, nil)
	if err != nil {
		parts = append(parts, page.Part{Sentences: strings.Split("Not all of it can be read: "+printableLines(err.Error()), "\n")})
	}
	parts = append(parts, figureParts([]*runData{r}, false)...)
	if detail != nil {
		seen := &document{}
		detail.write(seen)
		line, _ := detail.(hasTimeline)
		parts = append(parts, b.parts(seen, nil, line)...)
	}
	return append(parts, repeatParts(report, r)...)
}

// below is a section for each run that a pipeline has left; of many only if all are
// asked for. What is wrong with others stands in what is left out.
func (b *pager) below(r *runData) (list []page.Section) {
	if r.Kind != pipelineRuns {
		return nil
	}
	l, err := readLedger(r.fsys, filepath.Join(r.Path, ledgerName))
	if err != nil {
		return nil
	}
	all, _ := l.parts(openRun)
	if len(all) > mostPageRuns && !b.all {
		return []page.Section{{Title: "Runs of " + printable(r.Path), Parts: []page.Part{{Sentences: []string{fmt.Sprintf("More than %d runs have no section each; --all gives them one.", mostPageRuns)}}}}}
	}
	for _, p := range all {
		if p.run == nil {
			continue
		}
		report := reportRun(p.run)
		detail, err := detailOf(p.run, true)
		list = append(list, page.Section{Title: p.run.heading(), Parts: b.about(&report, p.run, detail, err)})
	}
	return list
}

func (b *pager) detail(r *runData) (runDetail, error) {
	if b.report.lone != nil {
		return b.report.seen, nil // its faults stand among what is left out
	}
	return detailOf(r, true)
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
func (b *pager) parts(d *document, names map[string]bool, line hasTimeline) []page.Part {
	var list []page.Part
	caption := ""
	for _, block := range d.blocks {
		switch {
		case block.heading != "":
			caption = strings.ToUpper(printable(block.heading[:1])) + printable(block.heading[1:])
			list = append(list, page.Part{Heading: caption})
			if line != nil && block.heading == timelineHead {
				if t := line.timeline(); len(t.Events) > 0 {
					list = append(list, page.Part{Timeline: t})
				}
			}
		case block.lines != nil:
			list = append(list, page.Part{Sentences: strings.Split(printableLines(strings.Join(block.lines, "\n")), "\n")})
		case block.facts != nil:
			list = append(list, page.Part{Facts: factsOf(block.facts)})
		case block.table != nil:
			table, left := pageTable(block.table, names, b.all)
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
		list = append(list, page.Fact{Name: pair[0], Text: printable(pair[1]), Code: slices.Contains(codeFacts, pair[0])})
	}
	return list
}

// pageTable is a table whose cells are typed, and how many rows of its middle are left
// out.
func pageTable(t *table, names map[string]bool, all bool) (*page.Table, int) {
	p := &page.Table{}
	unit := -1
	for k, head := range t.rows[0] {
		name, number := strings.CutPrefix(head, ">")
		c := page.Column{Name: printable(name), Number: number}
		if !names[name] {
			c.Name, c.Unit = headWords(c.Name)
		}
		if name == "UNIT" {
			unit = k
		}
		p.Columns = append(p.Columns, c)
	}
	rows, left := t.rows[1:], 0
	if len(rows) > mostPageRows && !all {
		left = len(rows) - mostPageRows
		rows = slices.Concat(rows[:mostPageRows/2], rows[len(rows)-mostPageRows/2:])
	}
	for _, row := range rows {
		cells := make([]page.Cell, len(row))
		for k, text := range row {
			cells[k] = page.Cell{Text: printable(strings.TrimRight(text, " "))}
			if p.Columns[k].Number {
				if cells[k].Value = leadingNumber(text); unit >= 0 {
					cells[k].Unit = printable(row[unit])
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
func figureParts(runs []*runData, many bool) []page.Part {
	var drawn []page.Figure
	var faults []string
	for _, kind := range plotKinds(plotGiven{}) {
		if kind.many != many {
			continue
		}
		for _, group := range kind.groups(runs) {
			list, err := drawAll(kind, group)
			drawn = append(drawn, list...)
			if err != nil {
				faults = append(faults, strings.Split(fmt.Sprintf("The figure %s is not there: %s", kind.name, printableLines(err.Error())), "\n")...)
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
func drawAll(kind plotKind, group []*runData) ([]page.Figure, error) {
	drawings, err := kind.draw(group)
	var list []page.Figure
	for _, d := range drawings {
		var b bytes.Buffer
		if err := figure.Render(&b, d.figure, figure.Options{Width: figure.Column, Theme: figure.Page}); err != nil {
			return list, err
		}
		p := d.figure.Layout(figure.Column)
		list = append(list, page.Figure{Caption: printable(p.Title), Words: printable(p.Words), SVG: b.Bytes()})
	}
	return list, err
}

// repeatParts say how to get the same run again.
func repeatParts(report *reportedRun, r *runData) []page.Part {
	parts := []page.Part{{Heading: "How to reproduce it"}}
	if len(report.Command) > 0 {
		words := make([]string, len(report.Command))
		for k, word := range report.Command {
			words[k] = shellWord(printable(word))
		}
		parts = append(parts, page.Part{Code: strings.Join(words, " ")})
	}
	facts := []page.Fact{}
	know := func(name, text string, code bool) {
		if text != "" {
			facts = append(facts, page.Fact{Name: name, Text: printable(text), Code: code})
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
	if text := r.configuration(); text != "" {
		parts = append(parts, page.Part{Folded: &page.Folded{Title: "Configuration, resolved", Text: text}})
	}
	return parts
}

// configuration is all that the run was told: its file, or else what was read of it.
func (r *runData) configuration() string {
	if text, err := files.ReadAll(r.fsys, filepath.Join(r.Path, resolvedFile), mostConfiguration); err == nil {
		return printableLines(string(text))
	}
	var b strings.Builder
	for _, s := range r.Settings {
		fmt.Fprintf(&b, "%s = %s\n", printable(s.Key), printable(s.Text))
	}
	return b.String()
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

func (j *jobDetail) timeline() *page.Timeline {
	t := &page.Timeline{Title: "Events of the job over its time", Unit: "s"}
	for _, e := range j.Events {
		name := e.Event
		if what := e.what(); what != "" {
			name += " " + what
		}
		t.Events = append(t.Events, page.Event{At: e.Time, Name: printable(name), Detail: printable(e.consequences()), Kind: eventKinds[e.Event]})
	}
	return t
}

// consequences are what an event changed, in words.
func (e *eventRow) consequences() string {
	list := []string{counted(e.Devices, "device")}
	if e.Before != e.Parameters {
		list = append(list, fmt.Sprintf("%s parameters, %s before", whole(e.Parameters), whole(e.Before)))
	} else {
		list = append(list, whole(e.Parameters)+" parameters")
	}
	switch {
	case e.Accuracy != nil && e.After != nil:
		list = append(list, fmt.Sprintf("accuracy %s%% before and %s%% after it", shareCell(e.Accuracy), shareCell(e.After)))
	case e.Accuracy != nil:
		list = append(list, fmt.Sprintf("accuracy %s%%", shareCell(e.Accuracy)))
	}
	if e.Took > 0 {
		list = append(list, fmt.Sprintf("took %.4f s", e.Took))
	}
	return strings.Join(list, ", ")
}

// whole is a number with gaps at which no line ends.
func whole(n int) string { return strings.ReplaceAll(thousands(n), " ", "\u00a0") }

// counting counts what is written through it.
type counting struct {
	w     io.Writer
	bytes int64
}

func (c *counting) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.bytes += int64(n)
	return n, err
}
