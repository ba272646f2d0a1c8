package imports

import (
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/pythontest"
	"graft/model/graph"
)

func TestDescribedNetworksPrintAsInPyTorch(t *testing.T) {
	python := pythontest.Find(t, "torch")
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
