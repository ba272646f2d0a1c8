package torch

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// change is a possible change of an image.
type change struct {
	down, right int
	mirror      bool
	top, left   int // place of the hole
}

// numbered returns images of channels x height x width. The values of an image count up from 1.
func numbered(images, channels, height, width int) []uint8 {
	all := make([]uint8, images*channels*height*width)
	for k := range all {
		all[k] = uint8(k%(channels*height*width) + 1)
	}
	return all
}

// apply changes one plane in plain loops.
func (c change) apply(plane []uint8, height, width, hole int) []uint8 {
	out := make([]uint8, len(plane))
	for y := range height {
		for x := range width {
			fromX := x
			if c.mirror {
				fromX = width - 1 - x
			}
			fromY := y + c.down
			fromX += c.right
			inHole := y >= c.top && y < c.top+hole && x >= c.left && x < c.left+hole
			if fromY >= 0 && fromY < height && fromX >= 0 && fromX < width && !inHole {
				out[y*width+x] = plane[fromY*width+fromX]
			}
		}
	}
	return out
}

// every lists the possible changes of an image of a size.
func every(a Augment, height, width int) []change {
	tops, lefts := 1, 1
	if a.Cutout > 0 {
		tops, lefts = height, width
	}
	var all []change
	for down := -a.Pad; down <= a.Pad; down++ {
		for right := -a.Pad; right <= a.Pad; right++ {
			for top := range tops {
				for left := range lefts {
					c := change{down, right, false, top - a.Cutout/2, left - a.Cutout/2}
					all = append(all, c)
					if a.Flip {
						c.mirror = true
						all = append(all, c)
					}
				}
			}
		}
	}
	return all
}

// explain finds the change of an image, which is the same in all its channels.
func explain(from, to []uint8, a Augment, channels, height, width int) (change, bool) {
	pixels := height * width
	for _, c := range every(a, height, width) {
		fits := true
		for k := 0; fits && k < channels; k++ {
			part := func(of []uint8) []uint8 { return of[k*pixels : (k+1)*pixels] }
			fits = slices.Equal(part(to), c.apply(part(from), height, width, a.Cutout))
		}
		if fits {
			return c, true
		}
	}
	return change{}, false
}

func bytesOf(t *testing.T, x *Tensor) []uint8 {
	t.Helper()
	values, err := Values[uint8](x)
	require.NoError(t, err)
	return values
}

var augmentations = map[string]Augment{
	"shifts":     {Pad: 2},
	"mirrors":    {Flip: true},
	"holes":      {Cutout: 3},
	"even holes": {Cutout: 2},
	"all":        {Pad: 1, Flip: true, Cutout: 2},
	"nothing":    {},
}

func TestEveryImageIsChangedLegally(t *testing.T) {
	const rows, channels, height, width = 40, 2, 5, 9
	for name, a := range augmentations {
		t.Run(name, func(t *testing.T) {
			within(t, func(s *Scope) {
				from := numbered(rows, channels, height, width)
				x := From(s, from, rows, channels, height, width)
				seen := map[change]bool{}
				for seed := range 10 {
					to := bytesOf(t, s.Augment(x, nil, a, s.NewGenerator(CPU, int64(seed))))
					for k := 0; k < len(to); k += channels * height * width {
						c, ok := explain(from[k:], to[k:k+channels*height*width], a, channels, height, width)
						require.True(t, ok, "image %d of seed %d", k, seed)
						seen[c] = true
					}
				}
				kinds := len(every(a, height, width))
				require.GreaterOrEqual(t, len(seen), (min(kinds, 10*rows)+1)/2, "of %d kinds", kinds)
			})
		})
	}
}

func TestChangesAreEquallyLikely(t *testing.T) {
	const rows, size = 9000, 4
	a := Augment{Pad: 1, Flip: true}
	within(t, func(s *Scope) {
		from := numbered(rows, 1, size, size)
		to := bytesOf(t, s.Augment(From(s, from, rows, 1, size, size), nil, a, s.NewGenerator(CPU, 3)))
		seen := map[change]int{}
		for k := 0; k < len(to); k += size * size {
			c, ok := explain(from, to[k:k+size*size], a, 1, size, size)
			require.True(t, ok)
			seen[c]++
		}
		require.Len(t, seen, 18)
		for c, n := range seen { // five deviations of a binomial around 500
			require.InDelta(t, rows/18, n, 5*math.Sqrt(rows/18), "%+v", c)
		}
	})
}

