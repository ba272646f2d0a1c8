package decider

import (
	"fmt"
	"math"
	"time"

	"graft/net2net"
)

// Situation is the input of a structural policy. The policy takes the network from Observation, and ignores the network
// in State.
type Situation struct {
	*Observation
	State
	// duration of a training step after each choice, zero if unknown; nil means that all durations are unknown
	After []time.Duration
	// gain of each choice, as in State.Gain, and zero for a choice without a gain; nil means unknown
	Gains []float64
}

// feature is a number of magnitude one that describes a choice in a situation; NaN means unknown.
type feature struct {
	name  string
	value func(c Choice, s Situation) float64
}

// cycles is the number of sine waves over the budget that encode the time.
const cycles = 2

// features describe the action first, then the state.
var features = append([]feature{
	{"deepen", func(c Choice, _ Situation) float64 { return yes(c.Action.Kind == "deepen") }},
	{"widen", func(c Choice, _ Situation) float64 { return yes(c.Action.Kind == "widen") }},
	{"none", func(c Choice, _ Situation) float64 { return yes(c.Action.Kind == net2net.None) }},
	{"added_parameters", func(c Choice, _ Situation) float64 { return scale2(float64(c.Parameters), 16) }},
	{"added_operations", func(c Choice, _ Situation) float64 { return scale2(float64(c.Operations), 24) }},
	{"growth_parameters", func(c Choice, s Situation) float64 {
		return growth(float64(c.Parameters), float64(s.Parameters))
	}},
	{"growth_operations", func(c Choice, s Situation) float64 {
		return growth(float64(c.Operations), float64(s.Operations))
	}},
	{"left", func(_ Choice, s Situation) float64 { return s.share() }},
	{"steps_left", func(_ Choice, s Situation) float64 { return math.Log1p(s.steps()) / 10 }},
	{"steps_known", func(_ Choice, s Situation) float64 { return yes(s.Step > 0) }},
	{"step_seconds", func(_ Choice, s Situation) float64 { return scale2(1e6*s.Step.Seconds(), 16) }},
	{"parameters", func(_ Choice, s Situation) float64 { return scale2(float64(s.Parameters), 24) }},
	{"operations", func(_ Choice, s Situation) float64 { return scale2(float64(s.Operations), 32) }},
	{"layers", func(_ Choice, s Situation) float64 { return scale2(float64(s.Layers), 8) }},
	{"accuracy", func(_ Choice, s Situation) float64 { return s.Accuracy }},
	{"accuracy_known", func(_ Choice, s Situation) float64 { return yes(s.Accuracy > 0) }},
	{"decisions", func(_ Choice, s Situation) float64 { return scale2(float64(s.Decisions), 2) }},
	{"growth_layers", func(c Choice, s Situation) float64 { return growth(float64(c.Layers), float64(s.Layers)) }},
	{"slowdown", func(c Choice, s Situation) float64 {
		return known(c.Step > 0 && s.Step > 0, math.Log(c.Step.Seconds()/s.Step.Seconds()))
	}},
	{"loss", func(_ Choice, s Situation) float64 { return known(s.Curve.Loss > 0, s.Curve.Loss) }},
	{"fall", func(_ Choice, s Situation) float64 { return known(s.Curve.Loss > 0, s.Curve.Fall) }},
	{"gap", func(_ Choice, s Situation) float64 { return known(s.Curve.Loss > 0, s.Curve.Gap) }},
}, waves()...)

// known returns a value, or NaN if it is unknown.
func known(is bool, value float64) float64 {
	if !is {
		return math.NaN()
	}
	return value
}

// wavePrefix begins the names of waves.
const wavePrefix = "wave"

// waves encode the time as the original did.
func waves() []feature {
	var list []feature
	for k := range cycles {
		list = append(list, feature{fmt.Sprint(wavePrefix, k+1), func(_ Choice, s Situation) float64 {
			return math.Sin(2 * math.Pi * float64(k+1) * s.share())
		}})
	}
	return list
}

func yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// scale2 is the binary logarithm of a size, divided by bits. A negative size counts as zero.
func scale2(x, bits float64) float64 { return math.Log2(1+math.Max(0, x)) / bits }

func growth(added, now float64) float64 { return math.Log1p(math.Max(0, added) / math.Max(1, now)) }

// share is the remaining share of the budget.
func (s Situation) share() float64 {
	if s.Budget <= 0 {
		return 0
	}
	return s.Left.Seconds() / s.Budget.Seconds()
}

// steps is the number of training steps in the remaining time; zero means unknown.
func (s Situation) steps() float64 {
	if s.Step <= 0 {
		return 0
	}
	return math.Max(0, s.Left.Seconds()/s.Step.Seconds())
}

// featureNames are the names of the features of a choice.
func featureNames() []string { return namesOf(features) }

func namesOf(features []feature) []string {
	names := make([]string, len(features))
	for k, f := range features {
		names[k] = f.name
	}
	return names
}

// Features returns the features of each choice, in the order of featureNames. NaN means unknown.
func (s Situation) Features() [][]float64 { return s.rows(features) }

func (s Situation) rows(features []feature) [][]float64 {
	rows := make([][]float64, len(s.Choices))
	for k, c := range s.Choices {
		if s.After != nil {
			c.Step = s.After[k]
		}
		if s.Gains != nil {
			c.Gain = s.Gains[k]
		}
		rows[k] = make([]float64, len(features))
		for j, f := range features {
			rows[k][j] = f.value(c, s)
		}
	}
	return rows
}
