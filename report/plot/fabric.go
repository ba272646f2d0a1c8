package plot

import (
	"fmt"
	"math"
	"slices"

	"graft/report/figure"
	"graft/report/runs"
)

// mostCurves is the number of deciders whose curves can be told apart.
const mostCurves = 6

// plotFabricBlocked draws the jobs that each decider blocks: bars, or curves over the one quantity that
// varies.
func plotFabricBlocked(r *runs.Run, o *runs.FabricOutcome) (all []drawing, err error) {
	if axis, at := varied(o); at != nil {
		return []drawing{{Figure: blockedCurves(r, o, axis, at)}}, nil
	}
	for k := range o.Points {
		p := &o.Points[k]
		b := rankingBars(&p.Blocked, "Jobs of "+r.Base()+" that are blocked",
			figure.Axis{Name: "jobs blocked", Unit: "%", Zero: true})
		b.Lines = "Lines: 95% intervals over episodes."
		name := ""
		if p.Name != "" {
			b.Title += ", " + p.Name
			name = fmt.Sprint(k + 1)
		}
		all = append(all, drawing{name, b})
	}
	return all, nil
}

// varied is the quantity in which points differ, if it is a single one.
func varied(o *runs.FabricOutcome) (axis figure.Axis, at func(p *runs.FabricPoint) float64) {
	if slices.ContainsFunc(o.Points, func(p runs.FabricPoint) bool { return p.Network != o.Points[0].Network }) {
		return axis, nil
	}
	for name, of := range map[string]func(p *runs.FabricPoint) float64{
		"load":            func(p *runs.FabricPoint) float64 { return p.Load },
		"bandwidth, GB/s": func(p *runs.FabricPoint) float64 { return p.Bandwidth / 1e9 },
		"skewness":        func(p *runs.FabricPoint) float64 { return p.Skewness },
		"largest degree":  func(p *runs.FabricPoint) float64 { return float64(p.MaxDegree) },
	} {
		if !slices.ContainsFunc(o.Points, func(p runs.FabricPoint) bool { return of(&p) != of(&o.Points[0]) }) {
			continue
		}
		if at != nil {
			return axis, nil
		}
		axis, at = figure.Axis{Name: name}, of
	}
	return axis, at
}

func blockedCurves(r *runs.Run, o *runs.FabricOutcome, axis figure.Axis,
	at func(p *runs.FabricPoint) float64) *figure.Chart {
	points := slices.Clone(o.Points)
	slices.SortFunc(points, func(a, b runs.FabricPoint) int { return int(math.Copysign(1, at(&a)-at(&b))) })
	panel := figure.Panel{Y: figure.Axis{Name: "jobs blocked", Unit: "%", Zero: true}}
	remark := "Bands: 95% intervals over episodes."
	for k, c := range o.Points[0].Cells {
		if k == mostCurves {
			remark += fmt.Sprintf(" The %d deciders that block fewest jobs at the first point.", mostCurves)
			break
		}
		curve := figure.Curve{Name: c.Decider}
		for n := range points {
			s := standing(&points[n], c.Decider)
			low, high := math.NaN(), math.NaN()
			if s.Interval != nil {
				low, high = s.Interval.Low, s.Interval.High
			}
			curve.X, curve.Y = append(curve.X, at(&points[n])), append(curve.Y, *s.Mean)
			curve.Low, curve.High = append(curve.Low, low), append(curve.High, high)
		}
		panel.Curves = append(panel.Curves, curve)
	}
	return &figure.Chart{Title: "Jobs of " + r.Base() + " that are blocked", X: axis, Panels: []figure.Panel{panel},
		Note: remark}
}

// standing is that of a decider; each has one.
func standing(p *runs.FabricPoint, decider string) *runs.ElasticStanding {
	k := slices.IndexFunc(p.Blocked.Standings, func(s runs.ElasticStanding) bool { return s.Scheduler == decider })
	return &p.Blocked.Standings[k]
}

// plotFabricDegrees draws the shares of the degrees at which the jobs of each network started, at the
// first point.
func plotFabricDegrees(r *runs.Run, o *runs.FabricOutcome) (all []drawing, err error) {
	var degrees []int
	for _, c := range o.Points[0].Cells {
		for _, d := range c.Degrees {
			if !slices.Contains(degrees, d.Degree) {
				degrees = append(degrees, d.Degree)
			}
		}
	}
	slices.Sort(degrees)
	for _, c := range o.Points[0].Cells {
		b := &figure.Bars{Title: fmt.Sprintf("Degrees in %s under %s", r.Base(), c.Decider),
			X: figure.Axis{Name: "jobs that started", Unit: "%", Low: 0, High: 100}, Stacked: true,
			Note: "Colours are degrees: the parts into which a step is split."}
		for _, d := range degrees {
			b.Names = append(b.Names, fmt.Sprint(d))
		}
		b.Groups = degreeGroups(c.Degrees, degrees)
		if len(b.Groups) > 0 {
			all = append(all, drawing{c.Decider, b})
		}
	}
	return all, nil
}

// degreeGroups has a group for each network, with the percent of its jobs at each degree.
func degreeGroups(list []runs.FabricDegree, degrees []int) (groups []figure.Group) {
	sums := map[string]int{}
	for _, d := range list {
		sums[d.Model] += d.Jobs
	}
	at := map[string]int{}
	for _, d := range list {
		k, known := at[d.Model]
		if !known {
			k = len(groups)
			at[d.Model], groups = k, append(groups, figure.Group{Name: d.Model, Bars: make([]figure.Bar, len(degrees))})
		}
		groups[k].Bars[slices.Index(degrees, d.Degree)].Value = 100 * float64(d.Jobs) / float64(sums[d.Model])
	}
	return groups
}

// plotFabricGantt draws which jobs the servers had in the first episode, a figure for each decider.
func plotFabricGantt(r *runs.Run, o *runs.FabricOutcome) (all []drawing, err error) {
	var rows []string
	for k := range min(o.Servers, mostGPUs) {
		rows = append(rows, fmt.Sprintf("server %d", k))
	}
	last := 0.0
	for _, c := range o.Points[0].Cells {
		spans, err := runs.FabricJobs(r, runs.FabricEpisode(c.Decider, "1", "1"))
		if err != nil {
			return nil, err
		}
		spans = slices.DeleteFunc(spans, func(s runs.NodeSpan) bool { return s.GPU >= len(rows) })
		g := coloursOf(spans).gantt(fmt.Sprintf("Jobs of %s under %s", r.Base(), c.Decider), rows, spans)
		g.Note = "The first episode. " + g.Note
		for _, s := range spans {
			last = max(last, s.To)
		}
		all = append(all, drawing{c.Decider, g})
	}
	for _, d := range all {
		d.Figure.(*figure.Gantt).X.High = last
	}
	return all, nil
}
