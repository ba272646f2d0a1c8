package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

// Each task has one holder at a time, and is done once if no worker dies.
func TestManyTakeThroughTheSameTasks(t *testing.T) {
	const workers, tasks = 6, 40
	dir, clock := t.TempDir(), NewClock(time.Now)
	var done [tasks]atomic.Bool
	var holders, times [tasks]atomic.Int32
	do := func(l *Leases, task int) {
		lease, err := l.Take(fmt.Sprint("t", task))
		if errors.Is(err, ErrTaken) {
			_ = clock.Wait(context.Background(), time.Millisecond)
			return
		}
		if !assert.NoError(t, err) {
			done[task].Store(true)
			return
		}
		lease.Keep(context.Background())
		if !done[task].Load() {
			assert.EqualValues(t, 1, holders[task].Add(1))
			_ = clock.Wait(context.Background(), time.Millisecond)
			times[task].Add(1)
			holders[task].Add(-1)
			done[task].Store(true)
		}
		assert.NoError(t, lease.Release())
	}
	var all sync.WaitGroup
	for first := range workers {
		l := openLeases(t, files.OS{}, dir, LeaseOptions{Clock: clock, Beat: 50 * time.Millisecond})
		all.Go(func() {
			for k := range tasks {
				for task := (first + k) % tasks; !done[task].Load(); {
					do(l, task)
				}
			}
		})
	}
	all.Wait()
	for task := range tasks {
		require.EqualValues(t, 1, times[task].Load(), "task %d", task)
	}
	require.Empty(t, names(t, dir))
}

// Any process lists the holders of tasks, and marks holders that died on its own host.
func TestHoldersAreListed(t *testing.T) {
	dir, clock := t.TempDir(), newManualClock()
	open := func(owner, host string) *Leases {
		return openLeases(t, files.OS{}, dir, LeaseOptions{Owner: owner, Host: host, Clock: clock})
	}
	ann, bob, cid := open("ann", "here"), open("bob", "here"), open("cid", "there")
	for _, task := range []string{"b", "a.0"} {
		lease, err := ann.Take(task)
		require.NoError(t, err)
		require.NoError(t, lease.Beat())
		defer func() { _ = lease.Release() }()
	}
	for owner, task := range map[*Leases]string{bob: "c", cid: "d"} {
		_, err := owner.Take(task)
		require.NoError(t, err)
		require.NoError(t, owner.Close()) // as if it were killed
	}
	before := names(t, dir)
	list, err := open("dan", "here").Holders()
	require.NoError(t, err)
	require.Equal(t, []Holder{{"a.0", "ann", false}, {"b", "ann", false}, {"c", "bob", true},
		{"d", "cid", false}}, list)
	require.Equal(t, before, names(t, dir))
}
