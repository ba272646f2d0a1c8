package evaluation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/decider"
	"graft/net2net"
	"graft/simulation"
	"graft/simulation/tables"
)

// curved is a tree of two decisions with the falls of the loss and the accuracies an epoch after
// each decision. Accuracies are those of the sequences in order.
func curved(t *testing.T, name, action string, falls [2]float64, accuracies, after []float64) *simulation.Tree {
	s := tables.Scenario{Name: name, Network: "ConvSmall", Budget: 10, Decisions: 2, Actions: []string{action, "none"}}
	var records []tables.Record
	for k, a := range accuracies {
		records = append(records, tables.Record{Sequence: []string{s.Actions[k/2], s.Actions[k%2]}, Left: []float64{9, 5}, Accuracy: []float64{a}, Seeds: []int64{1},
			Loss: []float64{2, 1}, Fall: falls[:], Gap: []float64{0, 0.1}, After: []float64{after[k/2], after[2+k]}})
	}
	table, err := tables.New(s, records)
	require.NoError(t, err)
	tree, err := simulation.NewTree(table, simulation.TreeOptions{Surgery: net2net.Options{}})
	require.NoError(t, err)
	return tree
}

func sequenceOf(t *testing.T, p Policy, err error, tree *simulation.Tree) []string {
	require.NoError(t, err)
	shares, err := p.Distribution(tree)
	require.NoError(t, err)
	for k, share := range shares {
		if share == 1 {
			return tree.Records[k].Sequence
		}
	}
	t.Fatal("the policy is not certain")
	return nil
}

// Rivals that are chosen on some trees do nothing where another tree does not offer their action.
func TestRivalsOnOtherTrees(t *testing.T) {
	flat := []float64{0, 0, 0, 0, 0, 0}
	a := curved(t, "a", "deepen:0", [2]float64{0.5, 0.1}, []float64{0.5, 0.7, 0.8, 0.4}, flat)
	b := curved(t, "b", "deepen:2", [2]float64{0.5, 0.1}, []float64{0.5, 0.6, 0.9, 0.3}, flat)
	fixed, err := BestFixed("best fixed", []*simulation.Tree{a}, false)
	require.Equal(t, []string{"none", "deepen:0"}, sequenceOf(t, fixed, err, a))
	require.Equal(t, []string{"none", "none"}, sequenceOf(t, fixed, err, b))
	fixed, err = BestFixed("best fixed", []*simulation.Tree{a, b}, false)
	require.Equal(t, []string{"none", "deepen:2"}, sequenceOf(t, fixed, err, b), "b gains more by its own action than a loses")
	action, err := BestAction("best fixed action", []*simulation.Tree{a})
	require.Equal(t, []string{"deepen:0", "deepen:0"}, sequenceOf(t, action, err, a))
	require.Equal(t, []string{"none", "none"}, sequenceOf(t, action, err, b))
	_, err = BestFixed("best fixed", nil, false)
	require.ErrorContains(t, err, "no sequence")
}

// Growing on a plateau finds the bound under which the loss falls where growing is best.
func TestGrowingOnAPlateau(t *testing.T) {
	flat := []float64{0, 0, 0, 0, 0, 0}
	a := curved(t, "a", "deepen:0", [2]float64{0.5, 0.1}, []float64{0.5, 0.7, 0.8, 0.4}, flat)
	p, err := Plateau([]*simulation.Tree{a})
	require.Equal(t, []string{"none", "deepen:0"}, sequenceOf(t, p, err, a))
	early := curved(t, "early", "deepen:0", [2]float64{0.1, 0.5}, []float64{0.5, 0.7, 0.8, 0.4}, flat)
	require.Equal(t, []string{"deepen:0", "none"}, sequenceOf(t, p, err, early))
	_, err = Plateau([]*simulation.Tree{oldTree(t)})
	require.ErrorContains(t, err, "does not say how the loss fell")
}

// oldTree is a tree without curves.
func oldTree(t *testing.T) *simulation.Tree {
	tree := curved(t, "old", "deepen:0", [2]float64{}, []float64{0.1, 0.2, 0.3, 0.4}, make([]float64, 6))
	for k := range tree.Nodes {
		tree.Nodes[k].Curve = decider.Curve{}
	}
	for k := range tree.Records {
		tree.Records[k].After = nil
	}
	return tree
}

func TestOneEpochAhead(t *testing.T) {
	a := curved(t, "a", "deepen:0", [2]float64{0.5, 0.1}, []float64{0.5, 0.7, 0.8, 0.4}, []float64{0.3, 0.2, 0.1, 0.4, 0.9, 0.9})
	require.Equal(t, []string{"deepen:0", "none"}, sequenceOf(t, OneEpoch(), nil, a))
	_, err := OneEpoch().Distribution(oldTree(t))
	require.ErrorContains(t, err, "after each decision")
}

// A linear model finds a rule that one feature decides.
func TestLinearModel(t *testing.T) {
	flat := []float64{0, 0, 0, 0, 0, 0}
	var trees []*simulation.Tree
	for k, grow := range []bool{true, false, true, false} {
		falls, accuracies := [2]float64{0.9, 0.9}, []float64{0.3, 0.4, 0.4, 0.8}
		if grow {
			falls, accuracies = [2]float64{0.1, 0.1}, []float64{0.8, 0.4, 0.4, 0.3}
		}
		trees = append(trees, curved(t, string(rune('a'+k)), "deepen:0", falls, accuracies, flat))
	}
	p, err := Linear(trees[:2])
	require.Equal(t, []string{"deepen:0", "deepen:0"}, sequenceOf(t, p, err, trees[2]))
	require.Equal(t, []string{"none", "none"}, sequenceOf(t, p, err, trees[3]))
}

func TestGroupsOfTrees(t *testing.T) {
	tree := oldTree(t)
	tree.Dataset = "synthetic"
	require.Equal(t, []string{"old", "ConvSmall", "synthetic", "10 s"}, []string{ByScenario(tree), ByNetwork(tree), ByDataset(tree), ByBudget(tree)})
	tree.Origin = &tables.Origin{Data: "0123456789"}
	require.Equal(t, "synthetic 012345", ByDataset(tree))
}
