package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"graft/trainer"
	"graft/trainer/clock"
)

// step is a training step of a network of predictedNetworks.
type step struct {
	network string
	batch   int // zero means the batch of predictedNetworks
}

// compareSteps compares steps of graft in two environments, each in processes of its own. The ratio is the time in the
// other environment over the time in graft's.
func (b *bench) compareSteps(out io.Writer, ours, other variant, threads int, steps []step) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "network\tbatch\tratio\tquartiles\t%s [ms]\t%s [ms]\t%s [MB]\t%s [MB]\n", other.name, ours.name,
		other.name, ours.name)
	for _, s := range steps {
		m, err := b.compareStep(ours, other, threads, s)
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%.2f\t%.2f\t%.0f\t%.0f\n", s.network, m.batch, m.ratio(), 1e3*median(m.twin),
			1e3*median(m.ours), m.peaks[1], m.peaks[0])
	}
	return table.Flush()
}

// comparedStep holds the measured times of a step.
type comparedStep struct {
	measured
	batch int
}

func (b *bench) compareStep(ours, other variant, threads int, s step) (m comparedStep, err error) {
	p, err := predicted(s.network)
	if err != nil {
		return m, err
	}
	m.batch = cmp.Or(s.batch, p.rows)
	us, err := b.startOurs(ours, threads)
	if err != nil {
		return m, err
	}
	defer us.stop()
	twin, err := b.startOurs(other, threads)
	if err != nil {
		return m, err
	}
	defer twin.stop()
	return m, m.pairs(alike(us, twin, command{Cmd: "step", Network: s.network, Batch: m.batch}), b.rounds)
}

// predicted returns a network whose steps are predicted elsewhere.
func predicted(name string) (*predictedNetwork, error) {
	all := predictedNetworks()
	at := slices.IndexFunc(all, func(p predictedNetwork) bool { return p.name == name })
	if at < 0 {
		return nil, fmt.Errorf("unknown network %q", name)
	}
	return &all[at], nil
}

// step measures a training step of a network on a batch; zero means the batch of predictedNetworks.
func (k *worker) step(name string, batch int) (a answer, err error) {
	p, err := predicted(name)
	if err != nil {
		return a, err
	}
	n, err := p.network()
	if err != nil {
		return a, err
	}
	batch = cmp.Or(batch, p.rows)
	m, err := trainer.Measure(context.Background(), []clock.Subject{{Name: name, Network: n}},
		trainer.MeasureOptions{Batches: []int{batch}, Rounds: 1, Burst: stepBurst, Now: time.Now})
	if err != nil {
		return a, err
	}
	return answer{Seconds: m.Networks[0].StepSeconds, PeakMB: peak()}, nil
}

// stepBurst is the time of the steps and evaluations of a measurement.
const stepBurst = 200 * time.Millisecond
