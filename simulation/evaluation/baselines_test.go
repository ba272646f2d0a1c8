package evaluation

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/decider"
	"graft/net2net"
	"graft/simulation"
	"graft/simulation/tables"
)

// curved returns a tree of two decisions with falls of the loss, accuracies of the sequences in order, and accuracies
// an epoch after each decision.
func curved(t *testing.T, name, action string, falls [2]float64, accuracies, after []float64) *simulation.Tree {
	s := tables.Scenario{Name: name, Network: "ConvSmall", Budget: 10, Decisions: 2, Actions: []string{action, "none"}}
	var records []tables.Record
	for k, a := range accuracies {
		if k == 0 && strings.HasPrefix(action, "widen") { // a layer is widened once
			continue
		}
		records = append(records, tables.Record{Sequence: []string{s.Actions[k/2], s.Actions[k%2]},
			Left: []float64{9, 5}, Accuracy: []float64{a}, Seeds: []int64{1},
			Loss: []float64{2, 1}, Fall: falls[:], Gap: []float64{0, 0.1}, After: []float64{after[k/2], after[2+k]}})
	}
	if len(records) < len(accuracies) {
		s.Actions, s.Expected = nil, len(records)
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

// A baseline that is chosen on some trees does nothing on a tree that does not offer its action.
func TestRivalsOnOtherTrees(t *testing.T) {
	flat := []float64{0, 0, 0, 0, 0, 0}
	a := curved(t, "a", "deepen:0", [2]float64{0.5, 0.1}, []float64{0.5, 0.7, 0.8, 0.4}, flat)
	b := curved(t, "b", "deepen:2", [2]float64{0.5, 0.1}, []float64{0.5, 0.6, 0.9, 0.3}, flat)
	fixed, err := BestFixed("best fixed", []*simulation.Tree{a}, false)
	require.Equal(t, []string{"none", "deepen:0"}, sequenceOf(t, fixed, err, a))
	require.Equal(t, []string{"none", "none"}, sequenceOf(t, fixed, err, b))
	fixed, err = BestFixed("best fixed", []*simulation.Tree{a, b}, false)
	require.Equal(t, []string{"none", "deepen:2"}, sequenceOf(t, fixed, err, b),
		"b gains more by its own action than a loses")
	action, err := BestAction("best fixed action", []*simulation.Tree{a})
	require.Equal(t, []string{"deepen:0", "deepen:0"}, sequenceOf(t, action, err, a))
	require.Equal(t, []string{"none", "none"}, sequenceOf(t, action, err, b))
	_, err = BestFixed("best fixed", nil, false)
	require.ErrorContains(t, err, "no sequence")
}

// A sequence that is best for one network applies to a wider network, whose layers are widened to another width.
func TestBestFixedAppliesToOtherWidths(t *testing.T) {
	flat := []float64{0, 0, 0, 0, 0, 0}
	a := curved(t, "a", "widen:conv3:48", [2]float64{0.5, 0.1}, []float64{0.5, 0.7, 0.8, 0.4}, flat)
	b := curved(t, "b", "widen:conv3:96", [2]float64{0.5, 0.1}, []float64{0.5, 0.7, 0.6, 0.4}, flat)
	fixed, err := BestFixed("best fixed", []*simulation.Tree{a}, false)
	require.Equal(t, []string{"none", "widen:conv3:48"}, sequenceOf(t, fixed, err, a))
	require.Equal(t, []string{"none", "widen:conv3:96"}, sequenceOf(t, fixed, err, b))
	p, err := Plateau([]*simulation.Tree{a})
	require.Equal(t, []string{"none", "widen:conv3:96"}, sequenceOf(t, p, err, b))
}

// The gradient baseline takes the action with the largest gain per cost at each decision, if the table has gains.
func TestGradientOnATable(t *testing.T) {
	tree := curved(t, "a", "deepen:0", [2]float64{0.5, 0.1}, []float64{0.5, 0.7, 0.8, 0.4}, make([]float64, 6))
	_, err := Gradient().Distribution(tree)
	require.ErrorContains(t, err, "no gains")
	for k := range tree.Nodes {
		tree.Nodes[k].Gains = []float64{0, 0} // at the first decision, no action has a gain
	}
	tree.Nodes[2].Gains[0] = 0.5 // after none
	require.Equal(t, []string{"none", "deepen:0"}, sequenceOf(t, Gradient(), nil, tree))
}

// The plateau baseline finds the fall of the loss below which growing is best.
func TestGrowingOnAPlateau(t *testing.T) {
	flat := []float64{0, 0, 0, 0, 0, 0}
	a := curved(t, "a", "deepen:0", [2]float64{0.5, 0.1}, []float64{0.5, 0.7, 0.8, 0.4}, flat)
	p, err := Plateau([]*simulation.Tree{a})
	require.Equal(t, []string{"none", "deepen:0"}, sequenceOf(t, p, err, a))
	early := curved(t, "early", "deepen:0", [2]float64{0.1, 0.5}, []float64{0.5, 0.7, 0.8, 0.4}, flat)
	require.Equal(t, []string{"deepen:0", "none"}, sequenceOf(t, p, err, early))
	unknown := curved(t, "unknown", "deepen:0", [2]float64{0, 0.05}, []float64{0.5, 0.7, 0.8, 0.4}, flat)
	unknown.Nodes[0].Curve = decider.Curve{}
	p, err = Plateau([]*simulation.Tree{a, unknown})
	require.Equal(t, []string{"none", "deepen:0"}, sequenceOf(t, p, err, unknown), "before the first epoch")
	_, err = Plateau([]*simulation.Tree{oldTree(t)})
	require.ErrorContains(t, err, "no table has values \"fall\"")
}

// oldTree returns a tree without learning curves.
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
	a := curved(t, "a", "deepen:0", [2]float64{0.5, 0.1}, []float64{0.5, 0.7, 0.8, 0.4},
		[]float64{0.3, 0.2, 0.1, 0.4, 0.9, 0.9})
	require.Equal(t, []string{"deepen:0", "none"}, sequenceOf(t, OneEpoch(), nil, a))
	_, err := OneEpoch().Distribution(oldTree(t))
	require.ErrorContains(t, err, "no values \"after\"")
}

// A linear model finds a rule that depends on one feature.
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
	require.Equal(t, []string{"old", "ConvSmall", "synthetic", "10 s"},
		[]string{ByScenario([]*simulation.Tree{tree})(tree), ByNetwork(tree), ByDataset(tree), ByBudget(tree)})
	tree.Origin = &tables.Origin{Data: "0123456789"}
	require.Equal(t, "synthetic 012345", ByDataset(tree))
}

