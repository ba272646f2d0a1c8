package tasks_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/original/tasks"
)

// reference is the folder of recorded results.
const reference = "../../../shared/reference/gpu-tasks/"

// recorded reads a recorded result, or skips the test.
func recorded(t *testing.T, name string, file any) {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(reference + name))
	if os.IsNotExist(err) {
		t.Skipf("left out: %s is not there; put the recorded results beside the tree", name)
	}
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, file))
}

// scheduled is a recorded placement.
type scheduled struct {
	tasks.Task
	On    int `json:"gpu"`
	Start int `json:"start"`
	End   int `json:"end"`
}

// play is a recorded episode. Values that a file lacks are zero.
type play struct {
	Name     string      `json:"name"`
	GPUs     int         `json:"num_gpus"`
	Policy   string      `json:"policy"`
	First    []float64   `json:"initial_obs"`
	Queue    []int       `json:"queue_order"`
	Actions  []int       `json:"actions"`
	Makespan int         `json:"makespan"`
	Reward   float64     `json:"total_reward"`
	Waited   int         `json:"total_waiting_time"`
	PerTask  *float64    `json:"avg_waiting_time_per_task"`
	Per200   float64     `json:"avg_waiting_time_200"`
	Per50    float64     `json:"avg_waiting_time_50"`
	Started  *float64    `json:"true_avg_start"`
	Placed   int         `json:"placed"`
	Lost     []int       `json:"dropped"`
	Ended    []int       `json:"completion_order"`
	Schedule []scheduled `json:"schedule"`
	Gantt    []bar       `json:"gantt"`
	Usage    [][]int     `json:"gpu_usage_over_time"`
	MeanUse  []float64   `json:"mean_gpu_usage"`
	Steps    []step      `json:"steps"`
}

type step struct {
	Values   []float64 `json:"obs"`
	Reward   float64   `json:"reward"`
	Done     bool      `json:"done"`
	Event    string    `json:"event"`
	Task     *int      `json:"task"`
	Finished []int     `json:"finished"`
	Left     int       `json:"remaining"`
	Waiting  int       `json:"waiting_len"`
	Mean     float64   `json:"waiting_mean"`
}

// replay plays recorded actions and compares every step with the recording.
func replay(t *testing.T, list []tasks.Task, want play) (r tasks.Result) {
	t.Helper()
	e, err := tasks.NewEnv(tasks.EnvOptions{GPUs: want.GPUs})
	require.NoError(t, err)
	e.Begin(list)
	require.Equal(t, want.First, e.Observe().Values)
	queue := []int{}
	for at, action := range want.Actions {
		before := e.Result()
		head, waiting := e.Head()
		if waiting {
			queue = append(queue, head.ID)
		}
		o, err := e.Act(action)
		require.NoError(t, err)
		require.Equal(t, at == len(want.Actions)-1, o.Done)
		if len(want.Steps) > 0 {
			require.Equal(t, want.Steps[at], seen(e, before, head, waiting, o.Reward, o.Done), "%s, step %d",
				want.Name, at)
		}
	}
	require.Equal(t, want.Queue, queue)
	return e.Result()
}

// seen returns the step that an environment took, in the recorded form.
func seen(e *tasks.Env, before tasks.Result, head tasks.Task, waiting bool, reward float64, done bool) step {
	after, s := e.Result(), step{Values: e.Observe().Values, Reward: reward, Done: done, Event: "none",
		Finished: []int{}}
	if waiting {
		s.Task, s.Event = &head.ID, "placed"
		if len(after.Lost) > len(before.Lost) {
			s.Event = "dropped"
		}
	}
	for _, p := range before.Schedule {
		if p.Start < after.Makespan-1 && max(p.End(), p.Start+1) == after.Makespan-1 {
			s.Finished = append(s.Finished, p.ID)
		}
	}
	s.Left = after.Tasks - len(after.Lost) - after.Placed
	var steps int
	if s.Waiting, steps = e.Waiting(); s.Waiting > 0 {
		s.Mean = float64(steps)
	}
	return s
}

