package weights_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/internal/pythontest"
	"graft/torch/weights"
)

// describe is a Python program that describes each file in its arguments: one line of JSON
// with its tensors, loaded by PyTorch's restricted reader.
const describe = `
import hashlib, json, sys, torch
def digest(t):
    t = t.contiguous().view(-1)
    return hashlib.sha256(t.view(torch.uint8).numpy().tobytes() if t.numel() else b"").hexdigest()
for path in sys.argv[1:]:
    state = torch.load(path, map_location="cpu", weights_only=True)
    print(json.dumps([{"name": n, "dtype": str(t.dtype).split(".")[1], "shape": list(t.shape),
                       "bytes": digest(t), "sha256": digest(t.float())} for n, t in state.items()]))
`

func loadInPython(t *testing.T, paths ...string) [][]expected {
	cmd := exec.Command(pythontest.Find(t, "torch"), append([]string{"-W", "ignore", "-c", describe}, paths...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	dec := json.NewDecoder(strings.NewReader(string(out)))
	all := make([][]expected, len(paths))
	for i := range all {
		require.NoError(t, dec.Decode(&all[i]))
	}
	return all
}

// PyTorch loads random bits of each type as they are written.
func TestPyTorchLoadsWhatIsWritten(t *testing.T) {
	dir := t.TempDir()
	set := randomSet(5)
	set.Tensors = quiet(t, set.Tensors)
	paths := []string{filepath.Join(dir, "a.pth"), filepath.Join(dir, "empty.pt")}
	require.NoError(t, weights.Write(files.OS{}, paths[0], set))
	require.NoError(t, weights.Write(files.OS{}, paths[1], &weights.Set{}))
	loaded := loadInPython(t, paths...)
	assertTensors(t, loaded[0], set)
	assert.Empty(t, loaded[1])
}

// quiet clears NaN values among random bits, because processors convert their payloads differently.
func quiet(t *testing.T, tensors []weights.Tensor) []weights.Tensor {
	for _, tensor := range tensors {
		values, err := tensor.Float64s()
		require.NoError(t, err)
		size := int(tensor.DType.Size())
		for i, v := range values {
			if v != v {
				clear(tensor.Data[i*size : (i+1)*size])
			}
		}
	}
	return tensors
}

// reference is the folder of published files, outside of the repository.
const reference = "../../../shared/reference/adaptation"

func published(t *testing.T, pattern string, want int) []string {
	found, err := filepath.Glob(filepath.Join(reference, pattern))
	require.NoError(t, err)
	if len(found) == 0 {
		t.Skip("left out: the published weights are not beside the repository")
	}
	require.Len(t, found, want)
	return found
}

func TestPublishedWeightsAreThoseOfPyTorch(t *testing.T) {
	paths := append(published(t, "policies/*/agent.finalmodel.pth", 28),
		published(t, "starting_weights/*/weights.pth", 10)...)
	sets := make([]*weights.Set, len(paths))
	for i, path := range paths {
		var err error
		sets[i], err = weights.Read(files.OS{}, path, weights.Options{})
		require.NoError(t, err, path)
	}
	for i, want := range loadInPython(t, paths...) {
		assertTensors(t, want, sets[i])
	}
}