// The kernel and the operators for other devices give the same images for every type of pixel.
func TestOperatorsGiveTheSameImages(t *testing.T) {
	const rows, channels, height, width = 23, 3, 8, 19
	for name, a := range augmentations {
		for _, dtype := range []DType{Uint8, Float16, Float32, Float64} {
			t.Run(name+" of "+dtype.String(), func(t *testing.T) {
				within(t, func(s *Scope) {
					x := s.Zeros(Float32, CPU, rows, channels, height, width)
					s.Uniform(x, 0, 255, s.NewGenerator(CPU, 1))
					x = s.To(x, dtype, CPU)
					order := s.Permutation(rows, s.NewGenerator(CPU, 2))
					one := s.augment(x, order, a, s.NewGenerator(CPU, 8), false)
					two := s.augment(x, order, a, s.NewGenerator(CPU, 8), true)
					require.Equal(t, floats(t, two), floats(t, one))
					picked := s.IndexSelect(x, 0, order)
					require.Equal(t, floats(t, one), floats(t, s.Augment(picked, nil, a, s.NewGenerator(CPU, 8))),
						"rows are gathered")
				})
			})
		}
	}
}

func TestThreadsDoNotChangeImages(t *testing.T) {
	defer func() { require.NoError(t, SetThreads(DefaultThreads())) }()
	within(t, func(s *Scope) {
		x := From(s, numbered(200, 3, 32, 32), 200, 3, 32, 32)
		var first []uint8
		for threads := 1; threads <= 5; threads++ {
			require.NoError(t, SetThreads(threads))
			got := bytesOf(t, s.Augment(x, nil, Augment{Pad: 4, Flip: true, Cutout: 8}, s.NewGenerator(CPU, 6)))
			if threads == 1 {
				first = got
			}
			require.True(t, slices.Equal(first, got), "%d threads", threads)
		}
	})
}

// Training in two calls, with a saved generator between them, equals training in one call.
func TestTrainingWithAugmentationResumes(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		within(t, func(s *Scope) {
			one, two := newTestNet(t, s, Float32, 4, 3), newTestNet(t, s, Float32, 4, 3)
			x, y := one.examples(t, 24, 10, 3)
			b := Batches{Inputs: x, Labels: y, Size: 6, Augment: Augment{Pad: 2, Flip: true, Cutout: 3},
				Random: s.NewGenerator(CPU, 11)}
			if ordered {
				b.Order = s.Permutation(24, s.NewGenerator(CPU, 5))
			}
			p1, o1, p2, o2 := one.program(t, ProgramOptions{}), one.adam(false), two.program(t, ProgramOptions{}),
				two.adam(false)
			whole, err := Train(p1, o1, b)
			require.NoError(t, err)
			require.Len(t, whole.Losses, 4)

			random := s.NewGenerator(CPU, 11)
			rows := b.Order
			if rows == nil {
				rows = arange(s, 24)
			}
			part := func(start int) []float64 {
				half := b
				half.Order, half.Random = s.Narrow(rows, 0, start, 12), random
				f, err := Train(p2, o2, half)
				require.NoError(t, err)
				return f.Losses
			}
			first := part(0)
			state, err := random.State()
			require.NoError(t, err)
			random = s.NewGenerator(CPU, 0)
			require.NoError(t, random.Restore(state))
			require.Equal(t, whole.Losses, append(first, part(12)...))
			require.Equal(t, snapshot(t, one, o1), snapshot(t, two, o2))
		})
	}
}

// A training step uses the images that Scope.Augment returns.
func TestTrainingSeesTheChangedImages(t *testing.T) {
	within(t, func(s *Scope) {
		a, b := newTestNet(t, s, Float32, 4, 3), newTestNet(t, s, Float32, 4, 3)
		x, y := a.examples(t, 8, 10, 3)
		change := Augment{Pad: 3, Flip: true}
		fa, err := Train(a.program(t, ProgramOptions{}), a.adam(false),
			Batches{Inputs: x, Labels: y, Size: 8, Augment: change, Random: s.NewGenerator(CPU, 2)})
		require.NoError(t, err)
		fb, err := Train(b.program(t, ProgramOptions{}), b.adam(false),
			Batches{Inputs: s.Augment(x, nil, change, s.NewGenerator(CPU, 2)), Labels: y, Size: 8})
		require.NoError(t, err)
		require.Equal(t, fb, fa)
	})
}

func TestEvaluationLeavesImagesAlone(t *testing.T) {
	within(t, func(s *Scope) {
		n := newTestNet(t, s, Float32, 4, 3)
		x, y := n.examples(t, 12, 10, 3)
		p, random := n.program(t, ProgramOptions{}), s.NewGenerator(CPU, 3)
		before, err := random.State()
		require.NoError(t, err)
		plain, err := Evaluate(p, Batches{Inputs: x, Labels: y, Size: 5})
		require.NoError(t, err)
		changed, err := Evaluate(p, Batches{Inputs: x, Labels: y, Size: 5,
			Augment: Augment{Pad: 4, Flip: true, Cutout: 6}, Random: random})
		require.NoError(t, err)
		require.Equal(t, plain, changed)
		after, err := random.State()
		require.NoError(t, err)
		require.Equal(t, before, after, "nothing is drawn")
	})
}

