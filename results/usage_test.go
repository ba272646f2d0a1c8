package results_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/internal/files"
	"graft/results"
)

const usageHead = "vc,time [s],gpus,idle_gpus,running_jobs,waiting_jobs,waiting_gpus,waiting_jobs_of_a_node,nodes," +
	"nodes_with_a_job,nodes_with_several\n"

func readUsage(t require.TestingT, text, path string) (rows []results.UsageRow, err error) {
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	err = results.EachUsage(files.OS{}, path, func(r results.UsageRow) error {
		rows = append(rows, r)
		return nil
	})
	return rows, err
}

// Tables of usage read back, also with separators in names.
func TestUsageReadsBack(t *testing.T) {
	path := t.TempDir() + "/usage.csv"
	rapid.Check(t, func(t *rapid.T) {
		number := func() int64 { return rapid.Int64().Draw(t, "n") }
		var rows []results.UsageRow
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			rows = append(rows, results.UsageRow{Pool: rapid.StringMatching(`[a-z,"\n ]{1,9}`).Draw(t, "pool"),
				At: number(), GPUs: number(), Idle: number(), Running: number(),
				Waiting: number(), WaitingGPUs: number(), WaitingFew: number(), Nodes: number(), Single: number(),
				Several: number()})
		}
		var text strings.Builder
		require.NoError(t, results.WriteUsage(&text, slices.Values(rows)))
		require.True(t, strings.HasPrefix(text.String(), usageHead))
		got, err := readUsage(t, text.String(), path)
		require.NoError(t, err)
		require.Equal(t, rows, got)
	})
}

func TestUsageIsReadByTheNamesOfColumns(t *testing.T) {
	path := t.TempDir() + "/usage.csv"
	names := strings.Split(strings.TrimSpace(usageHead), ",")
	slices.Reverse(names)
	rows, err := readUsage(t, "more,"+strings.Join(names, ",")+"\nx,10,9,8,7,6,5,4,3,2,1,pool\n", path)
	require.NoError(t, err)
	assert.Equal(t, []results.UsageRow{{Pool: "pool", At: 1, GPUs: 2, Idle: 3, Running: 4, Waiting: 5, WaitingGPUs: 6,
		WaitingFew: 7, Nodes: 8, Single: 9, Several: 10}}, rows)
	for text, want := range map[string]string{
		"": "the line that names the columns",
		strings.Replace(usageHead, "idle_", "i", 1): `no column "idle_gpus"`,
		usageHead + "a,1,2,3,x,5,6,7,8,9,10\n":      `line 2: column running_jobs: "x" is no whole number`,
		usageHead + "a,1\n":                         "wrong number of fields",
	} {
		_, err := readUsage(t, text, path)
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, "reading "+path)
	}
}
