package trainer

import (
	"context"
	"errors"
	"fmt"

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
// options. Only the result of rank 0 is valid.
func StepsTogether(ctx context.Context, peers *torch.Peers, all []probes.Probe,
	o MeasureOptions) ([]clock.TogetherStep, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("measure processes: %w", err)
	}
	return (&together{MeasureOptions: o, peers: peers}).steps(ctx, all)
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
}

// steps measures the steps of probes.
func (t *together) steps(ctx context.Context, all []probes.Probe) (steps []clock.TogetherStep, err error) {
	for k, p := range all {
		step, err := t.probe(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("measure network %d with %d processes: %w", k+1, t.peers.Size, err)
		}
		steps = append(steps, step)
		t.Tell(fmt.Sprintf("%d processes", t.peers.Size), k+1, len(all))
	}
	return steps, nil
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

// probe measures a network's step: the medians over rounds in which rank 0 first computes a process's share alone,
// while the others wait, and then all processes compute a batch together.
func (t *together) probe(ctx context.Context, p probes.Probe) (step clock.TogetherStep, err error) {
	err = torch.With(func(s *torch.Scope) error {
		one := t.MeasureOptions
		share := max(1, p.Rows/t.peers.Size)
		one.Batches = []int{share, share * t.peers.Size}
		m := &measuring{MeasureOptions: one, scope: s, images: map[string]*dataset.Set{}, longest: longest}
		defer m.close()
		c, err := m.candidate(clock.Subject{Name: "probe", Network: p.Network})
		if err != nil {
			return err
		}
		b := &burst{batch: share, steps: 1, data: c.job.Data}
		if err := m.warm(c, b); err != nil {
			return err
		}
		if b.steps, err = t.agree(min(b.steps, b.data.Train.Count/(share*t.peers.Size))); err != nil {
			return err
		}
		var alone, steps []float64
		for range t.Rounds {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := t.round(m, c, b, share); err != nil {
				return err
			}
			took := c.meter.took[clock.Steps]
			alone, steps = append(alone, took[max(0, len(took)-2)]), append(steps, took[len(took)-1])
		}
		step = clock.TogetherStep{Network: p.Network, Alone: stat.Median(alone), Step: stat.Median(steps)}
		return nil
	})
	return step, err
}

// round runs a burst on a process's share alone in rank 0, and then a burst of all processes.
func (t *together) round(m *measuring, c *candidate, b *burst, share int) error {
	c.job.team, b.batch = nil, share
	if t.peers.Rank == 0 {
		if err := m.fill(c, b); err != nil {
			return err
		}
	}
	if _, err := t.agree(1); err != nil { // the others wait here
		return err
	}
	c.job.team, b.batch = team.Equals(t.peers), share*t.peers.Size
	defer func() { c.job.team = nil }()
	return m.fill(c, b)
}
