package trainer_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/model"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
)

const ms = time.Millisecond

// asked is a change that a test requests from a running job.
type asked struct {
	after   time.Duration // time of the job's clock
	change  trainer.Change
	devices int
}

// steered runs a job and requests changes while it runs. It returns the changes that were taken.
func steered(t testing.TB, o trainer.Options, book trainer.Recorder, list []asked,
	actions ...string) (*trainer.Outcome, []trainer.LiveChange) {
	t.Helper()
	clock := steady(t)
	live := trainer.NewLive(o.Timeline, clock)
	watch := func(p trainer.Progress) {
		for len(list) > 0 && p.Time >= list[0].after {
			_, err := live.Post(list[0].change, list[0].devices)
			require.NoError(t, err)
			list = list[1:]
		}
	}
	outcome, err := runJob(t, o, trainer.Parts{Recorder: book, Clock: clock, Scheduler: live, Watch: watch}, actions...)
	require.NoError(t, err)
	return outcome, live.Standing().Live
}

// merged returns a timeline with the requested changes in it from the start.
func merged(t trainer.Timeline, taken []trainer.LiveChange) trainer.Timeline {
	t.Events = slices.Clone(t.Events)
	for _, e := range taken {
		t.Events = append(t.Events, trainer.Event{At: e.At, Change: e.Change, Devices: e.Devices})
	}
	slices.SortStableFunc(t.Events, func(a, b trainer.Event) int { return cmp.Compare(a.At, b.At) })
	return t
}

// requirePlanned checks that a steered job equals a job with the same changes in its timeline.
func requirePlanned(t testing.TB, o trainer.Options, got *trainer.Outcome, book *memory, taken []trainer.LiveChange,
	actions ...string) {
	t.Helper()
	o.Timeline = merged(o.Timeline, taken)
	want := &memory{}
	planned := run(t, o, want, actions...)
	require.Equal(t, planned.Digest, got.Digest, "%v", o.Timeline.Events)
	require.Equal(t, want.notes, book.notes)
	require.Equal(t, want.rows, book.rows)
	require.Equal(t, planned.Validation, got.Validation)
}

var someActions = []string{"deepen:conv1", "widen:conv2:12", "branch:conv2", "deepen:conv2", "widen:conv1:9",
	"kernel:conv1:5"}

// quick returns a plan of half a second.
func quick() trainer.Options {
	o := plan()
	o.Timeline = trainer.Timeline{Budget: 500 * ms}
	return o
}

// Changes that are requested while a job runs give the same bits as a timeline with the same changes at the times at
// which they were taken: in any order, several at once, with and without a timeline of the job's own.
func TestLiveChangesAreAsPlannedOnes(t *testing.T) {
	require.NoError(t, torch.SetThreads(1))
	up, down, same := trainer.Up, trainer.Down, trainer.Same
	with := quick()
	with.Timeline.Events = []trainer.Event{{At: 150 * ms, Change: up, Devices: 2},
		{At: 350 * ms, Change: down, Devices: 1}}
	cases := map[string]struct {
		options trainer.Options
		list    []asked
	}{
		"only a budget":    {quick(), nil},
		"up and down":      {quick(), []asked{{100 * ms, up, 2}, {300 * ms, down, 1}}},
		"before the first": {quick(), []asked{{0, up, 2}}},
		"down, never up":   {quick(), []asked{{100 * ms, down, 0}}},
		"by devices alone": {quick(), []asked{{100 * ms, same, 3}, {300 * ms, same, 2}}},
		"without devices":  {quick(), []asked{{100 * ms, up, 0}, {300 * ms, down, 0}}},
		"many at once": {quick(), []asked{{100 * ms, up, 2}, {100 * ms, up, 3}, {100 * ms, down, 1},
			{100 * ms, up, 4}}},
		"beside a timeline":   {with, []asked{{100 * ms, up, 3}, {240 * ms, down, 1}, {300 * ms, up, 4}}},
		"at the same moments": {with, []asked{{150 * ms, up, 3}, {350 * ms, up, 3}}},
	}
	for name, c := range cases {
		if !long && (name == "by devices alone" || name == "without devices" || name == "down, never up") {
			continue // they are like other cases
		}
		t.Run(name, func(t *testing.T) {
			book := &memory{}
			outcome, taken := steered(t, c.options, book, c.list, someActions...)
			require.Len(t, taken, len(c.list), "all were taken")
			for k, e := range taken {
				require.GreaterOrEqual(t, e.At, c.list[k].after)
				require.Less(t, e.At, c.list[k].after+250*ms, "at the next look: behind a few steps, or an evaluation")
			}
			requirePlanned(t, c.options, outcome, book, taken, someActions...)
		})
	}
}

