package torch

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// peerVariable is the environment variable of a process in a group: part, rank, size, rendezvous file and folder for
// answers.
const peerVariable = "GRAFT_TEST_PEER"

// peerParts holds the bodies of a group's processes.
var peerParts = map[string]func(t *testing.T, s *Scope, p *Peers) any{
	"collect": collectPart, "train": trainPart, "die": diePart, "sleep": sleepPart, "squares": squaresPart,
	"signals": signalsPart,
}

// peerTimeout is the time that a process of a group waits for another one; a busy machine may take minutes.
const peerTimeout = 5 * time.Minute

// timeoutVariable overrides peerTimeout.
const timeoutVariable = "GRAFT_TEST_PEER_TIMEOUT"

func timeoutOfPeers() time.Duration {
	if text := os.Getenv(timeoutVariable); text != "" {
		return must(time.ParseDuration(text))
	}
	return peerTimeout
}

// together runs a part in several processes of this test program, and returns their answers. The answer of a killed
// process is zero.
func together[T any](t *testing.T, part string, size int) []T {
	t.Helper()
	folder := t.TempDir()
	program, err := os.Executable()
	require.NoError(t, err)
	var processes []*exec.Cmd
	for rank := range size {
		c := exec.Command(program, "-test.run=^TestAsPeer$", "-test.timeout=20m")
		c.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d %s %s", peerVariable, part, rank, size,
			filepath.Join(folder, "meet"), folder))
		c.Stdout, c.Stderr = os.Stderr, os.Stderr
		require.NoError(t, c.Start())
		processes = append(processes, c)
	}
	answers := make([]T, size)
	for rank, c := range processes {
		if err := c.Wait(); c.ProcessState.ExitCode() < 0 {
			continue // killed
		} else {
			require.NoError(t, err, "process %d of %d", rank, size)
		}
		data, err := os.ReadFile(filepath.Join(folder, strconv.Itoa(rank)))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &answers[rank]))
	}
	return answers
}

// TestAsPeer runs as one process of a group that another test starts. Otherwise it is skipped.
func TestAsPeer(t *testing.T) {
	var part, meet, folder string
	var rank, size int
	if _, err := fmt.Sscan(os.Getenv(peerVariable), &part, &rank, &size, &meet, &folder); err != nil {
		t.Skip("it is a process of the other tests' groups")
	}
	answer := func(v any) {
		data, err := json.Marshal(v)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, strconv.Itoa(rank)), data, 0o600))
	}
	err := With(func(s *Scope) error {
		require.NoError(t, SetThreads(1))
		threadsBefore = threads(t)
		p := s.NewPeers(PeersOptions{Rank: rank, Size: size, File: meet, Timeout: timeoutOfPeers()})
		if s.Err() == nil {
			answer(peerParts[part](t, s, p))
		}
		return s.Err()
	})
	if part == "sleep" && errors.Is(err, ErrPeer) { // the other one did not come in time
		answer(silence{})
		return
	}
	require.NoError(t, err)
}

func needsPeers(t *testing.T) {
	r, err := Describe()
	require.NoError(t, err)
	if !r.Gloo {
		t.Skip("this LibTorch has no c10d with Gloo; build the library for another one")
	}
}

func collectPart(t *testing.T, s *Scope, p *Peers) any {
	mine := float32(p.Rank + 1)
	a, b := From(s, []float32{mine, 10 * mine}, 2), From(s, []float64{float64(mine) / 4}, 1)
	c, d := From(s, []int64{int64(p.Rank)}, 1), s.Transpose(From(s, []float32{mine, 0, 0, mine, 1, 1}, 2, 3), 0, 1)
	require.NoError(t, p.Sum(a, d, b, c))
	e, f := From(s, []int64{int64(p.Rank), 7}, 2), s.RequireGrad(From(s, []float32{mine}), true)
	require.NoError(t, p.Broadcast(p.Size-1, e, f))
	// The tensor is longer than the messages that the first process sums.
	const values = 20_000
	long := From(s, slices.Repeat([]float32{mine}, values), values)
	require.NoError(t, p.Sum(long))
	sums := floats(t, long)
	require.Len(t, sums, values)
	require.Equal(t, slices.Min(sums), slices.Max(sums))
	all := [][]float64{floats(t, a), floats(t, b), floats(t, c), floats(t, d), floats(t, e), floats(t, f), sums[:1]}
	require.ErrorIs(t, p.Sum(&Tensor{}), ErrClosed)
	p.Close()
	p.Close()
	require.ErrorIs(t, p.Sum(a), ErrClosed)
	return all
}

