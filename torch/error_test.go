package torch

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBadCallsAreSentences(t *testing.T) {
	f := func(s *Scope, shape ...int) *Tensor { return s.Zeros(Float32, CPU, shape...) }
	cases := map[string]struct {
		call func(s *Scope)
		kind error
		says []string
	}{
		"gotorch operator, wrong shape": {func(s *Scope) { s.MM(f(s, 2, 3), f(s, 2, 3)) }, ErrShape,
			[]string{"mm of float32 [2 3] and float32 [2 3]", "cannot be multiplied"}},
		"convolution, wrong channels": {func(s *Scope) { conv2D(s, f(s, 1, 4, 8, 8), f(s, 2, 3, 3, 3), f(s, 2), 0) },
			ErrShape, []string{"conv2d", "[1 4 8 8]", "[2 3 3 3]"}},
		"shim operator, wrong shape": {func(s *Scope) { s.Cat(0, f(s, 2, 3), f(s, 2, 4)) }, ErrShape,
			[]string{"cat of float32 [2 3] and float32 [2 4]"}},
		"values that do not fill": {func(s *Scope) { From(s, []float32{1, 2, 3}, 2, 2) }, ErrShape,
			[]string{"3 values", "[2 2]"}},
		"a negative size": {func(s *Scope) { From(s, []float32{1, 2}, -1, -2) }, ErrShape, []string{"[-1 -2]"}},
		"backward twice": {func(s *Scope) {
			x := s.RequireGrad(f(s, 2), true)
			loss := s.Sum(s.Mul(x, x))
			s.Backward(loss)
			s.Backward(loss)
		}, ErrShape, []string{"backward", "second time"}},
		"backward without gradients": {func(s *Scope) { s.Backward(s.Sum(f(s, 2))) }, ErrShape,
			[]string{"backward", "does not require grad"}},
		"backward of many values": {func(s *Scope) { s.Backward(s.Exp(s.RequireGrad(f(s, 2), true))) }, ErrShape,
			[]string{"backward", "scalar"}},
		"an exception inside backward": {func(s *Scope) {
			x := s.RequireGrad(f(s, 4), true)
			y := s.Exp(x)
			loss := s.Sum(s.Mul(y, y))
			s.Fill(y, 3)
			s.Backward(loss)
		}, ErrShape, []string{"backward", "modified by an inplace operation"}},
		"a label out of range": {func(s *Scope) { s.CrossEntropy(f(s, 1, 3), From(s, []int64{7}, 1)) }, ErrShape,
			[]string{"cross_entropy", "out of"}},
		"a source out of range": {func(s *Scope) { s.Spread(f(s, 3, 2), Sources{Rows: From(s, []int64{3}, 1)}) },
			ErrShape, []string{"spread", "outside of 3"}},
		"too few factors": {func(s *Scope) { s.Spread(f(s, 3, 2), Sources{Scale: From(s, []float64{1}, 1)}) }, ErrShape,
			[]string{"a factor for each row"}},
		"copies without columns": {func(s *Scope) {
			one := From(s, []float64{1, 1}, 2)
			s.Spread(f(s, 3, 2), Sources{Copies: one, First: one})
		}, ErrShape, []string{"a count for each column"}},
		"no identity": {func(s *Scope) { s.Dirac(f(s, 3, 2)) }, ErrShape, []string{"no identity", "[3, 2]"}},
		"an index out of range": {func(s *Scope) { s.Embedding(f(s, 3, 2), From(s, []int64{9}, 1)) }, ErrShape,
			[]string{"embedding", "out of range"}},
		"an optimizer of results": {func(s *Scope) {
			s.NewOptimizer(Group{Params: []*Tensor{s.Neg(s.RequireGrad(f(s, 2), true))},
				OptimizerOptions: OptimizerOptions{Rule: Adam}})
		}, ErrShape, []string{"make optimizer", "not a leaf"}},
		"a gradient of another shape": {func(s *Scope) { s.SetGrad(f(s, 2), f(s, 3)) }, ErrShape,
			[]string{"set_grad", "[3]", "[2]"}},
		"a copy of another shape": {func(s *Scope) { s.Copy(f(s, 2), f(s, 3)) }, ErrShape, []string{"copy"}},
		"memory that is not there": {func(s *Scope) { f(s, 1<<40, 1<<10) }, ErrOutOfMemory,
			[]string{"full", "smaller batch"}},
		"a precision without a name": {func(s *Scope) {
			var b Builder
			s.NewProgram(&b, b.Input(), ProgramOptions{Precision: 9})
		}, ErrShape, []string{"unknown precision 9"}},
		"a layer in a program": {func(s *Scope) {
			var b Builder
			p := s.NewProgram(&b, b.Linear(b.Activate(b.Input(), ReLU, 0), f(s, 2, 3), nil), ProgramOptions{})
			p.Forward(s, f(s, 4, 5), false, nil)
		}, ErrShape, []string{"linear (instruction 1, input [4, 5])"}},
		"a program of nothing": {func(s *Scope) {
			var b Builder
			s.NewProgram(&b, 5, ProgramOptions{})
		}, ErrShape, []string{"make program", "register 5"}},
		"too many inputs of one layer": {func(s *Scope) {
			var b Builder
			s.NewProgram(&b, b.Cat(0, 0, 0, 0, 0, 0, 0, 0, 0, 0), ProgramOptions{})
		}, ErrShape, []string{"layer 1 has 9 inputs"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := With(func(s *Scope) error { c.call(s); return nil })
			require.ErrorIs(t, err, c.kind)
			for _, text := range c.says {
				require.ErrorContains(t, err, text)
			}
			require.NotContains(t, err.Error(), "\n")
			require.NotContains(t, err.Error(), "frame #")
		})
	}
}

