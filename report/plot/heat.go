package plot

import (
	"fmt"
	"graft/decider"
	"graft/report/figure"
	"graft/report/runs"
	"graft/simulation"
	"math"
	"slices"
)

// rowsShown is the number of scenarios above which a heat map shows only held-out ones.
const rowsShown = 40

// timesShown is the number of columns of a heat map.
const timesShown = 20

// plotHeat draws the most likely first action of the vote in each scenario, by the time left.
func plotHeat(r *runs.Run) ([]drawing, error) {
	l, err := readLearned(r)
	if l == nil || err != nil {
		return nil, err
	}
	trees := l.trees
	if len(trees) > rowsShown && len(l.held) > 0 {
		trees = l.held
	}
	h, err := heatOf("First decision of "+r.Base(), trees, l.vote)
	if err != nil {
		return nil, err
	}
	return []drawing{{Figure: h}}, nil
}

// heatOf evaluates a policy for the first decision in each tree.
func heatOf(title string, trees []*simulation.Tree, p *decider.Structural) (*figure.Heat, error) {
	most := 0.0
	for _, t := range trees {
		most = max(most, t.Budget)
	}
	h := &figure.Heat{Title: title, X: figure.Axis{Name: "time left", Unit: "s"},
		Note: "Colour: the policy's likeliest action on the scenario's initial network. Paler: less likely. " +
			"Empty: more time than the budget."}
	for k := range timesShown {
		h.Columns = append(h.Columns, timeLeft(most*float64(k+1)/timesShown, most))
	}
	for _, t := range trees {
		cells, err := heatRow(h, t, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
		h.Rows, h.Cells = append(h.Rows, t.Name), append(h.Cells, cells)
	}
	return h, nil
}

// timeLeft rounds a time to the digits that distinguish the columns of a map.
func timeLeft(seconds, most float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(most/timesShown))-1)
	return math.Round(seconds/unit) * unit
}

// heatRow evaluates a policy for the first decision in a tree at each time.
func heatRow(h *figure.Heat, t *simulation.Tree, p *decider.Structural) ([]figure.Cell, error) {
	var asked []decider.Situation
	for _, left := range h.Columns {
		s := t.Nodes[0].Situation
		s.Left = min(seconds(left), s.Budget)
		asked = append(asked, s)
	}
	weighed, err := p.Probabilities(asked...)
	if err != nil {
		return nil, err
	}
	cells := make([]figure.Cell, len(asked))
	for k := range asked {
		if h.Columns[k] > t.Budget+h.Columns[0]/timesShown { // rounded, it may be slightly larger
			cells[k] = figure.Cell{Kind: -1}
			continue
		}
		likeliest := decider.Likeliest(weighed[k])
		name := actionWords(t.Nodes[0].Choices[likeliest].Action.String())
		kind := slices.Index(h.Kinds, name)
		if kind < 0 {
			kind, h.Kinds = len(h.Kinds), append(h.Kinds, name)
		}
		cells[k] = figure.Cell{Kind: kind, Share: weighed[k][likeliest]}
	}
	return cells, nil
}
