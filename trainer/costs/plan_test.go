package costs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// gpt returns a valid model of 1.3 billion parameters.
func gpt() Transformer {
	return Transformer{Hidden: 2048, Heads: 16, Layers: 24, Sequence: 1024, Vocabulary: 50257, Padding: 128}
}

func a100(t require.TestingT) *Hardware {
	h, err := Library().Named("hardware", "a100")
	require.NoError(t, err)
	return h
}

func TestPlansThatDoNotFit(t *testing.T) {
	valid := Plan{Tensor: 1, Data: 1, Pipeline: 1, MicroBatch: 1, MicroBatches: 1}
	for want, change := range map[string]func(*Transformer, *Plan){
		"hidden size: got 0; expected 1 to 16777216":         func(t *Transformer, _ *Plan) { t.Hidden = 0 },
		"micro batches: got -1; expected 1":                  func(_ *Transformer, p *Plan) { p.MicroBatches = -1 },
		"vocabulary padding: got -8; expected 0":             func(t *Transformer, _ *Plan) { t.Padding = -8 },
		"hidden size (2048) is not a multiple of the number": func(t *Transformer, _ *Plan) { t.Heads = 3 },
		"heads (16) is not a multiple of the tensor":         func(_ *Transformer, p *Plan) { p.Tensor = 3 },
		"layers (24) is not a multiple of the number":        func(_ *Transformer, p *Plan) { p.Pipeline = 5 },
		"16777216 micro batches in 2 stages take more than 1048576 passes;": func(_ *Transformer, p *Plan) {
			p.Pipeline, p.MicroBatches = 2, mostSize
		},
		"the plan has 16 x 16777216 x 24 devices; expected at most 1048576": func(_ *Transformer, p *Plan) {
			p.Tensor, p.Data, p.Pipeline = 16, mostSize, 24
		},
	} {
		model, plan := gpt(), valid
		change(&model, &plan)
		_, err := a100(t).Iteration(model, plan)
		require.ErrorContains(t, err, "predict an iteration: ")
		require.ErrorContains(t, err, want)
	}
}

// More of any resource never makes an iteration of the same global batch slower. More work never makes it faster.
func TestIterationByPlan(t *testing.T) {
	seconds := func(p Plan) float64 {
		it, err := a100(t).Iteration(gpt(), p)
		require.NoError(t, err)
		require.InEpsilon(t, it.Seconds, it.Passes+it.Gradients+it.Optimizer, 1e-12)
		return it.Seconds
	}
	base := Plan{Tensor: 1, Data: 1, Pipeline: 1, MicroBatch: 4, MicroBatches: 16}
	for name, c := range map[string]struct {
		change func(*Plan)
		slower bool
	}{
		"recomputation repeats the forward passes": {func(p *Plan) { p.Recompute = true }, true},
		"more micro batches":                       {func(p *Plan) { p.MicroBatches *= 2 }, true},
		"gradients of replicas are summed":         {func(p *Plan) { p.Data = 8 }, true},
		"eight replicas divide the batch":          {func(p *Plan) { p.Data, p.MicroBatches = 8, 2 }, false},
		"two devices share each layer":             {func(p *Plan) { p.Tensor = 2 }, false},
		"four stages share the layers":             {func(p *Plan) { p.Pipeline = 4 }, false},
	} {
		plan := base
		c.change(&plan)
		require.Equal(t, c.slower, seconds(plan) > seconds(base), name)
	}
}

func BenchmarkIteration(b *testing.B) {
	h := a100(b)
	for b.Loop() {
		_, err := h.Iteration(gpt(), Plan{Tensor: 8, Data: 8, Pipeline: 1, MicroBatch: 4, MicroBatches: 16})
		if err != nil {
			b.Fatal(err)
		}
	}
}
