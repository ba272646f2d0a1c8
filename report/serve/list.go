package serve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"graft/internal/words"
	"graft/report/document"
	"graft/report/page"
	"graft/report/runs"
	"graft/results"
)

// listing holds the runs on the list: running runs first, then the latest.
type listing struct {
	runs   []listedRun // runs that are not inside others, with the runs inside them
	broken []listedRun // runs that cannot be read
	count  map[State]int
	total  int // number of readable runs that are not inside others
	inside int // number of runs inside others
	over   int // number of runs above the limits of the list
}

// listing reads the runs of a snapshot.
func (h *Handler) listing(v *snapshot) *listing {
	l := &listing{count: map[State]int{}, over: v.over}
	outer, inside, hidden := divide(v.states)
	l.over += hidden
	for k, line := range h.lines(outer) {
		run := listedRun{runState: outer[k], runLine: line}
		h.addMembers(&run, inside[run.name], l)
		if line.why != "" {
			l.broken = append(l.broken, run)
			l.addOrphans(&run)
			continue
		}
		active := !run.quiet || slices.ContainsFunc(run.members, func(m listedRun) bool { return m.state == Running })
		run.state = h.state(outer[k], line, active)
		l.count[run.state]++
		l.runs = append(l.runs, run)
	}
	l.total = len(l.runs)
	slices.SortStableFunc(l.runs, func(a, b listedRun) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), b.began.Compare(a.began), strings.Compare(a.name, b.name))
	})
	if n := len(l.runs) - maxListed; n > 0 {
		l.runs, l.over = l.runs[:maxListed], l.over+n
	}
	return l
}

// divide separates the runs inside others, at most maxMembers for each and maxListed in all. Hidden is the number of
// other runs inside runs.
func divide(states []runState) (outer []runState, inside map[string][]runState, hidden int) {
	inside = map[string][]runState{}
	count := 0
	for _, s := range states {
		switch {
		case s.parent == "":
			outer = append(outer, s)
		case len(inside[s.parent]) >= maxMembers || count >= maxListed:
			hidden++
		default:
			inside[s.parent] = append(inside[s.parent], s)
			count++
		}
	}
	return outer, inside, hidden
}

// addMembers adds the runs inside a run, in the order of their numbers.
func (h *Handler) addMembers(run *listedRun, inside []runState, l *listing) {
	slices.SortFunc(inside, func(a, b runState) int { return words.Natural(a.name, b.name) })
	for k, line := range h.lines(inside) {
		member := listedRun{runState: inside[k], runLine: line}
		if line.why != "" {
			l.broken = append(l.broken, member)
			continue
		}
		member.state = h.state(inside[k], line, !inside[k].quiet)
		run.members = append(run.members, member)
		l.inside++
	}
}

// addOrphans lists the runs inside a run that cannot be read like others.
func (l *listing) addOrphans(broken *listedRun) {
	for _, m := range broken.members {
		m.parent = ""
		l.count[m.state]++
		l.runs = append(l.runs, m)
		l.inside--
	}
}

// rank orders the list: running runs come first.
func (l listedRun) rank() int {
	if l.state == Running {
		return 0
	}
	return 1
}

// list builds the page of all runs.
func (h *Handler) list(v *snapshot, live page.Live) (content, error) {
	l := h.listing(v)
	p := &page.Page{Title: "Runs beneath " + document.Printable(h.index.dir), Lead: l.lead(), Version: h.version,
		Live: &live}
	if len(l.runs) > 0 {
		parts := []page.Part{{Table: l.table(h.index.now())}}
		if l.over > 0 {
			parts = append(parts, page.Part{Sentences: []string{fmt.Sprintf("%s are not listed; "+
				"serve a subfolder to see them.", words.Plural(l.over, "more run"))}})
		}
		p.Sections = append(p.Sections, page.Section{Title: "Runs", Parts: parts})
	}
	if t := h.gpuTable(); t != nil {
		p.Sections = append(p.Sections, page.Section{Title: "GPUs of this machine",
			Parts: []page.Part{{Table: &page.Table{Caption: "GPUs", Table: *t}}}})
	}
	if rest := leftOutTable(l.broken, v.others); len(rest) > 0 {
		p.Sections = append(p.Sections, page.Section{Title: "Left out", Parts: rest})
	}
	return p, nil
}

// lead counts the runs by state.
func (l *listing) lead() string {
	if l.total+len(l.broken) == 0 {
		return "No runs yet. New runs appear here."
	}
	text := words.Plural(l.total+len(l.broken), "run")
	for _, state := range states {
		if n := l.count[state]; n > 0 {
			text += fmt.Sprintf(", %d %s", n, state)
		}
	}
	if len(l.broken) > 0 {
		text += fmt.Sprintf(", %d left out", len(l.broken))
	}
	if l.inside > 0 {
		text += fmt.Sprintf("; %s inside them", words.Plural(l.inside, "sub-run"))
	}
	return text + "."
}

const listTime = "2006-01-02 15:04:05"

