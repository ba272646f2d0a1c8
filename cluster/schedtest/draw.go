package schedtest

import (
	"fmt"
	"math/rand/v2"

	"graft/cluster"
	"graft/cluster/trace"
)

// models lists the models that jobs train in drawn cases. A quirk treats two of them as equal; the last one has no
// measurements.
var models = []string{"m1", "m2", "m3", "BERT", "NeuMF", "unknown"}

// Shape configures randomly drawn cases.
type Shape struct {
	// approximate length in seconds of the period in which jobs are submitted; durations are drawn from the range below
	// this length; at least 1
	Span   int64
	Jobs   int      // maximum number of jobs
	Faulty bool     // adds jobs that cannot be simulated
	Waves  bool     // makes many small jobs arrive at once
	Scales bool     // adds and removes nodes
	Parts  bool     // lets some jobs request a part of a device
	Limits bool     // gives most jobs time limits
	Types  bool     // gives nodes types, which some jobs require
	Quirks []string // quirks that some cases keep
}

// Draw creates a random case. Many jobs are tied: they have the same submission time, duration, size or urgency.
func Draw(r *rand.Rand, s Shape) *Case {
	c := &Case{}
	c.Study.PerNode = pick(r, 1, 2, 3, 4, 4, 5, 7, 8, 8, 8, 8, 8)
	for k := range pick(r, 1, 1, 1, 2, 3) {
		c.Study.VCs = append(c.Study.VCs, trace.VC{Name: string(rune('a' + k)), Nodes: 1 + r.IntN(4)})
	}
	c.Study.Begin = pick(r, 0, 0, 0, 1, 59, 60, 99, 100, 6000, r.Int64N(1000))
	c.Options.Placement = pick(r, "consolidate", "consolidate", "random", "consolidate-first")
	c.Options.Quirks = drawQuirks(r, s.Quirks)
	drawProfiles(r, c.profiles())
	drawProfiler(r, c, s)
	c.Study.Forecast = drawForecast(r, c, s)
	drawJobs(r, c, s)
	if s.Scales {
		c.Scalings = drawScalings(r, c.Study.Begin, s.Span)
	}
	c.Options.Follow = []string{pick(r, c.Study.Jobs...).ID}
	if s.Types {
		drawTypes(r, c)
	}
	for k := range c.Study.Jobs {
		if s.Limits && r.IntN(5) > 0 {
			d := c.Study.Jobs[k].Duration
			c.Study.Jobs[k].Limit = max(0, pick(r, d, d+1, 2*d, d/2, 1+r.Int64N(s.Span)))
		}
	}
	return c
}

