package graph

import (
	"fmt"
	"strings"
)

// Unmapped is an error that lists the operators of a network that graft does not support.
type Unmapped []Miss

// Miss describes an operator that graft does not support.
type Miss struct {
	Operator string `json:"operator"` // name of the operator in the file
	Module   string `json:"module"`   // path of the module whose code calls the operator; empty for the network itself
	Advice   string `json:"advice"`   // suggested remedy
}

// Error lists the operators, one per line.
func (u Unmapped) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "operators of the network that cannot be mapped: %d", len(u))
	for k, m := range u {
		if k == mostFaults {
			fmt.Fprintf(&b, "\n  and %d more", len(u)-k)
			break
		}
		module := m.Module
		if module == "" {
			module = "the network itself"
		}
		fmt.Fprintf(&b, "\n  %.100s in %.200s: %s", m.Operator, module, m.Advice)
	}
	return b.String()
}