// Changes that goroutines request at any moment give the same bits as planned ones.
func TestLiveChangesAtRandom(t *testing.T) {
	require.NoError(t, torch.SetThreads(1))
	random, changes := rand.New(rand.NewPCG(3, 3)), 0
	for range 6 {
		o, book, clock := quick(), &memory{}, steady(t)
		live := trainer.NewLive(o.Timeline, clock)
		var posters sync.WaitGroup
		_, err := live.Post(trainer.Up, 2) // at least one change is taken, even if the goroutines are late
		require.NoError(t, err)
		for range 3 {
			wait, change := time.Duration(random.IntN(60))*ms,
				[]trainer.Change{trainer.Up, trainer.Up, trainer.Down}[random.IntN(3)]
			posters.Go(func() {
				time.Sleep(wait)
				if r, err := live.Post(change, 0); err == nil {
					<-r.Done()
				}
			})
		}
		outcome, err := runJob(t, o, trainer.Parts{Recorder: book, Clock: clock, Scheduler: live}, someActions...)
		require.NoError(t, err)
		posters.Wait()
		taken := live.Standing().Live
		changes += len(taken)
		requirePlanned(t, o, outcome, book, taken, someActions...)
	}
	require.Positive(t, changes)
	t.Logf("measured: %d changes at random moments, each as if it had been planned", changes)
}

// free is a clock on which evaluation takes no time, so it shows the same before and after.
type free struct{ *clock.Virtual }

func (f free) Cost(w clock.Work) time.Duration {
	if w.Kind == clock.Batches {
		return 0
	}
	return f.Virtual.Cost(w)
}
func (f free) Spend(w clock.Work) { f.Time += f.Cost(w) }

// A change that is requested while the clock stands still waits until the clock moves. In a timeline, its time would
// come before the work that took no time.
func TestLiveChangesWaitForTheClock(t *testing.T) {
	o, book, clock := quick(), &memory{}, free{steady(t)}
	live := trainer.NewLive(o.Timeline, clock)
	var request *trainer.Request
	var at time.Duration
	watch := func(p trainer.Progress) {
		if p.Phase == trainer.Evaluates && request == nil {
			var err error
			at = p.Time
			request, err = live.Post(trainer.Up, 2)
			require.NoError(t, err)
		}
	}
	outcome, err := runJob(t, o, trainer.Parts{Recorder: book, Clock: clock, Scheduler: live, Watch: watch},
		someActions...)
	require.NoError(t, err)
	taken := live.Standing().Live
	require.Len(t, taken, 1)
	require.Greater(t, taken[0].At, at)
	o.Timeline = merged(o.Timeline, taken)
	want := &memory{}
	planned, err := runJob(t, o, trainer.Parts{Recorder: want, Clock: free{steady(t)}}, someActions...)
	require.NoError(t, err)
	require.Equal(t, planned.Digest, outcome.Digest)
	require.Equal(t, want.notes, book.notes)
}

// A job that resumes without a live scheduler keeps the changes that it took before.
func TestLiveChangesStay(t *testing.T) {
	book := &memory{}
	outcome, taken := steered(t, quick(), book, []asked{{100 * ms, trainer.Up, 2}}, someActions...)
	stopped, err := trainer.ReadSavedJob(sections(book.saves[0])) // saved when the change was taken
	require.NoError(t, err)
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		clock := steady(t)
		clock.Time = stopped.Time
		later := &memory{}
		j, err := trainer.Resume(s, stopped, parts(t, s, trainer.Parts{Clock: clock, Recorder: later}, someActions...),
			model.Placement{}, quick())
		require.NoError(t, err)
		again, err := j.Run(context.Background())
		require.NoError(t, err)
		require.Equal(t, outcome.Digest, again.Digest)
		var position struct{ Live []trainer.LiveChange }
		require.NoError(t, json.Unmarshal(later.saves[len(later.saves)-1][0].Data, &position))
		require.Equal(t, taken, position.Live)
		return nil
	}))
}

