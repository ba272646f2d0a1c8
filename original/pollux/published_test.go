package pollux

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/adaptive"
	"graft/files"
)

const reference = "../../../shared/reference/pollux"

// applications reads the published applications; without them the test is left out.
func applications(t testing.TB) map[string]*adaptive.Application {
	t.Helper()
	if _, err := os.Stat(reference); os.IsNotExist(err) {
		t.Skip("left out: the recorded runs of Pollux are not there")
	}
	apps, err := adaptive.ReadApplications(files.OS{}, reference, Facts())
	require.NoError(t, err)
	return apps
}

func read(t testing.TB, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(reference, name))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}

func study(t testing.TB, apps map[string]*adaptive.Application, workload string, kind adaptive.Kind) adaptive.Study {
	t.Helper()
	jobs, err := adaptive.ReadWorkload(files.OS{}, filepath.Join(reference, "workloads", workload+".csv"), apps)
	require.NoError(t, err)
	return adaptive.Study{Jobs: jobs, Options: adaptive.Options{Quirks: cluster.QuirksOf(kind.Quirks)}}
}

// Each job ends at the second at which it ended in the published runs.
func TestPublishedCompletionTimes(t *testing.T) {
	apps := applications(t)
	var published map[string]struct{ JCTs map[string]map[string]float64 }
	read(t, "results.json", &published)
	for _, name := range []string{"tiresias", "optimus"} {
		kind, err := adaptive.Named(name)
		require.NoError(t, err)
		for _, load := range []string{"0.5", "1.0", "1.5", "2.0"} {
			t.Run(name+load, func(t *testing.T) {
				t.Parallel()
				compared := 0
				for k := range 8 {
					workload := fmt.Sprintf("workload-%d", k+1)
					w, err := study(t, apps, load+"/"+workload, kind).Run(context.Background(), kind)
					require.NoError(t, err)
					want := published["jobload/"+name+"-"+load].JCTs[workload]
					for _, j := range w.Jobs() {
						if jct, ok := want[j.Name]; ok {
							require.Equal(t, jct, j.JCT(), "%s of %s", j.Name, workload)
							compared++
						}
					}
				}
				require.Positive(t, compared)
			})
		}
	}
}
