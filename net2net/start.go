package net2net

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"graft/internal/validate"
	"graft/model"
	"graft/net2net/rewrite"
	"graft/net2net/starts"
	"graft/torch"
)

// Start names the way in which the new units of a wider layer start. Empty means "copies".
type Start string

// Copies starts new units as copies of existing units.
const Copies Start = starts.Copies

// Starts lists all starts of new units.
func Starts() []Start {
	names := []Start{""}
	for _, name := range starts.Kinds().Names() {
		names = append(names, Start(name))
	}
	return names
}

// kind is the registered kind of a start.
func (t Start) kind() (starts.Kind, error) {
	if t == "" {
		t = Copies
	}
	return starts.Kinds().Named("start of new units", string(t))
}

// NeedsData reports whether a start needs training data.
func (t Start) NeedsData() bool {
	kind, err := t.kind()
	return err == nil && kind.NeedsData()
}

// started records the start of a change.
func (c *Change) started(o Options) {
	if c.Action.Kind == widening.kind && o.Start.NeedsData() {
		c.Start, c.Amplitude = o.Start, o.Amplitude
	}
}

// startable checks the options of new units.
func (o Options) startable(n *model.Network, a Action) error {
	if _, err := o.Start.kind(); err != nil {
		return err
	}
	if a.Kind != widening.kind {
		return nil
	}
	if err := errors.Join(o.ValidateStart(), o.CheckCopies(n)); err != nil {
		return err
	}
	switch {
	case o.Start.NeedsData() && n.Scope() != nil && o.replay == nil && (o.Batch == nil || o.Loss == nil):
		return fmt.Errorf("new_units is %q, which needs training data with labels; train the network in a job, "+
			"or use new_units = %q", o.Start, Copies)
	}
	return nil
}

// ValidateStart returns an error for options of new units that do not fit each other.
func (o Options) ValidateStart() error {
	var faults validate.Faults
	faults.When(o.Amplitude < 0, "amplitude is %v; must not be negative", o.Amplitude)
	faults.When(o.Noise > 0 && o.Start.NeedsData(), "noise applies only to copied units, but new_units is %q; "+
		"remove noise, or use new_units = %q", string(o.Start), Copies)
	faults.When(o.Split != "" && o.Start.NeedsData(), "split applies only to copied units, but new_units is %q; "+
		"remove split, or use new_units = %q", string(o.Start), Copies)
	return errors.Join(faults...)
}

// refused is the error of a start that does not fit the layers.
func (o Options) refused(format string, args ...any) error {
	return fmt.Errorf("new_units is %q, but %w; use new_units = %q, or widen another layer", o.Start,
		fmt.Errorf(format, args...), Copies)
}

// CrossEntropy returns the mean cross-entropy for Options.Loss, without label smoothing. The labels are int64, one for
// each example or for each token. Labels of -100 do not count.
func CrossEntropy(labels *torch.Tensor) func(s *torch.Scope, outputs *torch.Tensor) *torch.Tensor {
	return func(s *torch.Scope, outputs *torch.Tensor) *torch.Tensor {
		if shape := outputs.Shape(); len(shape) == 3 && len(labels.Shape()) == 2 {
			return s.CrossEntropy(s.Reshape(outputs, -1, shape[2]), s.Reshape(labels, -1))
		}
		return s.CrossEntropy(outputs, labels)
	}
}

// onTwin runs a function on a copy of the network, whose parameters record no gradients.
func onTwin(n *model.Network, o Options, do func(s *torch.Scope, twin *model.Network) error) error {
	if o.Batch == nil || o.Loss == nil {
		return errors.New("the gradient of the loss is needed; pass a batch of training data and its loss")
	}
	return torch.With(func(s *torch.Scope) error {
		twin, err := n.Clone(s)
		if err != nil {
			return err
		}
		for _, e := range twin.Trained() {
			s.RequireGrad(e.Tensor, false)
		}
		if err := do(s, twin); err != nil {
			return err
		}
		return s.Err()
	})
}

// taps are the programs that a segment's statistics come from.
type taps struct {
	input, hidden, output func() (*torch.Program, error) // programs that end at the segment's values
	shifted               func(by *torch.Tensor) (*torch.Program, error)
}

