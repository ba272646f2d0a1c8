package trainer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"graft/dataset"
	"graft/model"
	"graft/net2net"
	"graft/torch"
)

// hall is where networks stand to be measured.
type hall struct {
	MeasureOptions
	scope  *torch.Scope
	stands []*stand
	images map[string]*dataset.Set // by shape and classes
}

// stand is a network with all that a job gives it.
type stand struct {
	Subject
	job    *Job
	meter  *meter
	bursts []*burst
}

// burst is what a network does in one turn with one batch, and what that took.
type burst struct {
	batch, steps, batches int
	data                  *dataset.Set // with as many validation images as the batches take
	step, evaluation      []float64    // seconds of one, a value for each round
}

// furnish makes the stands, each of which warms up at once. A network that is there
// already gets no other.
func (h *hall) furnish(ctx context.Context, subjects []Subject) error {
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
		if err := h.stand(subject); err != nil {
			return fmt.Errorf("measure %s: %w", subject, err)
		}
		h.Tell("warmed up "+subject.String(), k+1, len(subjects))
	}
	return nil
}

// stand makes a job of a network and warms it up.
func (h *hall) stand(of Subject) error {
	n := of.Network.Sketch()
	set, err := h.set(n)
	if err != nil {
		return err
	}
	if err := n.Materialize(h.scope, model.Placement{Device: h.Device, Random: h.scope.NewGenerator(torch.CPU, 1)}); err != nil {
		return err
	}
	st := &stand{Subject: of, meter: newMeter(h.Now)}
	st.job, err = New(h.scope, Parts{Network: n, Data: set, Clock: st.meter, Decider: h.Decider, Now: h.Now},
		Options{Seed: 1, Exact: h.Exact, Steady: h.Steady, Optimizer: h.Optimizer, Schedule: Schedule{Rule: Constant}, Adapt: h.Adapt, Timeline: Timeline{Budget: time.Hour}})
	if err != nil {
		return err
	}
	h.stands = append(h.stands, st)
	for _, batch := range h.Batches {
		b := &burst{batch: batch, steps: 1, batches: 1, data: set}
		if err := h.warm(st, b); err != nil {
			return fmt.Errorf("with a batch of %d: %w", batch, err)
		}
		st.bursts = append(st.bursts, b)
	}
	return nil
}

// imageBytes bounds the random images of a shape.
const imageBytes = 64 << 20

// set is random images that a network takes.
func (h *hall) set(n *model.Network) (*dataset.Set, error) {
	out, err := n.Output()
	if err != nil {
		return nil, err
	}
	if len(n.Input) != 3 || len(out) != 1 {
		return nil, fmt.Errorf("it makes %v of %v; jobs train networks that make classes of images", out, n.Input)
	}
	key := fmt.Sprint(n.Input, out)
	if set := h.images[key]; set != nil {
		return set, nil
	}
	pixels := n.Input.Count()
	rows := max(slices.Max(h.Batches), min(longest*slices.Max(h.Batches), imageBytes/pixels))
	random := rand.New(rand.NewPCG(1, uint64(pixels)))
	bytes, labels := make([]uint8, rows*pixels), make([]int64, rows)
	for k := range bytes {
		bytes[k] = uint8(random.Uint32())
	}
	for k := range labels {
		labels[k] = random.Int64N(int64(out[0]))
	}
	split := dataset.Split{Count: rows, Images: torch.FromOn(h.scope, h.Device, bytes, append([]int{rows}, n.Input...)...), Labels: torch.FromOn(h.scope, h.Device, labels, rows)}
	half := slices.Repeat([]float64{0.5}, n.Input[0])
	set := &dataset.Set{Name: "random", Classes: make([]string, out[0]), Shape: [3]int(n.Input), Train: split, Validation: split, Digest: key, Mean: half, Deviation: half}
	h.images[key] = set
	return set, h.scope.Err()
}

// longest is the most steps, or batches, in a burst.
const longest = 64

