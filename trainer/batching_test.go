package trainer_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
)

// calling returns a virtual clock with a large fixed cost per step, so a larger batch is faster.
func calling() *clock.Virtual {
	return &clock.Virtual{Profile: &clock.Profile{
		Costs: clock.Costs{Step: clock.Rates{CallSeconds: 6e-3, ExampleSeconds: 5e-5},
			Batch: clock.Rates{CallSeconds: 5e-3, ExampleSeconds: 5e-5}, CommunicationShare: 0.1}}}
}

// adaptive returns the options of a job whose batch follows noise and devices.
func adaptive() trainer.Options {
	o := plan()
	o.Optimizer = torch.OptimizerOptions{Rule: torch.SGD, LR: 0.05, Momentum: 0.9}
	o.AdaptiveBatch = trainer.AdaptiveBatch{On: true, Most: 160, Interval: 2}
	o.EvalBatch = 300
	return o
}

// The batch follows noise and devices, every epoch trains on all images, and rows hold throughput, efficiency and
// goodput.
func TestBatchFollowsNoiseAndDevices(t *testing.T) {
	book := &memory{}
	outcome, err := runJob(t, adaptive(), trainer.Parts{Recorder: book, Clock: calling()}, "deepen:conv1",
		"widen:conv2:12")
	require.NoError(t, err)
	require.Positive(t, outcome.BatchChanges)
	require.Equal(t, book.rows[len(book.rows)-1].Batch, outcome.Batch)
	require.Positive(t, outcome.NoiseScale)
	var sizes []int
	for _, n := range book.notes {
		if n.Event == "batch" {
			sizes = append(sizes, n.Batch)
			require.Contains(t, n.Why, "times the goodput")
		}
	}
	require.Len(t, sizes, outcome.BatchChanges)
	require.Greater(t, slices.Max(sizes), 32)
	require.LessOrEqual(t, slices.Max(sizes), 160)
	images := int64(0)
	for k, r := range book.rows {
		if k < len(book.rows)-1 {
			require.Equal(t, images+540, r.Images, "epoch %d", k)
		}
		images = r.Images
		require.Positive(t, r.Throughput)
		require.True(t, r.Efficiency > 0 && r.Efficiency <= 1+1e-12)
		require.InEpsilon(t, r.Throughput*r.Efficiency, r.Goodput, 1e-12)
	}
	require.True(t, slices.ContainsFunc(book.rows, func(r trainer.Row) bool { return r.Efficiency < 1 }))
}

// A batch does not grow beyond the images of an epoch, whatever its limit.
func TestBatchesEndAtTheTrainingSet(t *testing.T) {
	o := adaptive()
	o.AdaptiveBatch.Most = 100_000
	book := &memory{}
	_, err := runJob(t, o, trainer.Parts{Recorder: book, Clock: calling()}, "deepen:conv1", "widen:conv2:12")
	require.NoError(t, err)
	largest := 0
	for _, n := range book.notes {
		largest = max(largest, n.Batch)
	}
	require.Greater(t, largest, 160)
	require.LessOrEqual(t, largest, 540)
}

// On the virtual clock, decisions do not depend on the machine's speed or on the number of threads.
func TestAdaptiveBatchesGiveOneDigest(t *testing.T) {
	var books []*memory
	defer func() { require.NoError(t, torch.SetThreads(1)) }()
	for k, now := range []func() time.Time{time.Now, ticking(), time.Now} {
		require.NoError(t, torch.SetThreads(1+k))
		book := &memory{}
		books = append(books, book)
		_, err := runJob(t, adaptive(), trainer.Parts{Recorder: book, Clock: calling(), Now: now}, "deepen:conv1",
			"widen:conv2:12")
		require.NoError(t, err)
		last := book.saves[len(book.saves)-1]
		require.Equal(t, books[0].saves[len(books[0].saves)-1], last)
		require.Equal(t, books[0].rows, book.rows)
		require.Equal(t, books[0].notes, book.notes)
	}
}

// adaptiveProcess starts or resumes the run in a folder. It returns the outcome, or nil if the process is killed.
func adaptiveProcess(t testing.TB, path string, looks int) (outcome *trainer.Outcome, digest string) {
	require.NoError(t, inFolder(t, files.OS{}, path, func(s *torch.Scope, folder *trainer.Folder) error {
		defer func() { digest = folder.Digest() }()
		o := adaptive()
		o.Checkpoint.Every = 80 * time.Millisecond
		clock := &killingClock{Virtual: *calling(), looks: looks}
		j, err := goOn(t, s, folder, clock, trainer.Parts{Data: fewImages(t, s),
			Decider: script(t, "deepen:conv1", "widen:conv2:12"), Recorder: folder}, o)
		if err != nil {
			return err
		}
		outcome, err = j.Run(context.Background())
		return err
	}))
	return outcome, digest
}

