package trainer_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/dataset"
	"graft/decider"
	"graft/internal/files"
	"graft/model"
	"graft/net2net"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
)

// limitedVariable is the environment variable that limits this test's program to AVX2.
const limitedVariable = "GRAFT_TEST_LIMITED"

func TestMain(m *testing.M) {
	if os.Getenv(limitedVariable) != "" {
		if err := torch.LimitTo(torch.AVX2); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if err := torch.Load(); err != nil {
		fmt.Fprintln(os.Stderr, "trainer: nothing can be tested:", err)
		os.Exit(1)
	}
	// Small networks are fastest on one thread, also if other programs run.
	if err := torch.SetThreads(1); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for variable, be := range map[string]func(string) error{followVariable: follow, joinVariable: join} {
		if text := os.Getenv(variable); text != "" {
			if err := be(text); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// long reports that tests may take minutes.
var long = os.Getenv("GRAFT_LONG") != ""

// memory records a job in memory.
type memory struct {
	rows  []trainer.Row
	notes []trainer.Note
	saves [][]trainer.Section
	kept  [][]trainer.Section
}

func (m *memory) Epoch(r trainer.Row) error      { m.rows = append(m.rows, r); return nil }
func (m *memory) Note(n trainer.Note) error      { m.notes = append(m.notes, n); return nil }
func (m *memory) Save(s []trainer.Section) error { m.saves = append(m.saves, s); return nil }
func (m *memory) Keep(_ time.Duration, s []trainer.Section) error {
	m.kept = append(m.kept, s)
	return nil
}
func (m *memory) events() (events []string) {
	for _, n := range m.notes {
		events = append(events, string(n.Event))
	}
	return events
}

const side = 16

// small returns a dataset and a network that train in milliseconds.
func small(t testing.TB, s *torch.Scope, seed int64) (*dataset.Set, *model.Network) {
	set, err := dataset.Load(s, torch.CPU, files.OS{},
		dataset.Options{Seed: seed, Synthetic: dataset.SyntheticOptions{Size: side, Classes: 4, Train: 600, Test: 200}})
	require.NoError(t, err)
	n := smallNetwork()
	require.NoError(t, n.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, seed)}))
	return set, n
}

func smallNetwork() *model.Network { return networkOf(torch.ReLU) }

func networkOf(activation torch.Activation) *model.Network {
	return twoBlocks(activation, 6, 8, leaf("drop", model.Dropout{P: 0.1}), leaf("flat", model.Flatten{}),
		leaf("fc", model.NewLinear(8, 4)))
}

func leaf(name string, l model.Layer) model.Child {
	return model.Child{Name: name, Module: &model.Leaf{Layer: l}}
}

// twoBlocks returns a network of two blocks with these channels, and a tail.
func twoBlocks(activation torch.Activation, first, second int, tail ...model.Child) *model.Network {
	block := func(name string, from, to int) model.Child {
		layers := &model.Container{}
		for k, l := range []model.Layer{model.NewConv2d(from, to, 3), model.NewBatchNorm2d(to),
			model.Activate(activation)} {
			layers.Children = append(layers.Children, leaf(fmt.Sprint(k), l))
		}
		return model.Child{Name: name, Module: &model.Container{Mark: model.Original,
			Children: []model.Child{{Name: "layers", Module: layers}}}}
	}
	return &model.Network{Input: model.Shape{3, side, side},
		Root: &model.Container{Class: "Small", Children: append([]model.Child{
			block("conv1", 3, first), leaf("pool1", model.NewAvgPool2d(model.Both(2))),
			block("conv2", first, second), leaf("pool2", model.AdaptiveAvgPool2d{Size: model.Both(1)})}, tail...)}}
}

// plan returns the options of a job that gains devices, adapts, and loses them again.
func plan() trainer.Options {
	return trainer.Options{Seed: 1, Steady: true, Batch: 32, EvalBatch: 100, Augment: torch.Augment{Pad: 1, Flip: true},
		Timeline: trainer.Timeline{Budget: 1500 * time.Millisecond, Events: []trainer.Event{
			{At: 300 * time.Millisecond, Change: trainer.Up, Devices: 2},
			{At: 900 * time.Millisecond, Change: trainer.Down, Devices: 1}}},
		Adapt: trainer.Adapt{Every: true, MaxDecisions: 2, Rows: 64}}
}

func script(t testing.TB, actions ...string) decider.Decider {
	var d decider.Script
	for _, text := range actions {
		a, err := net2net.ParseAction(text)
		require.NoError(t, err)
		d.Actions = append(d.Actions, a)
	}
	return d
}

func steady(t testing.TB) *clock.Virtual {
	p, err := clock.FindProfile("steady")
	require.NoError(t, err)
	return &clock.Virtual{Profile: p}
}

// runJob runs a job. Missing parts become the small data and network, the steady virtual clock, and a decider that
// takes the actions.
func runJob(t testing.TB, o trainer.Options, p trainer.Parts, actions ...string) (outcome *trainer.Outcome, err error) {
	err = torch.With(func(s *torch.Scope) error {
		j, err := trainer.New(s, parts(t, s, p, actions...), o)
		if err != nil {
			return err
		}
		outcome, err = j.Run(context.Background())
		return err
	})
	return outcome, err
}

// parts fills in missing parts.
func parts(t testing.TB, s *torch.Scope, p trainer.Parts, actions ...string) trainer.Parts {
	p.Network = cmp.Or(p.Network, smallNetwork())
	if p.Network.Scope() == nil {
		require.NoError(t, p.Network.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, 1)}))
	}
	if p.Data == nil {
		p.Data, _ = small(t, s, 1)
	}
	if p.Clock == nil {
		p.Clock = steady(t)
	}
	if p.Decider == nil {
		p.Decider = script(t, actions...)
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	return p
}

