package serve

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"graft/files"
	"graft/results/document"
	"graft/results/page"
	"graft/results/report"
	"graft/results/runs"
)

// toList leads to the list of all runs.
var toList = page.Link{Text: "All runs", Address: "/"}

// showAll is how to see what pages leave out.
const showAll = "graft report --html with --all"

// tag tells what a page shows apart from what it showed before.
func (h *Handler) tag(want *wanted, v *snapshot) string {
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
	}
	return fmt.Sprintf("%016x", sum.Sum64())
}

// runs is the page of a run, or of several side by side. What cannot be read of them is
// named on it.
func (h *Handler) runs(v *snapshot, live page.Live) (*page.Page, error) {
	opened, errs := make([]*runs.Run, len(v.states)), make([]error, len(v.states))
	runs.Parallel(len(v.states), func(k int) { opened[k], errs[k] = runs.Open(h.index.fsys, v.states[k].path) })
	var list []*runs.Run
	var skipped []runs.SkippedRun
	for _, name := range v.missing {
		skipped = append(skipped, runs.SkippedRun{Path: name, Why: errGone.Error(), Err: errGone})
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
		if len(v.states)+len(v.missing) > 1 && k < report.MostPageRuns {
			links = append(links, page.Link{Text: document.Printable(s.name), Address: AddressOf(s.name)})
		}
	}
	if gone == len(v.states) {
		return nil, fmt.Errorf("%s: %w", v.states[0].path, errGone)
	}
	p, _, err := report.Page(list, skipped, false, showAll, h.version)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		p.Title, p.Lead, p.Sections[0].Title = "Run "+document.Printable(v.states[0].path), "", "What is wrong"
	}
	if !slices.ContainsFunc(list, func(r *runs.Run) bool { return !r.Ended }) && len(skipped) == 0 {
		live.Every, live.Rarely = h.index.rarely, h.index.rarely
	}
	p.Links, p.Live = links, &live
	return p, nil
}

// runLine is a run's line on the list.
type runLine struct {
	kind, network, seed string
	began               time.Time // zero is unknown
	said                bool      // whoever wrote it says whether it has ended
	ended               bool
	figure              *report.QuantityReport // the first that came out for which one way is better; nil for none
	why                 string                 // it cannot be read; empty where it can
}

// lines are the lines of runs, in their order. Only those are read that have changed.
func (h *Handler) lines(sights []sighting) []*runLine {
	list := make([]*runLine, len(sights))
	h.index.mu.Lock()
	for k, s := range sights {
		if e := h.index.runs[s.name]; e != nil && e.line != nil && e.read == s.tag {
			list[k] = e.line
		}
	}
	h.index.mu.Unlock()
	runs.Parallel(len(sights), func(k int) {
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
	rep := report.ReportRun(r)
	e := &runLine{kind: rep.Kind, network: rep.Network, ended: rep.Ended, said: rep.Created != nil || r.Kind == runs.TableKind}
	if rep.Created != nil {
		e.began = *rep.Created
	}
	if rep.Seed != nil {
		e.seed = fmt.Sprint(*rep.Seed)
	}
	if len(rep.Quantities) > 0 {
		at := max(0, slices.IndexFunc(rep.Quantities, func(q report.QuantityReport) bool { return q.Better != "" }))
		e.figure = &rep.Quantities[at]
	}
	return e
}

// longestReason is how much of what is wrong with a run is on the list, in characters;
// its page has all.
const longestReason = 200

func shortReason(text string) string {
	runes := []rune(document.Printable(strings.Join(strings.Fields(text), " ")))
	if len(runes) > longestReason {
		return string(runes[:longestReason]) + "…"
	}
	return string(runes)
}

// state is how a run stands, and what that looks like.
func (e *runLine) state(quiet bool) (string, page.Kind) {
	switch {
	case !e.said:
		return "-", page.Plain
	case e.ended:
		return report.StateWord(true), page.Plain
	case quiet:
		return report.StateWord(false), page.Down
	}
	return runningWord, page.Up
}

// runningWord is the state of a run that is being written to.
const runningWord = "running"

// listed is a run on the list.
type listed struct {
	sighting
	*runLine
}

// list is the page of all runs.
func (h *Handler) list(v *snapshot, live page.Live) (*page.Page, error) {
	var runs, broken []listed
	for k, e := range h.lines(v.states) {
		if e.why != "" {
			broken = append(broken, listed{v.states[k], e})
		} else {
			runs = append(runs, listed{v.states[k], e})
		}
	}
	slices.SortStableFunc(runs, func(a, b listed) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), b.began.Compare(a.began), strings.Compare(a.name, b.name))
	})
	p := &page.Page{Title: "Runs beneath " + document.Printable(h.index.dir), Lead: leadOf(runs, len(broken)), Version: h.version, Live: &live}
	over := max(0, len(runs)-mostListed)
	if len(runs) > 0 {
		parts := []page.Part{{Table: listTable(runs[:len(runs)-over])}}
		if over += v.over; over > 0 {
			parts = append(parts, page.Part{Sentences: []string{fmt.Sprintf("%s are not listed; serve a folder further down to see them.", document.Counted(over, "more run"))}})
		}
		p.Sections = append(p.Sections, page.Section{Title: "Runs", Parts: parts})
	}
	if rest := leftOutTable(broken, v.others); len(rest) > 0 {
		p.Sections = append(p.Sections, page.Section{Title: "Left out", Parts: rest})
	}
	return p, nil
}