// A run whose batch changes gives the same bits after kills at random moments as an uninterrupted run.
func TestKilledRunsKeepTheirBatch(t *testing.T) {
	if !long {
		t.Skip("left out: kills with adaptive batches; other jobs are killed; set GRAFT_LONG=1")
	}
	require.NoError(t, torch.SetThreads(1))
	want, digest := adaptiveProcess(t, filepath.Join(t.TempDir(), "whole"), -1)
	require.Positive(t, want.BatchChanges)
	random := rand.New(rand.NewPCG(1, 1))
	for kills := 0; kills < 100; {
		path := filepath.Join(t.TempDir(), "run")
		for {
			outcome, got := adaptiveProcess(t, path, 1+random.IntN(200))
			if outcome == nil {
				kills++
				continue
			}
			require.Equal(t, want.Digest, outcome.Digest, "after %d kills", kills)
			require.Equal(t, digest, got)
			require.Equal(t, []any{want.BatchChanges, want.NoiseScale, want.Efficiency},
				[]any{outcome.BatchChanges, outcome.NoiseScale, outcome.Efficiency})
			break
		}
	}
}

// A job with a fixed batch measures nothing, and its checkpoints hold nothing about batching. Measuring changes neither
// batch nor time.
func TestFixedBatchesMeasureNothing(t *testing.T) {
	o := brief()
	book, measured := &memory{}, &memory{}
	outcome := run(t, o, book)
	require.Zero(t, outcome.NoiseScale)
	require.NotContains(t, string(sections(book.saves[0])["position.json"]), "batching")
	require.Equal(t, trainer.BatchRates{Batch: 32}, book.rows[0].BatchRates)
	o.AdaptiveBatch = trainer.AdaptiveBatch{Measure: true, Interval: 4}
	outcome = run(t, o, measured)
	require.Positive(t, outcome.NoiseScale)
	require.Equal(t, 32, outcome.Batch)
	require.Zero(t, outcome.BatchChanges)
	require.Equal(t, 1.0, measured.rows[0].Efficiency, "the smallest batch")
	require.Equal(t, book.rows[0].Time, measured.rows[0].Time, "measuring takes no time of a virtual clock")
}

// A device takes at most DeviceMost images at once. One device takes a larger batch in turns, so it gains nothing.
func TestLargeBatchesAreTakenInTurns(t *testing.T) {
	o := adaptive()
	o.Timeline.Events = nil
	o.AdaptiveBatch.DeviceMost = 32
	clock := calling()
	book := &memory{}
	outcome, err := runJob(t, o, trainer.Parts{Recorder: book, Clock: clock})
	require.NoError(t, err)
	require.Equal(t, 32, outcome.Batch, "turns cost as much as steps, so a larger batch gains nothing")
	o.Timeline.Events = []trainer.Event{{At: 500 * time.Millisecond, Change: trainer.Up, Devices: 4}}
	outcome, err = runJob(t, o, trainer.Parts{Recorder: book, Clock: calling()})
	require.NoError(t, err)
	require.Greater(t, outcome.Batch, 32, "four devices take four times as many")
}

// Processes measure the noise together. The same number of processes at the same steps gives the same bits.
func TestAdaptiveBatchesInProcesses(t *testing.T) {
	if !long {
		t.Skip("left out: adaptive batches in processes; a single process has them; set GRAFT_LONG=1")
	}
	o := adaptive()
	o.Timeline = trainer.Timeline{Budget: 1200 * time.Millisecond,
		Events: []trainer.Event{{At: 200 * time.Millisecond, Change: trainer.Up, Devices: 2}}}
	o.Parallel.On = true
	require.NoError(t, torch.SetThreads(2))
	defer func() { require.NoError(t, torch.SetThreads(1)) }()
	var first *memory
	for range 2 {
		book := &memory{}
		outcome, err := runJob(t, o, trainer.Parts{Network: smooth(), Recorder: book,
			Starter: newTestStarter(t, smallData(1)), Files: files.OS{}, Clock: calling()})
		require.NoError(t, err)
		require.Positive(t, outcome.BatchChanges)
		require.Equal(t, []int{2}, book.processes())
		if first == nil {
			first = book
			continue
		}
		require.Equal(t, first.rows, book.rows)
		require.Equal(t, first.notes, book.notes)
	}
}

// On the wall clock, the batch follows a model of the measured times, which checkpoints hold.
func TestAdaptiveBatchOnTheWallClock(t *testing.T) {
	at := time.Unix(0, 0)
	now := func() time.Time {
		at = at.Add(2 * time.Millisecond) // whatever happens between two calls
		return at
	}
	o := adaptive()
	o.Timeline = trainer.Timeline{Budget: 6 * time.Second}
	book := &memory{}
	outcome, err := runJob(t, o, trainer.Parts{Recorder: book, Clock: clock.NewWall(now, 0), Now: now})
	require.NoError(t, err)
	require.Positive(t, outcome.BatchChanges, "a call takes the same time with more images")
	var position struct {
		Batching struct {
			Times []struct{ Device, Devices int }
		}
	}
	require.NoError(t, json.Unmarshal(sections(book.saves[len(book.saves)-1])["position.json"], &position))
	require.Greater(t, len(position.Batching.Times), 1)
}

