package imports

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model/graph"
)

func TestDescribedNetworksPrintAsInPyTorch(t *testing.T) {
	python := os.Getenv("GRAFT_PYTHON")
	if python == "" {
		python = "/usr/bin/python3"
	}
	if exec.Command(python, "-c", "import torch").Run() != nil {
		t.Skipf("left out: descriptions by PyTorch, which %s cannot import; "+
			"install python3-torch or name another Python in GRAFT_PYTHON", python)
	}
	c := exec.Command(python, "-W", "ignore", "testdata/describe.py", "../../python")
	c.Env = append(c.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := c.Output()
	require.NoError(t, err)
	var said struct {
		Print     string          `json:"print"`
		Described json.RawMessage `json:"described"`
	}
	require.NoError(t, json.Unmarshal(out, &said))
	modules, err := graph.ReadModules(said.Described)
	require.NoError(t, err)
	g := &graph.Graph{}
	g.Describe(modules)
	assert.Equal(t, said.Print, g.String())
}