// If several sequences tie on the trees that select the best one, each gets an equal share, and the ties are counted.
func TestTiesOfTheBestFixedAreAveraged(t *testing.T) {
	flat := []float64{0, 0, 0, 0, 0, 0}
	inside := curved(t, "inside", "deepen:0", [2]float64{0.5, 0.1}, []float64{0.5, 0.8, 0.8, 0.4}, flat)
	outside := curved(t, "outside", "deepen:0", [2]float64{0.5, 0.1}, []float64{0.5, 0.6, 0.9, 0.3}, flat)
	for name, choose := range map[string]func() (Policy, error){
		"best fixed": func() (Policy, error) { return BestFixed("best fixed", []*simulation.Tree{inside}, false) },
		"with a tree as large": func() (Policy, error) {
			return BestFixed("best fixed", []*simulation.Tree{inside, inside}, false)
		},
	} {
		p, err := choose()
		require.NoError(t, err)
		require.Equal(t, 2, p.(named).Ties(), name)
		scores, err := Evaluate([]*simulation.Tree{outside}, p)
		require.NoError(t, err)
		require.InDelta(t, 0.75, scores[0].Accuracy, 1e-12, "%s: the mean of 0.6 and 0.9", name)
		require.InDelta(t, 15, scores[0].Regret, 1e-9)
		require.False(t, scores[0].Certain)
	}
	sure, err := BestFixed("best fixed", []*simulation.Tree{outside}, false)
	require.NoError(t, err)
	require.Equal(t, 1, sure.(named).Ties())
	candidates, err := BaselineCandidates([]*simulation.Tree{inside}, SeenOthers)
	require.NoError(t, err)
	c, err := Compare([]*simulation.Tree{outside}, candidates, "never")
	require.NoError(t, err)
	require.Equal(t, 2, c.Tables[0].Ties["best fixed"])
	require.NotContains(t, c.Tables[0].Ties, "never")
}

// Policies that look ahead draw among choices with equal prospects.
func TestLookingAheadDrawsAmongEquals(t *testing.T) {
	tree := curved(t, "a", "deepen:0", [2]float64{0.5, 0.1}, []float64{0.5, 0.7, 0.4, 0.7},
		[]float64{0.6, 0.6, 0, 0, 0.2, 0.3})
	shares, err := OneStep().Distribution(tree)
	require.NoError(t, err)
	require.Equal(t, []float64{0, 0.5, 0, 0.5}, shares, "each first choice, left alone, leads to 0.7")
	shares, err = OneEpoch().Distribution(tree)
	require.NoError(t, err)
	require.Equal(t, []float64{0.25, 0.25, 0, 0.5}, shares)
}

