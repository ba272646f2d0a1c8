package net2net_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/model"
	"graft/net2net"
	"graft/torch"
	"graft/torch/weights"
)

// reference is the folder of the original's figures, outside of the repository.
const reference = "../../shared/reference/adaptation"

func readReference(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(reference, name))
	if err != nil {
		t.Skip("left out: the original's figures are not beside the repository")
	}
	require.NoError(t, json.Unmarshal(text, into))
}

// shape describes the original's network after deepening.
type shape struct {
	Repr      string         `json:"repr"`
	Params    int            `json:"params"`
	Blocks    int            `json:"blocks"`
	Layers    []string       `json:"layers"`
	IDs       []int          `json:"ids"`
	Keys      []string       `json:"keys"`
	StateDict map[string]any `json:"state_dict"`
	Deepened  map[string]shape
}

// Deepening with net2net.Original gives the original's layers, ids, names and counts.
func TestCompatShapes(t *testing.T) {
	var want map[string]shape
	readReference(t, "golden/models.json", &want)
	ids := readIDs(t)
	for name, network := range want {
		for path, deep := range network.Deepened {
			n, err := model.Zoo(name, model.ZooOptions{})
			require.NoError(t, err)
			require.Len(t, net2net.OriginalBlocks(n), network.Blocks)
			for _, at := range strings.Split(path, ",") {
				_, err := net2net.Apply(n, net2net.Action{Kind: "deepen", Target: at},
					net2net.Options{Compat: net2net.Original})
				require.NoError(t, err, "%s deepened at %s", name, path)
			}
			compareShape(t, name+" "+path, n, deep, ids)
		}
	}
}

func readIDs(t *testing.T) map[string]int {
	var table struct {
		Entries []struct {
			Layer string
			ID    int
		}
	}
	readReference(t, "vocabs/models.ids.json", &table)
	ids := map[string]int{}
	for _, e := range table.Entries {
		ids[e.Layer] = e.ID
	}
	return ids
}

func compareShape(t *testing.T, what string, n *model.Network, want shape, ids map[string]int) {
	if want.Repr != "" {
		require.Equal(t, want.Repr, n.String(), what)
	}
	if want.Params > 0 {
		require.Equal(t, want.Params, n.Parameters(), what)
	}
	var keys []string
	for _, e := range n.State() {
		keys = append(keys, e.Name)
	}
	require.Equal(t, want.Keys, keys, what)
	if want.Layers == nil {
		return
	}
	var layers []string
	for _, leaf := range n.Leaves() {
		layers = append(layers, leaf.Layer.String())
	}
	require.Equal(t, want.Layers, layers, what)
	for k, layer := range layers {
		require.Equal(t, want.IDs[k], ids[layer], "%s: the id of %s", what, layer)
	}
}

// trained returns a network of the original with published weights.
func trained(t *testing.T, s *torch.Scope, name, folder string) *model.Network {
	n, err := model.Zoo(name, model.ZooOptions{})
	require.NoError(t, err)
	require.NoError(t, n.Materialize(s, model.Placement{}))
	set, err := weights.Read(files.OS{}, filepath.Join(reference, "starting_weights", folder, "weights.pth"),
		weights.Options{})
	require.NoError(t, err)
	require.NoError(t, n.Load(set))
	return n
}

func forward(t *testing.T, n *model.Network, x *torch.Tensor, training bool) []float64 {
	values, err := net2net.Logits(n, x, training)
	require.NoError(t, err)
	return values
}

// figures holds the original's results for one network.
type figures struct {
	Weights string      `json:"weights"`
	Eval    [][]float64 `json:"eval_logits"`
	Train   [][]float64 `json:"train_logits"`
	Losses  []float64   `json:"train5_after_deepen1_losses"`
	Deepen  map[string]struct {
		Eval  float64 `json:"max_abs_diff_eval"`
		Train float64 `json:"max_abs_diff_train"`
	}
}

func readFigures(t *testing.T) map[string]figures {
	var raw map[string]json.RawMessage
	readReference(t, "golden/cnn.json", &raw)
	all := map[string]figures{}
	for name, text := range raw {
		var f figures
		require.NoError(t, json.Unmarshal(text, &f))
		var parts map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(text, &parts))
		maps.DeleteFunc(parts, func(key string, _ json.RawMessage) bool { return !strings.HasPrefix(key, "deepen") })
		joined, err := json.Marshal(parts)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(joined, &f.Deepen))
		all[name] = f
	}
	return all
}

