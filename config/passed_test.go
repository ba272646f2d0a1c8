package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

// Reading a job tries the operators that graft passes on to LibTorch. It reports wrong shapes and unknown operators.
func TestPassedOperatorsAreTried(t *testing.T) {
	network := `name = "Net"
input = {value = "x", dtype = "float32", shape = ["batch=2", 3, 16, 16]}
output = "y"
modules = [{path = "", class = "Net"}, {path = "fc", class = "Linear", extra = "768, 10"}]
tensors = [{name = "fc.weight", role = "parameter", dtype = "float32", shape = [10, 768]}]
operators = ["a = asinh.default(self=%x) -> [batch, 3, 16, 16]",
  "f = flatten.using_ints(self=%a, start_dim=1)", "y = linear.default(input=%f, weight=@fc.weight) in fc"]
`
	check := func(text string) error {
		path := written(t, "net.toml", text)
		_, err := ReadJob(files.OS{}, "", []string{"network.file=" + Quote(path), "data.synthetic.size=16"})
		return err
	}
	require.NoError(t, check(network))
	require.ErrorContains(t, check(strings.Replace(network, "[batch, 3, 16, 16]", "[batch, 3, 8, 32]", 1)),
		"the network declares [2, 3, 8, 32]")
	require.ErrorContains(t, check(strings.Replace(network, "asinh", "nowhere", 1)), "unknown operator")
}

// A batch that exceeds the machine's memory is a fault of the job, also for a network that graft builds.
func TestBatchesFitTheMachine(t *testing.T) {
	set := []string{"network.name='CharGPT'", "data.kind='text'",
		"data.path=" + Quote(written(t, "a.txt", strings.Repeat("some text ", 1000)))}
	_, err := ReadJob(files.OS{}, "", append(set, "train.batch=64", "adapt.decider='none'", "adapt.actions=[]"))
	require.NoError(t, err)
	_, err = ReadJob(files.OS{}, "", append(set, "train.batch=20000000", "adapt.decider='none'", "adapt.actions=[]"))
	require.ErrorContains(t, err, "three quarters of this machine's memory")
}
