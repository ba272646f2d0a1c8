package report

import (
	"fmt"
	"strings"

	"graft/internal/parallel"
	"graft/internal/words"
	"graft/report/document"
	"graft/report/page"
	"graft/report/runs"
)

const (
	// MaxPageRuns is the maximum number of runs for which a page has one section per run. A page with more runs shows
	// only the comparison, unless all sections are requested.
	MaxPageRuns = 12
	// maxPageRows is the maximum number of rows of a table on a page, unless all are requested.
	maxPageRows = 200
)

// Page creates a web page about runs, with comparisons of several runs and sections about each run. Unless all is true,
// long tables and lists are shortened, and pages of more than MaxPageRuns runs have no sections about single runs. A
// shortened page shows the command in the argument more, which creates the complete page.
func Page(found []*runs.Run, skipped []runs.SkippedRun, all bool, more, version string) (*page.Page, *Report, error) {
	r, err := New(found, skipped, true)
	if err != nil {
		return nil, nil, err
	}
	b := &pageBuilder{report: r, all: all, more: more}
	p := &page.Page{Title: "Report of " + words.Plural(len(found), "run"), Version: version}
	if len(found) == 1 {
		p.Title = found[0].Heading()
	} else {
		p.Lead = "Differences come first, then each run. Runs are not ranked."
	}
	p.Sections = append(p.Sections, b.leftOut()...)
	few := all || len(found) <= MaxPageRuns
	for _, c := range r.Comparisons {
		if c.count() > 1 || !few {
			p.Sections = append(p.Sections, b.comparison(c))
		}
	}
	if !few {
		p.Lead = fmt.Sprintf("Differences come first, then results. Runs are not ranked. "+
			"With more than %d runs, the sections of single runs are omitted; %s adds them.", MaxPageRuns, more)
		return p, r, nil
	}
	sections := make([][]page.Section, len(found))
	parallel.Do(len(found), 0, func(k int) { sections[k] = b.run(k, found[k]) })
	for _, list := range sections {
		p.Sections = append(p.Sections, list...)
	}
	return p, r, nil
}

// pageBuilder builds the sections of a page.
type pageBuilder struct {
	report *Report
	all    bool
	more   string // command that shows everything
}

// leftOut returns a section of skipped folders; nil if there are none.
func (b *pageBuilder) leftOut() []page.Section {
	if len(b.report.Skipped) == 0 {
		return nil
	}
	var lines []string
	for _, s := range b.report.Skipped {
		lines = append(lines, strings.Split(document.PrintableLines(s.Line()), "\n")...)
	}
	return []page.Section{{Title: "Left out", Parts: []page.Part{{Sentences: lines}}}}
}

// comparison returns the section that compares runs of a kind.
func (b *pageBuilder) comparison(c *comparison) page.Section {
	d := &document.Document{}
	c.write(d, true)
	var list []*runs.Run
	for _, col := range c.Columns {
		list = append(list, col.runs...)
	}
	s := page.Section{Title: "Comparison"}
	if len(d.Blocks) > 0 && d.Blocks[0].Heading != "" {
		s.Title = "Comparison of " + document.Printable(d.Blocks[0].Heading)
		d.Blocks = d.Blocks[1:]
	}
	s.Parts = append(b.parts(d, nil), figureParts(list, true)...)
	return s
}

// run builds the sections of a run: one among others, several for a single run, and one for each run inside it.
func (b *pageBuilder) run(k int, r *runs.Run) []page.Section {
	detail, err := b.detail(r)
	parts := b.about(&b.report.Runs[k], r, detail, err)
	below := b.below(r)
	if len(b.report.Runs) > 1 {
		return append([]page.Section{{Title: r.Heading(), Parts: parts}}, below...)
	}
	return append(divided(parts), below...)
}

// about builds all parts of a run's section.
func (b *pageBuilder) about(report *RunReport, r *runs.Run, detail Detail, err error) []page.Part {
	about := &document.Document{}
	report.write(about)
	about.Blocks = about.Blocks[1:] // the section already has this title
	parts := b.parts(about, nil)
	if err != nil {
		parts = append(parts, page.Part{
			Sentences: strings.Split("Some files cannot be read: "+document.PrintableLines(err.Error()), "\n"),
		})
	}
	parts = append(parts, figureParts([]*runs.Run{r}, false)...)
	if detail != nil {
		seen := &document.Document{}
		detail.write(seen)
		line, _ := detail.(hasTimeline)
		parts = append(parts, b.parts(seen, line)...)
	}
	return append(parts, repeatParts(report, r)...)
}

// below has a section per run of a pipeline; a large pipeline has them only if all are requested. Parts that cannot be
// read are among the skipped folders.
func (b *pageBuilder) below(r *runs.Run) (list []page.Section) {
	if r.Kind != runs.PipelineKind {
		return nil
	}
	all, _ := r.Parts()
	if len(all) > MaxPageRuns && !b.all {
		return []page.Section{{Title: "Runs of " + document.Printable(r.Path), Parts: []page.Part{{Sentences: []string{
			fmt.Sprintf("With more than %d runs, the sections of single runs are omitted; --all adds them.",
				MaxPageRuns),
		}}}}}
	}
	for _, p := range all {
		if p.Run == nil {
			continue
		}
		report := NewRunReport(p.Run)
		detail, err := DetailOf(p.Run, true)
		list = append(list, page.Section{Title: p.Run.Heading(), Parts: b.about(&report, p.Run, detail, err)})
	}
	return list
}

func (b *pageBuilder) detail(r *runs.Run) (Detail, error) {
	if b.report.single != nil {
		return b.report.detail, nil // its faults are listed with the skipped folders
	}
	return DetailOf(r, true)
}

// divided makes a section per heading, for the page of a single run.
func divided(parts []page.Part) []page.Section {
	list := []page.Section{{Title: "Results"}}
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