func TestSumsAndBroadcasts(t *testing.T) {
	needsPeers(t)
	for _, size := range []int{1, 2, 4} {
		n := float64(size)
		sum := n * (n + 1) / 2 // sum of the ranks, from 1
		want := [][]float64{{sum, 10 * sum}, {sum / 4}, {sum - n}, {sum, sum, 0, n, 0, n}, {n - 1, 7}, {n}, {sum}}
		for rank, got := range together[[][]float64](t, "collect", size) {
			require.Equal(t, want, got, "process %d of %d", rank, size)
		}
	}
}

// peerLesson holds the options of a group's training.
type peerLesson struct {
	Fast, Steady, Taught bool
	Rows, Size, Part     int
	Clip, Smoothing      float64
	Mixup                float64
	Averaged             bool
	RandAugment          int
	Graph                bool // trains a graph of operators
	Ignores              bool // an example has labels for ten tokens, and some are ignored
}

// history holds the figures of a process and its final state.
type history struct {
	Losses  []float64
	Correct []int
	Held    []float64 // losses of an evaluation
	Right   []int
	State   [][]float64
}

// peerLessons holds a lesson for each property that it tests.
var peerLessons = map[string]peerLesson{
	"PyTorch's order of operations": {Rows: 194, Size: 16},
	"the fast path":                 {Rows: 194, Size: 16, Fast: true},
	"steady, with a teacher":        {Rows: 193, Size: 16, Fast: true, Steady: true, Taught: true},
	"parts, mixed, averaged": {Rows: 193, Size: 16, Part: 6, Fast: true, Taught: true, Mixup: 0.5,
		Averaged: true},
	"random operations":           {Rows: 193, Size: 16, Fast: true, RandAugment: 2},
	"a graph of operators":        {Rows: 193, Size: 16, Fast: true, Graph: true},
	"labels that do not count":    {Rows: 193, Size: 16, Fast: true, Ignores: true, Smoothing: 0.1},
	"the same in parts":           {Rows: 193, Size: 16, Fast: true, Ignores: true, Smoothing: 0.1, Part: 6},
	"clipped, with smooth labels": {Rows: 193, Size: 16, Fast: true, Clip: 0.5, Smoothing: 0.1},
}

// learner returns a network with all layers that read a whole batch, or draw random numbers for each example.
func learner(t *testing.T, s *Scope, l peerLesson) (*testNet, *Program) {
	n := newTestNet(t, s, Float32, 6, 3)
	w, b, own := n.param(0.3, 3, 6), n.param(0.3, 3),
		BatchNorm{Eps: 1e-5, Momentum: 0.1, Weight: n.param(1, 6), Bias: n.param(1, 6)}
	first := n.layers
	n.layers = func(b_ *Builder, x Value) Value {
		x = b_.Normalize(x, 1, From(s, []float32{0.1, 0, 0.2}, 3, 1, 1), From(s, []float32{1, 2, 1}, 3, 1, 1))
		logits := first(b_, x)
		y := b_.BatchNorm(b_.Conv2D(x, n.params[0], nil, Plane{}), own)
		y = b_.MaxPool2D(b_.Dropout(b_.Activate(y, Tanh, 0), 0.2), square(2))
		y = b_.Dropout(b_.Flatten(b_.AdaptiveAvgPool2D(y, 1, 1), 1, -1), 0.3)
		return b_.Add(logits, b_.Linear(y, w, b))
	}
	if l.Ignores {
		return tokenLearner(t, s)
	}
	if l.Graph {
		return graphLearner(t, s)
	}
	return n, n.program(t, ProgramOptions{Fast: l.Fast, Steady: l.Steady})
}

