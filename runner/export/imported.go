package export

import (
	"context"
	"fmt"
	"math"
	"slices"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/model/graph"
	"graft/model/graph/trial"
	"graft/runner/app"
	"graft/torch"
	"graft/torch/weights"
)

// forwardImported computes the outputs of an imported network.
func forwardImported(ctx context.Context, env *app.Env, target string, o ForwardOptions,
	x array) (*ForwardReport, error) {
	g, err := config.ReadImported(env.Files, target)
	if err != nil {
		return nil, err
	}
	if o.Weights == "" {
		return nil, failure.Usagef("%s contains no weights: name its weights file with option \"weights\"", target)
	}
	set, err := app.ReadWeights(env.Files, o.Weights)
	if err != nil {
		return nil, err
	}
	if err := g.FitsExactly(set); err != nil {
		return nil, failure.With(failure.Usage, err)
	}
	return computeGraph(ctx, env.Files, g, set, o, x)
}

// computeGraph computes the outputs of a graph in a separate process.
func computeGraph(ctx context.Context, fsys files.FS, g *graph.Graph, set *weights.Set, o ForwardOptions,
	x array) (*ForwardReport, error) {
	if err := checkInput(g, x); err != nil {
		return nil, failure.Usagef("%s: %w", o.Inputs, err)
	}
	out, err := trial.Run(ctx, fsys, g, graph.Attempt{Weights: set, Shape: x.Shape, Values: x.Values}, trial.Limits{})
	if err != nil {
		return nil, fmt.Errorf("run network %s: %w", g.Name, err)
	}
	return &ForwardReport{Network: g.Name, Shape: out.Shape, Logits: out.Values}, nil
}

// checkInput compares the shape and the type of the input with the network's.
func checkInput(g *graph.Graph, x array) error {
	fits := len(x.Shape) == len(g.Input.Shape)
	for k := 0; fits && k < len(x.Shape); k++ {
		fits = g.Input.Shape[k].Name != "" || g.Input.Shape[k].N == x.Shape[k]
	}
	if !fits {
		return fmt.Errorf("inputs have the shape %v; %s expects %v", x.Shape, g.Name, g.Input.Shape)
	}
	known := map[weights.DType]torch.DType{weights.Float32: torch.Float32, weights.Int64: torch.Int64,
		weights.Float64: torch.Float64, weights.Int32: torch.Int32,
		weights.Float16: torch.Float16, weights.BFloat16: torch.BFloat16, weights.Bool: torch.Bool}
	dtype, ok := known[g.Input.DType]
	if !ok {
		return fmt.Errorf("%s expects inputs of the type %v, which graft cannot read from a file", g.Name,
			g.Input.DType)
	}
	if dtype == torch.Bool {
		return checkTruths(g, x)
	}
	whole := dtype == torch.Int64 || dtype == torch.Int32
	if x.DType != "" && (x.DType == "bool" || whole != (x.DType == "int64")) {
		return fmt.Errorf("inputs have the type %s; %s expects %v", x.DType, g.Name, g.Input.DType)
	}
	if at := slices.IndexFunc(x.Values,
		func(v float64) bool { return v != math.Trunc(v) || math.Abs(v) > mostWhole }); at >= 0 && whole {
		return fmt.Errorf("value %d of the inputs is %v; %s expects integers", at, x.Values[at], g.Name)
	}
	return nil
}

// checkTruths compares the input with truth values, which may be numbers.
func checkTruths(g *graph.Graph, x array) error {
	if x.DType != "" && x.DType != "bool" {
		return fmt.Errorf("inputs have the type %s; %s expects bool", x.DType, g.Name)
	}
	if at := slices.IndexFunc(x.Values, func(v float64) bool { return v != 0 && v != 1 }); at >= 0 {
		return fmt.Errorf("value %d of the inputs is %v; %s expects false or true", at, x.Values[at], g.Name)
	}
	return nil
}

// mostWhole is the largest number up to which float64 represents every integer.
const mostWhole = 1 << 53
