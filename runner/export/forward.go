package export

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"graft/config"
	"graft/internal/decode"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/model"
	"graft/runner/app"
	"graft/torch"
	"graft/trainer"
)

// ForwardOptions configures [Forward].
type ForwardOptions struct {
	Inputs  string        // path of a JSON file with the inputs; required
	Weights string        // path of the weights, for a network without trained weights
	Out     string        // path of the JSON file for the outputs; empty means that no file is written
	Force   bool          // replaces an existing file; false refuses it
	At      trainer.Which // which network of the run to use; empty means trainer.AtEnd
}

// ForwardReport holds the outputs of a network.
type ForwardReport struct {
	Network string    `json:"network"`           // class name of the network
	Shape   []int     `json:"shape"`             // number of examples, then the shape of an example's outputs
	Logits  []float32 `json:"logits"`            // values, one example after the other
	Classes []string  `json:"classes,omitempty"` // names of the outputs, if known
}

// array is an array of a JSON file.
type array struct {
	Shape  []int     `json:"shape"`
	DType  string    `json:"dtype"` // empty means float32
	Values []float64 `json:"-"`
}

// tensor converts the values to the array's type.
func (x array) tensor(s *torch.Scope, dtype torch.DType) *torch.Tensor {
	return s.To(torch.From(s, x.Values, x.Shape...), dtype, torch.CPU)
}

// largestInputs limits the file of inputs, in bytes.
const largestInputs = 1 << 30

// Forward computes the outputs of a network in evaluation mode, with PyTorch's order of operations. Inputs must have
// the form that the network accepts: normalised if its training data were normalised.
func Forward(ctx context.Context, env *app.Env, target string, o ForwardOptions) (*ForwardReport, error) {
	if err := o.mayWrite(env.Files, target); err != nil {
		return nil, err
	}
	x, err := readInputs(env.Files, o.Inputs)
	if err != nil {
		return nil, err
	}
	r, err := forward(ctx, env, target, o, x)
	if err != nil || o.Out == "" {
		return r, err
	}
	return r, writeOutputs(env.Files, o.Out, r)
}

// mayWrite returns an error if the outputs cannot be written, or would replace an input.
func (o *ForwardOptions) mayWrite(fsys files.FS, target string) error {
	if o.Out == "" {
		return nil
	}
	for _, in := range []string{target, o.Inputs, o.Weights} {
		if err := app.MayConvert(fsys, in, o.Out, true); err != nil {
			return err
		}
	}
	return app.MayWriteFile(fsys, o.Out, o.Force)
}

// Finite returns an error if JSON cannot represent an output.
func (r *ForwardReport) Finite() error {
	at := slices.IndexFunc(r.Logits, func(v float32) bool { return v-v != 0 }) // infinite, or not a number
	if at < 0 {
		return nil
	}
	return fmt.Errorf("the network's outputs are not finite: output %d is %v; check the inputs and the weights", at,
		r.Logits[at])
}

