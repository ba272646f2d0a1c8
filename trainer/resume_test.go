package trainer_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/dataset"
	"graft/internal/files"
	"graft/internal/files/faults"
	"graft/model"
	"graft/results"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
)

// killed is the panic that stands for the death of a process.
type killed struct{}

// killingClock is a virtual clock whose nth reading kills the process: in training,
// evaluation, surgery and between them.
type killingClock struct {
	clock.Virtual
	looks int // readings left; a negative number never kills
}

func (m *killingClock) Now() time.Duration {
	if m.looks == 0 {
		panic(killed{})
	}
	m.looks--
	return m.Virtual.Now()
}

// ticking returns a machine's clock that moves by 10 ms at every reading, so checkpoints come often and always at the
// same steps.
func ticking() func() time.Time {
	t := time.Unix(0, 0)
	return func() time.Time {
		t = t.Add(10 * time.Millisecond)
		return t
	}
}

// brief returns a short plan with all kinds of events.
func brief() trainer.Options {
	o := plan()
	ms := time.Millisecond
	o.KeepBest = true
	o.EvalBatch = 300            // leaves time for distillation
	o.Checkpoint.Every = 80 * ms // on the machine's clock
	o.Timeline = trainer.Timeline{Budget: 620 * ms,
		Events: []trainer.Event{{At: 150 * ms, Change: trainer.Up}, {At: 350 * ms, Change: trainer.Down}}}
	return o
}

// inFolder opens or creates the run in a folder and works in it. A kill of the work is not an error.
func inFolder(t testing.TB, fsys files.FS, path string, work func(s *torch.Scope, folder *trainer.Folder) error) error {
	run, err := results.Open(fsys, path)
	if err != nil {
		run, err = results.Create(fsys, path, results.CreateOptions{}, results.Manifest{})
	}
	if err != nil {
		return err
	}
	defer func() {
		_ = run.Close()
		if cause := recover(); cause != nil {
			require.IsType(t, killed{}, cause)
		}
	}()
	folder, err := trainer.OpenFolder(run, true)
	if err != nil {
		return err
	}
	return torch.With(func(s *torch.Scope) error { return work(s, folder) })
}

// goOn resumes the job of a folder, or starts it.
func goOn(t testing.TB, s *torch.Scope, folder *trainer.Folder, clock *killingClock, p trainer.Parts,
	o trainer.Options) (*trainer.Job, error) {
	last, err := folder.Last()
	if err != nil {
		return nil, err
	}
	p.Clock, p.Now = clock, ticking()
	if last == nil {
		return trainer.New(s, parts(t, s, p), o)
	}
	clock.Time = last.Time
	return trainer.Resume(s, last, p, model.Placement{}, o)
}

// fewImages returns a dataset of half the size of the small one.
func fewImages(t testing.TB, s *torch.Scope) *dataset.Set {
	set, err := dataset.Load(s, torch.CPU, files.OS{},
		dataset.Options{Seed: 1, Synthetic: dataset.SyntheticOptions{Size: side, Classes: 4, Train: 300, Test: 100}})
	require.NoError(t, err)
	return set
}

// runProcess starts or resumes the run in a folder, and ends it or is killed. A killed process has no outcome.
func runProcess(t testing.TB, fsys files.FS, path string,
	looks int) (outcome *trainer.Outcome, digest string, err error) {
	return runBrief(t, fsys, path, looks, brief())
}

// runBrief is runProcess with other options.
func runBrief(t testing.TB, fsys files.FS, path string, looks int,
	o trainer.Options) (outcome *trainer.Outcome, digest string, err error) {
	err = inFolder(t, fsys, path, func(s *torch.Scope, folder *trainer.Folder) error {
		defer func() { digest = folder.Digest() }()
		clock := &killingClock{Virtual: *steady(t), looks: looks}
		j, err := goOn(t, s, folder, clock, trainer.Parts{Data: fewImages(t, s),
			Decider: script(t, "deepen:conv1", "widen:conv2:12"), Recorder: folder}, o)
		if err != nil {
			return err
		}
		outcome, err = j.Run(context.Background())
		return err
	})
	return outcome, digest, err
}

// A run that is killed at random moments and resumed gives the same tables, events and weights as an uninterrupted run.
func TestKilledRunsEndTheSame(t *testing.T) {
	require.NoError(t, torch.SetThreads(1))
	want, digest, err := runProcess(t, files.OS{}, filepath.Join(t.TempDir(), "whole"), -1)
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(1, 1))
	kills, most := 0, 15
	if long {
		most = 200
	}
	for kills < most {
		path := filepath.Join(t.TempDir(), "run")
		for {
			outcome, got, err := runProcess(t, files.OS{}, path, 1+random.IntN(90))
			require.NoError(t, err)
			if outcome == nil {
				kills++
				continue
			}
			require.Equal(t, want.Digest, outcome.Digest, "after %d kills", kills)
			require.Equal(t, digest, got)
			require.Equal(t, want.Validation, outcome.Validation)
			require.Equal(t, want.Resources, outcome.Resources)
			break
		}
	}
	t.Logf("measured: %d kills in training, evaluation and surgery, "+
		"each run resumed to the bits of one that was not killed", kills)
}

// After any write fault, a run resumes on a sound disk and gives the same bits.
func TestFaultyDisks(t *testing.T) {
	require.NoError(t, torch.SetThreads(1))
	want, digest, err := runProcess(t, files.OS{}, filepath.Join(t.TempDir(), "whole"), -1)
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(2, 2))
	for _, kind := range []faults.Kind{faults.Fail, faults.Torn, faults.DiskFull, faults.Crash} {
		times := 3
		if long {
			times = 8
		}
		for range times {
			path := filepath.Join(t.TempDir(), "run")
			at := 1 + random.IntN(250)
			_, _, err := runProcess(t, faults.New(files.OS{}, at, kind), path, -1)
			outcome, got, again := runProcess(t, files.OS{}, path, -1)
			require.NoError(t, again, "after %v at %d, which gave %v", kind, at, err)
			require.Equal(t, want.Digest, outcome.Digest)
			require.Equal(t, digest, got)
		}
	}
}
