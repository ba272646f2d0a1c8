package torch

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// A convolution with one tap and a stride reads every second pixel. With fewer than 16 channels, several threads and
// channels side by side, LibTorch's own operator writes beyond its memory, which ends the process.
func TestStridedConvolutionsKeepToTheirMemory(t *testing.T) {
	defer func() { require.NoError(t, SetThreads(DefaultThreads())) }()
	require.NoError(t, SetThreads(2))
	for _, channels := range []int{3, 8, 14, 16, 20} {
		within(t, func(s *Scope) {
			n := &testNet{s: s, dtype: Float32, random: s.NewGenerator(CPU, 7)}
			w, head, bias := n.param(0.3, 2*channels, channels, 1, 1), n.param(0.3, 4, 2*channels), n.param(0.1, 4)
			n.layers = func(b *Builder, x Value) Value {
				x = b.Conv2D(x, w, nil, Plane{Stride: [2]int{2, 2}})
				return b.Linear(b.Flatten(b.AdaptiveAvgPool2D(x, 1, 1), 1, -1), head, bias)
			}
			x, y := s.Zeros(Float32, CPU, 39, channels, 32, 32), From(s, make([]int64, 39), 39)
			s.Normal(x, 0, 1, n.random)
			fast, exact := n.program(t, ProgramOptions{Fast: true}), n.program(t, ProgramOptions{})
			got, want := floats(t, fast.Forward(s, x, true, nil)), floats(t, exact.Forward(s, x, true, nil))
			require.Less(t, distance(got, want), 1e-5, "%d channels", channels)
			o := n.adam(true)
			for range 60 {
				_, err := Train(fast, o, Batches{Inputs: x, Labels: y, Size: 39})
				require.NoError(t, err)
			}
			require.NotContains(t, fmt.Sprint(floats(t, w)), "NaN")
		})
	}
}
