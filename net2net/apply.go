package net2net

import (
	"fmt"

	"graft/model"
	"graft/net2net/rewrite"
	"graft/torch"
	"graft/tracing"
)

// Form selects the structure and the initial weights of a new block, which determine whether and how the network's
// function is preserved.
type Form string

// Forms of new blocks. The zero Form means Identity if the activation is idempotent and batch normalisation can be
// calibrated, and Residual otherwise.
const (
	Auto     Form = ""
	Identity Form = "identity" // layer that passes its input on
	Residual Form = "residual" // branch that begins at zero and is added to its input
	// pairs of branches that cancel each other, so all layers learn at once; only for graphs
	Opposite Form = "opposite"
	Stacked  Form = "stacked" // unmodified copies of blocks, which change the function; only for graphs
)

// Forms lists all forms of new blocks.
func Forms() []Form { return []Form{Auto, Identity, Residual, Opposite, Stacked} }

// Options holds the options of surgery operations. Networks with batch normalisation need a Batch; for other networks,
// the zero value is enough.
type Options struct {
	// Batch holds inputs that resemble the training data. New batch normalisations are calibrated on this batch, so
	// that the network's function stays the same in train mode. A batch needs at least two values per channel; 64
	// images are enough.
	Batch *torch.Tensor
	// Seed seeds the random choice of the channels to copy, and the values of random tensors.
	Seed uint64
	// Standard deviation of the normal noise that is added to copied weights to break the symmetry between copies,
	// relative to the root mean square of the weight tensor. Zero, the default, adds no noise, so the network's
	// function stays exactly the same.
	Noise float64
	// Division of the weights that read a unit among the copies of the unit. Every value keeps the network's function.
	// "partition" gives each weight to one copy, drawn at random, so that copies get different gradients. "shares"
	// gives each copy a share of all weights, drawn at random; it needs a network that runs as a graph of operators.
	// "equal" gives all copies equal shares, as Net2Net. With "shares", and with "equal" unless noise is set, copies
	// stay nearly equal under Adam and its variants. Empty means "partition".
	Split SplitRule `json:",omitempty"`
	// Form of a new block. "identity" inserts an identity layer. "residual" adds a branch that begins at zero.
	// "opposite" adds pairs of units that cancel each other. "stacked" adds unmodified copies of blocks, so the
	// network's function changes. "opposite" and "stacked" require a network that runs as a graph of operators, such as
	// an imported network. Empty means "residual" for such a network. For other networks, empty means "identity" if
	// that form is possible, and "residual" if not.
	Form Form
	// Version of the deepen operation: "original" inserts layers as in the original system, including its bugs;
	// "original-without-norm" inserts the same layers without batch normalisation. Empty means graft's version.
	Compat Compat
	// Start of new units when a layer is widened. "copies" copies existing units. "gradmax" sets one side of a new unit
	// to zero and the other side to the direction with the largest gradient. "firefly" takes the best of random units
	// and splits of units. "tiny" fits new units to the gradient that existing weights cannot follow, which changes the
	// network's function. Starts other than "copies" use the gradient on a batch of training data, and need one layer
	// that makes the units and one that reads them. Empty means "copies".
	Start Start `config:"new_units" json:",omitempty"`
	// Size of the weights of new units. With new_units = "gradmax", it multiplies their norm, which is the mean norm of
	// existing units; zero means 1. With "firefly", it is the size of outgoing weights and of perturbations, relative
	// to existing units; zero keeps the function exactly. With "tiny", it is the size of the step; zero searches for
	// the power of two with the smallest loss. "copies" ignores it.
	Amplitude float64 `json:",omitempty"`
	// Loss returns the mean loss of the network's outputs on Batch, as a tensor with one value that records gradients.
	// Starts other than copies need it, and Gain.
	Loss func(s *torch.Scope, outputs *torch.Tensor) *torch.Tensor `json:"-"`

	replay *Change // record whose random choices are repeated
}

// Apply executes an action on a network. If the action is impossible, Apply returns an error and leaves the network
// unchanged. For a network without weights, only the shapes change.
func Apply(n *model.Network, a Action, o Options) (*Change, error) {
	if err := o.startable(n, a); err != nil {
		return nil, fmt.Errorf("%s on %s: %w", a, n.Name(), err)
	}
	if n.Graph != nil {
		change, err := applyGraph(n, a, o)
		if err != nil {
			return nil, fmt.Errorf("%s on %s: %w", a, n.Name(), err)
		}
		return change, nil
	}
	change := &Change{Action: a, Seed: o.Seed, Noise: o.Noise, Compat: o.Compat, Form: o.Form}
	change.started(o)
	change.recordSplit(o)
	err := transact(n, change, o, func(e *edit) error {
		if a.Kind == None {
			return nil
		}
		op, err := find(a.Kind)
		if err != nil {
			return err
		}
		if err := a.validate(); err != nil {
			return err
		}
		if o.Compat != Off {
			return compat(e, a)
		}
		return op.apply(e, a)
	})
	if err != nil {
		return nil, fmt.Errorf("%s on %s: %w", a, n.Name(), err)
	}
	return change, nil
}

