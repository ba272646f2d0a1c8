package net2net

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"graft/internal/registry"
	"graft/model"
	"graft/tracing"
)

// Kind names a surgery operation. The zero Kind, None, does nothing.
type Kind string

// None keeps the network unchanged.
const None Kind = ""

// Action is an operation with its target. The zero Action does nothing.
type Action struct {
	Kind   Kind   `json:"kind"`             // operation, such as deepen; empty means none
	Target string `json:"target,omitempty"` // name or number of a block, or path of a layer
	// number of channels or pixels, depending on the kind; zero means the kind's default
	Size int `json:"size,omitempty"`
}

// String formats the action in the notation of ParseAction, such as widen:conv2:48.
func (a Action) String() string {
	switch {
	case a.Kind == None:
		return "none"
	case a.Size == 0:
		return string(a.Kind) + ":" + a.Target
	default:
		return fmt.Sprintf("%s:%s:%d", a.Kind, a.Target, a.Size)
	}
}

// ParseAction parses an action such as deepen:1, widen:conv2:48 or none.
func ParseAction(text string) (Action, error) {
	if text == "none" {
		return Action{}, nil
	}
	parts := strings.Split(text, ":")
	op, err := find(Kind(parts[0]))
	if err != nil {
		return Action{}, fmt.Errorf("action %q: %w", text, err)
	}
	if len(parts) < 2 || len(parts) > 3 || parts[1] == "" {
		return Action{}, fmt.Errorf("action %q: expected %s", text, op.usage)
	}
	a := Action{Kind: op.kind, Target: parts[1]}
	if len(parts) == 3 {
		if a.Size, err = strconv.Atoi(parts[2]); err != nil || a.Size < 1 || a.validate() != nil {
			return Action{}, fmt.Errorf("action %q: %q is not a size; expected %s", text, parts[2], op.usage)
		}
	}
	return a, nil
}

// largest limits sizes in channels or pixels.
const largest = 1 << 20

func (a Action) validate() error {
	if a.Size < 0 || a.Size > largest {
		return fmt.Errorf("size is %d; must be between 0 and %d", a.Size, largest)
	}
	return nil
}

// operation implements a kind of surgery.
type operation struct {
	kind  Kind
	usage string
	about string
	apply func(e *edit, a Action) error
	// revert undoes a change of this kind.
	revert func(e *edit, c *Change) error
	// propose lists the actions that fit a network.
	propose func(t *tracing.Trace) []Action
}

// Listing returns the kind, which is the first part of an action, and a one-line description.
func (op operation) Listing() (name, about string) { return string(op.kind), op.about }

// operations lists all operations: a new operation is a new file and a line here.
func operations() registry.List[operation] {
	return registry.List[operation]{deepening, widening, kernels, branches}
}

func find(kind Kind) (operation, error) {
	op, found := operations().Find(string(kind))
	if !found {
		return op, fmt.Errorf("unknown operation %q; expected one of: none, %s", string(kind),
			strings.Join(operations().Names(), ", "))
	}
	return op, nil
}

// Kinds lists all surgery operations.
func Kinds() []Kind {
	var kinds []Kind
	for _, op := range operations() {
		kinds = append(kinds, op.kind)
	}
	return kinds
}

// Usage returns one line of help per operation: its syntax and its effect.
func Usage() [][2]string {
	lines := [][2]string{{"none", "do not change the network"}}
	for _, op := range operations() {
		lines = append(lines, [2]string{op.usage, op.about})
	}
	return lines
}

// Proposals lists actions of every kind that fit a network, in a fixed order, for the default options.
func Proposals(n *model.Network) ([]Action, error) { return ProposalsOf(n, Auto) }

// ProposalsOf lists actions like Proposals, for a form of new blocks. The form selects among the blocks of a network
// that runs as a graph, and has no effect on other networks.
func ProposalsOf(n *model.Network, form Form) ([]Action, error) {
	if n.Graph != nil {
		return proposeGraph(n.Graph, form)
	}
	t, err := tracing.Read(n)
	if err != nil {
		return nil, err
	}
	var actions []Action
	for _, op := range operations() {
		actions = slices.Concat(actions, op.propose(t))
	}
	return actions, nil
}