// compare checks figures, schedule and chart against a recorded episode.
func compare(t *testing.T, want play, r tasks.Result) {
	t.Helper()
	require.Equal(t, want.Makespan, r.Makespan)
	require.Equal(t, want.Reward, r.Reward)
	require.Equal(t, want.Per200, averageWaiting(r, 200))
	require.ElementsMatch(t, want.Lost, r.Lost)
	byID := map[int]tasks.Placement{}
	for _, p := range r.Schedule {
		byID[p.ID] = p
	}
	require.Len(t, want.Schedule, r.Placed)
	for _, s := range want.Schedule {
		p := byID[s.ID]
		require.Equal(t, s, scheduled{p.Task, p.On, p.Start, p.End()})
	}
	if want.Gantt != nil { // some files lack it
		require.Equal(t, want.Gantt, gantt(r))
	}
	require.Equal(t, want.Usage, r.Usage)
}

// compareAll also checks the values that only some files have.
func compareAll(t *testing.T, want play, r tasks.Result) {
	t.Helper()
	compare(t, want, r)
	require.Equal(t, want.Waited, r.Waited)
	require.Equal(t, want.Placed, r.Placed)
	require.Equal(t, want.Per50, averageWaiting(r, 50))
	require.Equal(t, want.MeanUse, meanUsage(r))
	ended := []int{}
	for _, p := range r.Schedule {
		ended = append(ended, p.ID)
	}
	require.Equal(t, want.Ended, ended)
	if want.PerTask != nil {
		require.Equal(t, *want.PerTask, averageWaiting(r, r.Tasks))
	}
	if want.Started != nil {
		require.Equal(t, *want.Started, meanStart(r))
	}
}

// baseline returns a policy by its name.
func baseline(t *testing.T, name string) tasks.Baseline {
	t.Helper()
	for _, b := range tasks.Baselines() {
		if b.Name == name {
			return b
		}
	}
	t.Fatalf("no baseline %q", name)
	return tasks.Baseline{}
}

// The generator draws the recorded tasks, policies choose the recorded actions, and each step has the recorded reward
// and state.
func TestRecordedEpisodes(t *testing.T) {
	t.Parallel()
	episodes, steps := 0, 0
	summary := map[string]play{}
	for seed, name := range []string{"env_seed0", "env_seed1", "env_seed2", "env_seed3", "env_seed4"} {
		var list []tasks.Task
		var file struct {
			Cases []play `json:"cases"`
		}
		recorded(t, "tasks/"+name+".json", &list)
		recorded(t, "golden/"+name+".json", &file)
		require.Equal(t, list, tasks.DrawTasks(nil, tasks.NewPython(uint64(seed))))
		for _, want := range file.Cases {
			compareAll(t, want, replay(t, list, want))
			summary[want.Name] = want
			e, err := tasks.NewEnv(tasks.EnvOptions{GPUs: want.GPUs})
			require.NoError(t, err)
			e.Begin(list)
			r, err := e.Play(baseline(t, want.Policy).New(uint64(1000 + seed)))
			require.NoError(t, err)
			compareAll(t, want, r)
			episodes++
			steps += len(want.Steps)
		}
	}
	require.Equal(t, 100, episodes)
	require.Greater(t, steps, 1000)
	var lines []play
	recorded(t, "golden/env_summary.json", &lines)
	require.Len(t, lines, episodes)
	for _, want := range lines {
		got := summary[want.Name]
		require.Equal(t, want, play{Name: got.Name, Makespan: got.Makespan, Reward: got.Reward, PerTask: got.PerTask,
			Per200: got.Per200, Per50: got.Per50, Started: got.Started, Placed: got.Placed})
	}
}