// writeOutputs writes the outputs under the names of the PyTorch side of a comparison.
func writeOutputs(fsys files.FS, path string, r *ForwardReport) error {
	if err := r.Finite(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	data, err := json.Marshal(struct {
		Name   string    `json:"name"`
		Shape  []int     `json:"output_shape"`
		Logits []float32 `json:"logits_eval"`
	}{r.Network, r.Shape, r.Logits})
	if err != nil {
		return err
	}
	return writeFile(fsys, path, append(data, '\n'))
}

func forward(ctx context.Context, env *app.Env, target string, o ForwardOptions, x array) (*ForwardReport, error) {
	if config.IsImported(env.Files, target) {
		return forwardImported(ctx, env, target, o, x)
	}
	src, err := read(env.Files, target, Options{Weights: o.Weights, At: o.At}, true)
	if err != nil {
		return nil, err
	}
	n := src.network
	if n.Graph != nil {
		r, err := computeGraph(ctx, env.Files, n.Graph, src.weights, o, x)
		if err == nil {
			r.Classes = app.ImagesOf(n, src.weights).Classes
		}
		return r, err
	}
	if x.DType == "bool" {
		return nil, failure.Usagef("%s: inputs have the type bool; %s expects float32", o.Inputs, n.Name())
	}
	if len(x.Shape) < 2 || !slices.Equal(x.Shape[1:], []int(n.Input)) {
		return nil, failure.Usagef("%s: inputs have the shape %v; %s expects a batch of %v", o.Inputs, x.Shape,
			n.Name(), n.Input)
	}
	r := &ForwardReport{Network: n.Name(), Classes: app.ImagesOf(n, src.weights).Classes}
	err = torch.With(func(s *torch.Scope) error {
		if err := n.Materialize(s, model.Placement{Device: torch.CPU, DType: torch.Float32,
			Random: s.NewGenerator(torch.CPU, 1)}); err != nil {
			return err
		}
		if err := n.Load(src.weights); err != nil {
			return err
		}
		p, err := n.Program(s, torch.ProgramOptions{})
		if err != nil {
			return err
		}
		s.NoGrad(func() {
			r.Logits, err = torch.Values[float32](p.Forward(s, x.tensor(s, torch.Float32), false, nil))
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("run network %s: %w", n.Name(), err)
	}
	r.Shape = []int{x.Shape[0], len(r.Logits) / x.Shape[0]}
	return r, nil
}

// readInputs reads the single array of a file.
func readInputs(fsys files.FS, path string) (x array, err error) {
	wrong := func(format string, args ...any) (array, error) {
		return array{}, failure.With(failure.Configuration, fmt.Errorf("%s: %w", path, fmt.Errorf(format, args...)))
	}
	text, err := files.ReadAll(fsys, path, largestInputs)
	if err != nil {
		return x, err
	}
	var file struct {
		Inputs []struct {
			array
			Values json.RawMessage `json:"values"`
		} `json:"inputs"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return wrong("%w; expected an object with the key inputs: a list of one object with shape and values", err)
	}
	if err := decode.RepeatedKey(text); err != nil {
		return wrong("%w", err)
	}
	if len(file.Inputs) == 1 && !slices.Contains([]string{"", "float32", "int64", "bool"}, file.Inputs[0].DType) {
		return wrong("unknown type %q of the inputs; expected float32, int64 or bool", file.Inputs[0].DType)
	}
	if len(file.Inputs) != 1 {
		return wrong("expected 1 input, got %d", len(file.Inputs))
	}
	x = file.Inputs[0].array
	if x.Values, err = readValues(file.Inputs[0].Values, x.DType == "bool"); err != nil {
		return wrong("%w", err)
	}
	count := 1
	for _, size := range x.Shape {
		if size < 1 || size > largestInputs/count {
			return wrong("invalid shape %v; sizes must be positive, with a product of at most %d", x.Shape,
				largestInputs)
		}
		count *= size
	}
	if count != len(x.Values) {
		return wrong("the shape %v needs %d values, got %d", x.Shape, count, len(x.Values))
	}
	return x, nil
}

// truths are the values of truth values.
var truths = map[string]float64{"false": 0, "true": 1}

// readValues reads a list of numbers that float32 can represent, or of truth values if these are allowed.
func readValues(text []byte, truthful bool) (values []float64, err error) {
	list, ok := bytes.CutPrefix(bytes.TrimSuffix(text, []byte("]")), []byte("["))
	if !ok || len(bytes.TrimSpace(list)) == 0 {
		return nil, nil
	}
	for item := range bytes.SplitSeq(list, []byte(",")) {
		item = bytes.TrimSpace(item)
		if v, ok := truths[string(item)]; ok && truthful {
			values = append(values, v)
			continue
		}
		v, err := strconv.ParseFloat(string(item), 64)
		if err != nil || math.Abs(v) > math.MaxFloat32 {
			return nil, fmt.Errorf("value %d of the inputs is %.40s; expected a number between -%.3g and %.3g",
				len(values), item, math.MaxFloat32, math.MaxFloat32)
		}
		values = append(values, v)
	}
	return values, nil
}
