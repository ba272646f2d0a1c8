package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

// Pipelines refuse scenarios with equal runs before they simulate them. Scenarios that differ only in the seed have
// different runs, but are one scenario when scenarios are left out.
func TestPipelinesRefuseEqualRuns(t *testing.T) {
	const first = "actions = [\"deepen:conv2\", \"deepen:conv1\", \"none\"]"
	for name, c := range map[string]struct {
		seed             int
		budget, simulate string
		leaveOut         string
		want             string
	}{
		"equal":          {1, "1s", first, "none", "s1 and s0 (scenarios[0]) share at least half of their runs"},
		"part":           {1, "1s", "actions = [\"deepen:conv2\", \"none\"]", "none", "share at least half"},
		"overlap":        {2, "1s", first + "\nseeds = 2", "none", "share at least half"},
		"other seeds":    {3, "1s", first, "none", ""},
		"other budget":   {1, "2s", first, "scenario", ""},
		"one left out":   {3, "1s", first, "scenario", "the pipeline has only one scenario"},
		"other sequence": {1, "1s", "actions = [\"widen:conv2:48\", \"none\"]", "none", "share at least half"},
		"other actions":  {1, "1s", "actions = [\"widen:conv2:48\", \"widen:conv1:48\"]", "none", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(name, text string) {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			}
			scenario := func(seed int, budget, simulate string) string {
				return fmt.Sprintf("[run]\nseed = %d\n[time]\nbudget = %q\nevents = [{at = \"100ms\", "+
					"change = \"up\"}]\n[simulate]\n%s\n", seed, budget, simulate)
			}
			write("s0.toml", scenario(1, "1s", first+"\nseeds = 2"))
			write("s1.toml", scenario(c.seed, c.budget, c.simulate))
			write("all.toml", fmt.Sprintf("[pipeline]\nscenarios = [\"s0.toml\", \"s1.toml\"]\n[evaluate]\n"+
				"leave_out = %q\n", c.leaveOut))
			_, err := ReadPipeline(files.OS{}, filepath.Join(dir, "all.toml"), nil)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			require.Contains(t, strings.Join(strings.Fields(err.Error()), " "), c.want)
		})
	}
}
