package costs

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// anyPart draws a micro batch of a model that divides among its devices.
func anyPart(t *rapid.T) part {
	ways := 1 << rapid.IntRange(0, 3).Draw(t, "ways")
	heads := ways * rapid.IntRange(1, 4).Draw(t, "heads")
	model := Transformer{Hidden: heads * 8 * rapid.IntRange(1, 16).Draw(t, "head"), Heads: heads, Layers: 1,
		Sequence: rapid.IntRange(1, 2048).Draw(t, "sequence"), Vocabulary: rapid.IntRange(1, 100000).Draw(t, "tokens"),
		Padding: rapid.IntRange(0, 128).Draw(t, "padding")}
	return part{&model, rapid.IntRange(1, 16).Draw(t, "sequences"), ways}
}

func operationsOf(operators []Operator) (sum float64) {
	for k := range operators {
		sum += operators[k].Operations()
	}
	return sum
}

// A forward pass of a layer has 24 B s h^2 + 4 B s^2 h operations, and the backward pass twice as many (Narayanan et
// al., Efficient large-scale language model training on GPU clusters using Megatron-LM, SC 2021, appendix).
func TestOperationsOfALayer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPart(t)
		b, s, h := float64(p.sequences), float64(p.Sequence), float64(p.Hidden)
		want := (24*b*s*h*h + 4*b*s*s*h) / float64(p.ways)
		require.InEpsilon(t, want, operationsOf(p.layerForward()), 1e-12)
		require.InEpsilon(t, 2*want, operationsOf(p.layerBackward()), 1e-12)
		forward, back := p.head()
		logits := 2 * b * s * h * float64(p.vocabulary())
		require.InEpsilon(t, logits, operationsOf(forward), 1e-12)
		require.InEpsilon(t, 2*logits, operationsOf(back), 1e-12)
	})
}

// Each tensor-parallel layer sums its activations twice in each direction (Shoeybi et al., Megatron-LM, 2019).
func TestMessagesOfALayer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPart(t)
		for _, pass := range [][]Operator{p.layerForward(), p.layerBackward()} {
			messages := 0
			for _, o := range pass {
				if o.Kind == AllReduce {
					messages++
					require.Equal(t, Group{Ranks: p.ways, Stride: 1}, o.Group)
					require.Equal(t, p.activation(), o.Bytes)
				}
			}
			require.Equal(t, map[bool]int{true: 2}[p.ways > 1], messages)
		}
	})
}

func TestVocabularyIsPadded(t *testing.T) {
	for _, c := range []struct{ vocabulary, padding, ways, want int }{
		{50257, 0, 1, 50257}, {50257, 1, 2, 25129}, {50257, 128, 1, 50304}, {50257, 128, 2, 25216},
		{50257, 128, 8, 6400},
	} {
		p := part{&Transformer{Vocabulary: c.vocabulary, Padding: c.padding}, 1, c.ways}
		require.Equal(t, c.want, p.vocabulary(), c)
	}
}

// The golden file lists the operators of a layer and of the output layer on one of two devices, with their times.
func TestOperatorsOfALayer(t *testing.T) {
	passes, err := Passes(gpt(), Plan{Tensor: 2, Data: 1, Pipeline: 1, MicroBatch: 4, MicroBatches: 1})
	require.NoError(t, err)
	var b strings.Builder
	for _, pass := range passes {
		fmt.Fprintf(&b, "%s\n----\n", pass.Name)
		for _, o := range pass.Operators {
			fmt.Fprintf(&b, "%-36s %-10s %8.1f GFLOP %8.1f MB %8.1f us\n", o.Name, o.Kind, o.Operations()/1e9,
				o.Moved()/1e6, onDisk(t, "a100").DeviceSeconds(&o)*1e6)
		}
		b.WriteString("\n")
	}
	const path = "testdata/operators.txt"
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String(), "run the test with -update if this is meant")
}

// An iteration has the usual numbers of a GPT's operations and parameters (Narayanan et al., SC 2021): 72 B s l h^2 (1
// + s/6h + V/12lh), here without recomputation.
func TestOperationsOfAnIteration(t *testing.T) {
	model := gpt()
	it, err := a100(t).Iteration(model, Plan{Tensor: 2, Data: 2, Pipeline: 2, MicroBatch: 2, MicroBatches: 8})
	require.NoError(t, err)
	b, s, l, h, v := 32., 1024., 24., 2048., 2*25216.
	require.InEpsilon(t, 72*b*s*l*h*h*(1+s/(6*h)+v/(12*l*h)), it.Operations, 1e-9)
	require.InEpsilon(t, 12*l*h*h+v*h+s*h, it.Parameters, 1e-9)
}
