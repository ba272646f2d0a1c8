package tasks_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/original/tasks"
)

// machine is the made-up one of the recorded episodes.
type machine struct {
	gpus, sweeps int
	now          float64
	runtimes     map[string]float64
	failing      []string
}

func (m *machine) Utilization() (values []float64) {
	for gpu := range m.gpus {
		values = append(values, float64((37*m.sweeps+11*gpu)%101))
	}
	m.sweeps++
	return values
}

func (m *machine) Now() float64 { return m.now }

func (m *machine) Run(j tasks.LiveJob) error {
	m.now += m.runtimes[j.Name]
	if slices.Contains(m.failing, j.Name) {
		return errors.New("failed")
	}
	return nil
}

func TestRecordedLiveEpisodes(t *testing.T) {
	var file []struct {
		GPUs     int       `json:"device_count"`
		Jobs     [][2]any  `json:"jobs"`
		Fail     []string  `json:"fail"`
		MaxSteps int       `json:"max_steps"`
		Clock    float64   `json:"clock_start"`
		Initial  []float64 `json:"initial_obs"`
		Steps    []struct {
			Action     int       `json:"action"`
			Values     []float64 `json:"obs"`
			Reward     float64   `json:"reward"`
			Terminated bool      `json:"terminated"`
			Truncated  bool      `json:"truncated"`
		} `json:"steps"`
		History map[string][][3]any `json:"history"`
		Left    []string            `json:"queue_left"`
	}
	recorded(t, "golden/real_env.json", &file)
	for _, want := range file {
		m := &machine{gpus: want.GPUs, now: want.Clock, failing: want.Fail, runtimes: map[string]float64{}}
		var queue []tasks.LiveJob
		for _, j := range want.Jobs {
			queue = append(queue, tasks.LiveJob{Name: j[0].(string)})
			m.runtimes[j[0].(string)] = j[1].(float64)
		}
		e, err := tasks.NewLiveEnv(tasks.LiveOptions{GPUs: want.GPUs, MaxSteps: want.MaxSteps}, m, queue)
		require.NoError(t, err)
		require.Equal(t, single(want.Initial), e.Reset())
		for _, s := range want.Steps {
			got, err := e.Step(s.Action)
			require.NoError(t, err)
			require.Equal(t, tasks.LiveStep{Values: single(s.Values), Reward: s.Reward, Terminated: s.Terminated,
				Truncated: s.Truncated}, got)
		}
		for gpu, runs := range e.History {
			got := [][3]any{}
			for _, r := range runs {
				got = append(got, [3]any{r.Job, r.Start, r.End})
			}
			require.Equal(t, want.History[strconv.Itoa(gpu)], got)
		}
		left := []string{}
		for _, j := range e.Queue {
			left = append(left, j.Name)
		}
		require.Equal(t, want.Left, left)
	}
}

// single rounds to float32, as observations are.
func single(values []float64) (rounded []float64) {
	for _, v := range values {
		rounded = append(rounded, float64(float32(v)))
	}
	return rounded
}

// A job that fails stays the next one and is rewarded all the same.
func TestLiveEpisode(t *testing.T) {
	e, err := tasks.NewLiveEnv(tasks.LiveOptions{GPUs: 1}, &machine{gpus: 1, failing: []string{"a"}},
		[]tasks.LiveJob{{Name: "a"}})
	require.NoError(t, err)
	e.Reset()
	s, err := e.Step(0)
	require.NoError(t, err)
	require.Equal(t, 1.0, s.Reward)
	require.Len(t, e.Queue, 1)
	_, err = e.Step(2)
	require.ErrorContains(t, err, "action 2; expected 0 to 1")
	_, err = tasks.NewLiveEnv(tasks.LiveOptions{}, nil, nil)
	require.ErrorContains(t, err, "0 GPUs")
}

func TestRecordedUsageLog(t *testing.T) {
	var file struct {
		Rows []struct {
			Index       int      `json:"index"`
			Time        string   `json:"timestamp"`
			Name        string   `json:"name"`
			Utilization *float64 `json:"util_gpu"`
			Memory      *float64 `json:"util_mem"`
			Power       *float64 `json:"power_w"`
		} `json:"rows"`
		GPUs map[string]struct {
			Samples     int     `json:"samples"`
			Utilization float64 `json:"mean_util_gpu"`
			Memory      float64 `json:"mean_util_mem"`
			Peak        float64 `json:"peak_power_w"`
			Power       float64 `json:"mean_power_w"`
			Energy      float64 `json:"energy_j_trapezoid"`
			Span        float64 `json:"span_s"`
		} `json:"per_gpu"`
		Cut bool `json:"incomplete_last_row"`
	}
	recorded(t, "golden/gpu_usage_sample.json", &file)
	data, err := os.ReadFile(filepath.FromSlash(reference + "tasks/gpu_usage_sample.csv"))
	require.NoError(t, err)
	rows, cut, err := tasks.ReadUsage(strings.NewReader(string(data)))
	require.NoError(t, err)
	require.Equal(t, file.Cut, cut)
	require.Len(t, rows, len(file.Rows))
	for k, want := range file.Rows {
		got := rows[k]
		require.Equal(t, []any{want.Index, want.Time, want.Name},
			[]any{got.Index, got.Time.Format("2006/01/02 15:04:05.000"), got.Name})
		if want.Power != nil {
			require.Equal(t, []float64{*want.Utilization, *want.Memory, *want.Power},
				[]float64{got.Utilization, got.Memory, got.Power})
		}
	}
	for gpu, want := range file.GPUs {
		index, err := strconv.Atoi(gpu)
		require.NoError(t, err)
		require.Equal(t, tasks.UsageSummary(want), tasks.SummarizeUsage(rows, index))
	}
}

func TestUsageLog(t *testing.T) {
	const header = "index, timestamp, name, utilization.gpu [%], utilization.memory [%], power.draw [W]\n"
	rows, cut, err := tasks.ReadUsage(strings.NewReader(header + "0, 2024/12/06 17:00:00.000, A, 37 %, 2 %, " +
		"100.00 W\n0, 2024/12/06 17:00:02.000, A, 37 %, 2 %, 200.00 W\n0, 2024/12"))
	require.NoError(t, err)
	require.True(t, cut)
	require.Equal(t, tasks.UsageSummary{Samples: 2, Utilization: 37, Memory: 2, Peak: 200, Power: 150, Energy: 300,
		Span: 2}, tasks.SummarizeUsage(rows, 0))
	_, _, err = tasks.ReadUsage(strings.NewReader(header + "0, x\n0, y\n"))
	require.ErrorContains(t, err, "line 2: 2 fields; expected 6")
	_, _, err = tasks.ReadUsage(strings.NewReader("a,b\n"))
	require.ErrorContains(t, err, "line 1")
}

func TestQuirksHaveNamesOfTheirOwn(t *testing.T) {
	names := map[string]bool{}
	for _, q := range tasks.Quirks() {
		require.NotEmpty(t, q.Fixed)
		require.False(t, names[q.Name], q.Name)
		names[q.Name] = true
	}
}