// graphLearner returns a graph with dropout on two rows for each example, and with batch statistics.
func graphLearner(t *testing.T, s *Scope) (*testNet, *Program) {
	n := &testNet{s: s, dtype: Float32, random: s.NewGenerator(CPU, 9)}
	norm := n.norm(6)
	names := []string{"weight", "bias", "mean", "var", "conv", "fc1", "fc2"}
	tensors := []*Tensor{norm.Weight, norm.Bias, norm.Mean, norm.Var, n.param(0.5, 6, 3, 3, 3), n.param(0.5, 5, 12),
		n.param(0.5, 3, 10)}
	list := func(sizes ...int64) []any {
		all := make([]any, len(sizes))
		for k := range sizes {
			all[k] = sizes[k]
		}
		return all
	}
	p := s.NewCalls(CallList{Input: "x", Output: "logits", Names: names, Tensors: tensors, Calls: []Call{
		call("conv2d.default", "c", Argument{"input", Ref("x")}, Argument{"weight", Ref("conv")},
			Argument{"padding", list(1, 1)}),
		call("batch_norm.default", "n", Argument{"input", Ref("c")}, Argument{"weight", Ref("weight")},
			Argument{"bias", Ref("bias")}, Argument{"running_mean", Ref("mean")}, Argument{"running_var", Ref("var")},
			Argument{"momentum", 0.1}, Argument{"eps", 1e-5}),
		call("relu.default", "r", Argument{"self", Ref("n")}),
		call("dropout.default", "d", Argument{"input", Ref("r")}, Argument{"p", 0.2}),
		call("adaptive_avg_pool2d.default", "a", Argument{"self", Ref("d")}, Argument{"output_size", list(2, 2)}),
		call("reshape.default", "h", Argument{"self", Ref("a")}, Argument{"shape", list(-1, 12)}),
		call("dropout.default", "e", Argument{"input", Ref("h")}, Argument{"p", 0.3}),
		call("linear.default", "f", Argument{"input", Ref("e")}, Argument{"weight", Ref("fc1")}),
		call("reshape.default", "g", Argument{"self", Ref("f")}, Argument{"shape", list(-1, 10)}),
		call("linear.default", "logits", Argument{"input", Ref("g")}, Argument{"weight", Ref("fc2")}),
	}}, ProgramOptions{})
	require.NoError(t, s.Err())
	return n, p
}

// tokenLearner returns a network that reads an image as ten tokens and classifies each token.
func tokenLearner(t *testing.T, s *Scope) (*testNet, *Program) {
	n := &testNet{s: s, dtype: Float32, random: s.NewGenerator(CPU, 9)}
	p := s.NewCalls(CallList{Input: "x", Output: "logits", Names: []string{"weight"},
		Tensors: []*Tensor{n.param(0.5, 3, 30)}, Calls: []Call{
			call("reshape.default", "tokens", Argument{"self", Ref("x")},
				Argument{"shape", []any{int64(-1), int64(10), int64(30)}}),
			call("linear.default", "logits", Argument{"input", Ref("tokens")}, Argument{"weight", Ref("weight")}),
		}}, ProgramOptions{})
	require.NoError(t, s.Err())
	return n, p
}

// tokenLabels returns labels for the ten tokens of each example. All labels of some examples are ignored.
func tokenLabels(s *Scope, rows int) *Tensor {
	labels := make([]int64, 10*rows)
	for k := range labels {
		if labels[k] = int64(k % 7 % 3); k%10 >= k/10%11 {
			labels[k] = -100
		}
	}
	return From(s, labels, rows, 10)
}

