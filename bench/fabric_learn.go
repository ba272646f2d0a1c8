package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"text/tabwriter"
	"time"

	"graft/cluster/fabric"
	"graft/cluster/fabric/agent"
	"graft/cluster/fabric/networks"
	"graft/learn/candidates"
	"graft/model"
	"graft/stat"
	"graft/trainer"
)

// mixedNetworks are networks of which some gain from many servers and some hardly from two.
var mixedNetworks = []struct {
	name string
	size int // of images, pixels
}{{"ResNet18", 64}, {"VGG11BN", 32}, {"MobileNetV2", 64}, {"CIFARResNet56", 32}, {"LargeConvNet", 64}}

// mixed draws episodes of jobs that train them, at a load that swings.
func mixed(count int, seed uint64, jobs int, o fabric.NetworkOptions) (all []*fabric.Study, err error) {
	profile, err := trainer.FindProfile("round-gpu")
	if err != nil {
		return nil, err
	}
	var models []fabric.Model
	for _, c := range mixedNetworks {
		n, err := model.Zoo(c.name, model.ZooOptions{Input: model.Shape{3, c.size, c.size}})
		if err != nil {
			return nil, err
		}
		p, err := networks.Profile(n, networks.Options{Batch: 128, Profile: profile})
		if err != nil {
			return nil, err
		}
		models = append(models, fabric.NewModel(p.Mirror(fabric.Mirror(nil))))
	}
	o.Bandwidth = 1e10
	o.EnsureDefaults()
	network, err := o.Make(nil)
	for k := range count {
		s := &fabric.Study{Network: network, Models: models}
		s.Options.EnsureDefaults()
		if err := (fabric.Demand{Jobs: jobs, Steps: 500, Swing: 0.6}).Draw(s, rand.New(rand.NewPCG(seed, uint64(k)))); err != nil {
			return nil, err
		}
		s.Prepare()
		all = append(all, s)
	}
	return all, err
}

// rate is the blocking rate of a decider on each episode.
func rates(all []*fabric.Study, kind fabric.Kind) (list []float64, err error) {
	for k, s := range all {
		w, err := fabric.NewWorld(s)
		if err != nil {
			return nil, err
		}
		if err := fabric.Play(w, kind.New(rand.New(rand.NewPCG(1, uint64(k))))); err != nil {
			return nil, err
		}
		list = append(list, float64(w.Record.Blocked)/float64(len(w.Jobs)))
	}
	return list, nil
}

// rivals are all constant degrees, and the rules that look at each job.
func rivals() (kinds []fabric.Kind) {
	for _, parts := range []int{1, 2, 4, 6, 8, 16} {
		kinds = append(kinds, fabric.ConstantKind(parts))
	}
	return append(kinds, fabric.Kinds()...)
}

// learnFabric prints blocking rates of learned deciders of ten seeds beside constant degrees and rules, on
// episodes that they have not seen, and on small ones those of the best degrees in hindsight.
func learnFabric(out io.Writer) error {
	train, err := mixed(20, 1, 200, fabric.NetworkOptions{})
	if err != nil {
		return err
	}
	validation, err := mixed(10, 2, 200, fabric.NetworkOptions{})
	if err != nil {
		return err
	}
	held, err := mixed(20, 77, 200, fabric.NetworkOptions{})
	if err != nil {
		return err
	}
	small, err := mixed(20, 5, 20, fabric.NetworkOptions{Size: []int{2, 2, 2}})
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "decider\tblocked, 32 servers\tblocked, 8 servers and 20 jobs")
	line := func(name string, large, few []float64) {
		fmt.Fprintf(w, "%s\t%.4f\t%.4f\n", name, stat.DividedMean(large), stat.DividedMean(few))
	}
	best, least := []float64(nil), 2.0
	for _, kind := range rivals() {
		large, err := rates(held, kind)
		if err != nil {
			return err
		}
		few, err := rates(small, kind)
		if err != nil {
			return err
		}
		line(kind.Name, large, few)
		if mean := stat.DividedMean(large); mean < least && slices.ContainsFunc(rivals()[:6], func(k fabric.Kind) bool { return k.Name == kind.Name }) {
			best, least = large, mean
		}
	}
	var gains [][]float64 // of each seed, on each episode
	var times []float64
	for seed := range uint64(10) {
		began := time.Now()
		l, err := agent.NewLearner(train, validation, candidates.Options{Lessons: 10, Rounds: 10}, seed)
		for err == nil && l.Ended() == "" {
			err = l.Advance(context.Background())
		}
		if err != nil {
			return err
		}
		times = append(times, time.Since(began).Seconds())
		p, err := l.Policy()
		if err != nil {
			return err
		}
		large, err := rates(held, agent.KindOf("learned", p.Agent))
		if err != nil {
			return err
		}
		few, err := rates(small, agent.KindOf("learned", p.Agent))
		if err != nil {
			return err
		}
		line(fmt.Sprintf("learned, seed %d", seed), large, few)
		gain := slices.Clone(large)
		for k := range gain {
			gain[k] -= best[k]
		}
		gains = append(gains, gain)
	}
	var exact []float64
	for _, s := range small {
		plan, err := fabric.Exact(s, 10_000_000)
		if err != nil {
			return err
		}
		exact = append(exact, float64(plan.Blocked)/float64(len(s.Jobs)))
	}
	fmt.Fprintf(w, "exact, in hindsight\t\t%.4f\n", stat.DividedMean(exact))
	if err := w.Flush(); err != nil {
		return err
	}
	gain := stat.CrossedInterval(gains)
	_, err = fmt.Fprintf(out, "learned less the best constant degree: %.4f [%.4f, %.4f] over ten seeds and the episodes; %.0f s to learn (median)\n", gain.Mean, gain.Low, gain.High, median(times))
	return err
}
