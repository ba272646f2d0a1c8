package trainer

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"graft/dataset"
	"graft/model"
	"graft/net2net"
	"graft/torch"
	"graft/trainer/clock"
)

type measuring struct {
	MeasureOptions
	scope      *torch.Scope
	candidates []*candidate
	images     map[string]*dataset.Set // by shape and classes
	longest    int                     // maximum number of steps, or batches, in a burst
	watch      *Watch                  // times the reference between measurements; nil without Quiet
}

// candidate is a network with a job that trains it.
type candidate struct {
	clock.Subject
	job    *Job
	meter  *meter
	bursts []*burst
}

// burst is the work of a network in one turn with one batch size, and its measured times. Zero steps or batches are
// not measured.
type burst struct {
	batch, steps, batches int
	data                  *dataset.Set // training and validation images, enough for the batches
	step, evaluation      []float64    // seconds of one step or batch, one value per round
}

// prepare makes a candidate of each network, once, and warms it up.
func (m *measuring) prepare(ctx context.Context, subjects []clock.Subject) error {
	seen := map[string]bool{}
	for k, subject := range subjects {
		if subject.Name == "" {
			subject.Name = subject.Network.Name()
		}
		print := net2net.Fingerprint(subject.Network)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if seen[print] {
			continue
		}
		seen[print] = true
		if err := m.add(subject); err != nil {
			return fmt.Errorf("measure %s: %w", subject, err)
		}
		m.Tell("warmed up "+subject.String(), k+1, len(subjects))
	}
	return nil
}

func (m *measuring) add(of clock.Subject) error {
	c, err := m.candidate(of)
	if err != nil {
		return err
	}
	for _, batch := range m.Batches {
		b := &burst{batch: batch, steps: 1, batches: 1, data: c.job.Data}
		if err := m.warm(c, b); err != nil {
			return fmt.Errorf("measure a batch of %d: %w", batch, err)
		}
		c.bursts = append(c.bursts, b)
	}
	return nil
}

// candidate makes a job that trains a network on random examples.
func (m *measuring) candidate(of clock.Subject) (*candidate, error) {
	n := of.Network.Sketch()
	set, err := m.set(n)
	if err != nil {
		return nil, err
	}
	if err := n.Materialize(m.scope,
		model.Placement{Device: m.Device, Random: m.scope.NewGenerator(torch.CPU, 1)}); err != nil {
		return nil, err
	}
	began := m.Now()
	c := &candidate{Subject: of, meter: &meter{now: m.Now, zero: began, last: began, took: map[clock.Kind][]float64{}}}
	c.job, err = New(m.scope, Parts{Network: n, Data: set, Clock: c.meter, Decider: m.Decider, Now: m.Now},
		Options{Seed: 1, Exact: m.Exact, Steady: m.Steady, Precision: m.Precision, Optimizer: m.Optimizer,
			Schedule: Schedule{Rule: Constant}, Adapt: m.Adapt, Timeline: Timeline{Budget: time.Hour}})
	if err != nil {
		return nil, err
	}
	m.candidates = append(m.candidates, c)
	return c, nil
}

// imageBytes limits the random images of a shape.
const imageBytes = 64 << 20

// set makes random images, or text, for a network's input shape.
func (m *measuring) set(n *model.Network) (*dataset.Set, error) {
	out, err := n.Output()
	if err != nil {
		return nil, err
	}
	if !n.Tokens() && (len(n.Input) != 3 || len(out) != 1) {
		return nil, fmt.Errorf("unsupported output %v for input %v; expected classes for images, or tokens for text",
			out, n.Input)
	}
	key := fmt.Sprint(n.Input, out, n.Tokens())
	if set := m.images[key]; set != nil {
		return set, nil
	}
	if n.Tokens() {
		m.images[key] = m.text(n, key)
		return m.images[key], m.scope.Err()
	}
	pixels := n.Input.Count()
	rows := max(slices.Max(m.Batches), min(m.longest*slices.Max(m.Batches), imageBytes/pixels))
	random := rand.New(rand.NewPCG(1, uint64(pixels)))
	bytes, labels := make([]uint8, rows*pixels), make([]int64, rows)
	for k := 0; k+8 <= len(bytes); k += 8 { // the last few stay zero
		binary.LittleEndian.PutUint64(bytes[k:], random.Uint64())
	}
	for k := range labels {
		labels[k] = random.Int64N(int64(out[0]))
	}
	split := dataset.Split{Count: rows, Images: torch.FromOn(m.scope, m.Device, bytes,
		append([]int{rows}, n.Input...)...), Labels: torch.FromOn(m.scope, m.Device, labels, rows)}
	half := slices.Repeat([]float64{0.5}, n.Input[0])
	set := &dataset.Set{Name: "random", Classes: make([]string, out[0]), Shape: n.Input, Train: split,
		Validation: split, Digest: key, Mean: half, Deviation: half}
	m.images[key] = set
	return set, m.scope.Err()
}

// text makes windows of random tokens.
func (m *measuring) text(n *model.Network, key string) *dataset.Set {
	rows := m.longest * slices.Max(m.Batches)
	random := rand.New(rand.NewPCG(1, uint64(n.Vocabulary())))
	tokens := make([]int64, rows*n.Input.Count())
	for k := range tokens {
		tokens[k] = random.Int64N(int64(n.Vocabulary()))
	}
	windows := torch.FromOn(m.scope, m.Device, tokens, rows, n.Input.Count())
	split := dataset.Split{Count: rows, Images: windows, Labels: windows}
	return &dataset.Set{Name: "random text", Classes: make([]string, n.Vocabulary()), Shape: n.Input,
		Task: dataset.NextToken, Vocabulary: n.Vocabulary(), Train: split, Validation: split, Digest: key}
}