// Replay repeats a recorded operation on a network with the same architecture and possibly other weights. Random
// choices come from the record. Calibration uses o.Batch, or the statistics in the record if o.Batch is nil.
func Replay(n *model.Network, record *Change, o Options) (*Change, error) {
	if err := expect(n, record.Before, record.Action.String()); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	o.Seed, o.Noise, o.Compat, o.Form, o.replay = record.Seed, record.Noise, record.Compat, record.Form, record
	o.Start, o.Amplitude, o.Split = record.Start, record.Amplitude, record.recordedSplit(n)
	return Apply(n, record.Action, o)
}

// Revert undoes a change: it restores the previous architecture and keeps the learned values that fit it. Pass the
// returned record to Optimizer.Follow.
func Revert(n *model.Network, c *Change) (*Change, error) {
	back := &Change{Action: c.Action}
	if err := expect(n, c.After, c.Action.String()); err != nil {
		return nil, fmt.Errorf("revert %s: %w", c.Action, err)
	}
	if n.Graph != nil {
		back, err := revertGraph(n, c)
		if err != nil {
			return nil, fmt.Errorf("revert %s on %s: %w", c.Action, n.Name(), err)
		}
		return back, nil
	}
	err := transact(n, back, Options{}, func(e *edit) error {
		if !c.grew() {
			return nil
		}
		op, err := find(c.Action.Kind)
		if err != nil {
			return err
		}
		return op.revert(e, c)
	})
	if err != nil {
		return nil, fmt.Errorf("revert %s on %s: %w", c.Action, n.Name(), err)
	}
	return back, nil
}

// Shrink reverts recorded changes, from the last to the first, until the number of remaining changes equals the
// argument keep.
func Shrink(n *model.Network, record []*Change, keep int) ([]*Change, error) {
	if keep < 0 || keep > len(record) {
		return nil, fmt.Errorf("shrink %s: cannot keep %d changes, because the record has only %d", n.Name(), keep,
			len(record))
	}
	var back []*Change
	for k := len(record) - 1; k >= keep; k-- {
		c, err := Revert(n, record[k])
		if err != nil {
			return back, err
		}
		back = append(back, c)
	}
	return back, nil
}

// edit is an operation in progress on a sketch of the network.
type edit struct {
	Options
	net    *model.Network // sketch of the network
	trace  *tracing.Trace // trace of the sketch before the operation
	s      *torch.Scope   // scope of the new tensors; nil in a network without weights
	change *Change
	moves  map[slotKey]Move
	donors map[slotKey]slotKey
	added  map[slotKey][]rewrite.Added // weights of new units
}

// slotKey is a tensor of a leaf.
type slotKey struct {
	leaf *model.Leaf
	at   int
}

// transact runs body on a sketch, and adopts the result on success.
func transact(n *model.Network, c *Change, o Options, body func(*edit) error) error {
	e := &edit{Options: o, net: n.Sketch(), change: c, moves: map[slotKey]Move{}, donors: map[slotKey]slotKey{},
		added: map[slotKey][]rewrite.Added{}}
	var err error
	if e.trace, err = tracing.Read(e.net); err != nil {
		return err
	}
	c.Before = Fingerprint(n)
	before := e.net.State()
	if n.Scope() == nil {
		err = body(e)
	} else {
		err = torch.With(func(s *torch.Scope) error {
			e.s = s
			if err := body(e); err != nil {
				return err
			}
			if s.Err() != nil {
				return s.Err()
			}
			if err := e.net.Check(); err != nil {
				return err
			}
			return adopt(s, n, before, e.net.State())
		})
	}
	if err != nil {
		return err
	}
	n.Root = e.net.Root
	c.After = Fingerprint(n)
	e.record(before)
	return nil
}

// adopt moves new tensors to the network's scope and frees the dropped ones.
func adopt(s *torch.Scope, n *model.Network, before, after []model.Entry) error {
	had := make(map[*torch.Tensor]bool, len(before))
	for _, b := range before {
		had[b.Tensor] = true
	}
	for _, a := range after {
		if !had[a.Tensor] {
			s.Keep(n.Scope(), a.Tensor)
		}
		delete(had, a.Tensor)
	}
	if s.Err() != nil {
		return s.Err()
	}
	for t := range had {
		n.Scope().Free(t)
	}
	return n.Scope().Err()
}

// record lists the moves under the names from before and after.
func (e *edit) record(before []model.Entry) {
	names := make(map[slotKey]string, len(before))
	for _, b := range before {
		names[slotKey{b.Leaf, b.At}] = b.Name
	}
	used := make(map[string]bool)
	for _, a := range e.net.State() {
		key := slotKey{a.Leaf, a.At}
		m, moved := e.moves[key]
		if !moved {
			m.Fate = Kept
		}
		m.Name, m.From = a.Name, names[key]
		if donor, ok := e.donors[key]; ok {
			m.Donor = names[donor]
		}
		used[m.From] = true
		e.change.Moves = append(e.change.Moves, m)
	}
	for _, b := range before {
		if !used[b.Name] {
			e.change.Gone = append(e.change.Gone, b.Name)
		}
	}
}

// note adds a remark for people.
func (e *edit) note(format string, args ...any) {
	e.change.Notes = append(e.change.Notes, fmt.Sprintf(format, args...))
}