// rank is where a run stands on the list: those that are written to come first.
func (l listed) rank() int {
	if state, _ := l.state(l.quiet); state == runningWord {
		return 0
	}
	return 1
}

func leadOf(runs []listed, broken int) string {
	if len(runs)+broken == 0 {
		return "There is no run yet. One that begins shows up here."
	}
	count := map[string]int{}
	for _, r := range runs {
		state, _ := r.state(r.quiet)
		count[state]++
	}
	text := document.Counted(len(runs)+broken, "run")
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

func listTable(runs []listed) *page.Table {
	t := &page.Table{Caption: "all", Pick: &page.Pick{Address: compareAddress, Name: "run", Button: "Compare", About: "those that are chosen, side by side."},
		Columns: []page.Column{{Name: "Run"}, {Name: "Kind"}, {Name: "State"}, {Name: "Figure"}, {Name: "Value", Number: true}, {Name: "Unit"}, {Name: "Network"}, {Name: "Seed", Number: true}, {Name: "Began", Unit: "UTC"}, {Name: "Written", Unit: "UTC"}}}
	for _, r := range runs {
		state, look := r.state(r.quiet)
		began := "-"
		if !r.began.IsZero() {
			began = r.began.UTC().Format(listTime)
		}
		figure, value := page.Cell{Text: "-"}, page.Cell{Text: "-"}
		if q := r.figure; q != nil {
			figure.Text = strings.ReplaceAll(q.Quantity, "_", " ")
			value = page.Cell{Text: document.ShownValue(q.Mean, q.Unit), Value: &q.Mean, Unit: q.Quantity + " " + q.Unit}
		}
		unit := "-"
		if r.figure != nil {
			unit = cmp.Or(document.ShownUnit(r.figure.Unit), "-")
		}
		t.Rows = append(t.Rows, []page.Cell{{Text: document.Printable(r.name), Link: AddressOf(r.name)}, {Text: r.kind}, {Text: state, Kind: look}, figure, value, {Text: unit},
			{Text: cmp.Or(document.Printable(r.network), "-")}, {Text: cmp.Or(r.seed, "-")}, {Text: began}, {Text: r.written.UTC().Format(listTime)}})
		chosen := r.name
		if document.Printable(r.name) != r.name { // a form sends it otherwise
			chosen = ""
		}
		t.Pick.Values = append(t.Pick.Values, chosen)
	}
	return t
}

// leftOutTable names the runs that cannot be read, and folders without any.
func leftOutTable(broken []listed, others []runs.SkippedRun) []page.Part {
	t := &page.Table{Caption: "folders", Columns: []page.Column{{Name: "Folder"}, {Name: "Why"}}}
	for _, b := range broken {
		t.Rows = append(t.Rows, []page.Cell{{Text: document.Printable(b.name), Link: AddressOf(b.name)}, {Text: b.why, Kind: page.Down}})
	}
	for _, o := range others[:min(len(others), mostOthersNamed)] {
		t.Rows = append(t.Rows, []page.Cell{{Text: document.Printable(o.Path)}, {Text: shortReason(o.Why)}})
	}
	if len(t.Rows) == 0 {
		return nil
	}
	parts := []page.Part{{Table: t}}
	if over := len(others) - mostOthersNamed; over > 0 {
		parts = append(parts, page.Part{Sentences: []string{fmt.Sprintf("%s without a run are not named.", document.Counted(over, "more folder"))}})
	}
	return parts
}