func TestRecordedEdges(t *testing.T) {
	var lists map[string][]tasks.Task
	var file struct {
		Cases []play `json:"cases"`
		After []step `json:"step_after_done"`
	}
	recorded(t, "tasks/env_edge.json", &lists)
	recorded(t, "golden/env_edge.json", &file)
	for _, want := range file.Cases {
		compareAll(t, want, replay(t, lists[want.Name], want))
	}
	e, err := tasks.NewEnv(tasks.EnvOptions{GPUs: 1})
	require.NoError(t, err)
	e.Begin(nil)
	for _, want := range file.After {
		o, err := e.Act(0)
		require.NoError(t, err)
		require.Equal(t, want, step{Values: e.Observe().Values, Reward: o.Reward, Done: o.Done})
	}
}

// Replaying the published notebook's PPO agent reproduces the printed figures.
func TestRecordedNotebook(t *testing.T) {
	var list []tasks.Task
	var file struct {
		Recorded struct {
			Usage   [][]float64 `json:"gpu_usage"`
			Memory  [][]float64 `json:"memory_usage"`
			Left    []int       `json:"remaining"`
			Waiting []float64   `json:"mean_waiting"`
			Steps   int         `json:"makespan"`
		} `json:"recorded"`
		Case play `json:"case"`
	}
	recorded(t, "tasks/notebook_trace.json", &list)
	recorded(t, "golden/notebook_trace.json", &file)
	r := replay(t, list, file.Case)
	compareAll(t, file.Case, r)
	require.Equal(t, file.Recorded.Steps, r.Makespan)
	for at, s := range file.Case.Steps {
		require.Equal(t, append(file.Recorded.Usage[at], file.Recorded.Memory[at]...), s.Values)
		require.Equal(t, file.Recorded.Left[at], s.Left)
		require.Equal(t, file.Recorded.Waiting[at], s.Mean)
	}
	require.Equal(t, 351.59999999999997, r.Reward)
	require.Equal(t, 218.79, averageWaiting(r, 200))
}

func TestRecordedEvaluations(t *testing.T) {
	var files []struct {
		Seed  uint64       `json:"seed"`
		Tasks []tasks.Task `json:"tasks"`
		play
	}
	recorded(t, "golden/env_evaluate_model_path.json", &files)
	for _, want := range files {
		source := tasks.NewPython(want.Seed)
		e, err := tasks.NewEnv(tasks.EnvOptions{Source: source})
		require.NoError(t, err)
		for id := range 200 { // draws of the published evaluation, which plays other tasks
			tasks.DrawTask(id, source)
		}
		require.NoError(t, e.Reset(nil))
		r, err := e.Play(baseline(t, "round_robin").New(0))
		require.NoError(t, err)
		require.Equal(t, len(want.Tasks), r.Tasks)
		compare(t, want.play, r)
	}
}

func TestRecordedBaselines(t *testing.T) {
	t.Parallel()
	var file map[string]struct {
		Reward    float64 `json:"mean_reward"`
		Deviation float64 `json:"sd_reward"`
		Makespan  float64 `json:"mean_makespan"`
		Placed    float64 `json:"mean_placed"`
		Tasks     float64 `json:"mean_tasks"`
	}
	recorded(t, "golden/baselines_200ep.json", &file)
	for name, want := range file {
		count, policy, _ := strings.Cut(strings.TrimPrefix(name, "gpus"), "_")
		got, err := tasks.Evaluate(int(count[0]-'0'), 200, tasks.EvaluationSeed, baseline(t, policy).New)
		require.NoError(t, err)
		require.Equal(t, tasks.Summary(want), got, name)
	}
	require.Len(t, file, 36)
}