// warm lets a network work for the first time, and finds out how many steps and
// batches fill a burst.
func (h *hall) warm(st *stand, b *burst) error {
	for range 2 { // the first call also makes what later ones use
		if err := h.fill(st, b); err != nil {
			return err
		}
	}
	fill := func(k Kind) int {
		one := max(st.meter.latest(k), 1e-9)
		return max(1, min(int(h.Burst.Seconds()/2/one), longest, b.data.Train.Count/b.batch))
	}
	b.steps, b.batches = fill(Steps), fill(Batches)
	return nil
}

// fill is a burst: steps and then batches of evaluation, as a job does them.
func (h *hall) fill(st *stand, b *burst) error {
	j := st.job
	j.Batch, j.EvalBatch, j.Step, j.Data = b.batch, b.batch, 0, b.data
	if err := j.train(b.steps); err != nil {
		return err
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
		return j.validate()
	})
}

// measure lets all take turns, in another order each round: what slows the machine for
// a while shall not meet the same networks every time.
func (h *hall) measure(ctx context.Context) (*Measured, error) {
	for round := range h.Rounds {
		for _, k := range rand.New(rand.NewPCG(1, uint64(round))).Perm(len(h.stands)) {
			st := h.stands[k]
			for _, b := range st.bursts {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				if err := h.fill(st, b); err != nil {
					return nil, fmt.Errorf("measure %s with a batch of %d: %w", st, b.batch, err)
				}
				b.step = append(b.step, st.meter.latest(Steps))
				b.evaluation = append(b.evaluation, st.meter.latest(Batches))
			}
		}
		h.Tell("rounds", round+1, h.Rounds)
	}
	m := &Measured{}
	for _, st := range h.stands {
		size, err := SizeOf(st.Subject.Network)
		if err != nil {
			return nil, err
		}
		for _, b := range st.bursts {
			m.Networks = append(m.Networks, st.measurement(b, size))
		}
	}
	return m, h.operate(ctx, m)
}

// measurement is the middle of the rounds. More digits than five would be noise.
func (st *stand) measurement(b *burst, size Size) Measurement {
	m := Measurement{Network: st.Name, Actions: st.Actions, Fingerprint: net2net.Fingerprint(st.Subject.Network), Batch: b.batch, Size: size}
	step, stepSpread := middle(b.step)
	batch, batchSpread := middle(b.evaluation)
	m.StepSeconds, m.StepSpread = digits(step), digits(stepSpread)
	m.BatchSeconds, m.BatchSpread = digits(batch), digits(batchSpread)
	return m
}

// operations is how often a network is adapted for its time to be measured.
const operations = 3

// operate lets networks be adapted that were measured as they are, as a job does it.
// It comes after the rounds: they are other networks then.
func (h *hall) operate(ctx context.Context, m *Measured) error {
	var deciding []float64
	operating := map[net2net.Kind][]float64{}
	for _, st := range h.stands {
		if len(st.Actions) > 0 {
			continue
		}
		for range operations {
			changes := len(st.job.Changes)
			if err := st.job.adapt(ctx); err != nil {
				return fmt.Errorf("measure an operation on %s: %w", st, err)
			}
			deciding = append(deciding, st.meter.latest(Deciding))
			if len(st.job.Changes) > changes { // it was decided to do something
				kind := st.job.Changes[changes].Action.Kind
				operating[kind] = append(operating[kind], st.meter.latest(Surgery))
			}
		}
	}
	m.Decision.Median, m.Decision.Spread = middle(deciding)
	for _, seconds := range operating { // some kinds take ten times as long as others
		median, spread := middle(seconds)
		m.Surgery.Median += median / float64(len(operating))
		m.Surgery.Spread += spread / float64(len(operating))
	}
	h.Tell("decisions and operations", len(deciding), len(deciding))
	return nil
}

func (h *hall) close() {
	for _, st := range h.stands {
		st.job.close()
	}
}
