package plot

import (
	"cmp"
	"fmt"
	"slices"

	"graft/internal/words"
	"graft/report/document"
	"graft/report/figure"
	"graft/report/runs"
	"graft/simulation/tables"
)

// treeBuilder builds the nodes of a tree from records.
type treeBuilder struct {
	*tables.Table
	order map[string]int // of actions
}

// treeFigure draws a table's tree with the best sequence and a policy's sequence, nil for none.
func treeFigure(t *tables.Table, policy []string) *figure.Tree {
	g := treeBuilder{t, map[string]int{}}
	for _, a := range t.Actions {
		g.order[a] = len(g.order)
	}
	all := make([]*tables.Record, len(t.Records))
	for k := range t.Records {
		all[k] = &t.Records[k]
		for _, a := range t.Records[k].Sequence {
			if _, known := g.order[a]; !known {
				g.order[a] = len(g.order)
			}
		}
	}
	f := &figure.Tree{Title: "The action tree of " + t.Name, Value: shareAxis("mean accuracy"),
		Root: g.node("", all, 0), Note: fmt.Sprintf("%s, %s. Each box is a common beginning of sequences; its height "+
			"is their number. %s", t.Name, words.Plural(len(all), "sequence"), noiseText(t))}
	for k := range t.Decisions {
		f.Decisions = append(f.Decisions, fmt.Sprintf("decision %d", k+1))
	}
	best := slices.MaxFunc(all, func(a, b *tables.Record) int { return cmp.Compare(a.Mean(), b.Mean()) })
	f.Paths = append(f.Paths, figure.Path{Name: "optimum, " + percentOf(best), Steps: stepsOf(f.Root, best.Sequence)})
	if chosen := t.Find(policy...); chosen != nil && len(policy) > 0 {
		f.Paths = append(f.Paths, figure.Path{Name: "policy, " + percentOf(chosen), Steps: stepsOf(f.Root, policy)})
	}
	return f
}

// noiseText describes the noise of the best sequence.
func noiseText(t *tables.Table) string {
	r := runs.NewTableReport(t)
	if r.SeedSpread == nil {
		return "Each sequence ran once: the noise of the optimum is unknown."
	}
	return fmt.Sprintf("Seeds of a sequence differ by a standard deviation of %.2f points; "+
		"%d others are within one standard deviation of the optimum.", 100**r.SeedSpread, r.Near())
}

func percentOf(r *tables.Record) string {
	mean := r.Mean()
	return document.ShareText(&mean)
}

// node returns the common prefix of records with its continuations.
func (g treeBuilder) node(action string, records []*tables.Record, depth int) *figure.Node {
	n := &figure.Node{Action: action}
	for _, r := range records {
		n.Value += 100 * r.Mean() / float64(len(records))
	}
	if depth == g.Decisions {
		return n
	}
	groups := map[string][]*tables.Record{}
	var actions []string
	for _, r := range records {
		a := r.Sequence[depth]
		if groups[a] == nil {
			actions = append(actions, a)
		}
		groups[a] = append(groups[a], r)
	}
	slices.SortFunc(actions, func(a, b string) int { return cmp.Compare(g.order[a], g.order[b]) })
	for _, a := range actions {
		n.Children = append(n.Children, g.node(a, groups[a], depth+1))
	}
	return n
}

// stepsOf converts a sequence to child indices in a tree.
func stepsOf(n *figure.Node, sequence []string) []int {
	var steps []int
	for _, action := range sequence {
		k := slices.IndexFunc(n.Children, func(c *figure.Node) bool { return c.Action == action })
		if k < 0 {
			return steps
		}
		steps, n = append(steps, k), n.Children[k]
	}
	return steps
}
