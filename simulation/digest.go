package simulation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Digest is a SHA-256 in hexadecimal of everything that learning from the tree depends
// on: sequences, accuracies, and what a policy sees at each decision.
func (t *Tree) Digest() string {
	h := sha256.New()
	scenario := t.Scenario
	scenario.Origin = nil // is a pointer, whose target counts
	fmt.Fprintf(h, "%+v\n", scenario)
	if t.Origin != nil {
		fmt.Fprintf(h, "%s %s %s %d\n", t.Origin.Form, t.Origin.Deepen, t.Origin.Compat, t.Origin.Batch)
	}
	for _, r := range t.Records {
		fmt.Fprintln(h, r.Sequence, r.Left, r.Accuracy)
	}
	for _, n := range t.Nodes {
		fmt.Fprintln(h, n.Left, n.Budget, n.Step, n.Parameters, n.Operations, n.Layers, n.Structure.Tokens, n.Structure.Before, n.Structure.After, n.Next)
		for _, c := range n.Choices {
			fmt.Fprintln(h, c.Action, c.Tokens, c.Parameters, c.Operations)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
