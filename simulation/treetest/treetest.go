// Package treetest creates small trees for tests.
package treetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/net2net"
	"graft/simulation"
	"graft/simulation/tables"
	"graft/trainer/clock"
)

// Random returns a random tree for the network ConvSmall, with the given number of decisions. The accuracies follow a
// simple model plus noise with the given standard deviation.
func Random(t testing.TB, name string, decisions int, random *rand.Rand, noise float64) *simulation.Tree {
	s := tables.Scenario{Name: name, Network: "ConvSmall", Budget: 100, Decisions: decisions,
		Actions: []string{"deepen:0", "deepen:2", "none"}}
	worth := map[string]float64{"deepen:0": 0.02 + 0.04*random.Float64(), "deepen:2": 0.02 + 0.04*random.Float64()}
	var records []tables.Record
	for number := range int(math.Pow(float64(len(s.Actions)), float64(decisions))) {
		var sequence []string
		for range decisions {
			sequence = append([]string{s.Actions[number%len(s.Actions)]}, sequence...)
			number /= len(s.Actions)
		}
		r := tables.Record{Sequence: sequence, Seeds: []int64{1}}
		accuracy, counts := 0.5+noise*random.NormFloat64(), map[string]float64{}
		for at, a := range sequence {
			r.Left = append(r.Left, 90-20*float64(at))
			counts[a]++
			accuracy += worth[a] * (1 - 0.3*counts[a]) * float64(decisions-at) / float64(decisions)
		}
		r.Accuracy = []float64{accuracy}
		records = append(records, r)
	}
	table, err := tables.New(s, records)
	require.NoError(t, err)
	profile, err := clock.FindProfile("steady")
	require.NoError(t, err)
	tree, err := simulation.NewTree(table, simulation.TreeOptions{Surgery: net2net.Options{Compat: net2net.Off},
		Profile: profile})
	require.NoError(t, err)
	return tree
}

// FourActions lists the actions in the original system's tables of ConvNet2.
var FourActions = []string{"deepen:0", "deepen:1", "deepen:2", "none"}

// ConvNet2Table returns a table of sequences with two decisions, each of which has FourActions as its choices. It has
// one sequence for each given accuracy, in lexicographic order of the actions. The remaining times differ between
// sequences.
func ConvNet2Table(t testing.TB, accuracies ...float64) *tables.Table {
	var records []tables.Record
	for k, accuracy := range accuracies {
		records = append(records, tables.Record{Sequence: []string{FourActions[k/4], FourActions[k%4]},
			Left: []float64{300 - float64(k), 200 - float64(k)}, Accuracy: []float64{accuracy}, Seeds: []int64{42}})
	}
	table, err := tables.New(tables.Scenario{Name: "small", Network: "ConvNet2", Budget: 400, Decisions: 2,
		Actions: FourActions}, records)
	require.NoError(t, err)
	return table
}

// RandomTrees returns the given number of different random trees.
func RandomTrees(t testing.TB, count int) (trees []*simulation.Tree) {
	for k := range count {
		trees = append(trees, Random(t, fmt.Sprint("tree ", k), 2, rand.New(rand.NewPCG(uint64(k), 7)), 0.02))
	}
	return trees
}

// FromAccuracies returns a tree of two decisions with two actions each. Each list in accuracies holds the accuracies of
// one sequence in percent, one per seed.
func FromAccuracies(t testing.TB, name string, accuracies ...[]float64) *simulation.Tree {
	s := tables.Scenario{Name: name, Network: "ConvSmall", Budget: 10, Decisions: 2,
		Actions: []string{"deepen:0", "none"}}
	var records []tables.Record
	for k, list := range accuracies {
		r := tables.Record{Sequence: []string{s.Actions[k/2], s.Actions[k%2]}, Left: []float64{9, 5}}
		for seed, a := range list {
			r.Accuracy, r.Seeds = append(r.Accuracy, a/100), append(r.Seeds, int64(seed))
		}
		records = append(records, r)
	}
	table, err := tables.New(s, records)
	require.NoError(t, err)
	tree, err := simulation.NewTree(table, simulation.TreeOptions{})
	require.NoError(t, err)
	return tree
}
