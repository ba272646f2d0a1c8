package schedulers_test

import (
	"flag"
	"path/filepath"
	"testing"

	"graft/cluster/schedtest"
	"graft/cluster/schedulers"
)

var update = flag.Bool("update", false, "write the golden scripts again")

// Every scheduler is held to the suite, and to what came of a few scripts.
func TestConformance(t *testing.T) {
	for _, policy := range schedulers.Kinds() {
		t.Run(policy.Name, func(t *testing.T) {
			schedtest.Run(t, policy)
			schedtest.Golden(t, policy, filepath.Join("testdata", policy.Name+".txt"), *update)
		})
	}
}