func trainPart(t *testing.T, s *Scope, p *Peers) any {
	all := map[string]history{}
	for _, name := range slices.Sorted(maps.Keys(peerLessons)) {
		all[name] = trained(t, s, p, peerLessons[name])
	}
	return all
}

func trained(t *testing.T, s *Scope, p *Peers, l peerLesson) history {
	n, program := learner(t, s, l)
	o := s.NewOptimizer(Group{Params: n.params, OptimizerOptions: OptimizerOptions{Rule: Adam, LR: 0.003, Fused: l.Fast,
		ClipNorm: l.Clip}})
	x, y := n.examples(t, l.Rows, 10, 3)
	if l.Ignores {
		y = tokenLabels(s, l.Rows)
	}
	if l.RandAugment > 0 {
		x = s.To(s.Scale(x, 20, 100), Uint8, CPU)
	}
	random := s.NewGenerator(CPU, 5)
	order := s.Permutation(l.Rows, s.NewGenerator(CPU, 3))
	b := Batches{Inputs: x, Labels: y, Order: order, Size: l.Size, Random: random, Augment: Augment{Pad: 1, Flip: true,
		Mixup: l.Mixup, RandAugment: l.RandAugment, Magnitude: 9 * min(1, l.RandAugment)}, Smoothing: l.Smoothing,
		Ignores: l.Ignores, Part: l.Part, Peers: p}
	if l.Averaged {
		b.Average = Average{Of: n.state(), To: copies(s, n.state()), Decay: 0.9, First: true}
	}
	if l.Taught {
		lessons := s.Zeros(Float32, CPU, l.Rows, 3)
		s.Normal(lessons, 0, 2, s.NewGenerator(CPU, 7))
		b.Teacher = Teacher{Logits: lessons, Temperature: 2, Share: 0.5, Length: 50}
	}
	var h history
	for range 2 {
		f, err := Train(program, o, b)
		require.NoError(t, err)
		h.Losses, h.Correct = append(h.Losses, f.Losses...), append(h.Correct, f.Correct...)
	}
	f, err := Evaluate(program, Batches{Inputs: x, Labels: y, Size: 50, Peers: p})
	require.NoError(t, err)
	h.Held, h.Right = f.Losses, f.Correct
	h.State = snapshot(t, n, o)
	for _, average := range b.Average.To {
		h.State = append(h.State, floats(t, average))
	}
	return h
}

// lossTolerance limits the relative difference between the losses of several processes and of one. Training amplifies
// rounding.
const lossTolerance = 1e-5

func relative(t *testing.T, got, want []float64) float64 {
	require.Len(t, got, len(want))
	worst := 0.0
	for k := range want {
		worst = math.Max(worst, math.Abs(got[k]-want[k])/math.Abs(want[k]))
	}
	return worst
}

// Several processes train as one process does, with all layers that read whole batches. Some batches are so short that
// one process has no row of them.
func TestSeveralProcessesTrainAsOne(t *testing.T) {
	needsPeers(t)
	one := together[map[string]history](t, "train", 1)[0]
	sizes := []int{3}
	if long {
		sizes = []int{2, 3}
	}
	for _, size := range sizes {
		all := together[map[string]history](t, "train", size)
		for rank := range all {
			require.Equal(t, all[0], all[rank], "process %d has the same bits as the first", rank)
		}
		for name, want := range one {
			got := all[0][name]
			require.Len(t, want.Losses, 26)
			if l := peerLessons[name]; l.RandAugment == 0 && !l.Graph { // these make losses too random
				require.Less(t, want.Losses[24], want.Losses[0], "it learns")
			}
			worst, held := relative(t, got.Losses, want.Losses), relative(t, got.Held, want.Held)
			require.Less(t, worst, lossTolerance, "%s: losses of %d processes", name, size)
			require.Equal(t, want.Correct, got.Correct)
			// Without Fast, Adam moves the biases before a norm by their gradients, which are rounding errors.
			if peerLessons[name].Fast {
				require.Less(t, held, lossTolerance, "%s: evaluation after %d processes", name, size)
				require.Equal(t, want.Right, got.Right)
			}
			t.Logf("measured: %s: losses of %d processes differ from those of one by %.1e at most over 26 steps, "+
				"of an evaluation after them by %.1e", name, size, worst, held)
		}
	}
}

