package export

import (
	"fmt"
	"math"
	"slices"

	"graft/config"
	"graft/model/graph"
	"graft/results/failure"
	"graft/torch"
	"graft/torch/weights"
	"graft/work"
)

// forwardImported computes the outputs of an imported network.
func forwardImported(env *work.Env, target string, o ForwardOptions, x array) (*ForwardReport, error) {
	g, err := config.ReadImported(env.Files, target)
	if err != nil {
		return nil, err
	}
	if o.Weights == "" {
		return nil, failure.Usagef("%s has no weights of its own: name the file beside it in option weights", target)
	}
	set, err := work.ReadWeights(env.Files, o.Weights)
	if err != nil {
		return nil, err
	}
	if err := g.Fits(set); err != nil {
		return nil, failure.With(failure.Usage, err)
	}
	return computeGraph(g, set, o, x)
}

// computeGraph computes the outputs of a graph.
func computeGraph(g *graph.Graph, set *weights.Set, o ForwardOptions, x array) (*ForwardReport, error) {
	dtype, err := inputType(g, x)
	if err != nil {
		return nil, failure.Usagef("%s: %w", o.Inputs, err)
	}
	r := &ForwardReport{Network: g.Name}
	err = torch.With(func(s *torch.Scope) error { return r.compute(s, g, set, x.tensor(s, dtype)) })
	if err != nil {
		return nil, fmt.Errorf("compute %s: %w", g.Name, err)
	}
	return r, nil
}

// inputType is the type of the input, whose shape is compared with the network's.
func inputType(g *graph.Graph, x array) (torch.DType, error) {
	fits := len(x.Shape) == len(g.Input.Shape)
	for k := 0; fits && k < len(x.Shape); k++ {
		fits = g.Input.Shape[k].Name != "" || g.Input.Shape[k].N == x.Shape[k]
	}
	if !fits {
		return 0, fmt.Errorf("inputs have the shape %v; %s takes %v", x.Shape, g.Name, g.Input.Shape)
	}
	known := map[weights.DType]torch.DType{weights.Float32: torch.Float32, weights.Int64: torch.Int64, weights.Float64: torch.Float64, weights.Int32: torch.Int32,
		weights.Float16: torch.Float16, weights.BFloat16: torch.BFloat16}
	dtype, ok := known[g.Input.DType]
	whole := dtype == torch.Int64 || dtype == torch.Int32
	if !ok || x.DType != "" && whole != (x.DType == "int64") {
		return 0, fmt.Errorf("inputs have the type %s; %s takes %v", x.DType, g.Name, g.Input.DType)
	}
	if at := slices.IndexFunc(x.Values, func(v float64) bool { return v != math.Trunc(v) || math.Abs(v) > mostWhole }); at >= 0 && whole {
		return 0, fmt.Errorf("value %d of the inputs is %v; %s takes whole numbers", at, x.Values[at], g.Name)
	}
	return dtype, nil
}

// mostWhole is the largest number up to which float64 has every whole number.
const mostWhole = 1 << 53

func (r *ForwardReport) compute(s *torch.Scope, g *graph.Graph, set *weights.Set, x *torch.Tensor) error {
	n, err := g.Bind(s, torch.CPU, set)
	if err != nil {
		return err
	}
	p, err := n.Program(s, torch.ProgramOptions{})
	if err != nil {
		return err
	}
	s.NoGrad(func() {
		y := s.To(p.Forward(s, x, false, nil), torch.Float32, torch.CPU)
		if err = s.Err(); err != nil {
			return
		}
		r.Shape = y.Shape()
		r.Logits, err = torch.Values[float32](y)
	})
	return err
}