func TestAugmentationSaysWhatIsWrong(t *testing.T) {
	require.NoError(t, Augment{Pad: 4, Flip: true, Cutout: 8}.Validate())
	err := Augment{Pad: -1, Cutout: -2}.Validate()
	require.ErrorContains(t, err, "pad is -1")
	require.ErrorContains(t, err, "cutout is -2")
	within(t, func(s *Scope) {
		n := newTestNet(t, s, Float32, 4, 3)
		x, y := n.examples(t, 4, 10, 3)
		_, err := Train(n.program(t, ProgramOptions{}), n.adam(false),
			Batches{Inputs: x, Labels: y, Size: 4, Augment: Augment{Pad: -1}})
		require.ErrorContains(t, err, "train")
		require.ErrorContains(t, err, "pad is -1")
	})
	cases := map[string]struct {
		make func(s *Scope) (x, rows *Tensor)
		pad  int
		want string
	}{
		"no images": {func(s *Scope) (x, rows *Tensor) { return s.Zeros(Uint8, CPU, 4, 9), nil }, 1,
			"images [N, C, H, W]"},
		"all is gone": {func(s *Scope) (x, rows *Tensor) { return s.Zeros(Uint8, CPU, 4, 1, 8, 3), nil }, 3,
			"up to 3 pixels for images of 8 x 3"},
		"unknown rows": {func(s *Scope) (x, rows *Tensor) { return s.Zeros(Uint8, CPU, 4, 1, 3, 3), arange(s, 5) }, 1,
			"row 4 of 4"},
		"other rows": {func(s *Scope) (x, rows *Tensor) {
			return s.Zeros(Uint8, CPU, 4, 1, 3, 3), s.Zeros(Int32, CPU, 2)
		}, 1, "int64"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := With(func(s *Scope) error {
				x, rows := c.make(s)
				s.Augment(x, rows, Augment{Pad: c.pad}, nil)
				return s.Err()
			})
			require.ErrorContains(t, err, c.want)
		})
	}
}

// Random numbers are drawn on the generator's device, so a generator on the CPU gives the same images on CUDA.
func TestCUDAGivesTheSameImages(t *testing.T) {
	r, err := Describe()
	require.NoError(t, err)
	if r.CUDADevices == 0 {
		t.Skip("left out: augmentation on CUDA, which this machine lacks")
	}
	within(t, func(s *Scope) {
		x, gpu := From(s, numbered(50, 3, 32, 32), 50, 3, 32, 32), Device{CUDA: true}
		for _, a := range augmentations {
			want := s.Augment(x, nil, a, s.NewGenerator(CPU, 5))
			got := s.Augment(s.To(x, Uint8, gpu), nil, a, s.NewGenerator(CPU, 5))
			require.Equal(t, bytesOf(t, want), bytesOf(t, s.To(got, Uint8, CPU)))
		}
	})
}

// BenchmarkBatchOf64Images prepares one batch of 64 images of 32 x 32 for a network, on one thread.
func BenchmarkBatchOf64Images(b *testing.B) {
	require.NoError(b, SetThreads(1))
	defer func() { require.NoError(b, SetThreads(DefaultThreads())) }()
	s := NewScope()
	defer func() { require.NoError(b, s.Close()) }()
	x := From(s, numbered(10000, 3, 32, 32), 10000, 3, 32, 32)
	random := s.NewGenerator(CPU, 1)
	order := s.Narrow(s.Permutation(10000, random), 0, 0, 64)
	var build Builder
	mean, deviation := s.Full(0.5, Float32, CPU, 1, 3, 1, 1), s.Full(0.25, Float32, CPU, 1, 3, 1, 1)
	normalise := s.NewProgram(&build, build.Normalize(build.Input(), 1.0/255, mean, deviation), ProgramOptions{})
	require.NoError(b, s.Err())
	all := Augment{Pad: 4, Flip: true, Cutout: 8}
	steps := map[string]func(s *Scope){
		"gather":           func(s *Scope) { s.IndexSelect(x, 0, order) },
		"gather+augment":   func(s *Scope) { s.Augment(x, order, all, random) },
		"gather+operators": func(s *Scope) { s.augment(x, order, all, random, true) },
		"gather+augment+normalise": func(s *Scope) {
			normalise.Forward(s, s.Augment(x, order, all, random), false, nil)
		},
		"gather+normalise": func(s *Scope) { normalise.Forward(s, s.IndexSelect(x, 0, order), false, nil) },
	}
	for name, step := range steps {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, With(func(s *Scope) error { step(s); return nil }))
			}
		})
	}
}
