package report

import (
	"fmt"
	"path/filepath"
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

// PageOptions configures a page about runs.
type PageOptions struct {
	// shows everything; if false, long tables and lists are shortened, and pages of more than MaxPageRuns runs have no
	// sections about single runs
	All     bool
	More    string // command that creates the complete page, which a shortened page shows
	Version string // version of graft, shown on the page
	// Address returns the address of the page about a run folder. Nil means that the page has no links to other pages.
	Address func(folder string) string
}

// Page creates a web page about runs, with comparisons of several runs and sections about each run.
func Page(found []*runs.Run, skipped []runs.SkippedRun, o PageOptions) (*page.Page, *Report, error) {
	r, err := New(found, skipped, true)
	if err != nil {
		return nil, nil, err
	}
	b := &pageBuilder{PageOptions: o, report: r}
	p := &page.Page{Title: "Report of " + words.Plural(len(found), "run"), Version: o.Version}
	if len(found) == 1 {
		p.Title = found[0].Heading()
	} else {
		p.Lead = "Differences come first, then each run. Runs are not ranked."
	}
	p.Sections = append(p.Sections, b.leftOut()...)
	few := o.All || len(found) <= MaxPageRuns
	for _, c := range r.Comparisons {
		if c.count() > 1 || !few {
			p.Sections = append(p.Sections, b.comparison(c))
		}
	}
	if !few {
		p.Lead = fmt.Sprintf("Differences come first, then results. Runs are not ranked. "+
			"With more than %d runs, the sections of single runs are omitted; %s adds them.", MaxPageRuns, o.More)
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
	PageOptions
	report *Report
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
	s.Parts = append(b.parts(d, nil, ""), figureParts(list, true)...)
	return s
}

// run builds the sections of a run: one among others, several for a single run, and one for each run inside it.
func (b *pageBuilder) run(k int, r *runs.Run) []page.Section {
	detail, err := b.detail(r)
	parts := b.about(&b.report.Runs[k], r, detail, err)
	below := b.below(r, detail)
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
	parts := b.parts(about, nil, r.Path)
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
		parts = append(parts, b.parts(seen, line, r.Path)...)
	}
	return append(parts, repeatParts(report, r)...)
}

// below has a section per run of a pipeline, and about the first training of a live job; a large pipeline has them only
// if all are requested. Parts that cannot be read are among the skipped folders.
func (b *pageBuilder) below(r *runs.Run, detail Detail) (list []page.Section) {
	if job, ok := detail.(*CellJob); ok {
		return b.training(r, job)
	}
	if r.Kind != runs.PipelineKind {
		return nil
	}
	all, _ := r.Parts()
	if len(all) > MaxPageRuns && !b.All {
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

// training has the network, decisions and losses of a live job's first training.
func (b *pageBuilder) training(r *runs.Run, j *CellJob) []page.Section {
	if len(j.Trainings) == 0 {
		return nil
	}
	first, err := r.OpenPart(filepath.Join(r.Path, j.outward, j.Trainings[0].Folder))
	if err != nil {
		return []page.Section{{Title: "Training", Parts: []page.Part{{Sentences: []string{
			"The training cannot be read: " + document.Printable(err.Error())}}}}}
	}
	report := NewRunReport(first)
	detail, err := DetailOf(first, true)
	return []page.Section{{Title: fmt.Sprintf("Training, %s, seed %d", j.Trainings[0].Arm, j.Trainings[0].Seed),
		Parts: b.about(&report, first, detail, err)}}
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
