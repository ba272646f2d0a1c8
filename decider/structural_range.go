package decider

import (
	"math"
	"strings"

	"graft/net2net"
)

// margin is the distance from the training range at which an input counts as outside, relative to the width of the
// range.
const margin = 0.1

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
		if !wave && p.Rows.Deviation[k] > 0 && p.Rows.excludes(k, rows, s.Choices) {
			names = append(names, input.name)
		}
	}
	return names
}

// excludes reports whether an input of every choice lies outside of the range. An unknown value is inside.
func (s Scale) excludes(input int, rows [][]float64, choices []Choice) bool {
	far := margin * (s.High[input] - s.Low[input])
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
