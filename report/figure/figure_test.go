package figure_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"graft/report/figure"
)

// examples returns figures of every kind: typical ones, and ones that are hard to draw.
func examples() map[string]figure.Figure {
	return map[string]figure.Figure{
		"curves":   curves(),
		"timeline": timeline(4),
		"crowded":  timeline(24),
		"beyond":   timeline(300),
		"bars":     bars(4, true),
		"dots":     bars(14, false),
		"marks": &figure.Chart{Title: "Accuracy and cost", X: figure.Axis{Name: "operations", Unit: "GFLOP", Low: 0,
			High: 4}, Panels: []figure.Panel{{Y: figure.Axis{Name: "accuracy", Unit: "%"}, Curves: []figure.Curve{
			{Name: "never", X: []float64{1}, Y: []float64{60}, Low: []float64{55}, High: []float64{65}},
			{Name: "policy", X: []float64{3}, Y: []float64{66}}}}}},
		"spent": &figure.Bars{Title: "Time spent", X: figure.Axis{Name: "time", Unit: "s"}, Values: true,
			Groups: []figure.Group{
				{Name: "training", Bars: []figure.Bar{{Value: 51.3}}}, {Name: "operating",
					Bars: []figure.Bar{{Value: 0.81}}}, {Name: "deciding", Bars: []figure.Bar{{Value: 0.012}}}}},
		"heat":    heat(),
		"tree":    tree(3, []string{"none", "deepen 1", "widen 1"}),
		"forest":  tree(5, []string{"none", "deepen 1", "deepen 2", "widen 2"}),
		"surgery": surgery(3),
		"gantt":   gantt(24, 3),
		"crowd":   gantt(40_000, 70),
		"stacked": &figure.Bars{Title: "Energy", X: figure.Axis{Name: "energy", Unit: "kJ"},
			Names: []string{"train", "serve", "idle"}, Stacked: true, Values: true, Groups: []figure.Group{
				{Name: "best-fit", Bars: []figure.Bar{{Value: 5}, {Value: math.NaN()}, {Value: 2.25}}},
				{Name: "fcfs", Bars: []figure.Bar{{Value: 4}, {Value: 1}, {Value: 4}}}}},
		"differences": differences(),
		"deep":        surgery(40),
		"empty": &figure.Chart{Title: "Nothing", X: figure.Axis{Name: "time", Unit: "s"},
			Panels: []figure.Panel{{Y: figure.Axis{Name: "accuracy", Unit: "%"}}}},
	}
}

func curves() figure.Figure {
	r := rand.New(rand.NewPCG(1, 2))
	c := figure.Curve{Name: "learned"}
	var raw [3][]float64
	for k := range 400 {
		x := float64(k) * 25
		y := 60 + 12*(1-math.Exp(-x/2500))
		c.X, c.Y = append(c.X, x), append(c.Y, y)
		c.Low, c.High = append(c.Low, y-1), append(c.High, y+1)
		for s := range raw {
			raw[s] = append(raw[s], y+2*r.NormFloat64())
		}
	}
	c.Raw = raw[:]
	loss := figure.Curve{Name: "objective", X: c.X}
	for k := range c.X {
		loss.Y = append(loss.Y, 0.02*math.Exp(-c.X[k]/3000))
	}
	return &figure.Chart{Title: "Learning", X: figure.Axis{Name: "episodes"}, Note: "Faint: each seed. Line: " +
		"mean of 3 seeds, over 10 rows. Band: 95% interval of the mean, bootstrap over seeds.",
		Panels: []figure.Panel{
			{Y: figure.Axis{Name: "accuracy", Unit: "%"}, Curves: []figure.Curve{c},
				Levels: []figure.Level{{"best of the table", 74.1}}},
			{Y: figure.Axis{Name: "objective", Zero: true}, Height: 50, Curves: []figure.Curve{loss}}}}
}

func timeline(events int) figure.Figure {
	a, l, p := figure.Curve{Name: "validation"}, figure.Curve{Name: "training"},
		figure.Curve{Name: "parameters", Steps: true}
	for k := range 60 {
		x := float64(k)
		a.X, a.Y = append(a.X, x), append(a.Y, 100*(0.5-0.4*math.Exp(-x/15)))
		l.X, l.Y = a.X, append(l.Y, 100*(0.6-0.5*math.Exp(-x/15)))
		p.X, p.Y = a.X, append(p.Y, 14826+float64(k/20)*9312)
	}
	c := &figure.Chart{Title: "Accuracy over time", X: figure.Axis{Name: "time of the budget", Unit: "s"},
		Panels: []figure.Panel{{Y: figure.Axis{Name: "accuracy", Unit: "%"}, Curves: []figure.Curve{a, l}},
			{Y: figure.Axis{Name: "parameters"}, Height: 40, Curves: []figure.Curve{p}}}}
	for k := range events {
		x := 59 * float64(k+1) / float64(events)
		if k%2 == 0 {
			c.Events = append(c.Events, figure.Event{X: x, Label: fmt.Sprintf("up: deepen %d", k+1), Kind: figure.Up})
		} else {
			c.Events = append(c.Events, figure.Event{X: x, Label: "down", Kind: figure.Down})
		}
	}
	return c
}