func TestPythonDraws(t *testing.T) {
	var file []struct {
		Seed    uint64    `json:"seed"`
		Bits    []uint32  `json:"getrandbits32"`
		Random  []float64 `json:"random"`
		To50    []int     `json:"randint_40_50"`
		Choice  []int     `json:"choice_37"`
		Uniform []float64 `json:"uniform_5_50"`
	}
	recorded(t, "golden/python_random.json", &file)
	for _, want := range file {
		fresh := func() *tasks.Python { return tasks.NewPython(want.Seed) }
		p := fresh()
		require.Equal(t, want.Bits, draws(len(want.Bits), func() uint32 { return p.Bits(32) }))
		require.Equal(t, want.Random, draws(len(want.Random), fresh().Float64))
		p = fresh()
		require.Equal(t, want.To50, draws(len(want.To50), func() int { return 40 + p.IntN(11) }))
		p = fresh()
		require.Equal(t, want.Choice, draws(len(want.Choice), func() int { return p.IntN(37) }))
		p = fresh()
		require.Equal(t, want.Uniform, draws(len(want.Uniform), func() float64 { return p.Uniform(5, 50) }))
	}
}

func draws[T any](n int, draw func() T) (list []T) {
	for range n {
		list = append(list, draw())
	}
	return list
}

// If two tasks exceed a GPU together, the second is lost, and the clock runs to the end of the first.
func TestTaskThatDoesNotFitIsLost(t *testing.T) {
	e, err := tasks.NewEnv(tasks.EnvOptions{GPUs: 1})
	require.NoError(t, err)
	e.Begin([]tasks.Task{{ID: 7, GPU: 60, Memory: 1, Duration: 3, Priority: 1},
		{ID: 8, GPU: 41, Memory: 1, Duration: 3, Priority: 2}})
	r, err := e.Play(func(*tasks.Env) int { return 0 })
	require.NoError(t, err)
	require.Equal(t, []int{7}, r.Lost)
	require.Equal(t, 4, r.Makespan)
	require.InDelta(t, 1.9-2+(10+2*2)-0.4, r.Reward, 1e-12)
	_, err = e.Act(1)
	require.ErrorContains(t, err, "there is no GPU 1; expected 0 to 0")
	_, err = tasks.NewEnv(tasks.EnvOptions{GPUs: -1})
	require.ErrorContains(t, err, "-1 GPUs")
}

// In any episode, no GPU is overcommitted, every task is placed or lost, and the last step follows the last end.
func TestEpisodesAreSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gpus, seed := rapid.IntRange(1, 8).Draw(t, "gpus"), rapid.Uint64().Draw(t, "seed")
		all := tasks.Baselines()
		b := all[rapid.IntRange(0, len(all)-1).Draw(t, "policy")]
		e, err := tasks.NewEnv(tasks.EnvOptions{GPUs: gpus})
		require.NoError(t, err)
		require.NoError(t, e.Reset(rand.New(rand.NewPCG(seed, 1))))
		choose := b.New(seed)
		r, err := e.Play(func(e *tasks.Env) int {
			for _, v := range e.Observe().Values {
				require.True(t, v >= 0 && v <= 100)
			}
			return choose(e)
		})
		require.NoError(t, err)
		require.Equal(t, r.Tasks, r.Placed+len(r.Lost))
		end := r.Tasks
		for _, p := range r.Schedule {
			end = max(end, p.End()+1)
		}
		require.Equal(t, end, r.Makespan)
	})
}

// stepper plays an environment through its interface, episode after episode.
func stepper(e *tasks.Env, random *rand.Rand) func() error {
	return func() error {
		e.Observe()
		o, err := e.Act(e.Steps() % e.GPUs())
		if err == nil && o.Done {
			err = e.Reset(random)
		}
		return err
	}
}

func newStepper(t require.TestingT) func() error {
	e, err := tasks.NewEnv(tasks.EnvOptions{})
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	require.NoError(t, e.Reset(random))
	return stepper(e, random)
}

func TestStepsAllocateNothing(t *testing.T) {
	step := newStepper(t)
	for range 10_000 { // warm up until buffers have grown
		require.NoError(t, step())
	}
	require.Zero(t, testing.AllocsPerRun(10_000, func() { _ = step() }))
}

func BenchmarkStep(b *testing.B) {
	step := newStepper(b)
	for b.Loop() {
		if err := step(); err != nil {
			b.Fatal(err)
		}
	}
}
