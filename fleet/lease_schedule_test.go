package fleet

import (
	entropy "crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

// switched is a file system whose operations that create names can be disabled.
type switched struct {
	files.FS
	broken atomic.Bool
}

func (s *switched) Link(from, to string) error {
	if s.broken.Load() {
		return errors.New("the disk is broken")
	}
	return s.FS.Link(from, to)
}

// schedule runs one file operation of its workers at a time, in an order drawn from a seed. With enough seeds, every
// interleaving occurs.
type schedule struct {
	random *rand.Rand
	clock  *manualClock
	asks   chan *actor // actors that wait for a turn or have ended
	actors []*actor
}

// actor is a worker under a schedule.
type actor struct {
	files.FS
	s     *schedule
	name  string
	turn  chan bool // false kills it
	since time.Duration
	state int // waiting, running or over
}

const (
	waiting = iota
	running
	over
)

// errKilled is the panic of a killed actor.
var errKilled = errors.New("killed")

// step waits for the actor's turn.
func (a *actor) step() {
	a.s.asks <- a
	if !<-a.turn {
		panic(errKilled)
	}
}

func (a *actor) Create(path string) (files.File, error)     { a.step(); return a.FS.Create(path) }
func (a *actor) Open(path string) (files.File, error)       { a.step(); return a.FS.Open(path) }
func (a *actor) Link(from, to string) error                 { a.step(); return a.FS.Link(from, to) }
func (a *actor) Rename(from, to string) error               { a.step(); return a.FS.Rename(from, to) }
func (a *actor) Remove(path string) error                   { a.step(); return a.FS.Remove(path) }
func (a *actor) ReadDir(path string) ([]fs.DirEntry, error) { a.step(); return a.FS.ReadDir(path) }
func (a *actor) MkdirAll(path string) error                 { return a.FS.MkdirAll(path) }
func (a *actor) Stat(path string) (fs.FileInfo, error)      { return a.FS.Stat(path) }

// start runs an actor until it returns or is killed.
func (s *schedule) start(fsys files.FS, name string, work func(a *actor)) {
	a := &actor{FS: fsys, s: s, name: name, turn: make(chan bool), state: running}
	s.actors = append(s.actors, a)
	go func() {
		defer func() {
			if r := recover(); r != nil && r != any(errKilled) {
				panic(r)
			}
			a.state = over
			s.asks <- a
		}()
		work(a)
	}()
	s.settle()
}

// settle waits until the running actor waits again or ends.
func (s *schedule) settle() {
	a := <-s.asks
	if a.state != over {
		a.state, a.since = waiting, s.clock.Now()
	}
}

// alive returns the actors that wait for their turn.
func (s *schedule) alive() (alive []*actor) {
	for _, a := range s.actors {
		if a.state == waiting {
			alive = append(alive, a)
		}
	}
	return alive
}

func (s *schedule) resume(a *actor, live bool) {
	a.state = running
	a.turn <- live
	s.settle()
}

// longest returns the longest wait of an actor.
func (s *schedule) longest() time.Duration {
	most := time.Duration(0)
	for _, a := range s.alive() {
		most = max(most, s.clock.Now()-a.since)
	}
	return most
}

// run gives turns until all actors have ended. No actor waits longer than stall.
func (s *schedule) run(stall time.Duration, kill func(*actor) bool, check func()) {
	for {
		alive := s.alive()
		if len(alive) == 0 {
			return
		}
		a := alive[s.random.IntN(len(alive))]
		switch {
		case s.longest() >= stall:
			a = slices.MaxFunc(alive, func(a, b *actor) int { return int(b.since - a.since) })
		case s.random.IntN(3) == 0:
			s.clock.move(time.Duration(s.random.IntN(4)) * time.Second)
		}
		s.resume(a, !kill(a))
		check()
	}
}

// In random orders of file operations, no two workers hold the same task at the same time. Any worker can die, and each
// can stall for almost half of Lost. The survivor does all tasks.
func TestNoTwoHoldATaskInAnyOrderOfOperations(t *testing.T) {
	rounds := 300
	if long {
		rounds = 20_000
	}
	takeovers, losses := 0, 0
	for seed := range rounds {
		p := &play{t: t, seed: seed, dir: t.TempDir(), held: map[string][]*Lease{}, done: map[string]int{}}
		p.run()
		takeovers += p.takeovers
		losses += p.losses
		require.NoError(t, os.RemoveAll(p.dir))
	}
	require.NotZero(t, takeovers, "nobody was taken over")
	require.NotZero(t, losses, "nobody saw that he was")
	t.Logf("measured: %d schedules of 4 workers and 2 tasks, %d tasks taken over, %d leases lost", rounds,
		takeovers, losses)
}

// play holds the state of one schedule.
type play struct {
	t         *testing.T
	seed      int
	dir       string
	s         *schedule
	tasks     []string
	held      map[string][]*Lease
	done      map[string]int
	dead      int
	takeovers int
	losses    int
}

const (
	playBeat = 2 * time.Second
	playLost = 12 * time.Second
	players  = 4
)

func (p *play) run() {
	random := rand.New(rand.NewPCG(uint64(p.seed), 1))
	p.s = &schedule{random: random, clock: newManualClock(), asks: make(chan *actor)}
	p.tasks = []string{"a", "a.1"}
	for i := range players {
		p.s.start(files.OS{}, fmt.Sprint("w", i), p.work)
	}
	stall := playLost/2 - time.Second
	if p.seed%2 == 1 {
		stall = playBeat // a quiet machine
	}
	p.s.run(stall, p.kill, p.check)
	require.Len(p.t, p.done, len(p.tasks), "seed %d: all tasks are done", p.seed)
	p.inherit()
}

// kill kills all actors except one, at random times.
func (p *play) kill(*actor) bool {
	if p.dead == players-1 || p.s.random.IntN(60) > 0 {
		return false
	}
	p.dead++
	return true
}

// check requires that each task has at most one holder.
func (p *play) check() {
	for task, leases := range p.held {
		holding := 0
		for _, l := range leases {
			if l.Held() {
				holding++
			}
		}
		require.LessOrEqual(p.t, holding, 1, "seed %d, task %s at %v", p.seed, task, p.s.clock.Now())
	}
}

// work does tasks until all are done. Some tasks take longer than a lease lasts.
func (p *play) work(a *actor) {
	l, err := OpenLeases(a, p.dir, LeaseOptions{Random: entropy.Reader, Owner: a.name, Clock: p.s.clock, Beat: playBeat,
		Lost: playLost})
	require.NoError(p.t, err)
	for len(p.done) < len(p.tasks) {
		task := p.tasks[p.s.random.IntN(len(p.tasks))]
		if p.done[task] > 2 {
			continue
		}
		lease, err := l.Take(task)
		if err != nil {
			if !errors.Is(err, ErrTaken) {
				p.t.Errorf("seed %d: %v", p.seed, err)
				runtime.Goexit()
			}
			continue
		}
		p.perform(a, lease)
	}
}

func (p *play) perform(a *actor, lease *Lease) {
	if lease.number > 0 {
		p.takeovers++
	}
	p.held[lease.task] = append(p.held[lease.task], lease)
	for range p.s.random.IntN(6) {
		for until := p.s.clock.Now() + playBeat; p.s.clock.Now() < until; {
			a.step()
			if p.s.random.IntN(40) == 0 {
				until += playLost
			}
		}
		if err := lease.Beat(); err != nil {
			p.losses++
			require.ErrorIs(p.t, err, ErrLost, "seed %d", p.seed)
			_ = lease.Release()
			return
		}
	}
	p.done[lease.task]++
	if err := lease.Release(); err != nil {
		require.ErrorIs(p.t, err, ErrLost, "seed %d", p.seed)
	}
}

// inherit takes all tasks after the actors have ended, and checks that no file remains.
func (p *play) inherit() {
	l, err := OpenLeases(files.OS{}, p.dir, LeaseOptions{Random: entropy.Reader, Clock: p.s.clock})
	require.NoError(p.t, err)
	for _, task := range p.tasks {
		lease, err := l.Take(task)
		for range 3 {
			if err == nil {
				break
			}
			require.ErrorIs(p.t, err, ErrTaken)
			p.s.clock.move(30 * time.Second)
			lease, err = l.Take(task)
		}
		require.NoError(p.t, err, "seed %d", p.seed)
		require.NoError(p.t, lease.Release())
	}
	require.Empty(p.t, names(p.t, p.dir), "seed %d", p.seed)
}