// drawTypes divides the nodes among up to three types, which may have nodes of other sizes. Some jobs require a type,
// or ran on a type in the trace.
func drawTypes(r *rand.Rand, c *Case) {
	equal := r.IntN(3) == 0
	for k := range 1 + r.IntN(3) {
		t := cluster.NodeType{Name: fmt.Sprint("t", k), Nodes: map[string]int{}, Speed: 1}
		if r.IntN(3) == 0 {
			t.GPUs = pick(r, 1, 2, 4, 8, c.Study.PerNode)
		}
		if !equal {
			t.Speed = pick(r, 1, 1, 2, 0.5, 0.3+r.Float64())
			if r.IntN(2) == 0 {
				t.Speeds = map[string]float64{pick(r, models...): pick(r, 1, 0.25, 3, 0.3+r.Float64())}
			}
		}
		c.Study.Types = append(c.Study.Types, t)
	}
	for _, vc := range c.Study.VCs {
		for range vc.Nodes {
			pick(r, c.Study.Types...).Nodes[vc.Name]++
		}
	}
	for k := range c.Study.Jobs {
		if r.IntN(2) == 0 {
			c.Study.Jobs[k].GPUType = pick(r, "t0", "t0", "t1", "t1", "t2", "t0|t1", "t2|t1", "other")
			c.Study.Jobs[k].NeedsType = r.IntN(3) > 0
		}
	}
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

func drawQuirks(r *rand.Rand, names []string) (keep cluster.Quirks) {
	all := r.IntN(8)
	for _, name := range names {
		if all < 2 || all > 2 && r.IntN(2) == 0 {
			keep = append(keep, name)
		}
	}
	return keep
}

func drawProfiles(r *rand.Rand, p *cluster.Profiles) {
	for _, model := range models[:len(models)-1] {
		p.Scores[cluster.Config{Model: model}] = pick(r, 0, 0, 1, 1, 2)
	}
	for k, a := range models {
		for _, b := range models[k:] {
			pair := [2]cluster.Config{{Model: a}, {Model: b}}
			if r.IntN(2) == 0 {
				pair[0], pair[1] = pair[1], pair[0]
			}
			if r.IntN(8) > 0 {
				p.Pairs[pair] = [2]float64{drawRate(r), drawRate(r)}
			}
		}
	}
}

func drawRate(r *rand.Rand) float64 {
	return pick(r, 1, 0.5, 0.75, 0.4+r.Float64(), 0.4+r.Float64(), float64(1+r.IntN(150))/100, 0.1)
}

func drawScalings(r *rand.Rand, at, span int64) (list []Scaling) {
	for range 1 + r.IntN(10) {
		at += r.Int64N(1 + span/3)
		list = append(list, Scaling{At: at, Nodes: 1 - 2*r.IntN(2)})
	}
	return list
}

func drawProfiler(r *rand.Rand, c *Case, s Shape) {
	p := &c.Profiler
	p.Nodes = pick(r, 1, 1, 2)
	if s.Waves {
		p.Nodes = 1
	}
	for _, at := range r.Perm(len(c.Study.VCs))[:min(p.Nodes, len(c.Study.VCs))] {
		p.From = append(p.From, c.Study.VCs[at].Name)
	}
	p.Nodes = len(p.From)
	p.Limit = pick(r, 200, 1+s.Span/4, 1+r.Int64N(s.Span), 1+r.Int64N(20))
	p.Largest = 1 + r.IntN(min(8, p.Nodes*c.Study.PerNode))
	p.Echo = pick(r, "none", pick(r, c.Study.VCs...).Name)
}

func drawForecast(r *rand.Rand, c *Case, s Shape) *cluster.Forecast {
	if r.IntN(3) == 0 {
		return nil
	}
	f := &cluster.Forecast{}
	at, step := c.Study.Begin-r.Int64N(2*s.Span+1), 1+s.Span/int64(1+r.IntN(8))
	for range 1 + r.IntN(14) {
		f.At = append(f.At, at)
		f.Jobs = append(f.Jobs, pick(r, 0, 1, 2, 3, 4, 4*r.Float64()))
		f.GPUs = append(f.GPUs, pick(r, 0, float64(5*c.Profiler.Largest),
			float64(10*c.Profiler.Largest)*r.Float64(), 100))
		at += pick(r, step, step, 1+r.Int64N(step))
	}
	return f
}

func drawJobs(r *rand.Rand, c *Case, s Shape) {
	at := c.Study.Begin + pick(r, 0, 0, r.Int64N(s.Span))
	together := pick(r, 0.2, 0.5, 0.9)
	for k := range 1 + r.IntN(s.Jobs) {
		switch {
		case s.Waves && k%16 == 15:
			at += s.Span/2 + r.Int64N(s.Span)
		case !s.Waves && r.Float64() > together:
			at += r.Int64N(2*s.Span/int64(s.Jobs) + 2)
		}
		c.Study.Jobs = append(c.Study.Jobs, drawJob(r, c, s, k, at))
		d := float64(c.Study.Jobs[k].Duration)
		c.Study.Estimates = append(c.Study.Estimates,
			pick(r, d, d, float64(r.Int64N(s.Span)), 7, 7, 3.5, 0, -3, d*r.Float64()))
	}
}

func drawJob(r *rand.Rand, c *Case, s Shape, k int, at int64) trace.Job {
	vc := pick(r, c.Study.VCs...)
	all := vc.Nodes * c.Study.PerNode
	j := trace.Job{
		ID: fmt.Sprint("j", k), VC: vc.Name, Submit: at,
		Duration: pick(r, r.Int64N(s.Span), r.Int64N(s.Span), s.Span/2, 1+r.Int64N(4), r.Int64N(s.Span)/10*10),
		GPUs:     min(all, pick(r, 1, 1, 2, 4, 8, c.Study.PerNode, 1+r.IntN(c.Study.PerNode), 1+r.IntN(all), all)),
		Training: &trace.Training{Model: pick(r, models...),
			Memory: pick(r, 1000, 2000.5, 12288, 12287, 12289, 24000, float64(r.IntN(20000)))},
	}
	if s.Faulty {
		switch r.IntN(60) {
		case 0:
			j.VC = "elsewhere"
		case 1:
			j.GPUs = -r.IntN(2)
		case 2:
			j.Duration = -1
		case 3:
			j.GPUs = all + 1 + r.IntN(4)
		}
	}
	if r.IntN(40) == 0 {
		j.Duration = 0
	}
	if s.Parts && r.IntN(2) == 0 {
		j.GPUs, j.Share = 1, pick(r, 1, 200, 250, 500, 500, 750, 999, 1+r.IntN(999))
	}
	if s.Waves && r.IntN(8) > 0 {
		j.GPUs = min(j.GPUs, c.Profiler.Largest)
	}
	return j
}
