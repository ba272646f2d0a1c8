package torch

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/torch/weights"
)

// operationCase is an operation in testdata/randaugment.py, and operationResult is its result.
type (
	operationCase struct {
		Images    string `json:"images"`
		Name      string `json:"name"`
		Magnitude int    `json:"magnitude"`
		Opposite  bool   `json:"opposite"`
	}
	operationResult struct {
		Torchvision bool  `json:"torchvision"`
		Differ      int   `json:"differ"` // values that differ between torchvision and the script's formulas
		Images      []int `json:"images"`
	}
)

// operationImages returns images of several sizes: random ones, smooth ones, and one of one colour.
func operationImages(s *Scope) map[string]*Tensor {
	random := s.NewGenerator(CPU, 3)
	noise := func(rows, channels, height, width int) *Tensor {
		x := s.Zeros(Float32, CPU, rows, channels, height, width)
		s.Uniform(x, 0, 256, random)
		return s.To(x, Uint8, CPU)
	}
	smooth := make([]uint8, 3*3*32*32)
	for k := range smooth {
		x, y, c := k%32, k/32%32, k/1024%9
		smooth[k] = uint8((x*y/(c+1) + 20*c) % 200)
	}
	return map[string]*Tensor{"color": noise(3, 3, 32, 32), "wide": noise(2, 3, 9, 20), "gray": noise(2, 1, 28, 28),
		"tiny":   noise(2, 3, 2, 2),
		"smooth": From(s, smooth, 3, 3, 32, 32), "flat": s.To(s.Full(77, Float32, CPU, 1, 3, 16, 16), Uint8, CPU)}
}

// Each operation of RandAugment gives torchvision's bytes.
func TestOperationsAreThoseOfTorchvision(t *testing.T) {
	var cases []operationCase
	for _, name := range operations.names {
		for _, images := range []string{"color", "wide", "gray", "smooth", "flat"} {
			for _, magnitude := range []int{1, 5, 9, 14, 23, 30} {
				cases = append(cases, operationCase{images, name, magnitude, false},
					operationCase{images, name, magnitude, true})
			}
		}
	}
	path := filepath.Join(t.TempDir(), "images.pth")
	within(t, func(s *Scope) {
		set := &weights.Set{}
		for name, images := range operationImages(s) {
			w, err := images.Weights(name)
			require.NoError(t, err)
			set.Tensors = append(set.Tensors, w)
		}
		require.NoError(t, weights.Write(files.OS{}, path, set))
	})
	want := pythonLines[operationResult](t, "randaugment.py", cases, path)
	require.Len(t, want, len(cases))
	within(t, func(s *Scope) {
		all := operationImages(s)
		for k, c := range cases {
			o := Operation(0)
			require.NoError(t, operations.unmarshal(&o, []byte(c.Name)))
			out := bytesOf(t, s.Operate(all[c.Images], o, c.Magnitude, c.Opposite))
			wrong := 0
			for j, v := range want[k].Images {
				if int(out[j]) != v {
					wrong++
				}
			}
			require.Zero(t, wrong, "%+v: %d of %d values", c, wrong, len(out))
			require.Zero(t, want[k].Differ, "%+v: the script's formula", c)
		}
	})
	t.Logf("measured: %d operations on images, compared with torchvision: %v", len(cases), want[0].Torchvision)
}

// RandAugment draws the same operations for any number of threads, and depends on the magnitude. It accepts images of 2
// x 2 pixels, and refuses floats.
func TestRandAugmentDraws(t *testing.T) {
	defer func() { require.NoError(t, SetThreads(DefaultThreads())) }()
	within(t, func(s *Scope) {
		train := func(threads int, a Augment) []float64 {
			require.NoError(t, SetThreads(threads))
			fresh := newTestNet(t, s, Float32, 4, 3)
			x := s.IndexSelect(operationImages(s)["color"], 0, From(s, make([]int64, 40), 40))
			var b Builder
			out := fresh.layers(&b, b.Normalize(b.Input(), 1.0/255, From(s, []float32{0, 0, 0}, 3, 1, 1),
				From(s, []float32{1, 1, 1}, 3, 1, 1)))
			p := s.NewProgram(&b, out, ProgramOptions{Steady: true, Fast: true})
			_, err := Train(p, fresh.adam(true), Batches{Inputs: x, Labels: From(s, make([]int64, 40), 40), Size: 16,
				Random: s.NewGenerator(CPU, 4), Augment: a})
			require.NoError(t, err)
			return floats(t, fresh.params[0])
		}
		two := Augment{RandAugment: 2, Magnitude: 9}
		first := train(1, two)
		require.Equal(t, first, train(2, two))
		require.Equal(t, first, train(3, two))
		require.NotEqual(t, first, train(1, Augment{}))
		require.NotEqual(t, first, train(1, Augment{RandAugment: 2, Magnitude: 20}))
		for _, o := range []Operation{0, 5, 9, 13} {
			require.Len(t, bytesOf(t, s.Operate(operationImages(s)["tiny"], o, 9, true)), 24)
		}
	})
	require.ErrorContains(t, With(func(s *Scope) error {
		s.Operate(s.Zeros(Float32, CPU, 1, 3, 4, 4), 1, 9, false)
		return s.Err()
	}), "RandAugment is for images")
}
