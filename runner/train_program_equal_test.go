package main

import (
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/pythontest"
)

// A program and a graft job with the same network, data, optimizer and actions make the same decisions. Their losses
// and logits are equal up to rounding. An epoch is one batch of all images, so their order does not matter. A class
// consists of copies of one image, so the choice of held-out images does not matter.
func TestProgramsEqualJobs(t *testing.T) {
	python, folder := pythontest.Find(t, "torch.export"), t.TempDir()
	write(t, filepath.Join(folder, "equal.py"), contents(t, "testdata/program/equal.py"))
	copiedClasses(t, filepath.Join(folder, "data"))
	export := exec.Command(python, "equal.py")
	export.Dir = folder
	export.Env = append(os.Environ(), "EXPORT=net.pt2", "PYTHONPATH="+absolute(t, "../python"))
	out, err := export.CombinedOutput()
	require.NoError(t, err, "%s", out)
	done(t, "model", "import", filepath.Join(folder, "net.pt2"), "--out", filepath.Join(folder, "net"))
	const both = `
[time]
budget = "150ms"
profile = "round-gpu"
events = [{at = "30ms", change = "up", devices = 2}, {at = "80ms", change = "up", devices = 3}]

[adapt]
decider = "script"
on_error = "stop"
actions = [%s]

[schedule]
rule = "constant"
`
	for _, actions := range []string{`"widen:conv1:6", "widen:conv2:12"`, `"deepen:block", "widen:conv1:6"`} {
		own := write(t, filepath.Join(folder, "own.toml"), fmt.Sprintf(`[network]
file = "net.toml"
weights = "net.safetensors"

[data]
kind = "mnist"
path = "data"
mean = [0.3]
deviation = [0.4]

[train]
batch = 180
eval_batch = 180

[optimizer]
rule = "adamw"
lr = 0.01
weight_decay = 0.01
`+both, actions))
		driven := write(t, filepath.Join(folder, "driven.toml"), fmt.Sprintf(`[program]
command = [%q, "equal.py"]
validation_examples = 20
`+both, python, actions))
		a, b := filepath.Join(t.TempDir(), "own"), filepath.Join(t.TempDir(), "driven")
		first := done(t, "train", own, "--folder", a)
		second := done(t, "train", driven, "--folder", b)
		require.Equal(t, decisionsOf(t, first), decisionsOf(t, second))
		sameLosses(t, filepath.Join(a, "epochs.csv"), filepath.Join(b, "epochs.csv"))
		sameLogits(t, a, b)
	}
}

// copiedClasses writes a dataset in MNIST's format with 20 copies of one image per class.
func copiedClasses(t *testing.T, folder string) {
	t.Helper()
	require.NoError(t, os.Mkdir(folder, 0o700))
	random := rand.New(rand.NewPCG(1, 2))
	for _, part := range []string{"train", "t10k"} {
		images := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 0x803), 200)
		images = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(images, 28), 28)
		labels := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 0x801), 200)
		for class := range 10 {
			image := make([]byte, 28*28)
			for k := range image {
				image[k] = byte(random.IntN(256))
			}
			for range 20 {
				images, labels = append(images, image...), append(labels, byte(class))
			}
		}
		write(t, filepath.Join(folder, part+"-images-idx3-ubyte"), string(images))
		write(t, filepath.Join(folder, part+"-labels-idx1-ubyte"), string(labels))
	}
}

// decisionsOf returns the decisions and ups that a job logged, without accuracies.
func decisionsOf(t *testing.T, o outcome) (list []string) {
	t.Helper()
	for line := range strings.SplitSeq(o.stderr, "\n") {
		if strings.Contains(line, `"msg":"decision"`) || strings.Contains(line, `"msg":"up"`) {
			_, rest, _ := strings.Cut(line, `"msg"`)
			list = append(list, rest)
		}
	}
	require.Len(t, list, 4, o.stderr)
	return list
}

// sameLosses compares the training losses of two jobs. Rounding errors grow with the steps.
func sameLosses(t *testing.T, a, b string) {
	t.Helper()
	own, driven := lossesOf(t, a), lossesOf(t, b)
	require.Equal(t, len(own), len(driven))
	require.Greater(t, len(own), 6)
	worst := 0.0
	for k := range own {
		worst = max(worst, math.Abs(own[k]/driven[k]-1))
	}
	t.Logf("measured: losses of %d steps in a program and in a job differ by at most %.1e", len(own), worst)
	require.Less(t, worst, 1e-4)
}

func lossesOf(t *testing.T, path string) (losses []float64) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(contents(t, path))).ReadAll()
	require.NoError(t, err)
	for _, row := range rows[1:] {
		loss, err := strconv.ParseFloat(row[3], 64)
		require.NoError(t, err)
		losses = append(losses, loss)
	}
	return losses
}

// sameLogits compares the outputs of the final networks of two jobs.
func sameLogits(t *testing.T, a, b string) {
	t.Helper()
	random, values := rand.New(rand.NewPCG(3, 4)), make([]string, 3*28*28)
	for k := range values {
		values[k] = strconv.FormatFloat(random.NormFloat64(), 'f', 3, 64)
	}
	in := write(t, filepath.Join(t.TempDir(), "in.json"),
		fmt.Sprintf(`{"inputs": [{"shape": [3, 1, 28, 28], "values": [%s]}]}`, strings.Join(values, ", ")))
	own, driven := logitsOf(t, a, in), logitsOf(t, b, in)
	worst := 0.0
	for k := range own {
		worst = max(worst, math.Abs(own[k]-driven[k]))
	}
	t.Logf("measured: logits of a program and of a job differ by at most %.1e at the end", worst)
	require.Len(t, driven, len(own))
	require.Less(t, worst, 1e-3)
}

func logitsOf(t *testing.T, run, in string) []float64 {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.json")
	done(t, "model", "forward", filepath.Join(run, "network.toml"), "--weights",
		filepath.Join(run, "weights.safetensors"), "--inputs", in, "--out", out)
	var result struct {
		Logits []float64 `json:"logits_eval"`
	}
	require.NoError(t, json.Unmarshal([]byte(contents(t, out)), &result))
	require.Len(t, result.Logits, 30)
	return result.Logits
}
