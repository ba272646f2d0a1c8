package trace_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/trace"
)

// hostileNames lists unusual and hostile files of sacct.
func hostileNames(tb testing.TB) []string {
	names, err := filepath.Glob("testdata/sacct/*.txt")
	require.NoError(tb, err)
	require.GreaterOrEqual(tb, len(names), 30)
	return names
}

// Each file is read, or refused with its line and the reason. The golden file lists the jobs before the error.
func TestUnusualFilesOfSacct(t *testing.T) {
	refused := 0
	for _, name := range hostileNames(t) {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			got := verdict(string(must(os.ReadFile(name))))
			golden := strings.TrimSuffix(name, ".txt") + ".want"
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			require.Equal(t, string(must(os.ReadFile(golden))), got)
			if strings.Contains(got, "refused: ") {
				require.Regexp(t, `refused: a\.csv.*; `, got)
				refused++
			}
		})
	}
	require.Greater(t, refused, 10)
}

// verdict lists the jobs of a file, and the error that ends it.
func verdict(text string) string {
	var out strings.Builder
	o := trace.Options{History: true}
	if strings.Contains(text, "spot") {
		o.Spot = []string{"spot"}
	}
	jobs, r, err := readText(text, o)
	for k := range jobs {
		fmt.Fprintf(&out, "%s\n", must(json.Marshal(values(must(json.Marshal(jobs[k]))))))
	}
	if r != nil && r.Skipped() > 0 {
		fmt.Fprintln(&out, "skipped rows:", r.Skipped())
	}
	if err != nil {
		fmt.Fprintln(&out, "refused:", err)
	}
	return out.String()
}

// values returns the fields of an object that are not zero.
func values(text []byte) map[string]any {
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		panic(err)
	}
	for key, v := range all {
		switch v := v.(type) {
		case map[string]any:
			all[key] = values(must(json.Marshal(v)))
		case nil:
			delete(all, key)
		default:
			if v == "" || v == 0.0 || v == false {
				delete(all, key)
			}
		}
	}
	return all
}
