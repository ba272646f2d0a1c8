package results_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/results"
)

// A usage table has a row for each pool and second, and quotes names as CSV requires.
func TestUsageIsATable(t *testing.T) {
	var text strings.Builder
	rows := []results.UsageRow{{Pool: "a, \"b\"", At: 1, GPUs: 2, Idle: 3, Running: 4, Waiting: 5, WaitingGPUs: 6,
		WaitingFew: 7, Nodes: 8, Single: 9, Several: 10}, {Pool: "c"}}
	require.NoError(t, results.WriteUsage(&text, slices.Values(rows)))
	require.Equal(t, "vc,time [s],gpus,idle_gpus,running_jobs,waiting_jobs,waiting_gpus,waiting_jobs_of_a_node,nodes,"+
		"nodes_with_a_job,nodes_with_several\n\"a, \"\"b\"\"\",1,2,3,4,5,6,7,8,9,10\nc,0,0,0,0,0,0,0,0,0,0\n",
		text.String())
}
