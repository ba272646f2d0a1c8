package original

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"graft/model"
	"graft/net2net"
	"graft/simulation"
	"graft/simulation/evaluation"
	"graft/simulation/tables"
)

// ScenarioActions lists the actions of a table of the original system in the order of their numbers. The first actions
// deepen the network's original blocks, one action per block. The last action is "none".
func ScenarioActions(n *model.Network) []string {
	var actions []string
	for k := range net2net.OriginalBlocks(n) {
		actions = append(actions, net2net.Action{Kind: "deepen", Target: fmt.Sprint(k)}.String())
	}
	return append(actions, tables.None)
}

// Evaluation holds the decisions of a policy that always takes the most likely action.
type Evaluation struct {
	Table  *tables.Table
	Steps  []evaluation.Step
	Chosen *tables.Record
	// Ranking holds the records of the table by mean accuracy, best first. Records with equal accuracies keep the order
	// of the table.
	Ranking []*tables.Record
}

// Evaluate follows a policy through a table whose sequences start with the network n. It does not change the network.
// The table must be complete, and recorded with the original system's surgery.
func Evaluate(ctx context.Context, t *tables.Table, n *model.Network, p evaluation.StepPolicy) (*Evaluation, error) {
	tree, err := simulation.NewTree(t,
		simulation.TreeOptions{Network: n, Surgery: net2net.Options{Compat: net2net.Original}})
	if err != nil {
		return nil, fmt.Errorf("evaluate: %w", err)
	}
	e := &Evaluation{Table: t}
	if e.Steps, err = evaluation.Steps(tree, evaluation.Stepwise(ctx, "the policy", p)); err != nil {
		return nil, fmt.Errorf("evaluate: %w", err)
	}
	var sequence []string
	for _, s := range e.Steps {
		sequence = append(sequence, s.Action)
	}
	e.Chosen = t.Find(sequence...)
	for k := range t.Records {
		e.Ranking = append(e.Ranking, &t.Records[k])
	}
	slices.SortStableFunc(e.Ranking, func(a, b *tables.Record) int { return -cmp.Compare(a.Mean(), b.Mean()) })
	return e, nil
}

// WriteReport writes the report that the original system printed. The report consists of the network, the folders of
// the policy and of the table, each decision, and the ranking. In the ranking, the chosen sequence and the sequence
// without adaptation are marked.
func (e *Evaluation) WriteReport(w io.Writer, n *model.Network, policy, table string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n=== Model Folder ===\n%s\n\n=== Evaluation Folder ===\n%s\n", n, policy, table)
	for k, s := range e.Steps {
		var shares []string
		for _, a := range e.Table.Actions { // a pickle may have its sequences in any order
			shares = append(shares, fmt.Sprintf("%.4f", s.Probabilities[slices.Index(s.Actions, a)]))
		}
		fmt.Fprintf(&b, "=== Step %d ===\nAction: %d\nProbabilities: %s\n\n", k+1,
			slices.Index(e.Table.Actions, s.Action), strings.Join(shares, " "))
	}
	b.WriteString("=== Ranking ===\n")
	last, idle := len(e.Ranking)-1, e.Table.Repeated(tables.None)
	for k, r := range e.Ranking {
		mark := ""
		if r == e.Chosen || r == idle {
			mark = " ***"
		}
		fmt.Fprintf(&b, "rank %0*d: %s %s%s\n", len(fmt.Sprint(last)), k+1, numbered(e.Table, r.Sequence),
			model.PythonFloat(r.Mean()), mark)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// numbered formats a sequence by the original's numbers, like Python.
func numbered(t *tables.Table, sequence []string) string {
	var numbers []string
	for _, a := range sequence {
		numbers = append(numbers, fmt.Sprint(slices.Index(t.Actions, a)))
	}
	if len(numbers) == 1 {
		return "(" + numbers[0] + ",)"
	}
	return "(" + strings.Join(numbers, ", ") + ")"
}
