package trainer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"graft/dataset"
	"graft/internal/stat"
	"graft/torch"
	"graft/trainer/clock"
	"graft/trainer/probes"
	"graft/trainer/team"
)

// exchangedBytes are the sizes of the tensors whose exchange is measured: from a normalisation's sums to the gradients
// of ten million parameters.
var exchangedBytes = []int64{64, 1 << 12, 1 << 15, 1 << 16, 1 << 17, 1 << 19, 1 << 21, 1 << 23, 40 << 20}

// MeasureTogether measures steps of several processes that train together. All processes of the group must call it with
// the same probes and options; only the result of rank 0 is valid. It measures the time to add tensors of several
// sizes, and steps of the probes: alone on a process's share of the batch, and together on the whole batch.
func MeasureTogether(ctx context.Context, peers *torch.Peers, all []probes.Probe,
	o MeasureOptions) (*clock.Processes, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("measure processes: %w", err)
	}
	if peers == nil || peers.Size < 2 {
		return nil, errors.New("measure processes: expected a group of at least two processes")
	}
	o.Quiet = 0 // a fit needs no slowdown of the machine, and only rank 0 may have measured the reference
	t := &together{MeasureOptions: o, peers: peers}
	made := &clock.Processes{Count: peers.Size}
	var err error
	if made.Exchanges, err = t.exchanges(ctx); err != nil {
		return nil, fmt.Errorf("measure exchanges of %d processes: %w", peers.Size, err)
	}
	steps, err := t.steps(ctx, all)
	if err != nil {
		return nil, err
	}
	made.Fit(steps)
	return made, nil
}

// StepsTogether measures steps of probes in a group of processes, which must all call it with the same probes and
// options. Only the result of rank 0 is valid. With Quiet, it also measures the slowdown of the machine.
func StepsTogether(ctx context.Context, peers *torch.Peers, all []probes.Probe,
	o MeasureOptions) ([]clock.TogetherStep, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("measure processes: %w", err)
	}
	t := &together{MeasureOptions: o, peers: peers}
	if o.Quiet == 0 || peers.Rank > 0 {
		return t.steps(ctx, all)
	}
	var steps []clock.TogetherStep
	err := torch.With(func(s *torch.Scope) (err error) {
		if t.watch, err = NewWatch(s, len(all), o); err != nil {
			return err
		}
		defer t.watch.Close()
		steps, err = t.steps(ctx, all)
		return err
	})
	return steps, err
}

// TogetherProbes returns small networks for MeasureTogether. They are large enough that a step takes some milliseconds.
func TogetherProbes() (all []probes.Probe, err error) {
	const drawn, most, leastOperations = 150, 36, 1e8
	networks, err := probes.Draw(probes.Options{Count: drawn, Seed: 1})
	if err != nil {
		return nil, err
	}
	for _, p := range networks {
		operations, err := p.Network.Operations()
		if err != nil {
			return nil, err
		}
		if operations*int64(p.Rows) >= leastOperations {
			all = append(all, p)
		}
	}
	return all[:min(len(all), most)], nil
}

// together measures in one process of a group.
type together struct {
	MeasureOptions
	peers *torch.Peers
	watch *Watch // of rank 0 with Quiet: times the reference between measurements
}

// atOnce is the number of networks that take turns. Each keeps its images in memory.
const atOnce = 12

