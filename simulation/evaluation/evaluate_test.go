package evaluation_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/net2net"
	"graft/simulation"
	"graft/simulation/evaluation"
	"graft/simulation/tables"
)

var fourActions = []string{"deepen:0", "deepen:1", "deepen:2", "none"}

// scripted weighs as it is told, and keeps the moments.
type scripted struct {
	shares  [][]float64 // for each decision
	moments []evaluation.Point
	prints  []string // of the moments' networks, which go on growing
	err     error
}

func (s *scripted) Weigh(_ context.Context, m evaluation.Point) ([]float64, error) {
	s.moments, s.prints = append(s.moments, m), append(s.prints, m.Network.String())
	return s.shares[len(m.Prefix)], s.err
}

// product is a table of all sequences of two decisions among four actions, whose
// accuracies are given in the order of the product, and whose times say the sequence.
func product(t *testing.T, accuracy ...float64) *tables.Table {
	var records []tables.Record
	for a := range fourActions {
		for b := range fourActions {
			k := 4*a + b
			records = append(records, tables.Record{Sequence: []string{fourActions[a], fourActions[b]}, Left: []float64{300 - float64(k), 200 - float64(k)},
				Accuracy: []float64{accuracy[k]}, Seeds: []int64{42}})
		}
	}
	table, err := tables.New(tables.Scenario{Name: "small", Network: "ConvNet2", Budget: 400, Decisions: 2, Actions: fourActions}, records)
	require.NoError(t, err)
	return table
}

// falling are sixteen accuracies of which the fifth is the best and two are equal.
var falling = []float64{0.5, 0.25, 0.5, 0.125, 0.75, 0.625, 0.1, 0.2, 0.3, 0.4, 0.45, 0.35, 0.15, 0.05, 0.01, 0.00001}

func convNet2(t *testing.T) *model.Network {
	n, err := model.Zoo("ConvNet2", model.ZooOptions{})
	require.NoError(t, err)
	return n
}

var asOriginal = evaluation.FollowOptions{Surgery: net2net.Options{Compat: net2net.Original}}

func TestADeciderIsFollowedThroughATable(t *testing.T) {
	n := convNet2(t)
	w := &scripted{shares: [][]float64{{0.1, 0.2, 0.6, 0.1}, {0.4, 0.4, 0.1, 0.1}}}
	e, err := evaluation.Follow(context.Background(), product(t, falling...), n, w, asOriginal)
	require.NoError(t, err)
	require.Equal(t, []string{"deepen:2", "deepen:0"}, e.Chosen.Sequence, "the first of equals")
	require.Equal(t, convNet2(t).String(), n.String(), "the network stays")

	require.Empty(t, w.moments[0].Prefix)
	require.Equal(t, []string{"deepen:2"}, w.moments[1].Prefix)
	require.Equal(t, []float64{300, 192}, []float64{w.moments[0].Left, w.moments[1].Left}, "of the sequences that go on with the first action")
	require.Equal(t, 400.0, w.moments[1].Budget)
	require.NotEqual(t, w.prints[0], w.prints[1], "the network has grown")

	require.Equal(t, 2, e.Steps[0].Number)
	require.Equal(t, w.shares[1], e.Steps[1].Probabilities)
	require.Equal(t, 0.75, e.Ranking[0].Mean())
	require.Equal(t, []string{"deepen:0", "deepen:0"}, e.Ranking[2].Sequence, "equals are in the table's order")
	require.Equal(t, []string{"none", "none"}, e.NoAdaptation().Sequence)
}

// Where the actions depend on the network, those to choose from are the table's
// sequences' own.
func TestActionsThatDependOnTheNetwork(t *testing.T) {
	record := func(left, accuracy float64, sequence ...string) tables.Record {
		return tables.Record{Sequence: sequence, Left: []float64{left, left - 1}, Accuracy: []float64{accuracy, accuracy}, Seeds: []int64{1, 2}}
	}
	table, err := tables.New(tables.Scenario{Name: "own", Budget: 10, Decisions: 2}, []tables.Record{
		record(9, 0.5, "deepen:conv1", "deepen:conv1.1"), record(8, 0.25, "deepen:conv1", "widen:conv1:40"), record(7, 0.75, "widen:fc:12", "deepen:conv2")})
	require.NoError(t, err)
	w := &scripted{shares: [][]float64{{0.9, 0.1}, {0.2, 0.8}}}
	n, err := model.Zoo("LargeConvNet", model.ZooOptions{})
	require.NoError(t, err)
	e, err := evaluation.Follow(context.Background(), table, n, w, evaluation.FollowOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"deepen:conv1", "widen:fc:12"}, w.moments[0].Actions)
	require.Equal(t, []string{"deepen:conv1.1", "widen:conv1:40"}, w.moments[1].Actions)
	require.Equal(t, []float64{9, 8}, []float64{e.Steps[0].Left, e.Steps[1].Left})
	require.Equal(t, []string{"deepen:conv1", "widen:conv1:40"}, e.Chosen.Sequence)
	require.Nil(t, e.NoAdaptation())
}

