package schedulers_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/schedtest"
	"graft/cluster/schedulers"
)

var update = flag.Bool("update", false, "write the golden scripts again")

// Every scheduler passes the suite and reproduces the golden results of a few scripts.
func TestConformance(t *testing.T) {
	for _, policy := range schedulers.Kinds() {
		t.Run(policy.Name, func(t *testing.T) {
			schedtest.Run(t, policy)
			path := filepath.Join("testdata", policy.Name+".txt")
			text, err := os.ReadFile(path)
			if !*update {
				require.NoError(t, err, "run this test with -update to make a file for a new policy")
			}
			got := schedtest.Golden(t, policy, string(text))
			if *update {
				require.NoError(t, os.WriteFile(path, []byte(got), 0o666))
				return
			}
			require.Equal(t, string(text), got)
		})
	}
}
