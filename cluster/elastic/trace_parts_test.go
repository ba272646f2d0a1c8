package elastic_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
	"graft/cluster/trace"
	"graft/internal/files"
)

// Parts have the requested workloads of successive jobs. More than the gap lies between parts. Each job is in at most
// one workload.
func TestPartsOfATraceDoNotOverlap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var jobs []trace.Job
		submit := int64(0)
		for k := range 1 + random.IntN(120) {
			submit += int64(random.IntN(8))
			jobs = append(jobs, trace.Job{ID: fmt.Sprint(k), Submit: submit})
		}
		size, gap, counts := 1+random.IntN(5), int64(random.IntN(10)),
			[]int{1 + random.IntN(4), 1 + random.IntN(3), 1 + random.IntN(4)}
		parts, err := elastic.Divide(jobs, size, gap, counts...)
		if err != nil {
			require.Less(t, len(jobs), size*(counts[0]+counts[1]+counts[2])+2*int(gap+1)*8, "there were enough")
			continue
		}
		last, next := int64(-100), 0
		for k, part := range parts {
			require.Len(t, part, counts[k])
			for at, workload := range part {
				require.Len(t, workload, size)
				if at == 0 {
					require.Greater(t, workload[0].Submit, last+gap)
					for jobs[next].ID != workload[0].ID {
						require.LessOrEqual(t, jobs[next].Submit, last+gap, "only jobs of the gap are left out")
						next++
					}
				}
				require.Equal(t, jobs[next:next+size], workload)
				next += size
			}
			last = jobs[next-1].Submit
		}
	}
	_, err := elastic.Divide(make([]trace.Job, 9), 3, 0, 2, 1, 1)
	require.EqualError(t, err, "divide a trace into parts of [2 1 1] workloads with 3 jobs "+
		"each: the trace has only 9 jobs; request fewer workloads, or name a longer trace")
}

func TestReadClusterTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.csv")
	read := func(rows string) ([]trace.Job, trace.Omitted, error) {
		require.NoError(t, os.WriteFile(path, []byte("job_id,submit_time,duration,gpu_num,state\n"+rows), 0o600))
		return elastic.ReadClusterTrace(files.OS{}, path)
	}
	jobs, left, err := read("c,30,5,1,\nno GPU,0,5,0,\na,10,5,1,\nno time,20,0,1,FAILED\nb,10,5,2,\n" +
		"no start,20,0,1,CANCELLED\nno GPU,0,5,0,\n")
	require.NoError(t, err)
	require.Equal(t, trace.Omitted{CPU: 2, Never: 1, NoDuration: 1}, left)
	require.Equal(t, "Left out of the trace: 2 jobs without GPUs, 1 job that never started, 1 job without a duration.",
		left.Sentence())
	require.Equal(t, []string{"a", "b", "c"}, []string{jobs[0].ID, jobs[1].ID, jobs[2].ID})
	for rows, want := range map[string]string{
		"a,1,5,1,\nb,2,5,1,\na,3,5,1,\n": path + ":4: job a: its ID is a duplicate (jobs with this fault: 1); " +
			"correct the trace or remove these jobs",
		"a,1,5,1,\nb,2,-5,1,\n": path + ":3: job b: its duration is negative",
		"a,1,5,x,\n":            path + ":2:7: gpu_num",
		"a,1,5,0,\n":            path + ": no job has both devices and a duration; name another trace",
	} {
		_, _, err := read(rows)
		require.ErrorContains(t, err, want)
		require.ErrorIs(t, err, trace.ErrMalformed)
	}
	_, _, err = elastic.ReadClusterTrace(files.OS{}, path+"x")
	require.ErrorContains(t, err, path+"x")
}
