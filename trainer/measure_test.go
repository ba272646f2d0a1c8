package trainer_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/decider"
	"graft/model"
	"graft/net2net"
	"graft/trainer"
	"graft/trainer/clock"
)

// family returns the small network and the networks that it grows to by actions, one after the other.
func family(t testing.TB, actions ...string) []clock.Subject {
	all := []clock.Subject{{Network: smallNetwork()}}
	for _, text := range actions {
		a, err := net2net.ParseAction(text)
		require.NoError(t, err)
		n := all[len(all)-1].Network.Sketch()
		_, err = net2net.Apply(n, a, net2net.Options{})
		require.NoError(t, err)
		all = append(all, clock.Subject{Name: "Small", Network: n,
			Actions: append(slices.Clone(all[len(all)-1].Actions), a)})
	}
	return all
}

// metronome returns a machine's clock that moves by a millisecond at every reading.
func metronome() func() time.Time {
	t := time.Unix(0, 0)
	return func() time.Time {
		t = t.Add(time.Millisecond)
		return t
	}
}

// If a call of five steps takes a millisecond, a step takes a fifth of a millisecond. Decisions and surgery are
// measured as a job spends them.
func TestMeasuredTimesAreThoseOfTheClock(t *testing.T) {
	var told []string
	m, err := trainer.Measure(t.Context(), family(t, "deepen:conv1"),
		trainer.MeasureOptions{Batches: []int{8, 16}, Rounds: 3, Burst: 10 * time.Millisecond,
			Now: metronome(), Tell: func(what string, done, of int) { told = append(told, what) }})
	require.NoError(t, err)
	require.Len(t, m.Networks, 4)
	for _, n := range m.Networks {
		require.Equal(t, "Small", n.Network)
		require.Equal(t, 2e-4, n.StepSeconds)
		require.Equal(t, 2e-4, n.BatchSeconds)
		require.Zero(t, n.StepSpread)
		require.Positive(t, n.Operations)
	}
	require.Equal(t, []int{8, 16, 8, 16}, []int{m.Networks[0].Batch, m.Networks[1].Batch, m.Networks[2].Batch,
		m.Networks[3].Batch})
	require.Equal(t, net2net.Fingerprint(smallNetwork()), m.Networks[0].Fingerprint)
	require.NotEqual(t, m.Networks[0].Fingerprint, m.Networks[2].Fingerprint)
	for _, s := range []clock.Seconds{m.Decision, m.Surgery} {
		require.GreaterOrEqual(t, s.Median, 1e-3)
		require.LessOrEqual(t, s.Median, 5e-3, "the job looks at the clock on the way")
		require.Zero(t, s.Spread)
	}
	require.Equal(t, []string{"warmed up Small", "warmed up Small deepen:conv1", "rounds", "rounds", "rounds",
		"measured decisions and operations"}, told)
}

// counting is a virtual clock that also adds up the times from the profile's figures.
type counting struct {
	*clock.Virtual
	t     testing.TB
	steps int64
	sum   time.Duration
}

func (c *counting) Spend(w clock.Work) {
	c.Virtual.Spend(w)
	c.sum += time.Duration(w.Count) * c.figure(w)
	if w.Kind == clock.Steps {
		c.steps += int64(w.Count)
	}
}

func (c *counting) figure(w clock.Work) time.Duration {
	seconds := map[clock.Kind]float64{clock.Deciding: c.Profile.Costs.DecisionSeconds,
		clock.Surgery: c.Profile.Costs.SurgerySeconds}[w.Kind]
	for _, m := range c.Profile.Measured {
		if m.Fingerprint == net2net.Fingerprint(w.Network) && m.Batch == w.Rows {
			seconds = map[clock.Kind]float64{clock.Steps: m.StepSeconds, clock.Batches: m.BatchSeconds}[w.Kind]
		}
	}
	require.Positive(c.t, seconds, "%s of %d rows", w.Kind, w.Rows)
	return time.Duration(seconds*1e9 + 0.5)
}

