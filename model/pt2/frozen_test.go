package pt2

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model/graph"
	"graft/torch/weights"
)

// normRecords returns the records of a batch normalization whose program is changed by replacements.
func normRecords(t *testing.T, replacements ...string) map[string]string {
	var tensors []weights.Tensor
	for _, name := range []string{"weight", "bias", "running_mean", "running_var"} {
		one, err := weights.FromFloat32s("norm."+name, []int64{2}, []float32{1, 2})
		require.NoError(t, err)
		tensors = append(tensors, one)
	}
	return map[string]string{"version": "7.3", "serialized_constants.pt": savedText(),
		"serialized_exported_program.json": strings.NewReplacer(replacements...).Replace(decomposedProgram()),
		"serialized_state_dict.pt":         savedText(tensors...)}
}

const (
	weightMeta = `"weight": {"dtype": 7,`
	biasMeta   = `"bias": {"dtype": 7,`
	frozen     = ` "requires_grad": false,`
)

// graft trains each parameter, so a parameter that PyTorch does not train becomes a buffer.
func TestParametersWithoutGradientsAreNotTrained(t *testing.T) {
	net, err := readBytes(pack(t, normRecords(t, weightMeta, weightMeta+frozen)))
	require.NoError(t, err)
	assert.Equal(t, []string{"norm.bias"}, net.Graph.Trained())
	assert.Equal(t, graph.Buffer, net.Graph.Tensor("norm.weight").Role)
	assert.Contains(t, strings.Join(net.Notes, "\n"), "1 of 2 parameters do not require gradients, such as norm.weight")

	net, err = readBytes(pack(t, normRecords(t, weightMeta, weightMeta+frozen, biasMeta, biasMeta+frozen)))
	require.NoError(t, err)
	assert.Equal(t, []string{"norm.weight", "norm.bias"}, net.Graph.Trained(), "a network that was frozen as a whole")
	assert.Contains(t, strings.Join(net.Notes, "\n"), "no parameter requires gradients")
}

// An archive in eval mode has a momentum of zero for a cumulative average.
func TestCumulativeAveragesAreRefused(t *testing.T) {
	records := normRecords(t, `{"as_float": 0.1}`, `{"as_float": 0.0}`)
	net, err := readBytes(pack(t, records))
	require.NoError(t, err)
	assert.Contains(t, strings.Join(net.Notes, "\n"), `"norm" has momentum 0`)

	records["extra_files/"+graph.SidecarName] = `{"modules": [{"path": "", "class": "Net", "extra": ""}, ` +
		`{"path": "norm", "class": "BatchNorm1d", "extra": "2, eps=1e-05, momentum=None"}]}`
	_, err = readBytes(pack(t, records))
	assert.ErrorContains(t, err, "set its momentum to a number, such as 0.1, and export the network again")
}

func TestSpectralNormsAreNoted(t *testing.T) {
	records := normRecords(t, "norm.running_mean", "norm.parametrizations.weight.0._u")
	delete(records, "serialized_state_dict.pt")
	var tensors []weights.Tensor
	for _, name := range []string{"weight", "bias", "parametrizations.weight.0._u", "running_var"} {
		one, err := weights.FromFloat32s("norm."+name, []int64{2}, []float32{1, 2})
		require.NoError(t, err)
		tensors = append(tensors, one)
	}
	records["serialized_state_dict.pt"] = savedText(tensors...)
	net, err := readBytes(pack(t, records))
	require.NoError(t, err)
	assert.Contains(t, strings.Join(net.Notes, "\n"), `the buffer "norm.parametrizations.weight.0._u" keeps`)
}

// Gradients of tables are dense in graft, so its optimizers can use them.
func TestSparseGradientsAreDense(t *testing.T) {
	n := graph.Node{Operator: "embedding.default"}
	require.NoError(t, (&builder{}).addArg(&n, "sparse", union{"as_bool", []byte("true")}))
	assert.Empty(t, n.Args)
}

// A frozen parameter that shares memory with a trained one stays a parameter, because both have one role.
func TestTiesOfFrozenParametersAreTrained(t *testing.T) {
	for name, c := range map[string]struct {
		frozen []int
		roles  []graph.Role
	}{
		"the second of a tie": {[]int{1}, []graph.Role{graph.Parameter, graph.Parameter, graph.Parameter}},
		"the first of a tie":  {[]int{0}, []graph.Role{graph.Parameter, graph.Parameter, graph.Parameter}},
		"both":                {[]int{0, 1}, []graph.Role{graph.Buffer, graph.Buffer, graph.Parameter}},
		"one without a tie":   {[]int{2}, []graph.Role{graph.Parameter, graph.Parameter, graph.Buffer}},
	} {
		b := &builder{frozen: c.frozen, out: &graph.Imported{Graph: &graph.Graph{Tensors: []graph.Tensor{
			{Name: "a", Role: graph.Parameter}, {Name: "b", Role: graph.Parameter, Tied: "a"},
			{Name: "c", Role: graph.Parameter}}}}}
		b.freeze()
		var roles []graph.Role
		for _, tensor := range b.out.Graph.Tensors {
			roles = append(roles, tensor.Role)
		}
		require.Equal(t, c.roles, roles, name)
	}
}
