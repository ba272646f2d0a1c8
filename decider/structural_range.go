package decider

import (
	"math"
	"strings"

	"graft/net2net"
)

// margin is the distance from the training range at which an input counts as outside, relative to the width of the
// range.
const margin = 0.1

// allowances are minimum distances by input, for training tables that are alike: a factor of four in sizes, a factor of
// ten in numbers of steps and gains, a factor of two in growth and slowdown, and a quarter of a share. The inputs are
// logarithms or shares; see features.
var allowances = map[string]float64{
	"added_parameters": 2.0 / 16, "added_operations": 2.0 / 24, "parameters": 2.0 / 24, "operations": 2.0 / 32,
	"layers": 2.0 / 8, "step_seconds": 2.0 / 16, "steps_left": math.Ln10 / 10, "steps_after": math.Ln10,
	"growth_parameters": math.Ln2, "growth_operations": math.Ln2, "growth_layers": math.Ln2, "slowdown": math.Ln2,
	"loss": math.Ln2, "fall": math.Ln2, gainLevel: math.Ln10,
}

// shareAllowance is the allowance of all other inputs, which are shares.
const shareAllowance = 0.25

// Outside returns the names of the inputs whose values lie outside of the range in the training data, for all choices
// except "none". It returns nil for a policy whose file has no range.
func (p *Structural) Outside(s Situation) (names []string) {
	if p.Rows.Low == nil {
		return nil
	}
	inputs := features
	if len(p.Forest) > 0 {
		inputs = forestFeatures
	}
	rows := s.rows(inputs)
	for k, input := range inputs {
		wave := strings.HasPrefix(input.name, wavePrefix) // an encoding of the input "left"
		if wave || p.Rows.Deviation[k] == 0 {
			continue
		}
		allowed, known := allowances[input.name]
		if !known {
			allowed = shareAllowance
		}
		if p.Rows.excludes(k, max(allowed, margin*(p.Rows.High[k]-p.Rows.Low[k])), rows, s.Choices) {
			names = append(names, input.name)
		}
	}
	return names
}

// excludes reports whether an input of every choice lies outside of the range by more than a distance. An unknown value
// is inside.
func (s Scale) excludes(input int, far float64, rows [][]float64, choices []Choice) bool {
	outside := false
	for k, row := range rows {
		v := row[input]
		if choices[k].Action.Kind == net2net.None && len(choices) > 1 {
			continue
		}
		if math.IsNaN(v) || v >= s.Low[input]-far && v <= s.High[input]+far {
			return false
		}
		outside = true
	}
	return outside
}