// measured sets the statistics of a segment.
func (o Options) measured(s *torch.Scope, g *starts.Segment, t taps) error {
	read := func(make func() (*torch.Program, error)) (*torch.Tensor, error) {
		p, err := make()
		if err != nil {
			return nil, err
		}
		defer p.Close()
		var x *torch.Tensor
		s.NoGrad(func() { x = p.Forward(s, o.Batch, true, nil) })
		return x, s.Err()
	}
	var err error
	if g.Inputs, err = read(t.input); err != nil {
		return err
	}
	if g.Hidden, err = read(t.hidden); err != nil {
		return err
	}
	output, err := read(t.output)
	if err != nil {
		return err
	}
	by := s.RequireGrad(s.Scale(output, 0, 0), true)
	program, err := t.shifted(by)
	if err != nil {
		return err
	}
	s.Backward(o.Loss(s, program.Forward(s, o.Batch, true, nil)))
	g.Gradient = s.Detach(s.Grad(by))
	g.Loss = func(shift *torch.Tensor) (float64, error) {
		loss, err := 0.0, error(nil)
		s.NoGrad(func() {
			s.Copy(by, shift)
			loss, err = o.Loss(s, program.Forward(s, o.Batch, true, nil)).Item()
		})
		return loss, errors.Join(err, s.Err())
	}
	return s.Err()
}

// grownUnits is the outcome of a start: the new units' values for each tensor, by the tensor's part in the segment.
type grownUnits struct {
	units                         []int // mapping of units, as in Change.Units
	weight, bias, next            []rewrite.Added
	scale, shift, mean, deviation []rewrite.Added // of a normalisation; the deviation is the running variance
	notes                         []string
}

// units computes new units of a segment.
func (o Options) units(s *torch.Scope, g *starts.Segment, old, now int, eps float64) (*grownUnits, error) {
	kind, err := o.Start.kind()
	if err != nil {
		return nil, err
	}
	u, err := kind.Start(s, g, starts.Request{Count: now - old, Amplitude: o.Amplitude, Seed: o.Seed})
	if err != nil {
		return nil, fmt.Errorf("start new units: %w", err)
	}
	out := &grownUnits{units: mappingOf(old, u.Splits), notes: u.Notes}
	fresh := span(old, now)
	values := u.In
	var parents []int
	for k, parent := range u.Splits {
		if parent >= 0 {
			parents, values = append(parents, parent), append(values, negative(u.In[k]))
		}
	}
	out.weight = []rewrite.Added{{At: 0, Slices: slices.Concat(fresh, parents), Values: slices.Concat(values...)}}
	if u.Bias != nil {
		out.bias = []rewrite.Added{{At: 0, Slices: fresh, Values: u.Bias}}
	}
	p := g.Positions()
	out.next = []rewrite.Added{{At: 1, Slices: span(old*p, now*p), Values: g.Columns(u.Out)}}
	if g.Normed {
		mean, variance, err := g.Statistics(s, u)
		if err != nil {
			return nil, err
		}
		out.undo(fresh, mean, variance, eps)
	}
	return out, nil
}

// undo makes the normalisation of new units an identity on the batch.
func (g *grownUnits) undo(fresh []int, mean, variance []float64, eps float64) {
	scale := make([]float64, len(variance))
	for k, v := range variance {
		scale[k] = math.Sqrt(v + eps)
	}
	added := func(values []float64) []rewrite.Added {
		return []rewrite.Added{{At: 0, Slices: fresh, Values: values}}
	}
	g.scale, g.shift, g.mean, g.deviation = added(scale), added(mean), added(mean), added(variance)
}

// mappingOf returns the mapping of units, in which old units map to themselves.
func mappingOf(old int, splits []int) []int { return slices.Concat(span(0, old), splits) }

// span returns the numbers from a number to another, which is excluded.
func span(from, to int) []int {
	all := make([]int, 0, to-from)
	for k := from; k < to; k++ {
		all = append(all, k)
	}
	return all
}

func negative(v []float64) []float64 {
	out := make([]float64, len(v))
	for k, x := range v {
		out[k] = -x
	}
	return out
}