// longest is the maximum number of steps, or batches, in a burst of Measure.
const longest = 64

// warm runs a network for the first time, and sets the steps and batches of a burst.
func (m *measuring) warm(c *candidate, b *burst) error {
	for range 2 { // the first call also allocates and compiles
		if err := m.fill(c, b); err != nil {
			return err
		}
	}
	fill := func(k clock.Kind, planned int) int {
		one := max(c.meter.latest(k), 1e-9)
		return min(planned, 1) * max(1, min(int(m.Burst.Seconds()/2/one), m.longest, b.data.Train.Count/b.batch))
	}
	b.steps, b.batches = fill(clock.Steps, b.steps), fill(clock.Batches, b.batches)
	return nil
}

// fill runs a burst: steps, then batches of evaluation, as a job runs them.
func (m *measuring) fill(c *candidate, b *burst) error {
	j := c.job
	j.Batch, j.EvalBatch, j.Step, j.Seen, j.Data = b.batch, b.batch, 0, 0, b.data
	if b.steps > 0 {
		if err := j.train(b.steps); err != nil {
			return err
		}
	}
	if b.batches == 0 {
		return nil
	}
	set := *b.data
	set.Validation.Count = b.batches * b.batch
	return torch.With(func(s *torch.Scope) error {
		set.Validation.Images = s.Narrow(set.Train.Images, 0, 0, set.Validation.Count)
		set.Validation.Labels = s.Narrow(set.Train.Labels, 0, 0, set.Validation.Count)
		if s.Err() != nil {
			return s.Err()
		}
		j.Data = &set
		defer func() { j.Data = b.data }()
		return j.evaluation.validate()
	})
}

// measure runs rounds of all networks, in a different order each round, so a slow phase of the machine does not affect
// the same networks every time.
func (m *measuring) measure(ctx context.Context) (*clock.Measured, error) {
	if m.Quiet > 0 {
		w, err := NewWatch(m.scope, len(m.candidates), m.MeasureOptions)
		if err != nil {
			return nil, err
		}
		defer w.Close()
		m.watch = w
	}
	for round := range m.Rounds {
		for _, k := range rand.New(rand.NewPCG(1, uint64(round))).Perm(len(m.candidates)) {
			c := m.candidates[k]
			for _, b := range c.bursts {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				slowdown, err := m.slowdown(k, func() error { return m.fill(c, b) })
				if err != nil {
					return nil, fmt.Errorf("measure %s with a batch of %d: %w", c, b.batch, err)
				}
				b.step = append(b.step, c.meter.latest(clock.Steps)/slowdown)
				b.evaluation = append(b.evaluation, c.meter.latest(clock.Batches)/slowdown)
			}
		}
		m.Tell("rounds", round+1, m.Rounds)
	}
	result := &clock.Measured{}
	for _, c := range m.candidates {
		size, err := clock.SizeOf(c.Subject.Network)
		if err != nil {
			return nil, err
		}
		for _, b := range c.bursts {
			result.Networks = append(result.Networks, measurementOf(c.Subject, b.batch, size, b.step, b.evaluation))
		}
	}
	return result, m.operate(ctx, result)
}

// slowdown runs a measurement of candidate k. It returns the slowdown of the reference around it, or 1 without Quiet.
func (m *measuring) slowdown(k int, run func() error) (float64, error) {
	if m.watch == nil {
		return 1, run()
	}
	slower, err := m.watch.Measure(k, run)
	return slower / m.Quiet, err
}

// measurementOf holds the medians of a network's seconds per step and per evaluation batch, over the rounds.
func measurementOf(of clock.Subject, rows int, size clock.Size, steps, evaluations []float64) clock.Measurement {
	t := clock.Measurement{Network: of.Name, Actions: of.Actions, Fingerprint: net2net.Fingerprint(of.Network),
		Batch: rows, Size: size, Class: of.Network.Name(), Graph: of.Network.Graph != nil}
	step, batch := clock.SecondsOf(steps).Rounded(), clock.SecondsOf(evaluations).Rounded()
	t.StepSeconds, t.StepSpread, t.BatchSeconds, t.BatchSpread = step.Median, step.Spread, batch.Median, batch.Spread
	return t
}

// operations is the number of timed adaptations per network.
const operations = 3

// operate times the adaptation of networks that have not been adapted yet. It runs after the rounds, since it changes
// the networks.
func (m *measuring) operate(ctx context.Context, result *clock.Measured) error {
	var deciding []float64
	operating := map[net2net.Kind][]float64{}
	for k, c := range m.candidates {
		if len(c.Actions) > 0 {
			continue
		}
		for range operations {
			changes := len(c.job.adaptation.Changes)
			slowdown, err := m.slowdown(k, func() error { return c.job.adaptation.adapt(ctx) })
			if err != nil {
				return fmt.Errorf("measure an operation on %s: %w", c, err)
			}
			deciding = append(deciding, c.meter.latest(clock.Deciding)/slowdown)
			if len(c.job.adaptation.Changes) > changes { // the decision changed the network
				kind := c.job.adaptation.Changes[changes].Action.Kind
				operating[kind] = append(operating[kind], c.meter.latest(clock.Surgery)/slowdown)
			}
		}
	}
	result.Decision = clock.SecondsOf(deciding)
	for _, seconds := range operating { // means over kinds, because some take ten times as long as others
		one := clock.SecondsOf(seconds)
		result.Surgery.Median += one.Median / float64(len(operating))
		result.Surgery.Spread += one.Spread / float64(len(operating))
	}
	m.Tell("measured decisions and operations", len(deciding), len(deciding))
	return nil
}

func (m *measuring) close() {
	for _, c := range m.candidates {
		c.job.close()
	}
}