// A trailing none is dropped, so a sequence with and without it is one sequence.
func TestTheRestOfASequenceIsNoTie(t *testing.T) {
	require.Equal(t, []string{"a"}, withoutRest([]string{"a", tables.None, tables.None}))
	require.Empty(t, withoutRest([]string{tables.None}))
}

// withoutNone returns a tree of two decisions that offer the given actions, but not none.
func withoutNone(t *testing.T, actions []string, accuracies ...float64) *simulation.Tree {
	s := tables.Scenario{Name: "all grow", Network: "ConvSmall", Budget: 10, Decisions: 2, Actions: actions}
	var records []tables.Record
	for k, a := range accuracies {
		sequence := []string{actions[k/len(actions)], actions[k%len(actions)]}
		records = append(records, tables.Record{Sequence: sequence, Left: []float64{9, 5},
			Accuracy: []float64{a}, Seeds: []int64{1}, Loss: []float64{2, 1}, Fall: []float64{0.5, 0.1},
			Gap: []float64{0, 0.1}, After: []float64{0, 0}})
	}
	table, err := tables.New(s, records)
	require.NoError(t, err)
	tree, err := simulation.NewTree(table, simulation.TreeOptions{Surgery: net2net.Options{}})
	require.NoError(t, err)
	return tree
}

// A baseline that needs the action none has no result in a table without this action; it takes no other action.
func TestBaselinesNeedTheActionNone(t *testing.T) {
	flat := []float64{0, 0, 0, 0, 0, 0}
	usual := curved(t, "usual", "deepen:0", [2]float64{0.5, 0.1}, []float64{0.5, 0.7, 0.8, 0.4}, flat)
	bare := withoutNone(t, []string{"deepen:0", "deepen:2"}, 0.5, 0.7, 0.8, 0.4)
	for k := range bare.Nodes {
		bare.Nodes[k].Gains = []float64{0, 0} // no action has a gain
	}
	fixed, err := BestFixed("best fixed", []*simulation.Tree{usual}, false)
	require.NoError(t, err)
	action, err := BestAction("best fixed action", []*simulation.Tree{usual})
	require.NoError(t, err)
	rule, err := Plateau([]*simulation.Tree{usual})
	require.NoError(t, err)
	never := curved(t, "never", "deepen:0", [2]float64{0.5, 0.1}, []float64{0.1, 0.2, 0.3, 0.9}, flat)
	nothing, err := BestAction("best fixed action", []*simulation.Tree{never})
	require.NoError(t, err)
	for name, p := range map[string]Policy{"sequence": fixed, "plateau": rule, "gradient": Gradient(),
		"action none": nothing} {
		_, err := p.Distribution(bare)
		require.ErrorAs(t, err, new(noSequence), name)
		require.ErrorContains(t, err, "does not offer the action none", name)
	}
	require.Equal(t, []string{"deepen:0", "deepen:0"}, sequenceOf(t, action, nil, bare), "every decision offers it")

	fixed, err = BestFixed("best fixed", []*simulation.Tree{usual, bare}, false)
	require.Equal(t, []string{"none", "deepen:0"}, sequenceOf(t, fixed, err, usual), "in place of deepen:2")
	require.Equal(t, []string{"deepen:2", "deepen:0"}, sequenceOf(t, fixed, err, bare))
	fixed, err = BestFixed("best fixed", []*simulation.Tree{bare}, false)
	require.Equal(t, []string{"deepen:2", "deepen:0"}, sequenceOf(t, fixed, err, bare), "needs no action none")
}

// Baselines that cannot choose in a table are named with the reason, also if they cannot be fitted.
func TestMissingBaselinesHaveAReason(t *testing.T) {
	bare := withoutNone(t, []string{"deepen:0", "deepen:2"}, 0.5, 0.7, 0.8, 0.4)
	other := withoutNone(t, []string{"deepen:1"}, 0.5)
	candidates, err := BaselineCandidates([]*simulation.Tree{other, bare}, SeenThese)
	require.NoError(t, err)
	c, err := Compare([]*simulation.Tree{other, bare}, candidates, "optimum")
	require.NoError(t, err)
	var names []string
	for _, m := range c.Tables[1].Missing {
		require.NotEmpty(t, m.Why, m.Policy)
		names = append(names, m.Policy)
	}
	require.Contains(t, names, "never")
	require.Contains(t, names, "best fixed")
	require.Nil(t, c.Standing("best fixed"), "no sequence exists in both tables")
}