func TestDevicesByName(t *testing.T) {
	for _, name := range []string{"", "cpu"} {
		d, err := ParseDevice(name)
		require.NoError(t, err)
		require.Equal(t, CPU, d)
	}
	for _, name := range []string{"gpu", "cuda:x", "cuda:-1", "cuda:127", "cpu:0"} {
		_, err := ParseDevice(name)
		require.ErrorIs(t, err, ErrDevice, name)
	}
	_, err := ParseDevice("cuda:99")
	require.ErrorContains(t, err, "this machine has only cpu")
	devices, err := Devices()
	require.NoError(t, err)
	require.Equal(t, CPU, devices[0])
}

func TestTrainingErrorsNameTheCause(t *testing.T) {
	within(t, func(s *Scope) {
		n := newTestNet(t, s, Float32, 4, 3)
		x, y := n.examples(t, 8, 10, 3)
		p, o := n.program(t, ProgramOptions{}), n.adam(false)
		cases := map[string]struct {
			b    Batches
			says string
		}{
			"no rows":          {Batches{Size: 4}, "inputs or labels are missing"},
			"no batch":         {Batches{Inputs: x, Labels: y}, "must be positive"},
			"more steps":       {Batches{Inputs: x, Labels: y, Size: 4, Steps: 3}, "3 steps of 4 rows"},
			"labels of others": {Batches{Inputs: x, Labels: From(s, []int64{1}, 1), Size: 4}, "8 inputs for 1 labels"},
			"an order out of it": {Batches{Inputs: x, Labels: y, Order: From(s, []int64{99}, 1), Size: 1},
				"out of range"},
			"images of one color": {Batches{Inputs: s.Zeros(Float32, CPU, 8, 1, 10, 10), Labels: y, Size: 4},
				"conv2d (instruction 0"},
			"labels that are lossy": {Batches{Inputs: x, Labels: s.Zeros(Float32, CPU, 8), Size: 4}, "train"},
		}
		for name, c := range cases {
			_, err := Train(p, o, c.b)
			require.ErrorContains(t, err, c.says, name)
		}
		_, err := Train(p, o, Batches{Inputs: x, Labels: y, Size: 4})
		require.NoError(t, err, "a failed call must not spoil the next")
	})
}

// If the library is missing or broken, the error says how to build it. The test runs in a process of its own.
func TestMissingLibraryIsExplained(t *testing.T) {
	if os.Getenv(alone) != "" {
		err := With(func(*Scope) error { return nil })
		require.ErrorIs(t, err, ErrNotLoaded)
		_, derr := Describe()
		require.ErrorIs(t, derr, ErrNotLoaded)
		require.Empty(t, LibraryPath())
		require.ErrorIs(t, SetThreads(1), ErrNotLoaded)
		t.Log(err)
		return
	}
	broken := t.TempDir() + "/broken.so"
	require.NoError(t, os.WriteFile(broken, []byte("not a library"), 0o600))
	for path, says := range map[string]string{"/nowhere/lib.so": "cannot open", broken: "file too short",
		"/lib64/ld-linux-x86-64.so.2": "lacks"} {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestMissingLibraryIsExplained$", "-test.v")
		cmd.Env = append(os.Environ(), alone+"=1", LibraryVariable+"="+path)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		text := strings.Join(strings.Fields(string(out)), " ")
		require.Contains(t, text, "make library")
		require.Contains(t, text, says)
	}
}

// A number of threads that is set before LibTorch opens stays. The test runs in a process of its own.
func TestThreadsThatAreSetFirstStay(t *testing.T) {
	if os.Getenv(alone) != "" {
		require.NoError(t, SetThreads(1))
		r, err := Describe()
		require.NoError(t, err)
		require.Equal(t, 1, r.Threads)
		require.ErrorContains(t, SetThreads(0), "must be positive")
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		require.NoError(t, UseThreads(3))
		r, err = Describe()
		require.NoError(t, err)
		require.Equal(t, 3, r.Threads, "of this thread")
		require.ErrorContains(t, UseThreads(0), "must be positive")
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestThreadsThatAreSetFirstStay$", "-test.v")
	cmd.Env = append(os.Environ(), alone+"=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}

// A memory limit needs a CUDA device and a library that supports it.
func TestLimitMemory(t *testing.T) {
	require.NoError(t, LimitMemory(CPU, 7))
	first := Device{CUDA: true}
	require.ErrorContains(t, LimitMemory(first, 1.5), "must be above 0 and at most 1")
	r, err := Describe()
	require.NoError(t, err)
	if r.CUDADevices > 0 && r.Graphs {
		require.NoError(t, LimitMemory(first, 0.9))
	} else {
		require.ErrorContains(t, LimitMemory(first, 0.9), "limit the memory")
	}
}
