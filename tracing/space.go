package tracing

import (
	"fmt"
	"slices"
	"strings"
)

// Space is a set of channels whose number surgery can only change together, throughout the network.
type Space struct {
	Index   int      // position of the space in the trace
	Units   int      // number of units, which are runs of channels that can be copied alone
	Makers  []*Layer // layers that create the channels, in execution order
	Keepers []*Layer // layers with weights or groups that pass the space on
	Users   []*Layer // layers that sum over the space
	Fixed   []string // reasons why the space cannot change; empty if it can
	Ties    []Tie    // layers because of which units are larger than a channel

	parent *Space // space that it was united with
}

// Tie is a layer that processes channels in groups, such as a grouped convolution.
type Tie struct {
	Layer *Layer
	Runs  int // number of runs of channels in the layer
}

func (s *Space) root() *Space {
	for s.parent != nil {
		s = s.parent
	}
	return s
}

func (s *Space) fix(why string) {
	if !slices.Contains(s.Fixed, why) {
		s.Fixed = append(s.Fixed, why)
	}
}

// tie enlarges units to whole runs. A layer that works on each channel separately, such as a depthwise convolution,
// keeps them.
func (s *Space) tie(l *Layer, runs, size int) {
	s.Units = gcd(s.Units, runs)
	if size > 1 {
		s.Ties = append(s.Ties, Tie{l, runs})
	}
}

// unite merges two spaces; the one that opened first stays.
func (s *Space) unite(other *Space) {
	a, b := s.root(), other.root()
	if a == b {
		return
	}
	if b.Index < a.Index {
		a, b = b, a
	}
	b.parent = a
	a.Units = gcd(a.Units, b.Units)
	a.Ties = append(a.Ties, b.Ties...)
	for _, why := range b.Fixed {
		a.fix(why)
	}
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Name returns the names of the layers that create the channels of the space, or "input" for the channels of the
// network's input.
func (s *Space) Name() string {
	if len(s.Makers) == 0 {
		return "input"
	}
	names := make([]string, len(s.Makers))
	for k, l := range s.Makers {
		names[k] = l.At.Path
	}
	return strings.Join(names, "+")
}

// Target converts a requested number of channels on an edge (want) to a number of units, which are the smallest groups
// of channels that can be copied. The parameter now is the current number of channels on the edge. If the channels
// cannot have this number, the error states the reason, such as a layer that processes channels in groups.
func (s *Space) Target(now, want int) (int, error) {
	size := now / s.Units
	switch {
	case len(s.Fixed) > 0:
		return 0, fmt.Errorf("the channels cannot change: %s", strings.Join(s.Fixed, ", and "))
	case want <= now:
		return 0, fmt.Errorf("the output already has %d channels; the new number must be larger, got %d", now, want)
	case want%size != 0:
		next := (want/size + 1) * size
		would := fmt.Sprintf("use %d", next)
		if next-size > now {
			would = fmt.Sprintf("use %d or %d", next-size, next)
		}
		return 0, fmt.Errorf("the number of channels must change by a multiple of %d, %s; %s", size, s.tied(), would)
	}
	return want / size, nil
}

// tied lists the layers that determine the size of units.
func (s *Space) tied() string {
	var words []string
	for _, tie := range s.Ties {
		words = append(words, fmt.Sprintf("%s (%s)", tie.Layer.At.Path, tie.Layer.Leaf.Layer))
	}
	if len(words) == 0 {
		return "because sums tie them to fewer channels, spread over positions"
	}
	return "because they are processed together by " + strings.Join(words, " and ")
}