// deaths holds the observations of a process if another one ends.
type deaths struct {
	Lost    bool    // the error is ErrPeer
	Again   bool    // the next call fails, too
	Words   string  // text of the error
	Changed float64 // largest relative change by the failed call
	Seconds float64 // duration of the failed call
}

func diePart(t *testing.T, s *Scope, p *Peers) any {
	l := peerLesson{Rows: 640, Size: 16}
	n, program := learner(t, s, l)
	x, y := n.examples(t, l.Rows, 10, 3)
	o, random := n.adam(false), s.NewGenerator(CPU, 5)
	b := Batches{Inputs: x, Labels: y, Size: l.Size, Random: random, Peers: p}
	_, err := Train(program, o, b)
	require.NoError(t, err)
	if p.Rank == 1 { // in the middle of a call
		time.AfterFunc(30*time.Millisecond, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) })
		for {
			_, _ = Train(program, o, b)
		}
	}
	for {
		before, drawn := snapshot(t, n, o), must(random.State())
		began := time.Now()
		_, err = Train(program, o, b)
		if err == nil {
			continue
		}
		d := deaths{Lost: errors.Is(err, ErrPeer), Words: err.Error(), Seconds: time.Since(began).Seconds()}
		p.Close() // so that the next process notices
		for k, values := range snapshot(t, n, o) {
			d.Changed = math.Max(d.Changed, distance(values, before[k]))
		}
		require.Equal(t, drawn, must(random.State()), "and what is drawn next")
		_, err = Train(program, o, b)
		d.Again = err != nil
		return d
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// All other processes notice at once that a process is killed in the middle of a call. The failed call changes nothing.
func TestAKilledProcessIsNoticed(t *testing.T) {
	needsPeers(t)
	for _, size := range []int{2, 3} {
		for rank, d := range together[deaths](t, "die", size) {
			if rank == 1 {
				continue
			}
			require.True(t, d.Lost, d.Words)
			require.True(t, d.Again)
			require.Zero(t, d.Changed)
			require.Less(t, d.Seconds, 0.9*peerTimeout.Seconds(), "before the timeout")
			t.Logf("measured: process %d of %d had back its call %.0f ms after it began it, with %q", rank, size,
				1000*d.Seconds, d.Words)
		}
	}
}

// silence holds the observations of a process if another one is silent.
type silence struct {
	Met    bool // both processes have met, and exchanged a tensor
	Waited bool // the failed call waited for at least half of the timeout
	deaths
}

// sleepPart exchanges a tensor, and then one process is silent until the other has given it up.
func sleepPart(t *testing.T, s *Scope, p *Peers) any {
	x := From(s, []float32{1}, 1)
	if p.Sum(x) != nil {
		return silence{}
	}
	if p.Rank == 1 {
		answer := filepath.Join(strings.Fields(os.Getenv(peerVariable))[4], "0")
		require.Eventually(t, func() bool { _, err := os.Stat(answer); return err == nil }, peerTimeout,
			time.Millisecond)
		return silence{Met: true}
	}
	began := time.Now()
	err := p.Sum(x)
	return silence{true, 2*time.Since(began) >= timeoutOfPeers(),
		deaths{Lost: errors.Is(err, ErrPeer), Words: fmt.Sprint(err)}}
}

// threadsBefore holds the threads of this process before it joins its group.
var threadsBefore map[int]bool

// threads returns the threads of this process.
func threads(t *testing.T) map[int]bool {
	all := map[int]bool{}
	entries, err := os.ReadDir("/proc/self/task")
	require.NoError(t, err)
	for _, entry := range entries {
		id, err := strconv.Atoi(entry.Name())
		require.NoError(t, err)
		all[id] = true
	}
	return all
}

// signalsPart sends SIGPIPE to each thread of the group, as the kernel does if a socket's other end is gone.
func signalsPart(t *testing.T, s *Scope, p *Peers) any {
	for id := range threads(t) {
		if threadsBefore[id] {
			continue
		}
		if err := syscall.Tgkill(os.Getpid(), id, syscall.SIGPIPE); err != nil { // the thread has ended
			require.ErrorIs(t, err, syscall.ESRCH)
		}
	}
	require.NoError(t, p.Sum(From(s, []float32{1}, 1)), "all processes live")
	return true
}

// Threads of a group may write to a process that is gone, so they survive the signal of a broken pipe.
func TestABrokenPipeEndsNoProcess(t *testing.T) {
	needsPeers(t)
	require.Equal(t, []bool{true, true}, together[bool](t, "signals", 2))
}

// A group gives up a silent process after the timeout. The test is repeated with a longer timeout if the processes of a
// busy machine did not meet in time.
func TestASilentProcessIsGivenUp(t *testing.T) {
	needsPeers(t)
	for timeout := time.Second; ; timeout *= 4 {
		t.Setenv(timeoutVariable, timeout.String())
		all := together[silence](t, "sleep", 2)
		if !(all[0].Met && all[1].Met) && timeout < time.Minute {
			continue
		}
		require.True(t, all[0].Met && all[1].Met)
		require.True(t, all[0].Lost, all[0].Words)
		require.True(t, all[0].Waited)
		return
	}
}

func TestGroupsThatCannotBe(t *testing.T) {
	needsPeers(t)
	good := PeersOptions{Rank: 0, Size: 2, File: filepath.Join(t.TempDir(), "meet"), Timeout: 200 * time.Millisecond}
	cases := map[string]struct {
		change func(o *PeersOptions)
		word   string
	}{
		"a rank outside":       {func(o *PeersOptions) { o.Rank = 2 }, "rank is 2 and size is 2"},
		"nobody":               {func(o *PeersOptions) { o.Size = 0 }, "rank is 0 and size is 0"},
		"no place to meet":     {func(o *PeersOptions) { o.File = "" }, "the path of the rendezvous file is missing"},
		"no time":              {func(o *PeersOptions) { o.Timeout = 0 }, "timeout is 0s"},
		"nobody else comes":    {func(o *PeersOptions) {}, "peer lost"},
		"no folder to meet in": {func(o *PeersOptions) { o.File += "/there" }, "peer lost"},
	}
	for name, c := range cases {
		o := good
		c.change(&o)
		err := With(func(s *Scope) error { s.NewPeers(o); return nil })
		require.ErrorContains(t, err, c.word, name)
		require.Equal(t, strings.HasPrefix(c.word, "peer"), errors.Is(err, ErrPeer), name)
	}
	within(t, func(s *Scope) {
		p := s.NewPeers(PeersOptions{Rank: 0, Size: 1, File: filepath.Join(t.TempDir(), "alone"), Timeout: peerTimeout})
		n := newTestNet(t, s, Float32, 4, 3)
		x, y := n.examples(t, 8, 10, 3)
		_, err := Train(n.program(t, ProgramOptions{}), n.adam(false), Batches{Inputs: x, Labels: y, Size: 4, Peers: p})
		require.ErrorContains(t, err, "separate generators")
		p.Close()
		_, err = Train(n.program(t, ProgramOptions{}), n.adam(false),
			Batches{Inputs: x, Labels: y, Size: 4, Peers: p, Random: n.random})
		require.ErrorIs(t, err, ErrClosed)
	})
}