func bars(groups int, zero bool) figure.Figure {
	b := &figure.Bars{Title: "Accuracy", X: figure.Axis{Name: "accuracy", Unit: "%", Zero: zero},
		Names: []string{"learned", "none", "random", "best fixed", "optimum"},
		Note:  "Intervals: 95%, bootstrap over seeds."}
	for k := range groups {
		g := figure.Group{Name: fmt.Sprintf("convnet%d_t%d early to late", k%3+1, 100*k)}
		for s := range b.Names {
			v := 62 + float64(k%5) + 2*float64(s)
			g.Bars = append(g.Bars, figure.Bar{Value: v, Low: v - 0.7, High: v + 0.9})
		}
		b.Groups = append(b.Groups, g)
	}
	b.Groups[0].Bars[1].Value = math.NaN()
	return b
}

func heat() figure.Figure {
	h := &figure.Heat{Title: "Decisions", X: figure.Axis{Name: "time left", Unit: "s"},
		Kinds: []string{"none", "deepen", "widen"}, Note: "Colour: the likeliest kind of action. Paler: less likely."}
	for c := range 16 {
		h.Columns = append(h.Columns, float64(20*(c+1)))
	}
	for r := range 7 {
		h.Rows = append(h.Rows, fmt.Sprintf("simulation_early_middle%d", r))
		var row []figure.Cell
		for c := range h.Columns {
			row = append(row, figure.Cell{Kind: (r + c) / 4 % 3, Share: 0.4 + 0.6*float64(c)/16})
		}
		h.Cells = append(h.Cells, row)
	}
	h.Cells[2][3].Kind = -1
	return h
}

func tree(decisions int, actions []string) figure.Figure {
	t := &figure.Tree{Title: "The action tree", Value: figure.Axis{Name: "mean accuracy", Unit: "%"},
		Note: "A box for each beginning of sequences, as high as there are sequences that begin so."}
	r := rand.New(rand.NewPCG(3, 4))
	var grow func(action string, depth int) *figure.Node
	grow = func(action string, depth int) *figure.Node {
		n := &figure.Node{Action: action, Value: 66 + r.NormFloat64()}
		if depth < decisions {
			n.Value = 0
			for _, a := range actions {
				child := grow(a, depth+1)
				n.Children = append(n.Children, child)
				n.Value += child.Value / float64(len(actions))
			}
		}
		return n
	}
	t.Root = grow("", 0)
	policy, best := figure.Path{Name: "policy"}, figure.Path{Name: "optimum"}
	for k := range decisions {
		t.Decisions = append(t.Decisions, fmt.Sprintf("decision %d", k+1))
		policy.Steps, best.Steps = append(policy.Steps, k%len(actions)), append(best.Steps, k%2)
	}
	t.Paths = []figure.Path{best, policy}
	return t
}

func surgery(layers int) figure.Figure {
	s := &figure.Surgery{Title: "Surgery",
		Before: figure.Network{Name: "before: ConvSmall", Detail: "14 826 parameters"},
		After:  figure.Network{Name: "after: deepen 1, widen 2", Detail: "31 290 parameters"}}
	for k := range layers {
		l := figure.Layer{Key: fmt.Sprint(k), Name: fmt.Sprintf("Conv2d %d × 32, 3 × 3", 3+k),
			Block: fmt.Sprintf("block %d", k/2+1)}
		s.Before.Layers = append(s.Before.Layers, l)
		if k == 2 {
			s.After.Layers = append(s.After.Layers,
				figure.Layer{Key: "new", Name: "Conv2d 32 × 32, 3 × 3", Block: l.Block})
			l.Wider, l.Name = true, "Conv2d 32 × 64 (was 32), 3 × 3"
		}
		s.After.Layers = append(s.After.Layers, l)
	}
	last := figure.Layer{Key: "fc", Name: "Linear 512 × 10"}
	s.Before.Layers, s.After.Layers = append(s.Before.Layers, last), append(s.After.Layers, last)
	return s
}

// gantt has spans with all ends, and invalid spans.
func gantt(count, rows int) *figure.Gantt {
	g := &figure.Gantt{Title: "Tasks", X: figure.Axis{Name: "time", Unit: "s"},
		Kinds: []string{"train", "serve", "others"}, Note: "The first workload."}
	for r := range rows {
		g.Rows = append(g.Rows, fmt.Sprintf("GPU %d", r))
	}
	for k := range count {
		lane := k / rows % 3
		from := float64(k/rows/3)*7 + float64(lane)
		end := figure.End(k % 5 % 3)
		g.Spans = append(g.Spans, figure.Span{Name: fmt.Sprintf("task-%d", k), Row: k % rows, Lane: lane * lane,
			Kind: k % 3, From: from, To: from + 1 + float64(k*5%7), End: end})
	}
	nan := math.NaN()
	g.Spans = append(g.Spans, figure.Span{Row: -1}, figure.Span{Row: rows}, figure.Span{Lane: -1},
		figure.Span{Kind: -1}, figure.Span{From: nan, To: 1}, figure.Span{From: 2, To: 1}, figure.Span{To: math.Inf(1)})
	return g
}

// differences has rows with equal values, without an interval, and without values.
func differences() figure.Figure {
	nan := math.NaN()
	return &figure.Dots{Title: "Differences", X: figure.Axis{Name: "difference in test accuracy", Unit: "points"},
		Zero: "never", Each: "a seed", Mean: "mean and interval", Note: "Intervals: 95%.", Rows: []figure.DotRow{
			{"as configured", []float64{10, 12, 9, 9, 9.02, 8.98, 14}, 10.2, 7.6, 12.9},
			{"final from scratch, with a name that is much too long", []float64{-1, 1, nan, math.Inf(1)}, 0, -1.5, 1.5},
			{"few", []float64{-3, 2}, -0.5, nan, nan}, {"none", nil, nan, nan, nan}}}
}