// steps measures the steps of probes.
func (t *together) steps(ctx context.Context, all []probes.Probe) (steps []clock.TogetherStep, err error) {
	for len(steps) < len(all) {
		err := torch.With(func(s *torch.Scope) error {
			turns, err := t.turns(ctx, s, all, len(steps))
			for _, turn := range turns {
				steps = append(steps, turn.result())
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return steps, nil
}

// turns measures the next probes from number first. They take turns, in a different order each round, so a slow phase
// of the machine does not affect all rounds of a network.
func (t *together) turns(ctx context.Context, s *torch.Scope, all []probes.Probe, first int) ([]*turn, error) {
	var some []*turn
	defer func() {
		for _, one := range some {
			one.m.close()
		}
	}()
	failed := func(k int, err error) error {
		return fmt.Errorf("measure network %d with %d processes: %w", first+k+1, t.peers.Size, err)
	}
	for k, p := range all[first:min(first+atOnce, len(all))] {
		one, err := t.start(s, p)
		if some = append(some, one); err != nil {
			return nil, failed(k, err)
		}
	}
	for round := range t.Rounds {
		for _, k := range rand.New(rand.NewPCG(1, uint64(round))).Perm(len(some)) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err := t.round(some[k], first+k); err != nil {
				return nil, failed(k, err)
			}
		}
		t.Tell(fmt.Sprintf("%d processes", t.peers.Size), first+len(some)*(round+1)/t.Rounds, len(all))
	}
	return some, nil
}

// exchanges measures the time to add tensors.
func (t *together) exchanges(ctx context.Context) (all []clock.Exchange, err error) {
	err = torch.With(func(s *torch.Scope) error {
		for _, bytes := range exchangedBytes {
			tensor := s.Zeros(torch.Float32, torch.CPU, int(bytes/4))
			if s.Err() != nil {
				return s.Err()
			}
			seconds, err := t.exchange(ctx, tensor)
			if err != nil {
				return err
			}
			all = append(all, clock.Exchange{Bytes: bytes, Seconds: seconds})
			s.Free(tensor)
		}
		return nil
	})
	return all, err
}

// exchange returns the median time of a burst's exchanges of a tensor over the rounds.
func (t *together) exchange(ctx context.Context, tensor *torch.Tensor) (float64, error) {
	first := 0.0
	for range 2 { // the first exchange also connects and allocates
		began := t.Now()
		if err := t.peers.Sum(tensor); err != nil {
			return 0, err
		}
		first = t.Now().Sub(began).Seconds()
	}
	count, err := t.agree(int(t.Burst.Seconds() / max(first, 1e-6)))
	if err != nil {
		return 0, err
	}
	var all []float64
	for range t.Rounds {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		began := t.Now()
		for range count {
			if err := t.peers.Sum(tensor); err != nil {
				return 0, err
			}
		}
		all = append(all, t.Now().Sub(began).Seconds()/float64(count))
	}
	return clock.SecondsOf(all).Rounded().Median, nil
}

// agree returns the number of rank 0, at least 1 and at most longest, so that all processes make the same calls.
func (t *together) agree(count int) (int, error) {
	agreed := 0
	err := torch.With(func(s *torch.Scope) error {
		number := torch.From(s, []int64{int64(max(1, min(count, longest)))}, 1)
		if err := t.peers.Broadcast(0, number); err != nil {
			return err
		}
		values, err := torch.Values[int64](number)
		if err == nil {
			agreed = int(values[0])
		}
		return err
	})
	return agreed, err
}

// turn holds a network that all processes train, and its measured times by round.
type turn struct {
	m                       *measuring
	of                      *candidate
	burst                   *burst
	share                   int // examples of a process in a batch
	alone, steps, slowdowns []float64
}

// start prepares a network. The caller closes its measurements, even after an error.
func (t *together) start(s *torch.Scope, p probes.Probe) (one *turn, err error) {
	one = &turn{share: max(1, p.Rows/t.peers.Size)}
	whole := one.share * t.peers.Size
	o := t.MeasureOptions
	o.Batches = []int{one.share, whole}
	one.m = &measuring{MeasureOptions: o, scope: s, images: map[string]*dataset.Set{}, longest: longest}
	if one.of, err = one.m.candidate(clock.Subject{Name: "probe", Network: p.Network}); err != nil {
		return one, err
	}
	one.burst = &burst{batch: one.share, steps: 1, data: one.of.job.Data}
	if err = one.m.warm(one.of, one.burst); err != nil {
		return one, err
	}
	one.burst.steps, err = t.agree(min(one.burst.steps, one.burst.data.Train.Count/whole))
	return one, err
}

// round measures probe k once: rank 0 computes a process's share alone, while the others wait, and then all processes
// compute a batch together.
func (t *together) round(one *turn, k int) error {
	slowdown, err := t.slowdown(k, func() error {
		if err := t.fill(one); err != nil {
			return err
		}
		took := one.of.meter.took[clock.Steps]
		one.alone, one.steps = append(one.alone, took[max(0, len(took)-2)]), append(one.steps, took[len(took)-1])
		return nil
	})
	one.slowdowns = append(one.slowdowns, slowdown)
	return err
}

// result returns the medians over the rounds.
func (one *turn) result() clock.TogetherStep {
	return clock.TogetherStep{Network: one.of.Network, Alone: stat.Median(one.alone), Step: stat.Median(one.steps),
		Slowdown: stat.Median(one.slowdowns)}
}

// slowdown runs a measurement of probe k. In rank 0 with Quiet, it returns the slowdown of the reference around it, and
// otherwise 1. The other processes wait for the reference.
func (t *together) slowdown(k int, run func() error) (slower float64, err error) {
	if slower = 1; t.watch == nil {
		err = run()
	} else if slower, err = t.watch.Measure(k, run); err == nil {
		slower /= t.Quiet
	}
	if err == nil && t.Quiet > 0 {
		_, err = t.agree(1)
	}
	return slower, err
}

// fill runs a burst on a process's share alone in rank 0, and then a burst of all processes.
func (t *together) fill(one *turn) error {
	job := one.of.job
	job.team, one.burst.batch = nil, one.share
	if t.peers.Rank == 0 {
		if err := one.m.fill(one.of, one.burst); err != nil {
			return err
		}
	}
	if _, err := t.agree(1); err != nil { // the others wait here
		return err
	}
	job.team, one.burst.batch = team.Equals(t.peers), one.share*t.peers.Size
	defer func() { job.team = nil }()
	return one.m.fill(one.of, one.burst)
}