// A job is charged the sum of its pieces of work, each as it was measured alone, and nothing else.
func TestAJobIsChargedWhatWasMeasured(t *testing.T) {
	m, err := trainer.Measure(t.Context(), family(t, "deepen:conv1"), trainer.MeasureOptions{Batches: []int{32, 100},
		Rounds: 3, Burst: time.Millisecond, Steady: true, Now: time.Now})
	require.NoError(t, err)
	p := m.Profile("here", "this machine", clock.Provenance{})
	require.NoError(t, p.Validate())
	require.True(t, p.Closed(), "two networks are too few for rates")
	o := plan()
	o.Adapt = trainer.Adapt{Rows: 64}
	slowest := 0.0 // of both networks, because the machine may be busy while one is measured
	for _, one := range p.Measured {
		slowest = max(slowest, one.StepSeconds+one.BatchSeconds)
	}
	o.Timeline = trainer.Timeline{Budget: time.Duration(60 * 1e9 * slowest)}
	o.Timeline.Events = []trainer.Event{{At: o.Timeline.Budget / 10, Change: trainer.Up}}
	o.Timeline.Budget += time.Duration(1e9 * (p.Costs.DecisionSeconds + p.Costs.SurgerySeconds))
	clock := &counting{Virtual: &clock.Virtual{Profile: p}, t: t}
	outcome, err := runJob(t, o, trainer.Parts{Clock: clock}, "deepen:conv1")
	require.NoError(t, err)
	require.Equal(t, clock.sum, outcome.Used)
	require.Equal(t, clock.steps, outcome.Steps)
	require.Equal(t, 1, outcome.Decisions)
	require.Greater(t, outcome.Steps, int64(10))
}

// A profile without rates charges work that was measured. For other work, the error names the network and the remedy.
func TestAProfileWithoutRatesKnowsWhatWasMeasured(t *testing.T) {
	measured := func(n *model.Network, batch int) clock.Measurement {
		return clock.Measurement{Network: "Small", Fingerprint: net2net.Fingerprint(n), Batch: batch,
			StepSeconds: 0.01, BatchSeconds: 0.005}
	}
	p := &clock.Profile{Version: 1, Name: "closed",
		Measured: []clock.Measurement{measured(smallNetwork(), 32), measured(smallNetwork(), 100)}}
	require.NoError(t, p.Validate())
	deepened := family(t, "deepen:conv1")[1]
	require.NoError(t, plan().CoveredBy(p, smallNetwork(), nil))
	err := plan().CoveredBy(p, smallNetwork(), deepened.Actions)
	for _, says := range []string{"after action deepen:conv1",
		"profile closed has no measurement of this Small with a " +
			"batch of 32, and no cost rates to predict unmeasured networks",
		"with a batch of 32", "with a batch of 100", "graft profile"} {
		require.ErrorContains(t, err, says)
	}
	other := plan()
	other.Batch = 16
	require.ErrorContains(t, other.CoveredBy(p, smallNetwork(), nil), "with a batch of 16")
	other.Batch = 64
	require.NoError(t, other.CoveredBy(p, smallNetwork(), nil), "it lies between two that were measured")

	short := plan()
	short.Timeline = trainer.Timeline{Budget: 300 * time.Millisecond,
		Events: []trainer.Event{{At: 100 * time.Millisecond, Change: trainer.Up}}}
	_, err = runJob(t, short, trainer.Parts{Clock: &clock.Virtual{Profile: p}})
	require.NoError(t, err)
	_, err = runJob(t, short, trainer.Parts{Clock: &clock.Virtual{Profile: p}}, "deepen:conv1")
	require.ErrorContains(t, err, "has no measurement of this Small")

	p.Costs.Step.CallSeconds, p.Costs.Batch.CallSeconds = 0.01, 0.01
	require.NoError(t, plan().CoveredBy(p, smallNetwork(), deepened.Actions))
	_, err = runJob(t, short, trainer.Parts{Clock: &clock.Virtual{Profile: p}}, "deepen:conv1")
	require.NoError(t, err)
}

