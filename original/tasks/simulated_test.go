package tasks_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/original/tasks"
)

func TestRecordedLeastLoaded(t *testing.T) {
	var file []struct {
		Seed     any                     `json:"seed"`
		GPUs     int                     `json:"gpus"`
		Tasks    [][2]float64            `json:"tasks"`
		Runs     [][5]float64            `json:"assignments"`
		Timeline map[string][][2]float64 `json:"timeline"`
		Makespan int                     `json:"makespan"`
	}
	recorded(t, "golden/least_loaded.json", &file)
	for _, want := range file {
		var list []tasks.Load
		for _, v := range want.Tasks {
			list = append(list, tasks.Load{Duration: int(v[0]), Usage: v[1]})
		}
		if seed, drawn := want.Seed.(float64); drawn {
			require.Equal(t, list, tasks.DrawLoads(len(list), tasks.NewPython(uint64(seed))))
		}
		runs, got, end := tasks.LeastLoaded(list, want.GPUs), [][5]float64{}, 0
		for _, r := range runs {
			got = append(got, [5]float64{float64(r.Duration), r.Usage, float64(r.On), float64(r.Start), float64(r.End)})
			end = max(end, r.End)
		}
		require.Equal(t, want.Runs, got)
		require.Equal(t, want.Makespan, end)
		lines := map[string][][2]float64{}
		for gpu, line := range tasks.Timeline(runs, want.GPUs) {
			for _, u := range line {
				lines[strconv.Itoa(gpu)] = append(lines[strconv.Itoa(gpu)], [2]float64{float64(u.Time), u.Value})
			}
		}
		require.Equal(t, want.Timeline, lines)
	}
}

// sharedFile is a recorded simulation with one clock. Some have the first samples only, or the last alone.
type sharedFile struct {
	Kind     string         `json:"kind"`
	Slice    float64        `json:"slice"`
	GPUs     int            `json:"num_gpus"`
	Noise    bool           `json:"noise"`
	Draws    int            `json:"noise_used"`
	Slices   [][4]any       `json:"assignments"`
	Events   []string       `json:"events"`
	Makespan float64        `json:"makespan"`
	Counts   []int          `json:"n_samples"`
	Samples  [][][3]float64 `json:"logs"`
	Last     [][3]float64   `json:"last"`
}

func TestRecordedSharedClock(t *testing.T) {
	var jobs struct {
		RR   []tasks.SharedJob `json:"rr"`
		FCFS []tasks.SharedJob `json:"fcfs15"`
		Seed uint64            `json:"fcfs15_seed"`
	}
	var noise []float64
	var file []sharedFile
	recorded(t, "tasks/multi_gpu.json", &jobs)
	recorded(t, "tasks/noise_seed3.json", &noise)
	recorded(t, "golden/multi_gpu.json", &file)
	require.Equal(t, jobs.FCFS, tasks.DrawSharedJobs(len(jobs.FCFS), tasks.NewPython(jobs.Seed)))
	for _, want := range file {
		draws := 0
		next := func() float64 {
			draws++
			if !want.Noise {
				return 0
			}
			return noise[draws-1]
		}
		var got tasks.Shared
		var err error
		if want.Kind == "rr" {
			got, err = tasks.SharedRR(jobs.RR, want.GPUs, want.Slice, next)
		} else {
			got, err = tasks.SharedFCFS(jobs.FCFS, want.GPUs, next)
		}
		require.NoError(t, err)
		require.Equal(t, want.Draws, draws)
		require.Equal(t, want.Makespan, got.Makespan)
		require.Equal(t, want.Events, got.Events)
		slices := [][4]any{}
		for _, s := range got.Slices {
			slices = append(slices, [4]any{s.Job, float64(s.On), s.Start, s.End})
		}
		require.Equal(t, want.Slices, slices)
		for gpu, line := range got.Usage {
			samples := [][3]float64{}
			for _, s := range line {
				samples = append(samples, [3]float64{s.Time, s.GPU, s.Memory})
			}
			require.Len(t, samples, want.Counts[gpu])
			require.Equal(t, want.Last[gpu], samples[len(samples)-1])
			if want.Samples != nil {
				require.Equal(t, want.Samples[gpu], samples[:len(want.Samples[gpu])])
			}
		}
	}
}

// Noise is NumPy's, but for four numbers whose logarithms its library rounds otherwise.
func TestRecordedNoise(t *testing.T) {
	var want []float64
	recorded(t, "tasks/noise_seed3.json", &want)
	draw, other := tasks.Noise(3), 0
	for _, v := range want {
		if got := draw(); got != v {
			require.InEpsilon(t, v, got, 4e-16)
			other++
		}
	}
	require.LessOrEqual(t, other, 4)
}

func TestSharedClock(t *testing.T) {
	list := []tasks.SharedJob{{Name: "a", Time: 3, GPU: 50}, {Name: "b", Time: 1, GPU: 50}}
	got, err := tasks.SharedRR(list, 2, 2, nil)
	require.NoError(t, err)
	require.Equal(t, []tasks.Slice{{"a", 0, 0, 2}, {"b", 0, 2, 3}, {"a", 1, 3, 4}}, got.Slices)
	require.Equal(t, "Job a paused at time 2.00s.", got.Events[0])
	require.Equal(t, 1.0, got.Usage[0][0].GPU, "two percent of the way to 50")
	_, err = tasks.SharedRR(list, 2, 0, nil)
	require.ErrorContains(t, err, "slices of 0 seconds")
	_, err = tasks.SharedFCFS(list, 0, nil)
	require.ErrorContains(t, err, "0 GPUs")
	require.Empty(t, tasks.LeastLoaded([]tasks.Load{{Duration: 1}}, 0))
}

