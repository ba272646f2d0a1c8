package train

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"pgregory.net/rapid"

	"graft/config"
	"graft/internal/files"
	"graft/internal/pythontest"
	"graft/model"
	"graft/model/python"
	"graft/net2net"
	"graft/net2net/surgerytest"
	"graft/runner/app"
	"graft/torch"
	"graft/torch/weights"
	"graft/trainer/program"
)

// attachedProgram starts a test program and attaches to it.
func attachedProgram(t *testing.T, script string, args ...string) *Attached {
	t.Helper()
	interpreter := pythontest.Find(t, "torch")
	folder, err := filepath.Abs("../testdata/program")
	require.NoError(t, err)
	words := config.Quote(interpreter) + ", " + config.Quote(script)
	for _, arg := range args {
		words += ", " + config.Quote(arg)
	}
	c, err := config.ReadJob(files.OS{}, "", []string{"program.command=[" + words + "]",
		"program.folder=" + config.Quote(folder)})
	require.NoError(t, err)
	env := &app.Env{Files: files.OS{}, Now: time.Now, Random: rand.Reader, Log: zap.NewNop()}
	a, err := Attach(t.Context(), env, c, 1, 1)
	require.NoError(t, err)
	t.Cleanup(a.Close)
	return a
}

// The manifest of a program's job names the PyTorch that trains, not graft's own LibTorch.
func TestTheLibraryOfAProgramTrains(t *testing.T) {
	a := &Attached{}
	a.Session = &program.Session{Begun: program.Begun{Torch: "2.11.0+cpu"}}
	version, err := (&job{program: a}).library()
	require.NoError(t, err)
	require.Equal(t, "2.11.0+cpu", version)
	own, err := torch.Describe()
	require.NoError(t, err)
	version, err = (&job{}).library()
	require.NoError(t, err)
	require.Equal(t, own.Version, version)
}

// After surgery, the program has exactly graft's network and optimizer state, and continues with them.
func TestTheProgramHoldsWhatSurgeryMade(t *testing.T) {
	cases := []struct {
		action  string
		moments net2net.Moments
	}{{"widen:conv2:12", ""}, {"deepen:block", net2net.ResetNew}, {"widen:conv2:12", net2net.ResetNew},
		{"deepen:block", ""}, {"widen:conv1:6", net2net.Reset}}
	if os.Getenv("GRAFT_LONG") == "" {
		cases = cases[:2]
	}
	for _, x := range cases {
		text := x.action
		t.Run(text+" "+string(x.moments), func(t *testing.T) {
			a := attachedProgram(t, "train.py")
			require.NoError(t, torch.With(func(s *torch.Scope) error {
				n, err := a.Begin(t.Context(), s, nil)
				require.NoError(t, err)
				_, err = a.Session.Train([]float64{1, 1, 1}, nil, 1)
				require.NoError(t, err)
				pulled, counts, err := a.Session.Pull()
				require.NoError(t, err)
				all := byName(pulled)
				opt := mirrored(t, s, a, n, all, counts)
				action, err := net2net.ParseAction(text)
				require.NoError(t, err)
				change, err := net2net.Apply(n, action, net2net.Options{Seed: 1})
				require.NoError(t, err)
				opt, err = opt.Follow(s, n, change, net2net.Following{Moments: x.moments})
				require.NoError(t, err)
				made, err := n.Save()
				require.NoError(t, err)
				content := withMoments(t, n, made, opt)
				pushed, err := a.Session.Push(content, nil)
				require.NoError(t, err)
				require.LessOrEqual(t, *pushed.Moved, 1e-5, "largest change of an output")
				require.Equal(t, text != "deepen:block", pushed.Own)
				pulled, counts, err = a.Session.Pull()
				require.NoError(t, err)
				require.Equal(t, content.Counts, counts)
				held := byName(pulled)
				for _, w := range made.Tensors {
					require.Equal(t, fmt.Sprint(w.Shape), fmt.Sprint(held[w.Name].Shape), w.Name)
					require.Equal(t, w.Data, held[w.Name].Data, w.Name)
				}
				trained, err := a.Session.Train([]float64{1, 1, 1, 1}, nil, 1)
				require.NoError(t, err)
				require.Len(t, trained.Losses, 4)
				return s.Err()
			}))
		})
	}
}

