package train_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/internal/decode"
	"graft/internal/files"
	"graft/runner/app"
	"graft/runner/train"
	"graft/runner/worktest"
	"graft/torch"
	"graft/trainer"
)

// jobsDrawn is the number of random jobs; longJobs is the number with GRAFT_LONG.
const (
	jobsDrawn = 5
	longJobs  = 500
)

// attempt holds the conditions of a run: a number of threads, steps grouped into calls at random, and a stop after a
// number of clock readings.
type attempt struct {
	threads int
	pace    uint64
	stop    int // clock reading at which to stop; zero never stops
	set     []string
}

// env returns an environment whose clock jumps at random, which groups steps. It cancels the run at the attempt's stop.
func (a attempt) env(cancel func()) *app.Env {
	e := worktest.Env(files.OS{})
	random, now, asked := rand.New(rand.NewPCG(a.pace, 2)), time.Unix(0, 0), 0
	e.Now = func() time.Time {
		if asked++; asked == a.stop {
			cancel()
		}
		now = now.Add(time.Duration(random.IntN(150)) * time.Millisecond)
		return now
	}
	return e
}

// result holds everything in a job's result that must not depend on the attempt.
type result struct {
	digest, table string
	failed        string // kind of failure
	stopped       bool
	forked        int // starts from a kept checkpoint of another run
}

// run runs a job to its end, and resumes it if it was stopped.
func (a attempt) run(t *testing.T, path, folder string) (r result) {
	require.NoError(t, torch.SetThreads(a.threads))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o := train.Options{Folder: folder, Set: a.set}
	env := a.env(cancel)
	forked := forks(env)
	out, err := train.Run(ctx, env, path, o)
	r.forked = forked()
	if errors.Is(err, trainer.ErrStopped) {
		r.stopped, o.Resume = true, true
		again := attempt{threads: 1 + (a.threads+1)%3, pace: a.pace + 1}
		require.NoError(t, torch.SetThreads(again.threads))
		out, err = train.Run(context.Background(), again.env(func() {}), path, o)
	}
	if errors.Is(err, trainer.ErrDiverged) {
		r.failed = "diverged"
		return r
	}
	require.NoError(t, err, "threads %d, pace %d, stopped %v", a.threads, a.pace, r.stopped)
	table, err := os.ReadFile(filepath.Join(folder, "epochs.csv"))
	require.NoError(t, err)
	r.digest, r.table = out.Outcome.Digest, string(table)
	return r
}

// A job on the virtual clock has one result, for any number of threads, any grouping of steps, and any stop with a
// resume.
func TestRandomJobsHaveOneResult(t *testing.T) {
	defer func() { require.NoError(t, torch.SetThreads(1)) }()
	count := jobsDrawn
	if os.Getenv("GRAFT_LONG") != "" {
		count = longJobs
	}
	stopped, diverged := 0, 0
	for seed := range uint64(count) {
		folder := t.TempDir()
		path := drawJob(t, seed, folder)
		random := rand.New(rand.NewPCG(seed, 3))
		want := attempt{threads: 1, pace: 0}.run(t, path, filepath.Join(folder, "first"))
		for k, name := range []string{"second", "third"} {
			a := attempt{threads: 2 + k, pace: 2*seed + uint64(k), stop: k * (10 + random.IntN(60))}
			got := a.run(t, path, filepath.Join(folder, name))
			if got.stopped {
				stopped++
			}
			got.stopped = false
			require.Equal(t, want, got, "seed %d, %+v", seed, a)
		}
		if want.failed != "" {
			diverged++
		}
	}
	require.Greater(t, stopped, count/3, "jobs that were stopped")
	require.Less(t, diverged, count/4, "jobs that diverged")
}

// undrawn holds the keys that affect results but that random jobs do not set, with the reason.
var undrawn = map[string]string{
	"program.command": "jobs of a program have tests of their own", "program.env": "requires program.command",
	"program.regroup": "requires program.command",
	"program.threads": "requires program.command", "program.validation_examples": "requires program.command",
	"run.device": "one device", "run.instructions": "one for each process", "network.name": "networks of files",
	"network.classes": "fits the data",
	"network.weights": "see TestCheckOfInitialWeights", "network.fresh": "with weights",
	"network.runtimes": "of the original", "network.reset_epochs": "of the original",
	"data.size": "of folders", "data.stream": "of folders", "data.turbo_jpeg": "of folders",
	"data.validation_folder":  "of folders",
	"data.vocabulary":         "a file of byte pairs",
	"data.synthetic.channels": "fits the network", "time.start": "see timelines", "time.clock": "the virtual one",
	"time.profile":  "one profile",
	"time.timeline": "events in the file", "train.cuda_graphs": "of CUDA", "adapt.kinds": "of proposals",
	"adapt.policy":    "a file",
	"adapt.new_units": "refused for some actions, see TestJobsStartNewUnits", "adapt.amplitude": "of new units",
	"adapt.vocabulary": "a file", "adapt.sample": "of policies",
	"adapt.fallback": "of policies", "adapt.compat": "of the original",
	"adapt.on_error": "one of them",
	"run.threads":    "set by the attempt", "parallel.on": "one process", "parallel.max_processes": "one process",
	"parallel.threads": "one process",
	"parallel.timeout": "one process", "parallel.start": "one process", "parallel.elastic": "one process",
}

// Random jobs draw every key that affects results.
func TestRandomJobsDrawEveryKey(t *testing.T) {
	values := map[string]map[string]bool{}
	for seed := range uint64(150) {
		folder := t.TempDir()
		job, err := config.ReadJob(files.OS{}, drawJob(t, seed, folder), nil)
		if !assert.NoError(t, err, "seed %d", seed) {
			continue
		}
		for _, v := range config.Values(job) {
			if values[v.Key] == nil {
				values[v.Key] = map[string]bool{}
			}
			if v.Result != decode.None {
				values[v.Key][v.Text] = true
			}
		}
	}
	for key, seen := range values {
		if _, left := undrawn[key]; !left && len(seen) > 0 {
			assert.Greater(t, len(seen), 1, "%s has one value in all jobs: draw it, or name it in undrawn", key)
		}
	}
}
