package pollux

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/adaptive"
	"graft/cluster/trace"
	"graft/internal/files"
)

const reference = "../../../shared/reference/pollux"

// applications reads the published applications, or skips the test.
func applications(t testing.TB) map[string]*adaptive.Application {
	t.Helper()
	if _, err := os.Stat(reference); os.IsNotExist(err) {
		t.Skip("left out: the recorded runs of Pollux are not there")
	}
	apps, err := adaptive.ReadApplications(files.OS{}, reference, adaptive.KnownApplications())
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

// Each job ends at the same second as in the published runs.
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

// Jobs of other traces train the applications that the paper assigns to their sizes.
func TestSizesOfApplications(t *testing.T) {
	apps := applications(t)
	var jobs []trace.Job
	for _, hours := range []int64{0, 2, 20, 200} {
		for k := range 20 {
			jobs = append(jobs, trace.Job{ID: fmt.Sprint(hours, "-", k), Duration: 3600 * hours, GPUs: 1})
		}
	}
	specs, err := adaptive.FromTrace(jobs, apps, adaptive.Options{}, rand.New(rand.NewPCG(1, 2)))
	require.NoError(t, err)
	for k, want := range [][]string{{"cifar10", "ncf"}, {"bert", "deepspeech2"}, {"yolov3"}, {"imagenet"}} {
		found := map[string]bool{}
		for _, s := range specs[20*k : 20*k+20] {
			found[s.App.Name] = true
		}
		require.Equal(t, want, slices.Sorted(maps.Keys(found)))
	}
}
