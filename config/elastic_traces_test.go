package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/trace/tracetest"
	"graft/internal/files"
	jobfile "graft/original/dl2/learning"
)

// clusterTrace writes a trace of GPU jobs, one every ten minutes.
func clusterTrace(t *testing.T, jobs int, rows string) string {
	var b strings.Builder
	b.WriteString("job_id,submit_time,duration,gpu_num,model\n")
	for k := range jobs {
		fmt.Fprintf(&b, "j%d,%d,%d,%d,resnet-50\n", k, 600*k, 900+k, 1+k%3)
	}
	return written(t, "trace.csv", b.String()+rows)
}

func learningFrom(t *testing.T, path, more string) (*jobfile.File, error) {
	t.Helper()
	file := written(t, "learning.toml", fmt.Sprintf("[elastic]\nspeeds = \"analytic\"\n%s\n[workloads]\nfrom = %q\n"+
		"jobs = 5\ntrain_count = 3\nvalidation_count = 2\ntest_count = 1\n", more, path))
	return readLearningJobs(file, nil)
}

// The workloads of a trace are successive, training workloads first, and keep arrivals and work.
func TestWorkloadsOfATrace(t *testing.T) {
	path := clusterTrace(t, 40, "")
	l := must(learningFrom(t, path, "slot_seconds = 1200.0"))
	train, validation, test := l.Studies()
	require.Equal(t, []int{3, 2, 1}, []int{len(train), len(validation), len(test)})
	for _, s := range train {
		require.Equal(t, []int{0, 0, 1, 1, 2}, []int{s.Jobs[0].Arrival, s.Jobs[1].Arrival, s.Jobs[2].Arrival,
			s.Jobs[3].Arrival, s.Jobs[4].Arrival})
	}
	// work of job k, relative to the first job with the same number of devices
	work := func(k int) float64 { return float64(900+k) / 900 }
	require.InDelta(t, work(3), train[0].Jobs[3].RealEpochs/train[0].Jobs[0].RealEpochs, 1e-9)
	require.InDelta(t, work(18), validation[0].Jobs[1].RealEpochs/train[0].Jobs[0].RealEpochs, 1e-9,
		"two jobs, of a slot, are left out after the 15 of learning")
	require.InDelta(t, work(30), test[0].Jobs[1].RealEpochs/train[0].Jobs[0].RealEpochs, 1e-9)
	require.Contains(t, must(l.Summary()), "on 3 workloads of "+path+", with 2 of validation and 1 of test")
	drawn := must(readLearningJobs(written(t, "resolved.toml", Resolved(l)),
		[]string{"workloads.epochs=500.0"}))
	again, _, _ := drawn.Studies()
	require.Equal(t, again[0].Jobs[0].RealEpochs, again[0].Jobs[3].RealEpochs, "lengths are those of types")
	require.Equal(t, train[0].Jobs[4].Arrival, again[0].Jobs[4].Arrival)
	require.NotEqual(t, Digest(l), Digest(drawn))
	other := must(learningFrom(t, clusterTrace(t, 41, ""), "slot_seconds = 1200.0"))
	require.Equal(t, Digest(l), Digest(other), "of the trace counts what is learned from")
}

func TestTracesThatCannotBeLearnedFrom(t *testing.T) {
	refused := func(path, more, says string) {
		t.Helper()
		_, err := learningFrom(t, path, more)
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, err, "from = ")
	}
	refused(clusterTrace(t, 33, ""), "", "trace.csv: divide a trace into parts of [3 2 1] "+
		"workloads with 5 jobs each: the trace has only 33 jobs")
	refused(clusterTrace(t, 40, "j7,1,2,3,\n"), "", "trace.csv:42: job j7: its ID is a duplicate")
	refused(clusterTrace(t, 40, "k,1,-2,3,\n"), "", "trace.csv:42: job k: its duration is negative")
	refused(clusterTrace(t, 40, ""), "gpus_per_node = 1",
		"trace.csv: convert a trace to elastic jobs: job j0: job 1 of type resnet-50 can never run")
	refused("none.csv", "", "none.csv: no such file")
	for _, key := range []string{`train = ["a.json"]`, `test = ["a.json"]`, `arrivals = "poisson"`, "max_arrivals = 2",
		"jitter = true"} {
		file := written(t, "learning.toml",
			"[elastic]\nspeeds = \"analytic\"\n[workloads]\nfrom = \"trace.csv\"\n"+key+"\n")
		_, err := readLearningJobs(file, nil)
		require.ErrorContains(t, err, strings.Fields(key)[0]+" is set, but from also defines the workloads")
	}
}

// A fault in a trace is reported with its position, no matter which key names the trace.
func TestFaultsOfTracesAreNamed(t *testing.T) {
	for name, fault := range tracetest.Faults() {
		path := written(t, "a.csv", fault.Text)
		_, err := learningFrom(t, path, "")
		require.ErrorContains(t, err, fault.Says, name)
		for _, section := range []string{"[elastic]\nspeeds = \"analytic\"\n[workload]\ntraces = [%q]\n",
			"[elastic]\nspeeds = \"analytic\"\n[workloads]\nvalidation = [%q]\n"} {
			file := written(t, "elastic.toml", fmt.Sprintf(section, path))
			if strings.Contains(section, "workloads") {
				_, err = readLearningJobs(file, nil)
			} else {
				_, err = KindNamed("elastic").Read(files.OS{}, file, nil)
			}
			require.ErrorContains(t, err, fault.Says, name)
		}
	}
}
