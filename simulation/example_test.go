package simulation_test

import (
	"fmt"
	"slices"

	"graft/simulation"
	"graft/simulation/tables"
)

// outcomes returns a table of two decisions, with an accuracy for every sequence of its actions.
func outcomes() (*tables.Table, error) {
	const grow, keep = "deepen:conv1", tables.None
	scenario := tables.Scenario{Name: "two", Network: "ConvSmall", Budget: 60, Decisions: 2,
		Actions: []string{grow, keep}}
	record := func(first, second string, accuracy float64) tables.Record {
		return tables.Record{Sequence: []string{first, second}, Left: []float64{40, 10}, Accuracy: []float64{accuracy},
			Seeds: []int64{1}}
	}
	return tables.New(scenario, []tables.Record{record(grow, grow, 0.73), record(grow, keep, 0.77),
		record(keep, grow, 0.71), record(keep, keep, 0.74)})
}

// A policy that grows the network while half of the budget is left takes the best sequence of this table.
func ExampleTree() {
	table, err := outcomes()
	if err != nil {
		fmt.Println(err)
		return
	}
	tree, err := simulation.NewTree(table, simulation.TreeOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	record := tree.Follow(func(node int) int {
		n := tree.Nodes[node]
		choice := slices.Index(n.Actions(), tables.None)
		if n.Left >= n.Budget/2 {
			choice = 0
		}
		fmt.Printf("%v left, %d parameters: %s\n", n.Left, n.Parameters, n.Actions()[choice])
		return choice
	})
	accuracies := simulation.MeanAccuracies(table)
	regret := simulation.Points * (slices.Max(accuracies) - accuracies[record])
	fmt.Printf("accuracy %.2f, regret %.0f points\n", accuracies[record], regret)
	// Output:
	// 40s left, 14826 parameters: deepen:conv1
	// 10s left, 17178 parameters: none
	// accuracy 0.77, regret 0 points
}
