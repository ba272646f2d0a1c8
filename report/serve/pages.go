package serve

import (
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"

	"graft/internal/parallel"
	"graft/internal/words"
	"graft/report"
	"graft/report/document"
	"graft/report/page"
	"graft/report/runs"
	"graft/results"
)

// toList links to the list of all runs.
var toList = page.Link{Text: "All runs", Address: "/"}

// showAll is the command that shows all rows.
const showAll = "graft report --html with --all"

// tag hashes the content of a page.
func (h *Handler) tag(want *request, v *snapshot) string {
	sum := fnv.New64a()
	fmt.Fprintf(sum, "%s %d %q %d\n", want.key, h.began, v.missing, v.over)
	for _, s := range v.states {
		fmt.Fprintf(sum, "%q %x\n", s.name, s.tag)
		if want.all {
			fmt.Fprintln(sum, s.quiet, s.written.UnixNano())
		}
	}
	if want.all {
		for _, o := range v.others {
			fmt.Fprintf(sum, "%q\n", o.Path)
		}
		if t := h.gpuTable(); t != nil {
			_ = t.CSV(sum)
		}
	}
	return fmt.Sprintf("%016x", sum.Sum64())
}

// address returns the address of the page about a run folder.
func (h *Handler) address(folder string) string {
	name, err := filepath.Rel(h.index.dir, folder)
	if err != nil {
		return "/"
	}
	return AddressOf(filepath.ToSlash(name))
}

// selected returns the function that builds the page of a part of a run.
func (h *Handler) selected(s runs.Selection) func(v *snapshot, live page.Live) (content, error) {
	return func(v *snapshot, live page.Live) (content, error) { return h.pageOf(v, live, s) }
}

// runs builds the page of a run, or of several side by side. It names unreadable runs.
func (h *Handler) runs(v *snapshot, live page.Live) (content, error) {
	return h.pageOf(v, live, runs.Selection{})
}

func (h *Handler) pageOf(v *snapshot, live page.Live, selection runs.Selection) (content, error) {
	opened, errs := make([]*runs.Run, len(v.states)), make([]error, len(v.states))
	parallel.Do(len(v.states), 0, func(k int) { opened[k], errs[k] = runs.Open(h.index.fsys, v.states[k].path) })
	var list []*runs.Run
	var skipped []runs.SkippedRun
	for _, name := range v.missing {
		skipped = append(skipped, runs.SkippedRun{Path: name, Why: errMissing.Error(), Err: errMissing})
	}
	links, gone := []page.Link{toList}, 0
	for k, s := range v.states {
		if err := errs[k]; err != nil {
			if runs.NotThere(err) {
				gone++
			}
			skipped = append(skipped, runs.SkippedRun{Path: s.path, Why: err.Error(), Err: err})
			continue
		}
		if err := opened[k].Select(selection); err != nil {
			return nil, err
		}
		list = append(list, opened[k])
		links = append(links, h.linksOf(v, k, opened[k])...)
		h.index.note(s.name, s.tag, opened[k].Ended, nil)
	}
	if gone == len(v.states) {
		return nil, fmt.Errorf("%s: %w", v.states[0].path, errMissing)
	}
	p, _, err := report.Page(list, skipped, report.PageOptions{More: showAll, Version: h.version, Address: h.address})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		p.Title, p.Lead, p.Sections[0].Title = "Run "+document.Printable(v.states[0].path), "", "What is wrong"
	}
	if !slices.ContainsFunc(list, func(r *runs.Run) bool { return !r.Ended }) && len(skipped) == 0 {
		live.Every, live.Rarely = h.index.endedEvery, h.index.endedEvery
	}
	p.Links, p.Live = links, &live
	return p, nil
}

// linksOf links the page of several runs to the pages of each, and the page of a single run outwards.
func (h *Handler) linksOf(v *snapshot, k int, r *runs.Run) []page.Link {
	s := v.states[k]
	switch {
	case len(v.states)+len(v.missing) == 1:
		return h.outward(r, s.name, s.parent)
	case k < report.MaxPageRuns:
		return []page.Link{{Text: document.Printable(s.name), Address: AddressOf(s.name)}}
	}
	return nil
}

// outward links the page of a run inside another to that run, and the page of a job or node to its simulation.
func (h *Handler) outward(r *runs.Run, name, parent string) (links []page.Link) {
	if outer := r.Outer(); outer != "" {
		links = append(links, page.Link{Text: "Cluster run " + document.Printable(filepath.Base(outer)),
			Address: h.address(outer)})
	}
	if parent != "" && len(links) == 0 {
		links = append(links, page.Link{Text: "Run " + document.Printable(parent), Address: AddressOf(parent)})
	}
	if r.Selected != (runs.Selection{}) {
		links = append(links, page.Link{Text: "Simulation " + document.Printable(r.Base()), Address: AddressOf(name)})
	}
	return links
}

// gpuTable shows the GPUs of this machine; nil if there are none.
func (h *Handler) gpuTable() *document.Table {
	if h.gpus == nil {
		return nil
	}
	if list := h.gpus(); len(list) > 0 {
		return report.Readings(list)
	}
	return nil
}

// leftOutTable lists the runs that cannot be read and the folders without runs.
func leftOutTable(broken []listedRun, others []runs.SkippedRun) []page.Part {
	t := &page.Table{Caption: "folders", Table: *document.NewTable("folder", "why")}
	for _, b := range broken {
		t.Add(document.Cell{Text: b.name, Link: AddressOf(b.name)}, document.Cell{Text: b.why, Look: results.Down})
	}
	for _, o := range others[:min(len(others), maxOthers)] {
		t.Add(o.Path, shortReason(o.Why))
	}
	if len(t.Rows) == 0 {
		return nil
	}
	parts := []page.Part{{Table: t}}
	if over := len(others) - maxOthers; over > 0 {
		parts = append(parts, page.Part{Sentences: []string{fmt.Sprintf("%s without a run are not listed.",
			words.Plural(over, "more folder"))}})
	}
	return parts
}
