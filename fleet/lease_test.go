package fleet

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/internal/files/faults"
)

// manualClock advances only when a test moves it.
type manualClock struct {
	mu    sync.Mutex
	now   time.Duration
	waits int           // number of calls of Wait that the next moves can end
	moved chan struct{} // closed at the next move
}

func newManualClock() *manualClock { return &manualClock{moved: make(chan struct{})} }

func (c *manualClock) Now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *manualClock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(d)
}

func (c *manualClock) advance(d time.Duration) {
	c.now += d
	c.waits = 0 // they look at the time again
	close(c.moved)
	c.moved = make(chan struct{})
}

// moveIfAll moves the clock if the given number of goroutines wait for it.
func (c *manualClock) moveIfAll(waits int, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits == waits {
		c.advance(d)
	}
}

func (c *manualClock) Wait(ctx context.Context, d time.Duration) error {
	until := c.Now() + d
	for {
		c.mu.Lock()
		now, moved := c.now, c.moved
		if now < until {
			c.waits++
		}
		c.mu.Unlock()
		if now >= until {
			return ctx.Err()
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// offsetClock is the clock of another machine, with an offset.
type offsetClock struct {
	Clock
	by time.Duration
}

func (c offsetClock) Now() time.Duration { return c.Clock.Now() + c.by }

func openLeases(t testing.TB, fsys files.FS, dir string, o LeaseOptions) *Leases {
	o.Random = rand.Reader
	l, err := OpenLeases(fsys, dir, o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// names returns the file names in a folder.
func names(t testing.TB, dir string) (all []string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestATaskIsTakenOnceAndGivenBack(t *testing.T) {
	dir, clock := t.TempDir(), newManualClock()
	a := openLeases(t, files.OS{}, dir, LeaseOptions{Owner: "ann", Clock: clock})
	b := openLeases(t, files.OS{}, dir, LeaseOptions{Owner: "bob", Clock: offsetClock{clock, time.Hour}})
	held, err := a.Take("one.more")
	require.NoError(t, err)
	for range 20 {
		_, err = b.Take("one.more")
		require.ErrorIs(t, err, ErrTaken)
		require.ErrorContains(t, err, "by ann")
		clock.move(5 * time.Second)
		require.NoError(t, held.Beat())
		require.True(t, held.Held())
		require.Len(t, names(t, dir), 3, "a claim, the first file and the last one")
	}
	// A task whose name has another's name as a prefix is a different task.
	for _, other := range []string{"one", "one.more.1", "one.mor"} {
		lease, err := b.Take(other)
		require.NoError(t, err, other)
		require.NoError(t, lease.Release())
	}
	require.NoError(t, held.Release())
	require.NoError(t, held.Release(), "twice does nothing")
	require.Empty(t, names(t, dir))
	require.ErrorContains(t, held.Beat(), "released")
	require.False(t, held.Held())
	again, err := b.Take("one.more")
	require.NoError(t, err)
	require.NoError(t, again.Release())
	require.Empty(t, names(t, dir))
}

func TestASilentHolderIsFollowedAndSeesIt(t *testing.T) {
	for _, beats := range []int{0, 1, 3} {
		dir, clock := t.TempDir(), newManualClock()
		a := openLeases(t, files.OS{}, dir, LeaseOptions{Owner: "ann", Clock: clock})
		b := openLeases(t, files.OS{}, dir, LeaseOptions{Owner: "bob", Clock: offsetClock{clock, -time.Hour}})
		first, err := a.Take("t")
		require.NoError(t, err)
		for range beats {
			require.NoError(t, first.Beat())
		}
		clock.move(time.Hour) // b has not seen the lease yet, so the time does not count
		_, err = b.Take("t")
		require.ErrorIs(t, err, ErrTaken)
		clock.move(29 * time.Second)
		_, err = b.Take("t")
		require.ErrorIs(t, err, ErrTaken)
		require.False(t, first.Held(), "by its own clock it is too late")
		clock.move(time.Second)
		second, err := b.Take("t")
		require.NoError(t, err)
		require.True(t, second.Held())
		require.ErrorIs(t, first.Beat(), ErrLost)
		require.ErrorIs(t, first.Beat(), ErrLost)
		require.ErrorIs(t, first.Release(), ErrLost)
		require.NoError(t, second.Beat())
		require.NoError(t, second.Release())
		require.Empty(t, names(t, dir))
	}
}

func TestOneWhoWakesUpInTimeGoesOn(t *testing.T) {
	dir, clock := t.TempDir(), newManualClock()
	a := openLeases(t, files.OS{}, dir, LeaseOptions{Clock: clock})
	b := openLeases(t, files.OS{}, dir, LeaseOptions{Clock: clock})
	lease, err := a.Take("t")
	require.NoError(t, err)
	_, err = b.Take("t")
	require.ErrorIs(t, err, ErrTaken)
	clock.move(40 * time.Second)
	require.False(t, lease.Held())
	require.NoError(t, lease.Beat(), "nobody came")
	require.True(t, lease.Held())
	_, err = b.Take("t")
	require.ErrorIs(t, err, ErrTaken)
}

func TestKeepBeatsAndEndsTheWorkWhenTheLeaseIsLost(t *testing.T) {
	dir, clock := t.TempDir(), newManualClock()
	disk := &switched{FS: files.OS{}}
	l := openLeases(t, disk, dir, LeaseOptions{Clock: clock})
	lease, err := l.Take("t")
	require.NoError(t, err)
	work := lease.Keep(context.Background())
	const keepers = 2 // one sends heartbeats, one watches the time; a slow disk must not make them late
	for number := 1; number < 5; number++ {
		require.Eventually(t, func() bool {
			clock.moveIfAll(keepers, 50*time.Millisecond)
			_, err := os.Stat(filepath.Join(dir, fmt.Sprintf("t.%d", number)))
			return err == nil
		}, patience, time.Millisecond)
	}
	require.NoError(t, work.Err())
	disk.broken.Store(true)
	broken := clock.Now()
	require.Eventually(t, func() bool {
		clock.moveIfAll(keepers, 50*time.Millisecond)
		return work.Err() != nil
	}, patience, time.Millisecond)
	require.Greater(t, clock.Now()-broken, 20*time.Second, "the disk might have come back")
	require.ErrorIs(t, context.Cause(work), ErrLost)
	disk.broken.Store(false)
	require.NoError(t, lease.Release(), "nobody had taken it")
	require.Empty(t, names(t, dir))

	lease, err = l.Take("t")
	require.NoError(t, err)
	work = lease.Keep(context.Background())
	require.NoError(t, lease.Release())
	require.ErrorIs(t, context.Cause(work), errReleased)
	require.Error(t, lease.Keep(context.Background()).Err())
}

// A process's lock shows its death to other processes of its host at once. Other hosts do not use the lock.
func TestADeadProcessOfTheSameHostIsSeenAtOnce(t *testing.T) {
	dir, clock := t.TempDir(), newManualClock()
	dying := openLeases(t, files.OS{}, dir, LeaseOptions{Owner: "ann", Clock: clock, Host: "here"})
	near := openLeases(t, files.OS{}, dir, LeaseOptions{Clock: clock, Host: "here"})
	far := openLeases(t, files.OS{}, dir, LeaseOptions{Clock: clock, Host: "there"})
	_, err := dying.Take("t")
	require.NoError(t, err)
	for _, l := range []*Leases{near, far} {
		_, err = l.Take("t")
		require.ErrorIs(t, err, ErrTaken)
	}
	require.NoError(t, dying.lock.Close()) // as the kernel does at a process's death
	_, err = far.Take("t")
	require.ErrorIs(t, err, ErrTaken)
	lease, err := near.Take("t")
	require.NoError(t, err)
	require.NoFileExists(t, dying.lockPath(dying.id))
	require.NoError(t, lease.Release())
	require.NoError(t, near.Close())
	require.NoError(t, far.Close())
	require.Empty(t, names(t, dir))

	// The next OpenLeases on the same host removes the lock of a process that was killed without a lease.
	dying = openLeases(t, files.OS{}, dir, LeaseOptions{Clock: clock, Host: "here"})
	lease, err = dying.Take("t")
	require.NoError(t, err)
	require.NoError(t, lease.Release())
	require.Len(t, names(t, dir), 1)
	openLeases(t, files.OS{}, dir, LeaseOptions{Clock: clock, Host: "there"})
	openLeases(t, files.OS{}, dir, LeaseOptions{Clock: clock, Host: "here"})
	require.Len(t, names(t, dir), 1)
	require.NoError(t, dying.lock.Close())
	openLeases(t, files.OS{}, dir, LeaseOptions{Clock: clock, Host: "here"})
	require.Empty(t, names(t, dir))
}

// duringLock calls a function during each test of a lock.
type duringLock struct {
	files.FS
	call func()
}

func (d *duringLock) Lock(path, holder string) (io.Closer, error) {
	lock, err := d.FS.Lock(path, holder)
	d.call()
	return lock, err
}

func (d *duringLock) Locked(path string) (bool, error) {
	held, err := d.FS.Locked(path)
	d.call()
	return held, err
}

// Processes that test a dead holder's lock at the same time all report it dead.
func TestADeadHolderIsSeenByAllAtOnce(t *testing.T) {
	dir, o := t.TempDir(), LeaseOptions{Clock: newManualClock(), Host: "here"}
	dying := openLeases(t, files.OS{}, dir, o)
	_, err := dying.Take("t")
	require.NoError(t, err)
	second := openLeases(t, files.OS{}, dir, o)
	tested, disk := 0, &duringLock{files.OS{}, func() {}}
	first := openLeases(t, disk, dir, o)
	require.NoError(t, dying.lock.Close())
	disk.call = func() {
		tested++
		held, err := second.Holders()
		require.NoError(t, err)
		require.Len(t, held, 1)
		require.True(t, held[0].Dead)
	}
	held, err := first.Holders()
	require.NoError(t, err)
	require.True(t, held[0].Dead)
	first.sweepLock(dying.id)
	require.Equal(t, 2, tested)
	require.NoFileExists(t, dying.lockPath(dying.id))
}

func TestThisHostHasAName(t *testing.T) {
	require.NotEmpty(t, ThisHost(files.OS{}))
	require.Equal(t, ThisHost(files.OS{}), ThisHost(files.OS{}))
}

func TestWrongTasksAndOptionsAreRefused(t *testing.T) {
	l := openLeases(t, files.OS{}, t.TempDir(), LeaseOptions{Clock: newManualClock()})
	for _, task := range []string{"", ".", "..", ".a", "a/b", "a b", "a\n", "ä", strings.Repeat("a", 151)} {
		_, err := l.Take(task)
		require.ErrorContains(t, err, "invalid task name", "%q", task)
	}
	_, err := OpenLeases(files.OS{}, t.TempDir(), LeaseOptions{Beat: time.Second, Lost: 2 * time.Second,
		Owner: strings.Repeat("a", 5000)})
	require.ErrorContains(t, err, "Clock is missing")
	require.ErrorContains(t, err, "Lost must be at least 3 × Beat")
	require.ErrorContains(t, err, "owner has 5000 bytes")
}

// linkless is a file system without hard links.
type linkless struct{ files.FS }

func (linkless) Link(string, string) error {
	return &os.LinkError{Op: "link", Err: syscall.EPERM}
}

func TestLeasesNeedNoLinks(t *testing.T) {
	dir, clock := t.TempDir(), newManualClock()
	a := openLeases(t, linkless{files.OS{}}, dir, LeaseOptions{Clock: clock})
	b := openLeases(t, linkless{files.OS{}}, dir, LeaseOptions{Clock: clock})
	lease, err := a.Take("t")
	require.NoError(t, err)
	require.NoError(t, lease.Beat())
	_, err = b.Take("t")
	require.ErrorIs(t, err, ErrTaken)
	clock.move(time.Minute)
	second, err := b.Take("t")
	require.NoError(t, err)
	require.ErrorIs(t, lease.Beat(), ErrLost)
	require.NoError(t, second.Beat())
	require.NoError(t, second.Release())
	require.Empty(t, names(t, dir))
}

// readOnly is a file system mounted read-only.
type readOnly struct{ files.FS }

func (readOnly) Create(path string) (files.File, error) {
	return nil, &os.PathError{Op: "open", Path: path, Err: syscall.EROFS}
}

func (r readOnly) Lock(path, _ string) (io.Closer, error) { return r.Create(path) }

func TestADiskThatCannotBeWrittenIsNamed(t *testing.T) {
	l := openLeases(t, readOnly{files.OS{}}, t.TempDir(), LeaseOptions{Clock: newManualClock()})
	_, err := l.Take("t")
	require.ErrorIs(t, err, syscall.EROFS)
	require.ErrorContains(t, err, "lease task t in ")
	require.NotErrorIs(t, err, ErrTaken)
}

// lifeOfALease takes, renews and releases a lease, and returns the first error.
func lifeOfALease(fsys files.FS, dir string, clock Clock) (took bool, err error) {
	l, err := OpenLeases(fsys, dir, LeaseOptions{Random: rand.Reader, Clock: clock, Host: "here"})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	lease, err := l.Take("t")
	if err != nil {
		return false, err
	}
	return true, errors.Join(lease.Beat(), lease.Beat(), lease.Release())
}

// After a fault at any operation, another process eventually gets the task, and no file remains.
func TestAFaultAtAnyOperationIsAnErrorAndDelaysAtMost(t *testing.T) {
	counting := faults.New(files.OS{}, 0, faults.Fail)
	_, err := lifeOfALease(counting, t.TempDir(), newManualClock())
	require.NoError(t, err)
	steps := len(counting.Ops())
	require.Greater(t, steps, 20)
	for _, kind := range []faults.Kind{faults.Fail, faults.Torn, faults.DiskFull, faults.Crash} {
		for at := 1; at <= steps; at++ {
			dir, clock := t.TempDir(), newManualClock()
			faulty := faults.New(files.OS{}, at, kind)
			_, err := lifeOfALease(faulty, dir, clock)
			if faulty.Fired() && kind == faults.Crash {
				require.ErrorIs(t, err, faults.ErrInjected, "%v at %d", kind, at)
			}
			if err != nil {
				require.NotErrorIs(t, err, ErrTaken, "%v at %d", kind, at)
			}
			mustInherit(t, dir, clock, fmt.Sprintf("%v at %d, %v", kind, at, err))
		}
	}
}

// mustInherit takes the task that a process left, and checks that no file remains.
func mustInherit(t *testing.T, dir string, clock *manualClock, what string) {
	require.NoError(t, os.MkdirAll(dir, 0o777))
	heir := openLeases(t, files.OS{}, dir, LeaseOptions{Clock: clock, Host: "there"})
	lease, err := heir.Take("t")
	if err != nil {
		require.ErrorIs(t, err, ErrTaken, what)
		clock.move(30 * time.Second)
		lease, err = heir.Take("t")
	}
	require.NoError(t, err, what)
	require.NoError(t, lease.Beat(), what)
	require.NoError(t, lease.Release(), what)
	require.NoError(t, heir.Close(), what)
	openLeases(t, files.OS{}, dir, LeaseOptions{Clock: clock, Host: "here"})
	require.Empty(t, names(t, dir), what)
}
