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
	"graft/simulation/treetest"
)

// scripted returns given shares at each decision, and records the points.
type scripted struct {
	shares [][]float64
	points []evaluation.Point
	err    error
}

func (s *scripted) Weigh(_ context.Context, m evaluation.Point) ([]float64, error) {
	s.points = append(s.points, m)
	return s.shares[len(m.Prefix)], s.err
}

// evaluate scores a scripted policy on a table whose sequences start with a network.
func evaluate(t *testing.T, table *tables.Table, network string,
	s *scripted) (evaluation.Score, []evaluation.Step, error) {
	n, err := model.Zoo(network, model.ZooOptions{})
	require.NoError(t, err)
	compat := net2net.Original
	if len(table.Actions) == 0 {
		compat = net2net.Off
	}
	tree, err := simulation.NewTree(table, simulation.TreeOptions{Network: n, Surgery: net2net.Options{Compat: compat}})
	require.NoError(t, err)
	policy := evaluation.Stepwise(context.Background(), "scripted", s)
	scores, err := evaluation.Evaluate([]*simulation.Tree{tree}, policy)
	if err != nil {
		return evaluation.Score{}, nil, err
	}
	s.points = nil
	steps, err := evaluation.Steps(tree, policy)
	return scores[0], steps, err
}

var accuracies = []float64{0.5, 0.25, 0.5, 0.125, 0.75, 0.625, 0.1, 0.2, 0.3, 0.4, 0.45, 0.35, 0.15, 0.05,
	0.01, 0.00001}

func TestStepwise(t *testing.T) {
	s := &scripted{shares: [][]float64{{0.1, 0.2, 0.6, 0.1}, {0.4, 0.4, 0.1, 0.1}}}
	score, steps, err := evaluate(t, treetest.ConvNet2Table(t, accuracies...), "ConvNet2", s)
	require.NoError(t, err)
	require.Equal(t, []string{"deepen:2", "deepen:0"}, score.Sequence, "the first of equals")
	require.InDelta(t, 45, score.Regret, 1e-9)
	require.Equal(t, 8.0, score.Rank)
	require.Empty(t, s.points[0].Prefix)
	require.Equal(t, []string{"deepen:2"}, s.points[1].Prefix)
	require.Equal(t, []float64{300, 192, 400}, []float64{s.points[0].Left, s.points[1].Left, s.points[1].Budget},
		"of the sequences that go on with the first action")
	require.NotEqual(t, s.points[0].Network.String(), s.points[1].Network.String(), "the network has grown")
	require.Equal(t, evaluation.Step{Action: "deepen:2", Number: 2, Left: 300, Actions: treetest.FourActions,
		Probabilities: s.shares[0]}, steps[0])
}

func TestPlainPoliciesOnATable(t *testing.T) {
	tree, err := simulation.NewTree(treetest.ConvNet2Table(t, accuracies...),
		simulation.TreeOptions{Surgery: net2net.Options{Compat: net2net.Original}})
	require.NoError(t, err)
	scores, err := evaluation.Evaluate([]*simulation.Tree{tree}, evaluation.Uniform(),
		evaluation.Constant("again", "deepen:0"))
	require.NoError(t, err)
	sum := 0.0
	for _, a := range accuracies {
		sum += a
	}
	require.InDelta(t, sum/16, scores[0].Accuracy, 1e-12)
	require.Equal(t, 3.0, scores[1].Rank, "equals have one rank")
}

// If the actions depend on the network, the choices are the actions of the table's sequences.
func TestActionsThatDependOnTheNetwork(t *testing.T) {
	record := func(left, accuracy float64, sequence ...string) tables.Record {
		return tables.Record{Sequence: sequence, Left: []float64{left, left - 1},
			Accuracy: []float64{accuracy, accuracy}, Seeds: []int64{1, 2}}
	}
	table, err := tables.New(tables.Scenario{Name: "own", Budget: 10, Decisions: 2}, []tables.Record{
		record(9, 0.5, "deepen:conv1", "deepen:conv1.1"), record(8, 0.25, "deepen:conv1", "widen:conv1:40"),
		record(7, 0.75, "widen:conv2:40", "deepen:conv2")})
	require.NoError(t, err)
	s := &scripted{shares: [][]float64{{0.9, 0.1}, {0.2, 0.8}}}
	score, steps, err := evaluate(t, table, "LargeConvNet", s)
	require.NoError(t, err)
	require.Equal(t, []string{"deepen:conv1", "widen:conv2:40"}, s.points[0].Actions)
	require.Equal(t, []string{"deepen:conv1.1", "widen:conv1:40"}, s.points[1].Actions)
	require.Equal(t, []float64{9, 8}, []float64{steps[0].Left, steps[1].Left})
	require.Equal(t, []string{"deepen:conv1", "widen:conv1:40"}, score.Sequence)
}

func TestStepPoliciesThatFail(t *testing.T) {
	for says, s := range map[string]*scripted{
		"the policy scores 1 actions, but the table has 4; use another policy or table": {shares: [][]float64{{1}}},
		"the policy returned a probability that is not a number": {shares: [][]float64{{0,
			math.NaN(), 0, 1}}},
		"does not know": {shares: [][]float64{{1, 0, 0, 0}}, err: errors.New("does not know")},
	} {
		_, _, err := evaluate(t, treetest.ConvNet2Table(t, accuracies...), "ConvNet2", s)
		require.ErrorContains(t, err, "evaluate policy scripted on table small: decision 1: "+says)
	}
}
