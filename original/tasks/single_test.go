package tasks_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/original/tasks"
)

// jobRun is a line of a recorded log; zero where a log has no such value.
type jobRun struct {
	Name         string  `json:"job_name"`
	Weight       float64 `json:"weight"`
	Start        float64 `json:"start_time"`
	End          float64 `json:"end_time"`
	Finish       float64 `json:"finish_time"`
	VirtualStart float64 `json:"virtual_start_time"`
	VirtualEnd   float64 `json:"virtual_finish_time"`
}

func plain(runs []tasks.JobRun) (lines []jobRun) {
	for _, r := range runs {
		lines = append(lines, jobRun{Name: r.Job.Name, Start: r.Start, End: r.End})
	}
	return lines
}

func fair(runs []tasks.JobRun) (lines []jobRun) {
	for _, r := range runs {
		lines = append(lines, jobRun{Name: r.Job.Name, Weight: r.Job.Weight, Start: r.Start, Finish: r.End,
			VirtualStart: r.VirtualStart, VirtualEnd: r.VirtualEnd})
	}
	return lines
}

func TestRecordedFCFSAndLottery(t *testing.T) {
	var jobs map[string][]tasks.Job
	type file struct {
		Jobs  string   `json:"jobs"`
		Seed  uint64   `json:"seed"`
		Draws int      `json:"iterations"`
		Log   []jobRun `json:"log"`
	}
	var first, drawn []file
	recorded(t, "tasks/single_gpu_jobs.json", &jobs)
	recorded(t, "golden/fcfs.json", &first)
	recorded(t, "golden/lottery.json", &drawn)
	for _, want := range first {
		require.Equal(t, want.Log, plain(tasks.FCFS(jobs[want.Jobs])))
	}
	for _, want := range drawn {
		runs, err := tasks.Lottery(jobs[want.Jobs], want.Draws, tasks.NewPython(want.Seed))
		require.NoError(t, err)
		require.Equal(t, want.Log, plain(runs))
	}
	require.Len(t, drawn, 16)
}

func TestRecordedFairQueueing(t *testing.T) {
	var jobs map[string][]tasks.Job
	var file []struct {
		Case    string     `json:"case"`
		Batches [][]string `json:"batches"`
		Prepare []float64  `json:"prep"`
		Log     []jobRun   `json:"log"`
	}
	recorded(t, "tasks/single_gpu_jobs.json", &jobs)
	recorded(t, "golden/wfq.json", &file)
	byName := map[string]tasks.Job{}
	for _, list := range jobs {
		for _, j := range list {
			byName[j.Name] = j
		}
	}
	for _, want := range file {
		var q tasks.WFQ
		var runs []tasks.JobRun
		for k, seconds := range want.Prepare {
			j := jobs["paper4"][k]
			j.Prepare = seconds
			require.NoError(t, q.Add(j))
		}
		for _, names := range want.Batches {
			for _, name := range names {
				require.NoError(t, q.Add(byName[name]))
			}
			runs = append(runs, q.Run()...)
		}
		require.Equal(t, want.Log, fair(append(runs, q.Run()...)), want.Case)
	}
}

func TestOneGPU(t *testing.T) {
	list := []tasks.Job{{Name: "a", Runtime: 3, Tickets: 1, Weight: 1, Estimate: 2},
		{Name: "b", Runtime: 1, Weight: 2, Estimate: 2}, {Name: "c", Runtime: 1, Weight: 1, Estimate: 2}}
	require.Equal(t, []jobRun{{Name: "a", End: 3}, {Name: "b", Start: 3, End: 4}, {Name: "c", Start: 4, End: 5}},
		plain(tasks.FCFS(list)))
	runs, err := tasks.Lottery(list, 10, tasks.NewPython(1))
	require.ErrorContains(t, err, "draw 2 of the lottery: none of 2 jobs has a ticket")
	require.Equal(t, []jobRun{{Name: "a", End: 3}}, plain(runs), "what was drawn before")
	var q tasks.WFQ
	for _, j := range list {
		require.NoError(t, q.Add(j))
	}
	require.ErrorContains(t, q.Add(tasks.Job{Name: "d"}), `job "d" to a fair queue: weight 0`)
	names := ""
	for _, r := range q.Run() {
		names += r.Job.Name
	}
	require.Equal(t, "bac", names, "equal tags go by the order of Add")
}