// run runs a job that must succeed.
func run(t testing.TB, o trainer.Options, book trainer.Recorder, actions ...string) *trainer.Outcome {
	t.Helper()
	outcome, err := runJob(t, o, trainer.Parts{Recorder: book}, actions...)
	require.NoError(t, err)
	return outcome
}

// sections returns the sections of a checkpoint by name.
func sections(saved []trainer.Section) map[string][]byte {
	all := map[string][]byte{}
	for _, section := range saved {
		all[section.Name] = section.Data
	}
	return all
}

// A job grows when it gains devices, shrinks when it loses them, stays within its budget and evaluates all its steps.
func TestJobFromStartToBudget(t *testing.T) {
	book := &memory{}
	o := run(t, plan(), book, "deepen:conv1", "widen:conv2:12")
	require.Equal(t, []string{"start", "up", "decision", "decision", "down", "shrink", "end"}, book.events())
	require.LessOrEqual(t, o.Used, o.Budget)
	require.Greater(t, o.Used, o.Budget-20*time.Millisecond, "the budget is used up")
	require.Equal(t, smallNetwork().Parameters(), o.Parameters, "it is back at its first size")
	require.Empty(t, o.Changes)
	require.Equal(t, 2, o.Decisions)
	require.Equal(t, o.Steps, book.rows[len(book.rows)-1].Steps, "all steps are evaluated")
	require.Equal(t, o.Validation, book.rows[len(book.rows)-1].Validation)
	require.Equal(t, o.Deciding+o.Operating, sum(book.notes))
	decision := book.notes[2]
	require.Equal(t, "deepen:conv1", decision.Action)
	require.GreaterOrEqual(t, decision.Time, 300*time.Millisecond)
	require.Less(t, decision.Time, 330*time.Millisecond, "asked at once, not at the end of the epoch")
	require.Greater(t, decision.Parameters, decision.Before)
	shrink, lessons := book.notes[5], 6*6*time.Millisecond // six batches of training images
	require.Greater(t, shrink.Took, lessons, "asking the larger network takes time")
	require.InDelta(t, int(o.Budget-shrink.Time-shrink.Took)/int(10*time.Millisecond), shrink.DistillationSteps, 3,
		"it teaches to the end, in steps of 10 ms")
}

// With little time left, a job trains instead of distilling.
func TestNoTimeForLessons(t *testing.T) {
	o := plan()
	o.Timeline.Events[1].At = o.Timeline.Budget - 300*time.Millisecond
	book := &memory{}
	run(t, o, book, "deepen:conv1")
	shrink := book.notes[slices.Index(book.events(), "shrink")]
	require.Zero(t, shrink.DistillationSteps)
}

func sum(notes []trainer.Note) (took time.Duration) {
	for _, n := range notes {
		took += n.Took
	}
	return took
}

// The same options give the same digest: in a later run, in parallel runs, and with twice the threads.
func TestVirtualClockGivesOneDigest(t *testing.T) {
	o := brief()
	if long {
		o = plan()
	}
	first := run(t, o, nil, "deepen:conv1", "widen:conv2:12")
	digests := make(chan string, 2)
	for range 2 {
		go func() { digests <- run(t, o, nil, "deepen:conv1", "widen:conv2:12").Digest }()
	}
	for range 2 {
		require.Equal(t, first.Digest, <-digests)
	}
	require.NoError(t, torch.SetThreads(2))
	again := run(t, o, nil, "deepen:conv1", "widen:conv2:12").Digest
	require.NoError(t, torch.SetThreads(1))
	require.Equal(t, first.Digest, again, "on two threads")
	o.Seed = 2
	require.NotEqual(t, first.Digest, run(t, o, nil, "deepen:conv1", "widen:conv2:12").Digest)
}

// However short the budget is, the job ends with an evaluation.
func TestShortBudgets(t *testing.T) {
	for _, budget := range []time.Duration{1, time.Millisecond, 20 * time.Millisecond, 60 * time.Millisecond} {
		o := plan()
		o.Timeline = trainer.Timeline{Budget: budget}
		book := &memory{}
		outcome := run(t, o, book)
		require.Len(t, book.rows, 1, budget)
		require.NotZero(t, outcome.Validation.Loss)
	}
}

