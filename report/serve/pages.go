package serve

import (
	"fmt"
	"hash/fnv"
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

// runs builds the page of a run, or of several side by side. It names unreadable runs.
func (h *Handler) runs(v *snapshot, live page.Live) (content, error) {
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
		list = append(list, opened[k])
		h.index.note(s.name, s.tag, opened[k].Ended, nil)
		if len(v.states)+len(v.missing) > 1 && k < report.MaxPageRuns {
			links = append(links, page.Link{Text: document.Printable(s.name), Address: AddressOf(s.name)})
		}
	}
	if gone == len(v.states) {
		return nil, fmt.Errorf("%s: %w", v.states[0].path, errMissing)
	}
	p, _, err := report.Page(list, skipped, false, showAll, h.version)
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
