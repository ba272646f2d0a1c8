package serve

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"graft/internal/files"
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
func (h *Handler) runs(v *snapshot, live page.Live) (*page.Page, error) {
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

// runLine holds the cells of a run on the list.
type runLine struct {
	kind, network, seed string
	began               time.Time // zero means unknown
	said                bool      // the folder records whether the run has ended
	ended               bool
	figure              *report.QuantityReport // first quantity with a direction of improvement; nil for none
	why                 string                 // reason why it cannot be read; empty if it can
}

// lines returns the lines of runs in order. It reads only runs that have changed.
func (h *Handler) lines(sights []runState) []*runLine {
	list := make([]*runLine, len(sights))
	h.index.mu.Lock()
	for k, s := range sights {
		if e := h.index.runs[s.name]; e != nil && e.line != nil && e.read == s.tag {
			list[k] = e.line
		}
	}
	h.index.mu.Unlock()
	parallel.Do(len(sights), 0, func(k int) {
		if list[k] == nil {
			list[k] = readLine(h.index.fsys, sights[k].path)
			h.index.note(sights[k].name, sights[k].tag, list[k].ended, list[k])
		}
	})
	return list
}

func readLine(fsys files.FS, folder string) *runLine {
	r, err := runs.Open(fsys, folder)
	if err != nil {
		return &runLine{why: shortReason(strings.TrimPrefix(err.Error(), folder+": "))}
	}
	rep := report.NewRunReport(r)
	e := &runLine{kind: rep.Kind, network: rep.Network, ended: rep.Ended,
		said: rep.Created != nil || r.Kind == runs.TableKind}
	if rep.Created != nil {
		e.began = *rep.Created
	}
	if rep.Seed != nil {
		e.seed = fmt.Sprint(*rep.Seed)
	}
	if len(rep.Quantities) > 0 {
		at := max(0, slices.IndexFunc(rep.Quantities, func(q report.QuantityReport) bool {
			return q.Better != "" && !(strings.HasPrefix(q.Quantity,
				"failed") && q.Mean == 0) // no failure says nothing
		}))
		e.figure = &rep.Quantities[at]
	}
	return e
}

// maxReason limits the error of a run on the list, in characters; its page has the whole text.
const maxReason = 200

func shortReason(text string) string {
	runes := []rune(document.Printable(strings.Join(strings.Fields(text), " ")))
	if len(runes) > maxReason {
		return string(runes[:maxReason]) + "…"
	}
	return string(runes)
}

// state returns the state of a run and its mark.
func (e *runLine) state(quiet bool) (string, results.Look) {
	switch {
	case !e.said:
		return "-", results.Plain
	case e.ended:
		return report.StateWord(true), results.Plain
	case quiet:
		return report.StateWord(false), results.Down
	}
	return runningWord, results.Up
}

// runningWord is the state of an active run.
const runningWord = "running"

// listedRun is a run on the list.
type listedRun struct {
	runState
	*runLine
}

// list builds the page of all runs.
func (h *Handler) list(v *snapshot, live page.Live) (*page.Page, error) {
	var runs, broken []listedRun
	for k, e := range h.lines(v.states) {
		if e.why != "" {
			broken = append(broken, listedRun{v.states[k], e})
		} else {
			runs = append(runs, listedRun{v.states[k], e})
		}
	}
	slices.SortStableFunc(runs, func(a, b listedRun) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), b.began.Compare(a.began), strings.Compare(a.name, b.name))
	})
	p := &page.Page{Title: "Runs beneath " + document.Printable(h.index.dir), Lead: leadOf(runs, len(broken)),
		Version: h.version, Live: &live}
	over := max(0, len(runs)-maxListed)
	if len(runs) > 0 {
		parts := []page.Part{{Table: listTable(runs[:len(runs)-over])}}
		if over += v.over; over > 0 {
			parts = append(parts, page.Part{Sentences: []string{fmt.Sprintf("%s are not listed; "+
				"serve a subfolder to see them.", words.Plural(over, "more run"))}})
		}
		p.Sections = append(p.Sections, page.Section{Title: "Runs", Parts: parts})
	}
	if t := h.gpuTable(); t != nil {
		p.Sections = append(p.Sections, page.Section{Title: "GPUs of this machine",
			Parts: []page.Part{{Table: &page.Table{Caption: "GPUs", Table: *t}}}})
	}
	if rest := leftOutTable(broken, v.others); len(rest) > 0 {
		p.Sections = append(p.Sections, page.Section{Title: "Left out", Parts: rest})
	}
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

// rank orders the list: running runs come first.
func (l listedRun) rank() int {
	if state, _ := l.state(l.quiet); state == runningWord {
		return 0
	}
	return 1
}

func leadOf(runs []listedRun, broken int) string {
	if len(runs)+broken == 0 {
		return "No runs yet. New runs appear here."
	}
	count := map[string]int{}
	for _, r := range runs {
		state, _ := r.state(r.quiet)
		count[state]++
	}
	text := words.Plural(len(runs)+broken, "run")
	for _, state := range []string{runningWord, report.StateWord(true), report.StateWord(false)} {
		if n := count[state]; n > 0 {
			text += fmt.Sprintf(", %d %s", n, state)
		}
	}
	if broken > 0 {
		text += fmt.Sprintf(", %d left out", broken)
	}
	return text + "."
}

const listTime = "2006-01-02 15:04:05"

func listTable(runs []listedRun) *page.Table {
	t := &page.Table{Caption: "all", Pick: &page.Pick{Address: compareAddress, Name: "run", Button: "Compare",
		About: "the selected runs, side by side."}, Table: *document.NewTable("run", "kind", "state", "figure").
		Numbers("", "", "value").Texts("unit", "network").Numbers("", "", "seed")}
	t.Columns = append(t.Columns, document.Column{Name: "began", Unit: "UTC"},
		document.Column{Name: "written", Unit: "UTC"})
	for _, r := range runs {
		state, look := r.state(r.quiet)
		began := "-"
		if !r.began.IsZero() {
			began = r.began.UTC().Format(listTime)
		}
		figure, unit, value := "-", "-", document.Missing()
		if q := r.figure; q != nil {
			figure, unit = strings.ReplaceAll(q.Quantity, "_", " "), cmp.Or(document.UnitText(q.Unit), "-")
			value = document.Value(q.Mean, q.Unit)
			value.Group = q.Quantity + " " + q.Unit
		}
		t.Add(document.Cell{Text: r.name, Link: AddressOf(r.name)}, r.kind, document.Cell{Text: state, Look: look},
			figure, value, unit, cmp.Or(r.network, "-"), cmp.Or(r.seed, "-"), began, r.written.UTC().Format(listTime))
		chosen := r.name
		if document.Printable(r.name) != r.name { // a form would send another name
			chosen = ""
		}
		t.Pick.Values = append(t.Pick.Values, chosen)
	}
	return t
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
