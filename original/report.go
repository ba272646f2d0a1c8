package original

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"graft/model"
	"graft/net2net"
	"graft/simulation/evaluation"
	"graft/simulation/tables"
)

// ScenarioActions lists the actions behind the numbers in a table of the original: to
// deepen each of the blocks that its network was made with, and last, no action.
func ScenarioActions(n *model.Network) []string {
	var actions []string
	for k := range net2net.OriginalBlocks(n) {
		actions = append(actions, net2net.Action{Kind: "deepen", Target: fmt.Sprint(k)}.String())
	}
	return append(actions, net2net.Action{}.String())
}

// WriteReport writes the report that the original printed: the network, the folders
// of the policy and of the table, each decision, and the ranking, in which the chosen
// sequence and the one without adaptation are marked.
func WriteReport(e *evaluation.Path, w io.Writer, n *model.Network, policy, table string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n=== Model Folder ===\n%s\n\n=== Evaluation Folder ===\n%s\n", n, policy, table)
	for k, s := range e.Steps {
		var shares []string
		for _, p := range s.Probabilities {
			shares = append(shares, fmt.Sprintf("%.4f", p))
		}
		fmt.Fprintf(&b, "=== Step %d ===\nAction: %d\nProbabilities: %s\n\n", k+1, s.Number, strings.Join(shares, " "))
	}
	b.WriteString("=== Ranking ===\n")
	last, idle := len(e.Ranking)-1, e.NoAdaptation()
	for k, r := range e.Ranking {
		mark := ""
		if r == e.Chosen || r == idle {
			mark = " ***"
		}
		fmt.Fprintf(&b, "rank %0*d: %s %s%s\n", len(fmt.Sprint(last)), k+1, legacyTuple(e.Table, r.Sequence), model.PythonFloat(r.Mean()), mark)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// legacyTuple is a sequence by the original's numbers, as Python prints it.
func legacyTuple(t *tables.Table, sequence []string) string {
	var numbers []string
	for _, a := range sequence {
		numbers = append(numbers, fmt.Sprint(slices.Index(t.Actions, a)))
	}
	if len(numbers) == 1 {
		return "(" + numbers[0] + ",)"
	}
	return "(" + strings.Join(numbers, ", ") + ")"
}
