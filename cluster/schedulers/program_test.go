package schedulers_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/schedtest"
	"graft/cluster/schedulers"
	"graft/cluster/trace"
)

// patientProgram is the example scheduler in Python.
const patientProgram = "../../scenarios/schedulers/patient.py"

// The example in Python decides like the example in Go on random cases, and a second simulation has the same outcome.
func TestProgramsScheduleLikeGo(t *testing.T) {
	asked, err := schedulers.Named(patientProgram)
	require.NoError(t, err)
	patient := cluster.Policy{Name: "patient", New: func(cluster.Setup) (cluster.Scheduler, error) {
		return &Patient{Patience: 3600}, nil
	}}
	for k := range 6 {
		r := rand.New(rand.NewPCG(5, uint64(k)))
		c := schedtest.Draw(r, schedtest.Shape{Span: 20_000, Jobs: 24, Parts: k%3 == 1})
		require.NoError(t, schedtest.Hold(asked, c), "case %d\n%s", k, c)
		want, err := c.Study.Run(context.Background(), patient, c.Options)
		require.NoError(t, err)
		got, err := c.Study.Run(context.Background(), asked, c.Options)
		require.NoError(t, err)
		require.Equal(t, schedtest.Table(want), schedtest.Table(got), "case %d\n%s", k, c)
	}
}

// The example in Python passes the whole suite.
func TestProgramsConform(t *testing.T) {
	if os.Getenv("GRAFT_LONG") == "" {
		t.Skip("left out: it starts a thousand programs; set GRAFT_LONG=1")
	}
	asked, err := schedulers.Named(patientProgram)
	require.NoError(t, err)
	schedtest.Run(t, asked)
}

// answering writes a scheduler that returns the same answer in each second.
func answering(t *testing.T, answer string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "scheduler")
	text := "#!/bin/sh\nread line\necho '{\"protocol\": 1}'\nwhile read line; do echo '" + answer + "'; done\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o777))
	return path
}

// small returns a study of two jobs on four devices.
func small() *cluster.Study {
	return &cluster.Study{VCs: []trace.VC{{Name: "lab", Nodes: 1}}, PerNode: 4, Jobs: []trace.Job{
		{ID: "first", VC: "lab", Submit: 0, Duration: 100, GPUs: 3},
		{ID: "second", VC: "lab", Submit: 1, Duration: 50, GPUs: 2},
	}}
}

// An invalid answer ends the simulation with an error that names the program, the answer or the job.
func TestWrongAnswersOfSchedulers(t *testing.T) {
	for answer, want := range map[string]string{
		`{"start": [2]}`:                      `job 2 in "start"; expected the number of a job that has arrived`,
		`{"preempt": [-1]}`:                   `returned job -1 in "preempt"`,
		`{"resize": [{"job": 7, "gpus": 1}]}`: `returned job 7 in "resize"`,
		`{"preempt": [0]}`:                    `returned job 0 in "preempt", but this job (ID first) does not run`,
		`{"resize": [{"job": 0, "gpus": 1}]}`: `returned job 0 in "resize", but this job (ID first) does not run`,
		`{"start": [0, 0]}`:                   `returned job 0 in "start", but this job (ID first) runs`,
		`{"starts": [0]}`:                     `unknown field "starts"`,
		`{"start": [0], "wake_s": 0}`:         `returned wake_s 0 at second 0; expected a later second`,
		`{}`:                                  "the scheduler must start a job, or return the time of its next call",
		`{"start": "all"}`:                    `the key "start" is a string; expected a list`,
		`sorry`:                               `answered "sorry": expected one line of JSON`,
	} {
		t.Run(answer, func(t *testing.T) {
			policy, err := schedulers.Named(answering(t, answer))
			require.NoError(t, err)
			_, err = small().Run(t.Context(), policy, cluster.Options{})
			require.ErrorContains(t, err, want)
			require.ErrorContains(t, err, "virtual cluster lab")
		})
	}
}

// A program receives jobs, estimates, starts, refusals and ends as documented.
func TestRequestsOfSchedulers(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	path := filepath.Join(t.TempDir(), "scheduler")
	text := "#!/bin/sh\nexec 3>" + log + "\nread line\necho \"$line\" >&3\necho '{\"protocol\": 1}'\n" +
		"while read line; do echo \"$line\" >&3\n" +
		"case \"$line\" in *now_s\\\":0,*) echo '{\"start\": [0]}';; *now_s\\\":1,*) echo '{\"start\": [1]}';;\n" +
		"*now_s\\\":100,*) echo '{\"start\": [1], \"wake_s\": 120}';; *) echo '{}';; esac; done\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o777))
	policy, err := schedulers.Named(path)
	require.NoError(t, err)
	s := small()
	s.Estimates = []float64{90, 60}
	s.Jobs[0].User, s.Jobs[1].Limit = "anna", 600
	o, err := s.Run(t.Context(), policy, cluster.Options{})
	require.NoError(t, err)
	require.EqualValues(t, []int64{100, 150}, []int64{o.Jobs[0].End, o.Jobs[1].End})
	got, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Equal(t, strings.Join([]string{
		`{"gpus":4,"gpus_per_node":4,"pool":"lab","protocol":1,"role":"scheduler"}`,
		`{"now_s":0,"free":4,"arrived":[{"job":0,"id":"first","user":"anna","gpus":3,"submit_s":0,"limit_s":null,` +
			`"estimate_s":90}],"ended":[],"started":[],"refused":[]}`,
		`{"now_s":1,"free":1,"arrived":[{"job":1,"id":"second","user":"","gpus":2,"submit_s":1,"limit_s":600,` +
			`"estimate_s":60}],"ended":[],"started":[0],"refused":[]}`,
		`{"now_s":100,"free":4,"arrived":[],"ended":[0],"started":[],"refused":[1]}`,
		`{"now_s":120,"free":2,"arrived":[],"ended":[],"started":[1],"refused":[]}`,
		`{"now_s":150,"free":4,"arrived":[],"ended":[1],"started":[],"refused":[]}`, ""}, "\n"), string(got))
}