// Logits, the drift of the original's deepening and five training steps equal the original's results. graft's own
// operations keep the function of the same networks.
func TestCompatFigures(t *testing.T) {
	require.NoError(t, torch.SetThreads(1))
	for name, want := range readFigures(t) {
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			set, err := weights.Read(files.OS{}, filepath.Join(reference, "golden/cnn_batch.safetensors"),
				weights.Options{})
			require.NoError(t, err)
			x, y := torch.FromWeights(s, torch.CPU, set.Tensors[0]), torch.FromWeights(s, torch.CPU, set.Tensors[1])
			n := trained(t, s, name, want.Weights)
			eval, train := forward(t, n, x, false), forward(t, n, x, true)
			near(t, name+" in eval mode", slices.Concat(want.Eval...), eval)
			near(t, name+" in train mode", slices.Concat(want.Train...), train)
			for key, damage := range want.Deepen {
				compareDamage(t, s, n, x, key, damage.Eval, damage.Train)
			}
			compareTraining(t, s, n, x, y, want.Losses)
			keepsFunction(t, s, n, x, eval, train)
			return s.Err()
		}))
	}
}

func near(t *testing.T, what string, want, got []float64) {
	require.Len(t, got, len(want), what)
	require.Less(t, net2net.DriftBetween(want, got).Relative, 1e-5, what)
}

// compareDamage deepens as the original does, with or without its BatchNorm, and compares the drift.
func compareDamage(t *testing.T, s *torch.Scope, n *model.Network, x *torch.Tensor, key string, eval, train float64) {
	var at, norm int
	_, err := fmt.Sscanf(key, "deepen%d_bn%d", &at, &norm)
	require.NoError(t, err)
	twin, err := n.Clone(s)
	require.NoError(t, err)
	o := net2net.Options{Compat: net2net.WithoutNorm}
	if norm == 1 {
		o.Compat = net2net.Original
	}
	_, err = net2net.Apply(twin, net2net.Action{Kind: "deepen", Target: fmt.Sprint(at)}, o)
	require.NoError(t, err)
	drift, err := net2net.Compare(n, twin, x, false)
	require.NoError(t, err)
	require.InDelta(t, eval, drift.Largest, 1e-5, "%s %s in eval mode", n.Name(), key)
	drift, err = net2net.Compare(n, twin, x, true)
	require.NoError(t, err)
	require.InDelta(t, train, drift.Largest, 1e-5, "%s %s in train mode", n.Name(), key)
}

// afterSteps returns the relative tolerance of a step's loss. Adam's first steps have the size of the rate whatever the
// gradient, so rounding, which depends on the processor, shows from the second step on. The original's losses were made
// with LibTorch 1.13 on one thread.
func afterSteps(t *testing.T, steps int) float64 {
	r, err := torch.Describe()
	require.NoError(t, err)
	switch {
	case !strings.HasPrefix(r.Version, "1.13"):
		return 1e-3
	case steps > 0:
		return 1e-4
	}
	return 1e-5
}

// compareTraining takes five steps with a new Adam after deepening block 1.
func compareTraining(t *testing.T, s *torch.Scope, n *model.Network, x, y *torch.Tensor, losses []float64) {
	twin, err := n.Clone(s)
	require.NoError(t, err)
	_, err = net2net.Apply(twin, net2net.Action{Kind: "deepen", Target: "1"}, net2net.Options{Compat: net2net.Original})
	require.NoError(t, err)
	opt, err := net2net.NewOptimizer(s, twin, torch.OptimizerOptions{Rule: torch.Adam, LR: 0.01})
	require.NoError(t, err)
	p, err := twin.Program(s, torch.ProgramOptions{})
	require.NoError(t, err)
	for k, want := range losses {
		f, err := torch.Train(p, opt.Optimizer, torch.Batches{Inputs: x, Labels: y, Size: 64})
		require.NoError(t, err)
		require.InEpsilon(t, want, f.Losses[0], afterSteps(t, k), "%s, step %d", n.Name(), k+1)
	}
}

// keepsFunction checks that graft's deepening and widening keep the function.
func keepsFunction(t *testing.T, s *torch.Scope, n *model.Network, x *torch.Tensor, eval, train []float64) {
	for _, text := range []string{"deepen:conv1", "deepen:conv2", "deepen:fc", "widen:conv1:80", "widen:conv2:48"} {
		action, err := net2net.ParseAction(text)
		require.NoError(t, err)
		twin, err := n.Clone(s)
		require.NoError(t, err)
		_, err = net2net.Apply(twin, action, net2net.Options{Batch: x})
		require.NoError(t, err)
		near(t, n.Name()+" "+text+" in eval mode", eval, forward(t, twin, x, false))
		require.Less(t, net2net.DriftBetween(train, forward(t, twin, x, true)).Relative, 1e-4, "%s %s in train mode",
			n.Name(), text)
	}
}
