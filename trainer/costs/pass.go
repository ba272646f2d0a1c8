package costs

import "fmt"

// Pass is a list of operators that run for each micro batch, on each tensor-parallel device of a stage.
type Pass struct {
	Name      string     // name in listings
	PerLayer  bool       // whether each layer runs the operators; false means once
	Operators []Operator // operators in the order of execution
}

// Indexes of passes, in the order of execution.
const (
	embeddingForward = iota
	layerForward
	headForward
	headBackward
	layerBackward
	embeddingBackward
	passCount
)

type passes [passCount]Pass

// Passes lists the operators that run for a micro batch, grouped into passes such as the forward pass of a layer.
func Passes(t Transformer, p Plan) ([]Pass, error) {
	if err := p.check(&t); err != nil {
		return nil, fmt.Errorf("list operators: %w", err)
	}
	all := part{&t, p.MicroBatch, p.Tensor}.passes()
	return all[:], nil
}

func (p part) passes() passes {
	in, inBack := p.embedding()
	out, outBack := p.head()
	return passes{{"embedding, forward", false, in}, {"layer, forward", true, p.layerForward()},
		{"head, forward", false, out}, {"head, backward", false, outBack},
		{"layer, backward", true, p.layerBackward()}, {"embedding, backward", false, inBack}}
}

// operations returns the floating-point operations of all tensor-parallel devices for a micro batch, without
// recomputation.
func (p part) operations(all *passes) (sum float64) {
	for k := range all {
		layers := 1
		if all[k].PerLayer {
			layers = p.Layers
		}
		for o := range all[k].Operators {
			sum += all[k].Operators[o].Operations() * float64(layers)
		}
	}
	return sum * float64(p.ways)
}