// A program receives the types of GPUs, and the types that a job accepts.
func TestProgramsSeeTypes(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	path := filepath.Join(t.TempDir(), "scheduler")
	text := "#!/bin/sh\nexec 3>" + log + "\nread line\necho \"$line\" >&3\necho '{\"protocol\": 1}'\n" +
		"while read line; do echo \"$line\" | grep -o 'gpu_types[^]]*' >&3\n" +
		"case \"$line\" in *now_s\\\":0,*) echo '{\"start\": [0]}';; *now_s\\\":1,*) echo '{\"start\": [1]}';;\n" +
		"*) echo '{}';; esac; done\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o777))
	policy, err := schedulers.Named(path)
	require.NoError(t, err)
	s := small()
	s.VCs[0].Nodes = 2
	s.Types = []cluster.NodeType{{Name: "x", Nodes: map[string]int{"lab": 1}},
		{Name: "y", Nodes: map[string]int{"lab": 1}}}
	s.Jobs[1].GPUType, s.Jobs[1].NeedsType = "Y", true
	o, err := s.Run(t.Context(), policy, cluster.Options{})
	require.NoError(t, err)
	require.Equal(t, "y", o.TypeOf(o.Jobs[1]))
	got, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Equal(t, `{"gpu_types":{"x":4,"y":4},"gpus":8,"gpus_per_node":4,"pool":"lab","protocol":1,`+
		`"role":"scheduler"}`+"\n"+`gpu_types":["y"`+"\n", string(got))
}

// A program that exits early or does not exist ends the simulation with an error.
func TestProgramsThatEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scheduler")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\nread line\necho '{\"protocol\": 1}'\nread line\n"+
		"echo no memory >&2\nexit 4\n"), 0o777))
	policy, err := schedulers.Named(path)
	require.NoError(t, err)
	_, err = small().Run(t.Context(), policy, cluster.Options{})
	require.ErrorContains(t, err, "ended without an answer: exit status 4; its last messages:\n  no memory")
	require.False(t, errors.Is(err, context.Canceled))
	_, err = schedulers.Named("./absent/scheduler")
	require.NoError(t, err, "the file is read when the simulation begins")
	absent, _ := schedulers.Named("./absent/scheduler")
	_, err = small().Run(t.Context(), absent, cluster.Options{})
	require.ErrorContains(t, err, "no such file or directory")
}

// TryProgram sends a complete first request.
func TestProgramsAreTried(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scheduler")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\nread line\ncase \"$line\" in\n"+
		"'{\"gpus\":4,\"gpus_per_node\":4,\"pool\":\"check\",\"protocol\":1,\"role\":\"scheduler\"}') ;;\n"+
		"*) exit 1;; esac\n"+
		"echo '{\"protocol\": 1}'\n"), 0o777))
	require.NoError(t, schedulers.TryProgram(t.Context(), path, 4))
	_, err := schedulers.Named("mine.py")
	require.ErrorContains(t, err, "for a program, write its path, such as ./mine.py")
}

// A program learns which jobs are fixed, and must not resize them.
func TestProgramsMustNotResizeFixedJobs(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	path := filepath.Join(t.TempDir(), "scheduler")
	text := "#!/bin/sh\nread line\necho '{\"protocol\": 1}'\nwhile read line; do echo \"$line\" >>" + log + "\n" +
		"case \"$line\" in *now_s\\\":0,*) echo '{\"start\": [0], \"wake_s\": 10}';;\n" +
		"*) echo '{\"resize\": [{\"job\": 0, \"gpus\": 1}]}';; esac; done\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o777))
	policy, err := schedulers.Named(path)
	require.NoError(t, err)
	s := small()
	s.Resizable = func(*trace.Job) bool { return false }
	_, err = s.Run(t.Context(), policy, cluster.Options{})
	require.ErrorContains(t, err, `returned job 0 in "resize", but this job (ID first) is fixed: its number of `+
		"devices cannot change")
	got, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Contains(t, string(got), `"gpus":3,"fixed":true,"submit_s":0`)
}