// table lists the runs, each followed by the runs inside it.
func (l *listing) table(now time.Time) *page.Table {
	t := &page.Table{Caption: "all", Pick: &page.Pick{Address: compareAddress, Name: "run", Button: "Compare",
		About: "the selected runs, side by side."}, Nest: &page.Nest{}, Fixed: []string{"trend"},
		Table: *document.NewTable("run", "kind", "state").Numbers("", "", "progress", "left").Texts("trend").
			Numbers("", "", "value").Texts("unit", "figure", "network").Numbers("", "", "seed")}
	t.Columns = append(t.Columns, document.Column{Name: "began", Unit: "UTC"},
		document.Column{Name: "written", Unit: "UTC"})
	kinds := map[string]bool{}
	add := func(r *listedRun, parent string) {
		kinds[r.kind] = true
		t.Add(r.cells(now)...)
		t.Nest.Keys, t.Nest.Parents = append(t.Nest.Keys, r.key()), append(t.Nest.Parents, parent)
		chosen := r.name
		if document.Printable(r.name) != r.name { // a form would send another name
			chosen = ""
		}
		t.Pick.Values = append(t.Pick.Values, chosen)
	}
	for k := range l.runs {
		r := &l.runs[k]
		add(r, "")
		for m := range r.members {
			add(&r.members[m], r.key())
		}
	}
	t.Filter = filterOf(kinds)
	return t
}

// filterOf filters by kinds and states.
func filterOf(kinds map[string]bool) *page.Filter {
	by := page.FilterColumn{Name: "kind"}
	for _, k := range runs.Kinds() {
		if kinds[k.Name] {
			by.Values = append(by.Values, k.Name)
		}
	}
	slices.Sort(by.Values)
	of := page.FilterColumn{Name: "state"}
	for _, s := range states {
		of.Values = append(of.Values, string(s))
	}
	return &page.Filter{Columns: []page.FilterColumn{by, of}, Unit: "runs",
		Minor: []string{"network", "seed", "began", "written"}}
}

// key returns the text that identifies the row of a run on the page.
func (l *listedRun) key() string { return strings.ToValidUTF8(document.Printable(l.name), "?") }

// cells returns the cells of a run.
func (l *listedRun) cells(now time.Time) []any {
	began, seed := "-", "-"
	if !l.began.IsZero() {
		began = l.began.UTC().Format(listTime)
	}
	if l.seed != nil {
		seed = fmt.Sprint(*l.seed)
	}
	figure, unit, value := "-", "-", document.Missing()
	if q := l.figure; q != nil {
		figure, unit = strings.ReplaceAll(q.Quantity, "_", " "), cmp.Or(document.UnitText(q.Unit), "-")
		value = document.Value(q.Mean, q.Unit)
		value.Group = q.Quantity + " " + q.Unit
	}
	said := document.Text(figure)
	if l.state == Failed {
		said = document.Cell{Text: shortReason(l.summary.Failed), Look: results.Down}
	}
	return []any{document.Cell{Text: l.shownName(), Link: AddressOf(l.name)}, l.kind,
		document.Cell{Text: string(l.state), Look: stateLooks[l.state]}, l.progressCell(), l.leftCell(now),
		l.trendCell(), value, unit, said, cmp.Or(l.network, "-"), seed, began, l.written.UTC().Format(listTime)}
}

// shownName returns the name of a run, relative to the run that contains it.
func (l *listedRun) shownName() string {
	if l.parent == "" || l.parent == "." {
		return l.name
	}
	return strings.TrimPrefix(l.name, l.parent+"/")
}

// stateLooks are the looks of states.
var stateLooks = map[State]results.Look{Running: results.Choice, Done: results.Up, Stopped: results.Down,
	Failed: results.Down}

// barClasses are the colours of the bars of states.
var barClasses = map[State]string{Running: "pick", Done: "up", Failed: "down"}

// progressCell shows the finished part as a bar and a number.
func (l *listedRun) progressCell() document.Cell {
	share, known := l.summary.Progress.Share()
	if !known || l.state == Unknown {
		return document.Missing()
	}
	c := document.Value(share, document.UnitShare).As("%.0f").Then(" %%")
	if text := l.amount(); text != "" {
		c = c.Then(" %% %s", text)
	}
	c.Picture = page.Bar(share, barClasses[l.state])
	return c
}

// leftCell shows the estimated time to the end.
func (l *listedRun) leftCell(now time.Time) document.Cell {
	left, known := l.left(now)
	if !known {
		return document.Missing()
	}
	c := document.Value(left.Seconds(), document.UnitSeconds)
	c.Instead = leftText(left) + " left"
	return c
}

// trendCell draws the main metric over the course of the run.
func (l *listedRun) trendCell() document.Cell {
	t := l.summary.Trend
	if len(t.Values) == 0 {
		return document.Text("-")
	}
	shown := func(v float64) string {
		return strings.TrimSpace(document.ValueText(v, t.Unit) + " " + document.UnitText(t.Unit))
	}
	last := len(t.Values) - 1
	return document.Cell{Picture: page.Sparkline(t.Values, fmt.Sprintf("%s: first %s, last %s, lowest %s, highest %s",
		strings.ReplaceAll(t.Metric, "_", " "), shown(t.Values[0]), shown(t.Values[last]), shown(slices.Min(t.Values)),
		shown(slices.Max(t.Values))))}
}

// leftText formats a time that is only an estimate, in its two largest units.
func leftText(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(1, int(d.Seconds()+0.5)))
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d d %d h", int(d.Hours())/24, int(d.Hours())%24)
}