func TestRefusedMeasurements(t *testing.T) {
	fine := trainer.MeasureOptions{Batches: []int{8}, Rounds: 1, Burst: time.Millisecond, Now: time.Now}
	refused := func(word string, subjects []clock.Subject, change func(o *trainer.MeasureOptions)) {
		o := fine
		change(&o)
		_, err := trainer.Measure(t.Context(), subjects, o)
		require.ErrorContains(t, err, word)
	}
	same := func(*trainer.MeasureOptions) {}
	refused("batch is 0", family(t), func(o *trainer.MeasureOptions) { o.Batches = []int{8, 0} })
	refused("batch is -3", family(t), func(o *trainer.MeasureOptions) { o.Batches = []int{-3} })
	refused("duplicate batch size 8", family(t), func(o *trainer.MeasureOptions) { o.Batches = []int{8, 8} })
	refused("Quiet is -1", family(t), func(o *trainer.MeasureOptions) { o.Quiet = -1 })
	refused("rounds is -1", family(t), func(o *trainer.MeasureOptions) { o.Rounds = -1 })
	refused("Now is nil", family(t), func(o *trainer.MeasureOptions) { o.Now = nil })
	refused("no network", nil, same)
	features := &model.Network{Input: model.Shape{8}, Root: &model.Container{Class: "Features",
		Children: []model.Child{{Name: "a", Module: &model.Leaf{Layer: model.NewLinear(8, 4)}}}}}
	refused("measure Features: unsupported output 4 for input 8", []clock.Subject{{Network: features}}, same)
	failing := errors.New("no idea")
	refused("no idea", family(t), func(o *trainer.MeasureOptions) { o.Decider = helpless{failing} })

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := trainer.Measure(ctx, family(t), fine)
	require.ErrorIs(t, err, context.Canceled)
	ctx, cancel = context.WithCancel(t.Context())
	o := fine
	o.Tell = func(string, int, int) { cancel() } // the warm-up is over
	_, err = trainer.Measure(ctx, family(t), o)
	require.ErrorIs(t, err, context.Canceled)
}

// helpless is a decider that returns an error.
type helpless struct{ err error }

func (h helpless) Decide(context.Context, decider.State) (decider.Decision, error) {
	return decider.Decision{}, h.err
}

// A network that is given twice is measured once.
func TestEachNetworkIsMeasuredOnce(t *testing.T) {
	m, err := trainer.Measure(t.Context(), append(family(t), family(t)...),
		trainer.MeasureOptions{Batches: []int{8}, Rounds: 1, Burst: time.Millisecond, Now: time.Now})
	require.NoError(t, err)
	require.Len(t, m.Networks, 1)
}

// The default networks occur unchanged, deepened and widened, and no two are equal.
func TestDefaultSubjects(t *testing.T) {
	subjects, err := clock.Subjects(model.Shape{3, 32, 32}, 10)
	require.NoError(t, err)
	prints := map[string]bool{}
	kinds := map[net2net.Kind]int{}
	for _, s := range subjects {
		require.False(t, prints[net2net.Fingerprint(s.Network)], s.String())
		prints[net2net.Fingerprint(s.Network)] = true
		if len(s.Actions) > 0 {
			kinds[s.Actions[0].Kind]++
		}
	}
	require.Equal(t, map[net2net.Kind]int{"deepen": 10, "widen": 10}, kinds)
	_, err = clock.Subjects(model.Shape{3, 4, 4}, 10)
	require.Error(t, err, "images that are too small for them")
}

// With the time of the reference on a quiet machine, all measured times are divided by the slowdown. A quiet machine
// a million times slower makes them longer by this factor.
func TestMeasuredTimesAreDividedByTheSlowdown(t *testing.T) {
	o := trainer.MeasureOptions{Batches: []int{8}, Rounds: 1, Burst: time.Millisecond, Now: time.Now}
	plain, err := trainer.Measure(t.Context(), family(t), o)
	require.NoError(t, err)
	const quiet = 1e6 // seconds; a step of the reference takes less than a second
	o.Quiet = quiet
	divided, err := trainer.Measure(t.Context(), family(t), o)
	require.NoError(t, err)
	for _, m := range []struct{ plain, divided float64 }{
		{plain.Networks[0].StepSeconds, divided.Networks[0].StepSeconds},
		{plain.Networks[0].BatchSeconds, divided.Networks[0].BatchSeconds},
		{plain.Decision.Median, divided.Decision.Median}, {plain.Surgery.Median, divided.Surgery.Median}} {
		require.Greater(t, m.divided, 1e4*m.plain)
	}
}