// keeper is a recorder that calls a function while the job saves.
type keeper struct {
	memory
	saving func([]trainer.Section) error
}

func (k *keeper) Save(s []trainer.Section) error { return k.saving(s) }

// A request is answered once its change is in a checkpoint, not before. If the change cannot be saved, the answer says
// so.
func TestLiveChangesAreSavedFirst(t *testing.T) {
	o := quick()
	o.Checkpoint.Off = true
	full := errors.New("the disk is full")
	for _, fails := range []error{nil, full} {
		clock := steady(t)
		live := trainer.NewLive(o.Timeline, clock)
		request, err := live.Post(trainer.Up, 2)
		require.NoError(t, err)
		saved := ""
		book := &keeper{saving: func(s []trainer.Section) error {
			if saved == "" {
				saved = string(s[0].Data)
				require.Len(t, live.Pending(), 1)
				select {
				case <-request.Done():
					t.Error("nothing is saved yet")
				default:
				}
			}
			return fails
		}}
		var devices int
		_, err = runJob(t, o, trainer.Parts{Recorder: book, Clock: clock, Scheduler: live,
			Watch: func(p trainer.Progress) { devices = p.Devices }}, someActions...)
		require.ErrorIs(t, err, fails)
		<-request.Done()
		_, err = request.Outcome()
		require.ErrorIs(t, err, fails)
		require.Empty(t, live.Pending())
		var position struct{ Live []trainer.LiveChange }
		require.NoError(t, json.Unmarshal([]byte(saved), &position))
		require.Equal(t, []trainer.LiveChange{{At: 0, Change: trainer.Up, Devices: 2}}, position.Live)
		if fails == nil {
			require.Equal(t, 2, devices)
		}
	}
}

// An event of the timeline comes before requests of the same moment. A request then gets the direction that fits the
// devices, or is refused, and later requests keep their numbers.
func TestLiveChangesFollowTheTimeline(t *testing.T) {
	up, down := trainer.Up, trainer.Down
	clock := steady(t)
	line := trainer.Timeline{Budget: time.Minute, Devices: 2, Events: []trainer.Event{{At: 10 * time.Second,
		Change: up, Devices: 8}}}
	l := trainer.NewLive(line, clock)
	post := func(c trainer.Change, devices int) *trainer.Request {
		r, err := l.Post(c, devices)
		require.NoError(t, err)
		return r
	}
	refused, turned, last := post(up, 6), post(trainer.Same, 7), post(down, 1)
	require.Equal(t, up, turned.Change, "more than 6")
	clock.Time = 10 * time.Second
	require.Equal(t, trainer.Allocation{Change: up, Devices: 8}, l.Allocation(), "the event")
	for k, r := range []*trainer.Request{turned, last} {
		a := l.Allocation()
		require.Equal(t, down, a.Change)
		require.Equal(t, r.Devices, a.Devices)
		a.Settled()
		<-r.Done()
		require.Equal(t, down, r.Made())
		require.Equal(t, r.ID, l.Standing().Live[k].Number(k))
	}
	<-refused.Done()
	_, err := refused.Outcome()
	require.ErrorIs(t, err, trainer.ErrConflict)
	require.Empty(t, l.Pending())
	resumed := trainer.NewLive(line, clock)
	resumed.Resume(l.Standing())
	next, err := resumed.Post(up, 0)
	require.NoError(t, err)
	require.Equal(t, 4, next.ID)
}

