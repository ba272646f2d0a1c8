package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"text/tabwriter"
	"time"

	"graft/cluster/fabric"
	"graft/cluster/fabric/agent"
	"graft/cluster/fabric/networks"
	"graft/internal/stat"
	"graft/learn/candidates"
	"graft/model"
	"graft/trainer/clock"
)

// mixedNetworks include networks that gain from many servers and networks that hardly gain from two.
var mixedNetworks = []struct {
	name string
	size int // size of images in pixels
}{{"ResNet18", 64}, {"VGG11BN", 32}, {"MobileNetV2", 64}, {"CIFARResNet56", 32}, {"LargeConvNet", 64}}

// mixed draws episodes of jobs that train them, at an oscillating load.
func mixed(count int, seed uint64, jobs int, o fabric.NetworkOptions) (all []*fabric.Study, err error) {
	profile, err := clock.FindProfile("round-gpu")
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
		if err := (fabric.Demand{Jobs: jobs, Steps: 500, Swing: 0.6}).Draw(s,
			rand.New(rand.NewPCG(seed, uint64(k)))); err != nil {
			return nil, err
		}
		s.Prepare()
		all = append(all, s)
	}
	return all, err
}

// rates returns the blocking rate of a decider on each episode.
func rates(all []*fabric.Study, kind fabric.Kind) (list []float64, err error) {
	for k, s := range all {
		w, err := fabric.NewWorld(s)
		if err != nil {
			return nil, err
		}
		if err := fabric.Play(context.Background(), w, kind.New(rand.New(rand.NewPCG(1, uint64(k))))); err != nil {
			return nil, err
		}
		list = append(list, float64(w.Record.Blocked)/float64(len(w.Jobs)))
	}
	return list, nil
}

// degreeTable compares deciders on large and on small episodes, all unseen by learners.
type degreeTable struct {
	out         *tabwriter.Writer
	held, small []*fabric.Study
	best        []float64 // blocking rates of the best constant degree on the large episodes
}

// learnFabric prints blocking rates of learned deciders of ten seeds, constant degrees and rules on unseen episodes,
// and on small episodes also of the best degrees in hindsight.
func learnFabric(out io.Writer) error {
	held, err := mixed(20, 77, 200, fabric.NetworkOptions{})
	if err != nil {
		return err
	}
	small, err := mixed(20, 5, 20, fabric.NetworkOptions{Size: []int{2, 2, 2}})
	if err != nil {
		return err
	}
	t := &degreeTable{out: tabwriter.NewWriter(out, 0, 0, 2, ' ', 0), held: held, small: small}
	fmt.Fprintln(t.out, "decider\tblocked, 32 servers\tblocked, 8 servers and 20 jobs")
	if err := t.rules(); err != nil {
		return err
	}
	gains, times, err := t.learned()
	if err != nil {
		return err
	}
	if err := t.exact(); err != nil {
		return err
	}
	gain := stat.CrossedInterval(gains)
	_, err = fmt.Fprintf(out, "learned minus the best constant degree: %.4f [%.4f, %.4f] over ten seeds and the "+
		"episodes; %.0f s to learn (median)\n", gain.Mean, gain.Low, gain.High, median(times))
	return err
}

// add adds the line of a decider, and returns its rates on the large episodes.
func (t *degreeTable) add(name string, kind fabric.Kind) ([]float64, error) {
	large, err := rates(t.held, kind)
	if err != nil {
		return nil, err
	}
	few, err := rates(t.small, kind)
	if err == nil {
		_, err = fmt.Fprintf(t.out, "%s\t%.4f\t%.4f\n", name, stat.DividedMean(large), stat.DividedMean(few))
	}
	return large, err
}

// rules adds constant degrees, and the rules that look at each job.
func (t *degreeTable) rules() error {
	for _, parts := range []int{1, 2, 4, 6, 8, 16} {
		kind := fabric.ConstantKind(parts)
		large, err := t.add(kind.Name, kind)
		if err != nil {
			return err
		}
		if t.best == nil || stat.DividedMean(large) < stat.DividedMean(t.best) {
			t.best = large
		}
	}
	for _, kind := range fabric.Kinds() {
		if _, err := t.add(kind.Name, kind); err != nil {
			return err
		}
	}
	return nil
}

// learned adds learned deciders. It returns their differences from the best constant degree, by seed and episode, and
// the duration of learning in seconds.
func (t *degreeTable) learned() (gains [][]float64, times []float64, err error) {
	train, err := mixed(20, 1, 200, fabric.NetworkOptions{})
	if err != nil {
		return nil, nil, err
	}
	validation, err := mixed(10, 2, 200, fabric.NetworkOptions{})
	if err != nil {
		return nil, nil, err
	}
	for seed := range uint64(10) {
		began := time.Now()
		l, err := agent.NewLearner(train, validation, candidates.Options{Lessons: 10, Rounds: 10}, seed)
		for err == nil && l.Ended() == "" {
			err = l.Advance(context.Background())
		}
		if err != nil {
			return nil, nil, err
		}
		times = append(times, time.Since(began).Seconds())
		p, err := l.Policy()
		if err != nil {
			return nil, nil, err
		}
		gain, err := t.add(fmt.Sprintf("learned, seed %d", seed), agent.KindOf("learned", p.Agent))
		if err != nil {
			return nil, nil, err
		}
		for k := range gain {
			gain[k] -= t.best[k]
		}
		gains = append(gains, gain)
	}
	return gains, times, nil
}

// exact adds the best degrees in hindsight on the small episodes.
func (t *degreeTable) exact() error {
	var exact []float64
	for _, s := range t.small {
		plan, err := fabric.Exact(context.Background(), s, 10_000_000)
		if err != nil {
			return err
		}
		exact = append(exact, float64(plan.Blocked)/float64(len(s.Jobs)))
	}
	fmt.Fprintf(t.out, "exact, in hindsight\t\t%.4f\n", stat.DividedMean(exact))
	return t.out.Flush()
}
