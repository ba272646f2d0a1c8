package elastic_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
	"graft/cluster/trace"
	"graft/internal/files"
)

// traced returns a job of a trace that trains a model.
func traced(id string, submit, duration int64, gpus int, model string) trace.Job {
	return trace.Job{ID: id, Submit: submit, Duration: duration, GPUs: gpus,
		Training: &trace.Training{Model: model}}
}

// template returns a study without jobs. The speed of its types grows with the workers, up to three.
func template() elastic.Study {
	rows := make([][]float64, 20)
	for p := range rows {
		for w := range rows {
			rows[p] = append(rows[p], float64(min(w+1, 3)))
		}
	}
	other := model
	other.Name, other.Length = "n", 0.5
	return elastic.Study{Types: []elastic.JobType{model, other}, Speed: elastic.Table{"m": rows, "n": rows},
		Options: elastic.Options{Slot: 100}}
}

// Jobs keep their work, and the first job arrives in slot 0.
func TestFromTrace(t *testing.T) {
	jobs := []trace.Job{
		traced("idle", 10, 50, 0, "m"), traced("a", 150, 40, 1, "m"), traced("b", 249, 40, 2, "n"),
		traced("c", 250, 40, 8, "m"), traced("short", 260, 0, 1, "m"),
	}
	made, leftOut, err := elastic.FromTrace(jobs, template(), elastic.TraceOptions{}, elastic.NewDraws(1))
	require.NoError(t, err)
	require.Equal(t, 2, leftOut)
	require.Equal(t, []elastic.Spec{
		{ID: 1, Type: 1, Arrival: 0, Epochs: 4, RealEpochs: 4},
		{ID: 2, Type: 2, Arrival: 0, Epochs: 8, RealEpochs: 8},
		{ID: 3, Type: 1, Arrival: 1, Epochs: 12, RealEpochs: 12}, // only three of eight devices are useful
	}, made)
	made, _, err = elastic.FromTrace(jobs, template(), elastic.TraceOptions{MaxEpochs: 30}, elastic.NewDraws(1))
	require.NoError(t, err)
	require.Equal(t, []float64{30, 15, 30}, []float64{made[0].RealEpochs, made[1].RealEpochs, made[2].RealEpochs})
}

// A job that runs alone, with one worker per traced device, takes as long as in the trace.
func TestFromTraceKeepsDurations(t *testing.T) {
	s := template()
	var err error
	s.Jobs, _, err = elastic.FromTrace([]trace.Job{traced("a", 0, 730, 2, "m")}, s, elastic.TraceOptions{},
		elastic.NewDraws(1))
	require.NoError(t, err)
	s.Options.Scaling = elastic.NoScaling
	result := run(t, s, func(w *elastic.World) {
		for range 2 {
			w.AddPair(w.Jobs()[0])
		}
	})
	require.InDelta(t, 7.3, result.Makespan, 1e-12)
}

// Types of unknown models are drawn evenly. Estimates scatter around the true length.
func TestFromTraceDraws(t *testing.T) {
	var jobs []trace.Job
	for k := range 2000 {
		jobs = append(jobs, traced(fmt.Sprint(k), 0, 10, 1, ""))
	}
	drawn := func(seed uint64) []elastic.Spec {
		made, _, err := elastic.FromTrace(jobs, template(), elastic.TraceOptions{EpochError: 0.5},
			elastic.NewDraws(seed))
		require.NoError(t, err)
		return made
	}
	second := 0
	for _, j := range drawn(3) {
		second += j.Type - 1
		require.InDelta(t, 1, j.RealEpochs, 1e-12)
		require.True(t, j.Epochs >= 1/1.5 && j.Epochs <= 1/0.5, "%v", j)
	}
	require.InDelta(t, 1000, second, 100)
	require.Equal(t, drawn(3), drawn(3))
	require.NotEqual(t, drawn(3), drawn(4))
}