// The learning rate follows the batch by the scaling rule.
func TestRatesFollowTheBatch(t *testing.T) {
	for rule, factor := range map[trainer.Scaling]func(growth, efficiency float64) float64{
		trainer.NoScaling:  func(float64, float64) float64 { return 1 },
		trainer.LinearRate: func(growth, _ float64) float64 { return growth },
		trainer.AdaScale:   func(growth, efficiency float64) float64 { return growth * efficiency },
	} {
		o := adaptive()
		o.Schedule.Rule, o.Timeline.Events, o.AdaptiveBatch.Scaling = trainer.Constant, nil, rule
		book := &memory{}
		_, err := runJob(t, o, trainer.Parts{Recorder: book, Clock: calling()})
		require.NoError(t, err)
		last := book.rows[len(book.rows)-1]
		growth := float64(last.Batch) / 32
		require.Greater(t, growth, 1.0)
		// The last measurement comes after the last step, so its efficiency differs slightly from the efficiency behind
		// the rate.
		require.InEpsilon(t, 0.05*factor(growth, last.Efficiency), last.Rate, 0.1, "%s", rule)
	}
}

// The batch also changes while a network learns from a larger one after a shrink.
func TestBatchChangesDuringDistillation(t *testing.T) {
	o := adaptive()
	o.Timeline = trainer.Timeline{Budget: 2 * time.Second, Events: []trainer.Event{{At: 100 * time.Millisecond,
		Change: trainer.Up, Devices: 2}, {At: 200 * time.Millisecond, Change: trainer.Down, Devices: 1}}}
	book := &memory{}
	_, err := runJob(t, o, trainer.Parts{Recorder: book, Clock: calling()}, "widen:conv2:12")
	require.NoError(t, err)
	shrink := slices.Index(book.events(), "shrink")
	require.GreaterOrEqual(t, shrink, 0)
	require.Positive(t, book.notes[shrink].DistillationSteps)
	require.Contains(t, book.events()[shrink:], "batch")
}

func TestAdaptiveBatchesThatCannotBe(t *testing.T) {
	for want, change := range map[string]func(o *trainer.Options){
		"max_batch is 16":          func(o *trainer.Options) { o.AdaptiveBatch.Most = 16 },
		"the job gets 200 devices": func(o *trainer.Options) { o.Timeline.Events[0].Devices = 200 },
		"must be adascale":         func(o *trainer.Options) { o.AdaptiveBatch.Scaling = "cubic" },
		"every is -1":              func(o *trainer.Options) { o.AdaptiveBatch.Every = -1 },
		"hysteresis is -1":         func(o *trainer.Options) { o.AdaptiveBatch.Hysteresis = -1 },
		"on is false":              func(o *trainer.Options) { o.AdaptiveBatch = trainer.AdaptiveBatch{Most: 64} },
		"nothing is measured": func(o *trainer.Options) {
			o.AdaptiveBatch = trainer.AdaptiveBatch{Interval: 4}
		},
		"batch is 1":            func(o *trainer.Options) { o.Batch = 1 },
		"mixup makes the parts": func(o *trainer.Options) { o.Augment.Mixup = 0.2 },
		"max_device_batch is 8, so train.micro_batch = 24 is never reached on 2 devices": func(o *trainer.Options) {
			o.MicroBatch, o.AdaptiveBatch.DeviceMost = 24, 8
		},
	} {
		o := adaptive()
		change(&o)
		o.EnsureDefaults()
		require.ErrorContains(t, o.Validate(), "adaptive_batch: ", want)
		require.ErrorContains(t, o.Validate(), want)
	}
	o := adaptive()
	o.EnsureDefaults()
	require.NoError(t, o.Validate())
	require.Equal(t, trainer.AdaScale, o.AdaptiveBatch.Scaling)
	o = trainer.Options{Timeline: trainer.Timeline{Budget: 1}, AdaptiveBatch: trainer.AdaptiveBatch{On: true}}
	o.EnsureDefaults()
	require.Equal(t, trainer.AdaptiveBatch{On: true, Most: 1024, Every: 1, Hysteresis: 0.05,
		Scaling: trainer.SquareRoot, Interval: 16}, o.AdaptiveBatch)
}

// Options without adaptive batches keep the digest that they had before these existed.
func TestDigestsOfFixedBatchesStay(t *testing.T) {
	text, err := json.Marshal(trainer.Options{})
	require.NoError(t, err)
	require.False(t, strings.Contains(string(text), "AdaptiveBatch"))
}
