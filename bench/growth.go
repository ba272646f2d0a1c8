package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"graft/config"
	"graft/internal/files"
	"graft/model"
	"graft/net2net"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
)

// growing are the networks of -growth: networks with a file were imported from PyTorch.
var growing = []string{"cnn.toml", "resnet.toml", "convnext.toml", "vit.toml", "gpt.toml", "ConvNet2", "ConvNet3",
	"ConvSmall", "FeedForwardNet2", "MobileNetV2"}

// Limits on a network's measurements.
const (
	growthWays    = 3  // variants to deepen and to widen, as graft profile NETWORK measures
	growthActions = 12 // single actions, as graft profile JOB measures
	// sequences of two and of three actions each; graft profile JOB measures every other one
	growthWhole = 6
)

// studyGrowth measures the cost of growth, and compares it with the charges of profiles that were measured without it.
func studyGrowth(ctx context.Context, out io.Writer, folder string, rounds int) error {
	if err := torch.SetThreads(1); err != nil {
		return err
	}
	fmt.Fprintf(out, "\ncosts of growth: charged over measured ratio of a grown network to the network before growth, "+
		"a batch of 64, 1 thread, processor time, medians of %d rounds\n", rounds)
	var all []*grownNetwork
	for _, name := range growing {
		g, err := measureGrowth(ctx, filepath.Join(folder, name), name, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, g)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "network\tprofiled\twork\theld out\tmedian error\tworst\trates alone, median\tworst\t")
	for _, by := range []string{byNetwork, byJob} {
		p := profileOfGrowth(all, by)
		sums := map[string]*growthErrors{}
		for _, work := range growthWorks {
			sums[work.name] = &growthErrors{}
			for _, g := range all {
				e := g.errors(p, by, work)
				e.print(table, g.name, by, work.name)
				sums[work.name].add(e)
			}
		}
		for _, work := range growthWorks {
			sums[work.name].print(table, "all", by, work.name)
		}
	}
	return table.Flush()
}

// Networks that a profile measured.
const (
	byNetwork = "graft profile NETWORK"
	byJob     = "graft profile JOB"
)

// grownNetwork is a network with the measurements of its grown variants.
type grownNetwork struct {
	name     string
	subjects map[string]*model.Network // by fingerprint
	measured []clock.Measurement       // the first is the network itself
	profiled map[string]map[string]bool
}

func measureGrowth(ctx context.Context, path, name string, rounds int) (*grownNetwork, error) {
	n, err := growingNetwork(path, name)
	if err != nil {
		return nil, err
	}
	first := clock.Subject{Name: n.Name(), Network: n}
	few, err := clock.Adapted(first, growthWays)
	if err != nil {
		return nil, err
	}
	singles, err := clock.Adapted(first, growthActions/2)
	if err != nil {
		return nil, err
	}
	var actions []net2net.Action
	for _, s := range singles {
		actions = append(actions, s.Actions[0])
	}
	whole, err := clock.Grown(first, sequencesOf(actions), net2net.Options{})
	if err != nil {
		return nil, err
	}
	g := &grownNetwork{name: n.Name(), subjects: map[string]*model.Network{},
		profiled: map[string]map[string]bool{byNetwork: {}, byJob: {}}}
	all := append(append(append([]clock.Subject{first}, few...), singles...), whole[1:]...)
	for k, s := range all {
		print := net2net.Fingerprint(s.Network)
		g.subjects[print] = s.Network
		g.profiled[byNetwork][print] = g.profiled[byNetwork][print] || k <= len(few)
		whole := k - len(few) - len(singles) // from 1
		g.profiled[byJob][print] = g.profiled[byJob][print] || whole <= 0 || whole%2 == 1
	}
	m, err := trainer.Measure(ctx, all, trainer.MeasureOptions{Batches: []int{batchSize}, Rounds: rounds,
		Now: func() time.Time {
			return time.Unix(0, int64(1e9*processorTime()))
		}})
	if err == nil {
		g.measured = m.Networks
	}
	return g, err
}

func growingNetwork(path, name string) (*model.Network, error) {
	if strings.HasSuffix(name, ".toml") {
		return config.ReadNetwork(files.OS{}, path)
	}
	return model.Zoo(name, model.ZooOptions{Input: model.Shape{3, 32, 32}, Classes: 10})
}

// sequencesOf returns some sequences of two and then of three actions.
func sequencesOf(actions []net2net.Action) (list [][]net2net.Action) {
	n := len(actions)
	for length := 2; length <= 3; length++ {
		for k := range min(growthWhole, n) {
			at := k * n / min(growthWhole, n)
			list = append(list, []net2net.Action{actions[at], actions[(at+n/2)%n], actions[(at+n/2+1)%n]}[:length])
		}
	}
	return list
}

// profileOfGrowth returns a profile that measured some of the networks.
func profileOfGrowth(all []*grownNetwork, by string) *clock.Profile {
	m := clock.Measured{}
	for _, g := range all {
		for _, one := range g.measured {
			if g.profiled[by][one.Fingerprint] {
				m.Networks = append(m.Networks, one)
			}
		}
	}
	return m.Profile("growth", "this machine", clock.Provenance{})
}

// growthErrors are relative errors of ratios: as charged, and by rates only for networks with fused layers.
type growthErrors struct{ charged, rates []float64 }

func (e *growthErrors) add(other growthErrors) {
	e.charged, e.rates = append(e.charged, other.charged...), append(e.rates, other.rates...)
}

func (e *growthErrors) print(w io.Writer, name, by, work string) {
	if len(e.charged) == 0 {
		return
	}
	worst := func(list []float64) (most float64) {
		for _, v := range list {
			most = max(most, v)
		}
		return 100 * most
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%.1f%%\t%.1f%%\t%.1f%%\t%.1f%%\t\n", name, by, work, len(e.charged),
		100*median(e.charged), worst(e.charged), 100*median(e.rates), worst(e.rates))
}

// growthWork is a mixture of work with growing cost.
type growthWork struct {
	name           string
	steps, batches float64
}

// growthWorks are the compared kinds of work; an epoch has a fifth as many validation images as training images.
var growthWorks = []growthWork{{"epoch", 5, 1}, {"step", 1, 0}, {"evaluation", 0, 1}}

// errors compares a profile's charges for growth with measurements, for the networks that the profile lacks.
func (g *grownNetwork) errors(p *clock.Profile, by string, w growthWork) (e growthErrors) {
	charged := func(print string) float64 {
		of := func(k clock.Kind) float64 {
			return p.Cost(clock.Work{Kind: k, Count: 1, Rows: batchSize, Network: g.subjects[print]}).Seconds()
		}
		return w.steps*of(clock.Steps) + w.batches*of(clock.Batches)
	}
	measured := func(m clock.Measurement) float64 { return w.steps*m.StepSeconds + w.batches*m.BatchSeconds }
	base := g.measured[0]
	for _, m := range g.measured[1:] {
		if g.profiled[by][m.Fingerprint] {
			continue
		}
		asTree := m
		asTree.Graph = false
		step, batch := p.Estimate(asTree)
		grows := measured(m) / measured(base)
		e.charged = append(e.charged, math.Abs(charged(m.Fingerprint)/charged(base.Fingerprint)/grows-1))
		e.rates = append(e.rates, math.Abs((w.steps*step+w.batches*batch)/measured(base)/grows-1))
	}
	return e
}