// recordedProcess is [id, then two numbers].
type recordedProcess [3]any

func (r recordedProcess) process() tasks.Process {
	return tasks.Process{ID: name(r[0]), Arrival: int(r[1].(float64)), Burst: int(r[2].(float64))}
}

// name is an ID, which is a number in some files.
func name(id any) string {
	if n, ok := id.(float64); ok {
		return strconv.Itoa(int(n))
	}
	return id.(string)
}

func TestRecordedProcesses(t *testing.T) {
	var raw map[string]json.RawMessage
	var file []struct {
		Kind    string `json:"algo"`
		Quantum int    `json:"quantum"`
		Jobs    string `json:"jobs"`
		Done    []struct {
			ID         any `json:"id"`
			Arrival    int `json:"arrival"`
			Burst      int `json:"burst"`
			Start      int `json:"start"`
			End        int `json:"completion"`
			Waiting    int `json:"waiting"`
			Turnaround int `json:"turnaround"`
		} `json:"done"`
		Turns      [][3]any `json:"slices"`
		Waiting    float64  `json:"avg_waiting"`
		Turnaround float64  `json:"avg_turnaround"`
		Throughput float64  `json:"throughput"`
	}
	recorded(t, "tasks/process_jobs.json", &raw)
	recorded(t, "golden/process_scheds.json", &file)
	for _, want := range file {
		var jobs []recordedProcess
		require.NoError(t, json.Unmarshal(raw[want.Jobs], &jobs))
		var list []tasks.Process
		for _, j := range jobs {
			list = append(list, j.process())
		}
		var got tasks.Processed
		var err error
		switch want.Kind {
		case "sjf":
			got = tasks.SJF(list)
		case "rr":
			got, err = tasks.RR(list, want.Quantum)
		default:
			got = tasks.ListOrder(list)
		}
		require.NoError(t, err)
		var done []tasks.Completed
		for _, d := range want.Done {
			end := max(d.End, d.Start+d.Burst) // one kind leaves it out
			done = append(done, tasks.Completed{Process: tasks.Process{ID: name(d.ID), Arrival: d.Arrival,
				Burst: d.Burst}, Start: d.Start, End: end, Waiting: d.Waiting, Turnaround: d.Turnaround})
		}
		require.Equal(t, done, got.Done, "%s of %s", want.Kind, want.Jobs)
		for k, turn := range want.Turns {
			require.Equal(t, tasks.Turn{ID: name(turn[0]), Start: int(turn[1].(float64)), End: int(turn[2].(float64))},
				got.Turns[k])
		}
		waiting, turnaround, throughput := got.Means()
		require.Equal(t, want.Waiting, waiting)
		require.Equal(t, want.Turnaround, turnaround)
		if want.Throughput > 0 {
			require.Equal(t, want.Throughput, throughput)
		}
	}
}

func TestRecordedText(t *testing.T) {
	var file []struct {
		Processes [][2]int `json:"procs"`
		Quantum   int      `json:"quantum"`
		Lines     []string `json:"lines"`
	}
	recorded(t, "golden/rr_text.json", &file)
	for _, want := range file {
		var list []tasks.Process
		for _, p := range want.Processes {
			list = append(list, tasks.Process{ID: strconv.Itoa(p[0]), Burst: p[1]})
		}
		lines, err := tasks.RRText(list, want.Quantum)
		require.NoError(t, err)
		require.Equal(t, want.Lines, lines)
	}
}

func TestProcesses(t *testing.T) {
	list := []tasks.Process{{ID: "a", Arrival: 1, Burst: 3}, {ID: "b", Arrival: 2, Burst: 1}}
	got, err := tasks.RR(list, 2)
	require.NoError(t, err)
	require.Equal(t, []tasks.Turn{{"a", 1, 3}, {"a", 3, 4}, {"b", 4, 5}}, got.Turns,
		"a queues before b, which arrived in its turn")
	_, err = tasks.RR(list, 0)
	require.ErrorContains(t, err, "a quantum of 0")
	waiting, _, throughput := tasks.SJF(nil).Means()
	require.Zero(t, waiting+throughput)
	lines, err := tasks.RRText(nil, 1)
	require.NoError(t, err)
	require.Equal(t, []string{"All processes completed by time 0"}, lines)
}

func TestRecordedQLearning(t *testing.T) {
	var file []struct {
		Processes [][3]int    `json:"procs"`
		Seed      uint64      `json:"seed"`
		Episodes  int         `json:"episodes"`
		Values    [][]float64 `json:"q_table"`
		Epsilon   float64     `json:"final_epsilon"`
	}
	recorded(t, "golden/q_learning.json", &file)
	for _, want := range file {
		var list []tasks.Process
		for _, p := range want.Processes {
			list = append(list, tasks.Process{ID: strconv.Itoa(p[0]), Burst: p[1], Arrival: p[2]})
		}
		q := tasks.QLearning(list, want.Episodes, tasks.NewPython(want.Seed))
		require.Equal(t, tasks.QTable{Values: want.Values, Epsilon: want.Epsilon}, q)
	}
}

// One process that is there runs once in each episode: its value goes to its reward, by a tenth each time.
func TestQLearning(t *testing.T) {
	q := tasks.QLearning([]tasks.Process{{Burst: 10}}, 1, tasks.NewPython(1))
	require.Equal(t, tasks.QTable{Values: [][]float64{{-1}}, Epsilon: 0.796}, q)
	require.Zero(t, tasks.QLearning([]tasks.Process{{Arrival: 1}}, 9, tasks.NewPython(1)).Values[0][0],
		"no episode begins")
}