// Surgery through the program preserves the outputs of networks with all kinds of layers, in both modes (drawn.py
// compares train mode), also with several inputs and outputs.
func TestProgramsOfDrawnNetworks(t *testing.T) {
	pythontest.Find(t, "torch.export")
	draw := rapid.Custom(surgerytest.Network)
	count, operated := map[bool]int{false: 14, true: 200}[os.Getenv("GRAFT_LONG") != ""], 0
	for seed := range count {
		n := draw.Example(seed)
		args := []string{filepath.Join(t.TempDir(), "net.py")}
		for _, size := range n.Input {
			args = append(args, strconv.Itoa(size))
		}
		tolerance := 1e-5
		if seed%2 == 1 {
			args, tolerance = append(args, "double"), 1e-10
		}
		if seed%4 >= 2 {
			args = append(args, "several")
		}
		writeModule(t, n, args[0], int64(seed))
		a := attachedProgram(t, "drawn.py", args...)
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			moved, done := operate(t, s, a, seed)
			require.LessOrEqual(t, moved, tolerance, "seed %d: %s", seed, n)
			operated += done
			return s.Err()
		}))
		a.Close()
	}
	t.Logf("measured: surgery on %d of %d networks in a program preserved their outputs", operated, count)
	require.Greater(t, operated, count/2)
}

// writeModule writes a network with random weights as a Python module.
func writeModule(t *testing.T, n *model.Network, path string, seed int64) {
	t.Helper()
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		require.NoError(t, n.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, seed)}))
		set, err := n.Save()
		require.NoError(t, err)
		require.NoError(t, weights.Write(files.OS{}, filepath.Join(filepath.Dir(path), "net.safetensors"), set))
		text, err := python.Source(n, python.Options{Weights: "net.safetensors"})
		require.NoError(t, err)
		return os.WriteFile(path, []byte(text), 0o600)
	}))
}

// operate trains a program for some steps and applies a proposed action to its network. It returns the largest change
// of an output, and the number of applied actions.
func operate(t *testing.T, s *torch.Scope, a *Attached, seed int) (moved float64, done int) {
	t.Helper()
	n, err := a.Begin(t.Context(), s, nil)
	require.NoError(t, err)
	_, err = a.Session.Train([]float64{1, 1, 1}, nil, 1)
	require.NoError(t, err)
	pulled, counts, err := a.Session.Pull()
	require.NoError(t, err)
	all := byName(pulled)
	opt := mirrored(t, s, a, n, all, counts)
	actions, err := net2net.Proposals(n)
	require.NoError(t, err)
	if len(actions) == 0 {
		return 0, 0
	}
	change, err := net2net.Apply(n, actions[seed%len(actions)], net2net.Options{Seed: 1})
	require.NoError(t, err)
	opt, err = opt.Follow(s, n, change, net2net.Following{})
	require.NoError(t, err)
	made, err := n.Save()
	require.NoError(t, err)
	pushed, err := a.Session.Push(withMoments(t, n, made, opt), nil)
	require.NoError(t, err)
	_, err = a.Session.Train([]float64{1, 1}, nil, 1)
	require.NoError(t, err)
	return *pushed.Moved, 1
}

// mirrored gives a network and a new optimizer the pulled state.
func mirrored(t *testing.T, s *torch.Scope, a *Attached, n *model.Network, all map[string]weights.Tensor,
	counts map[string]int64) *net2net.Optimizer {
	t.Helper()
	own, opt := &weights.Set{}, &net2net.Optimizer{}
	group := torch.Group{OptimizerOptions: a.Session.Begun.Optimizer}
	for _, e := range n.State() {
		own.Tensors = append(own.Tensors, all[e.Name])
	}
	require.NoError(t, n.Load(own))
	for _, e := range n.Trained() {
		require.EqualValues(t, 3, counts[e.Name], e.Name)
		group.Params = append(group.Params, e.Tensor)
		group.State = append(group.State, torch.State{Steps: counts[e.Name],
			First:  torch.FromWeights(s, torch.CPU, all["first/"+e.Name]),
			Second: torch.FromWeights(s, torch.CPU, all["second/"+e.Name])})
		opt.Names = append(opt.Names, e.Name)
	}
	opt.Optimizer = s.NewOptimizer(group)
	return opt
}

// withMoments adds an optimizer's moments to a network's tensors, for the program.
func withMoments(t *testing.T, n *model.Network, set *weights.Set, opt *net2net.Optimizer) program.Content {
	t.Helper()
	content := program.Content{Network: n.Sketch(), Tensors: set, Counts: map[string]int64{}}
	for k, name := range opt.Names {
		content.Counts[name] = 3
		for prefix, moment := range map[string]*torch.Tensor{"first/": opt.Slots[k].First,
			"second/": opt.Slots[k].Second} {
			w, err := moment.Weights(prefix + name)
			require.NoError(t, err)
			set.Tensors = append(set.Tensors, w)
		}
	}
	return content
}

func byName(set *weights.Set) map[string]weights.Tensor {
	all := map[string]weights.Tensor{}
	for _, t := range set.Tensors {
		all[t.Name] = t
	}
	return all
}