func TestWhatCannotBeEvaluated(t *testing.T) {
	whole := product(t, falling...)
	part, err := tables.New(whole.Scenario, whole.Records[1:])
	require.NoError(t, err)
	none, err := tables.New(tables.Scenario{Name: "none"}, nil)
	require.NoError(t, err)
	even := [][]float64{{0.25, 0.25, 0.25, 0.25}, {0.25, 0.25, 0.25, 0.25}}
	for name, c := range map[string]struct {
		table *tables.Table
		w     evaluation.StepPolicy
		o     evaluation.FollowOptions
		says  string
	}{
		"a sequence is missing":   {part, &scripted{shares: even}, asOriginal, "1 of its sequences are missing, such as (deepen:0, deepen:0); simulate them"},
		"no sequences":            {none, &scripted{shares: even}, asOriginal, "no sequences of decisions; simulate some"},
		"fewer actions":           {whole, &scripted{shares: [][]float64{{1}}}, asOriginal, "decision 1: it weighs 1 actions, and the table has 4; take another policy or another table"},
		"no number":               {whole, &scripted{shares: [][]float64{{0, math.NaN(), 0, 1}}}, asOriginal, "a probability is no number"},
		"it does not know":        {whole, &scripted{shares: even, err: errors.New("does not know")}, asOriginal, "evaluate on table small, decision 1: does not know"},
		"the network has no such": {whole, &scripted{shares: [][]float64{{0, 0, 1, 0}}}, evaluation.FollowOptions{}, "deepen:2"},
	} {
		t.Run(name, func(t *testing.T) {
			n := convNet2(t)
			if name == "the network has no such" {
				n, err = model.Zoo("FeedForwardNet", model.ZooOptions{})
				require.NoError(t, err)
			}
			_, err := evaluation.Follow(context.Background(), c.table, n, c.w, c.o)
			require.ErrorContains(t, err, c.says)
		})
	}
}

// As a chooser, whoever weighs actions is asked what Evaluate asks.
func TestAWeigherAsAChooser(t *testing.T) {
	shares := [][]float64{{0.1, 0.2, 0.6, 0.1}, {0.4, 0.4, 0.1, 0.1}}
	n, table := convNet2(t), product(t, falling...)
	one, other := &scripted{shares: shares}, &scripted{shares: shares}
	e, err := evaluation.Follow(context.Background(), table, n, one, asOriginal)
	require.NoError(t, err)
	tree, err := simulation.NewTree(table, simulation.TreeOptions{Network: n, Surgery: asOriginal.Surgery})
	require.NoError(t, err)
	chooser := evaluation.Stepwise(context.Background(), "scripted", other)
	verdicts, err := evaluation.Evaluate([]*simulation.Tree{tree}, chooser)
	require.NoError(t, err)
	require.Equal(t, e.Chosen.Sequence, verdicts[0].Sequence)
	require.InDelta(t, 45, verdicts[0].Regret, 1e-9)
	require.Equal(t, 8.0, verdicts[0].Rank)
	sum := 0.0
	for _, a := range falling {
		sum += a
	}
	others, err := evaluation.Evaluate([]*simulation.Tree{tree}, evaluation.Uniform(), evaluation.Constant("again", "deepen:0"))
	require.NoError(t, err)
	require.InDelta(t, sum/16, others[0].Accuracy, 1e-12)
	require.Equal(t, 3.0, others[1].Rank, "equals have one rank")
	require.Equal(t, one.prints, other.prints)
	for k, m := range one.moments {
		seen := other.moments[k]
		m.Network, seen.Network = nil, nil
		require.Equal(t, m, seen)
	}
	steps, err := evaluation.Steps(tree, chooser)
	require.NoError(t, err)
	for k := range steps {
		require.InDelta(t, e.Steps[k].Left, map[int]float64{0: 300, 1: 192}[k], 1e-9)
		require.Equal(t, e.Steps[k].Action, steps[k].Action)
		require.Equal(t, e.Steps[k].Probabilities, steps[k].Probabilities)
	}
	_, err = evaluation.Evaluate([]*simulation.Tree{tree}, evaluation.Stepwise(context.Background(), "short", &scripted{shares: [][]float64{{1}}}))
	require.ErrorContains(t, err, "short in small: decision 1: it weighs 1 actions, and the table has 4")
}