// Trace files become workloads that can be simulated. Faulty files return errors.
func TestFromTraceOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.csv")
	read := func(text string) ([]elastic.Spec, error) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		all, err := trace.ReadAll(files.OS{}, path, trace.Options{OnlyGPU: true})
		if err != nil {
			return nil, err
		}
		made, _, err := elastic.FromTrace(all.Jobs, template(), elastic.TraceOptions{}, elastic.NewDraws(1))
		return made, err
	}
	const head = "job_id,vc,submit_time,duration,gpu_num,state\n"
	s := template()
	var err error
	s.Jobs, err = read(head + "2,a,2021-03-04 00:10:00,300,4,COMPLETED\n1,a,2021-03-04 00:00:00,90,1,FAILED\n" +
		"3,a,2021-03-04 00:00:10,9,0,COMPLETED\n")
	require.NoError(t, err)
	require.Len(t, s.Jobs, 2)
	require.Equal(t, []int{0, 6}, []int{s.Jobs[0].Arrival, s.Jobs[1].Arrival})
	require.Len(t, run(t, s, onePair).Completions, 2)
	for want, text := range map[string]string{
		"the file is empty":       "",
		"unknown trace format":    "a,b\n1,2\n",
		"the trace has no jobs":   head + "3,a,2021-03-04 00:00:10,9,0,COMPLETED\n",
		"submit_time is \"soon\"": head + "1,a,soon,9,1,COMPLETED\n",
	} {
		_, err := read(text)
		require.ErrorContains(t, err, want)
	}
}

func TestFromTraceRefuses(t *testing.T) {
	one := []trace.Job{traced("a", 0, 10, 1, "m")}
	for want, c := range map[string]struct {
		jobs   []trace.Job
		change func(s *elastic.Study, o *elastic.TraceOptions)
	}{
		"the trace has no jobs": {jobs: nil},
		"no job of the trace has both devices and a duration": {jobs: []trace.Job{traced("a", 0, 10, 0, "m"),
			traced("b", 0, 0, 1, "m")}},
		"job b: it is submitted before the previous job": {jobs: []trace.Job{traced("a", 5, 1, 1, "m"),
			traced("b", 4, 1, 1, "m")}},
		"job a: its ID is a duplicate": {jobs: []trace.Job{traced("a", 5, 1, 1, "m"),
			traced("a", 6, 1, 1, "m")}},
		"job a: its duration is negative (jobs with this fault: 1)": {jobs: []trace.Job{traced("a", 5, -1, 1, "m")}},
		"job b arrives 1e+07 slots after the first": {jobs: []trace.Job{traced("a", 0, 1, 1, "m"),
			traced("b", 1e9, 1, 1, "m")}},
		"job b: job 2 of type n can never run: its first tasks need": {[]trace.Job{one[0], traced("b", 0, 10, 1, "n")},
			func(s *elastic.Study, _ *elastic.TraceOptions) { s.Types[1].Worker = elastic.Resources{99, 0} }},
		"job a: job 1: num_epochs is 1e+15": {jobs: []trace.Job{traced("a", 0, 1e16, 1, "m")}},
		"convert a trace to elastic jobs": {one, func(s *elastic.Study,
			_ *elastic.TraceOptions) {
			s.Types = nil
		}},
		"the job types or the speed model is missing": {one, func(s *elastic.Study,
			_ *elastic.TraceOptions) {
			s.Speed = nil
		}},
		"has no speeds for model m": {one, func(s *elastic.Study, _ *elastic.TraceOptions) {
			s.Speed = elastic.Table{}
		}},
		"the speed of type m is 0": {one, func(s *elastic.Study,
			_ *elastic.TraceOptions) {
			s.Speed = flat(0)
		}},
		"the relative error of the estimated epochs is 1": {one, func(_ *elastic.Study,
			o *elastic.TraceOptions) {
			o.EpochError = 1
		}},
		"the maximum number of epochs is -1": {one, func(_ *elastic.Study,
			o *elastic.TraceOptions) {
			o.MaxEpochs = -1
		}},
		"the slot length is -1 s": {one, func(s *elastic.Study,
			_ *elastic.TraceOptions) {
			s.Options.Slot = -1
		}},
	} {
		s, o := template(), elastic.TraceOptions{}
		if c.change != nil {
			c.change(&s, &o)
		}
		_, _, err := elastic.FromTrace(c.jobs, s, o, elastic.NewDraws(1))
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "convert a trace to elastic jobs")
	}
}