// A change that cannot be taken is refused with the reason, and nothing changes.
func TestLiveRefuses(t *testing.T) {
	o := quick()
	fresh := func() *trainer.Live { return trainer.NewLive(o.Timeline, steady(t)) }
	refused := func(l *trainer.Live, c trainer.Change, devices int, word string) {
		t.Helper()
		before := len(l.Pending())
		_, err := l.Post(c, devices)
		require.ErrorContains(t, err, word)
		require.Len(t, l.Pending(), before)
	}
	refused(fresh(), "sideways", 2, `expected direction "up" or "down" and at least one device`)
	refused(fresh(), trainer.Up, -1, `expected direction "up" or "down" and at least one device`)
	refused(fresh(), trainer.Same, 0, `expected direction "up" or "down" and at least one device`)
	refused(fresh(), trainer.Same, 1, "the job already has 1 device")
	refused(fresh(), trainer.Down, 1, "the job already has 1 device") // the timeline refuses it too
	l := fresh()
	_, err := l.Post(trainer.Up, 4)
	require.NoError(t, err)
	refused(l, trainer.Same, 4, "the job already has 4 devices")
	refused(l, trainer.Up, 3, `the job has 4 devices, but change "up" requests only 3`)
	refused(l, trainer.Down, 5, `but change "down" requests 5`)
	for range 63 {
		_, err := l.Post(trainer.Up, 0)
		require.NoError(t, err)
	}
	refused(l, trainer.Up, 0, "64 changes are already pending")
	waiting := l.Pending()[3]
	require.Equal(t, 4, waiting.ID)
	l.End(nil)
	<-waiting.Done()
	_, err = waiting.Outcome()
	require.ErrorIs(t, err, trainer.ErrOver)
	refused(l, trainer.Up, 0, "has ended")
	l = fresh()
	l.End(trainer.ErrStopped)
	l.End(nil)
	_, err = l.Post(trainer.Up, 0)
	require.ErrorIs(t, err, trainer.ErrStopped)
	require.NotErrorIs(t, err, trainer.ErrOver)
}

// A change that comes too late is refused when the job ends.
func TestLiveRefusesAtTheEnd(t *testing.T) {
	o, clock := quick(), steady(t)
	live := trainer.NewLive(o.Timeline, clock)
	var late *trainer.Request
	watch := func(p trainer.Progress) {
		if p.Phase == trainer.Evaluates && p.Left < 30*ms && late == nil {
			var err error
			late, err = live.Post(trainer.Up, 2)
			require.NoError(t, err)
		}
	}
	outcome, err := runJob(t, o, trainer.Parts{Clock: clock, Scheduler: live, Watch: watch})
	require.NoError(t, err)
	<-late.Done()
	_, err = late.Outcome()
	require.ErrorIs(t, err, trainer.ErrOver)
	require.Equal(t, run(t, o, nil).Digest, outcome.Digest)
	require.Empty(t, live.Standing().Live)
}

// runSteered runs one process of a job that gets requests for changes. It starts or resumes the run in a folder and
// ends it, or is killed. It adds each change to promised as soon as its request is answered.
func runSteered(t testing.TB, path string, looks int, asks []asked,
	promised *[]int) (outcome *trainer.Outcome, taken []trainer.LiveChange) {
	clock := &killingClock{Virtual: *steady(t), looks: -1}
	live := trainer.NewLive(quick().Timeline, clock)
	var requests []*trainer.Request
	watch := func(p trainer.Progress) {
		if len(*promised) > 0 {
			require.GreaterOrEqual(t, len(p.Live), slices.Max(*promised), "what was promised is there")
		}
		for n := len(p.Live) + len(live.Pending()); n < len(asks) && p.Time >= asks[n].after; n++ {
			r, err := live.Post(asks[n].change, asks[n].devices)
			require.NoError(t, err)
			require.Equal(t, n+1, r.ID)
			requests = append(requests, r)
		}
		requests = slices.DeleteFunc(requests, func(r *trainer.Request) bool {
			select {
			case <-r.Done():
				*promised = append(*promised, r.ID)
				return true
			default:
				return false
			}
		})
	}
	err := inFolder(t, files.OS{}, path, func(s *torch.Scope, folder *trainer.Folder) error {
		j, err := goOn(t, s, folder, clock, trainer.Parts{Data: fewImages(t, s), Scheduler: live,
			Decider: script(t, someActions...), Recorder: folder, Watch: watch}, quick())
		if err != nil {
			return err
		}
		clock.looks = looks
		outcome, err = j.Run(context.Background())
		taken = live.Standing().Live
		return err
	})
	require.NoError(t, err)
	return outcome, taken
}