// Ups and downs work in any order, also downs before the first up.
func TestUpsAndDowns(t *testing.T) {
	at := func(ms int, c trainer.Change) trainer.Event {
		return trainer.Event{At: time.Duration(ms) * time.Millisecond, Change: c}
	}
	up, down := trainer.Up, trainer.Down
	o := plan()
	o.Timeline.Events = []trainer.Event{at(100, down), at(200, up), at(400, up), at(700, down), at(800, up),
		at(1000, down), at(1100, down), at(1200, down)}
	book := &memory{}
	outcome := run(t, o, book, "deepen:conv1", "widen:conv1:9", "branch:conv2", "deepen:conv2", "kernel:conv1:5",
		"widen:conv2:10")
	require.Equal(t, smallNetwork().Parameters(), outcome.Parameters)
	require.Contains(t, book.events(), "shrink")
}

func TestRefusedJobs(t *testing.T) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		refused := func(word string, change func(p *trainer.Parts, o *trainer.Options)) {
			p, o := parts(t, s, trainer.Parts{}), plan()
			change(&p, &o)
			_, err := trainer.New(s, p, o)
			require.ErrorContains(t, err, word)
		}
		refused("budget is 0s", func(_ *trainer.Parts, o *trainer.Options) { o.Timeline = trainer.Timeline{} })
		refused("event 1 is a duplicate of event 0", func(_ *trainer.Parts, o *trainer.Options) {
			e := trainer.Event{At: time.Millisecond, Change: trainer.Up, Devices: 2}
			o.Timeline.Events = []trainer.Event{e, e}
		})
		refused("sort events by time", func(_ *trainer.Parts, o *trainer.Options) { o.Timeline.Events[1].At = 0 })
		refused("up or down", func(_ *trainer.Parts, o *trainer.Options) { o.Timeline.Events[0].Change = "sideways" })
		refused("divide is -1", func(_ *trainer.Parts, o *trainer.Options) { o.Adapt.Divide = -1 })
		refused("must be at least 0", func(_ *trainer.Parts, o *trainer.Options) { o.Batch = -1 })
		refused("requires Network", func(p *trainer.Parts, _ *trainer.Options) { p.Network = nil })
		refused("4 classes", func(p *trainer.Parts, _ *trainer.Options) {
			p.Network = smallNetwork()
			fc := p.Network.Root.Child("fc").(*model.Leaf)
			fc.Layer = model.NewLinear(8, 7)
			require.NoError(t, p.Network.Materialize(s, model.Placement{}))
		})
		return nil
	}))
}

// A job that is stopped saves itself and returns ErrStopped. It resumes with the same options only.
func TestStopSaves(t *testing.T) {
	book := &memory{}
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		p := parts(t, s, trainer.Parts{Recorder: book})
		j, err := trainer.New(s, p, plan())
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err = j.Run(ctx)
		require.True(t, errors.Is(err, trainer.ErrStopped))
		require.Len(t, book.saves, 1)

		stopped, err := trainer.ReadSavedJob(sections(book.saves[0]))
		require.NoError(t, err)
		p.Clock = steady(t)
		other := plan()
		other.Batch = 16
		_, err = trainer.Resume(s, stopped, p, model.Placement{}, other)
		require.ErrorContains(t, err, "the options differ from the job's original options")
		j, err = trainer.Resume(s, stopped, p, model.Placement{}, plan())
		require.NoError(t, err)
		_, err = j.Run(context.Background())
		require.NoError(t, err)
		require.Equal(t, []string{"start", "up", "decision", "decision", "down", "end"}, book.events(), "it began once")
		return nil
	}))
}

// A job skips an action that cannot be done and records why, or stops if OnError says so.
func TestImpossibleActionsAreSkipped(t *testing.T) {
	book, o := &memory{}, brief()
	o.Adapt.Every, o.Adapt.MaxDecisions = true, 2
	outcome := run(t, o, book, "deepen:conv9", "deepen:conv1")
	k := slices.Index(book.events(), "skipped")
	require.Positive(t, k)
	skipped := book.notes[k]
	require.Equal(t, "deepen:conv9", skipped.Action)
	require.Contains(t, skipped.Why, `block "conv9" not found`)
	require.Equal(t, skipped.Before, skipped.Parameters, "the network is as it was")
	require.Equal(t, 1, outcome.Skipped)
	require.Equal(t, 2, outcome.Decisions)
	require.Contains(t, book.events()[k+1:], "decision", "the next action is done")
	o.Adapt.OnError = trainer.StopOnError
	_, err := runJob(t, o, trainer.Parts{}, "deepen:conv9")
	require.ErrorContains(t, err, `block "conv9" not found`)
	o.Adapt.OnError = "ignore"
	_, err = runJob(t, o, trainer.Parts{})
	require.ErrorContains(t, err, "must be skip or stop")
}