// A change whose request was answered survives any kill, and the resumed job gives the same bits as a job with planned
// changes.
func TestKilledRunsKeepLiveChanges(t *testing.T) {
	require.NoError(t, torch.SetThreads(1))
	random := rand.New(rand.NewPCG(4, 4))
	asks := []asked{{60 * ms, trainer.Up, 2}, {200 * ms, trainer.Down, 1}, {200 * ms, trainer.Up, 3},
		{330 * ms, trainer.Down, 0}}
	kills := 0
	for kills < 12 {
		path := filepath.Join(t.TempDir(), "run")
		var promised []int
		for {
			outcome, taken := runSteered(t, path, 1+random.IntN(150), asks, &promised)
			if outcome == nil {
				kills++
				continue
			}
			require.Len(t, taken, len(asks))
			require.Len(t, slices.Compact(slices.Clone(promised)), len(promised),
				"nothing that was promised is asked for again")
			requireSameAsPlanned(t, outcome, taken)
			break
		}
	}
	t.Logf("measured: %d kills of jobs that are asked for changes, none of which was lost", kills)
}

func requireSameAsPlanned(t *testing.T, got *trainer.Outcome, taken []trainer.LiveChange) {
	t.Helper()
	o := quick()
	o.Timeline = merged(o.Timeline, taken)
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		j, err := trainer.New(s, parts(t, s, trainer.Parts{Data: fewImages(t, s)}, someActions...), o)
		require.NoError(t, err)
		want, err := j.Run(context.Background())
		require.NoError(t, err)
		require.Equal(t, want.Digest, got.Digest)
		return nil
	}))
}

// Progress agrees with what a job records, and watching a job does not change its result.
func TestProgress(t *testing.T) {
	o := plan()
	book := &memory{}
	var all []trainer.Progress
	outcome, err := runJob(t, o, trainer.Parts{Recorder: book, Watch: func(p trainer.Progress) {
		all = append(all, p)
	}}, "deepen:conv1", "widen:conv2:12")
	require.NoError(t, err)
	require.Equal(t, outcome.Digest, run(t, o, nil, "deepen:conv1", "widen:conv2:12").Digest,
		"to be watched changes nothing")
	seen := map[trainer.Phase]int{}
	for k, p := range all {
		seen[p.Phase]++
		require.Equal(t, p.Budget-p.Time, p.Left)
		require.LessOrEqual(t, p.Step, p.PerEpoch)
		if k > 0 {
			require.GreaterOrEqual(t, p.Time, all[k-1].Time)
			require.GreaterOrEqual(t, p.Steps, all[k-1].Steps)
		}
		require.Equal(t, k > 0 && p.Steps > 0, p.Loss > 0)
	}
	first, last := all[0], all[len(all)-1]
	require.Equal(t, trainer.Starts, first.Phase)
	require.Equal(t, o.Timeline.Events[0], first.Next)
	require.False(t, first.Evaluated)
	require.Equal(t, 5, first.Layers, "two convolutions, two normalisations, one linear")
	require.Equal(t, smallNetwork().Parameters(), first.Parameters)
	require.Equal(t, trainer.Ended, last.Phase)
	require.Equal(t, trainer.Event{At: o.Timeline.Budget}, last.Next)
	require.Equal(t, outcome.Validation, last.Validation)
	require.Equal(t, outcome.Steps, last.Steps)
	require.Equal(t, outcome.Parameters, last.Parameters)
	require.Equal(t, 2, last.Decisions)
	for _, phase := range []trainer.Phase{trainer.Starts, trainer.Trains, trainer.Decides, trainer.Operates,
		trainer.Evaluates, trainer.Ended} {
		require.Positive(t, seen[phase], phase)
	}
	for _, n := range book.notes {
		if n.Event == "decision" {
			at := slices.IndexFunc(all, func(p trainer.Progress) bool {
				return p.Phase == trainer.Trains && p.Time >= n.Time
			})
			require.Equal(t, n.Parameters, all[at].Parameters)
		}
	}
}
