package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/files"
)

// Many who work through the same tasks do each of them once, while nobody dies.
func TestManyWorkThroughTheSameTasks(t *testing.T) {
	const workers, tasks = 6, 40
	dir := t.TempDir()
	var mu sync.Mutex
	results, times := map[string]bool{}, 0
	left := func() (names []string, err error) {
		mu.Lock()
		defer mu.Unlock()
		for k := range tasks {
			if name := fmt.Sprint("t", k); !results[name] {
				names = append(names, name)
			}
		}
		return names, nil
	}
	var all sync.WaitGroup
	for range workers {
		l := openLeases(t, files.OS{}, dir, LeaseOptions{Clock: NewClock(time.Now), Beat: 50 * time.Millisecond})
		all.Go(func() {
			err := l.Work(context.Background(), left, func(_ context.Context, task string) error {
				mu.Lock()
				defer mu.Unlock()
				if !results[task] {
					results[task] = true
					times++
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Equal(t, tasks, times)
	require.Empty(t, names(t, dir))
}

func TestWorkEndsWithWhatItsTaskSays(t *testing.T) {
	one := func() ([]string, error) { return []string{"t"}, nil }
	alas := errors.New("alas")
	open := func() (*Leases, string) {
		dir := t.TempDir()
		return openLeases(t, files.OS{}, dir, LeaseOptions{Clock: newHandClock()}), dir
	}
	l, dir := open()
	err := l.Work(context.Background(), one, func(context.Context, string) error { return alas })
	require.ErrorIs(t, err, alas)
	require.ErrorContains(t, err, "task t: ")
	require.Empty(t, names(t, dir), "another may try it")
	require.ErrorIs(t, l.Work(context.Background(), func() ([]string, error) { return nil, alas }, nil), alas)

	ctx, cancel := context.WithCancel(context.Background())
	l, dir = open()
	err = l.Work(ctx, one, func(work context.Context, _ string) error {
		cancel()
		<-work.Done()
		return work.Err()
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, names(t, dir))

	// A task that another has taken over is no fault of ours.
	clock, disk, calls := newHandClock(), &switched{FS: files.OS{}}, 0
	l = openLeases(t, disk, t.TempDir(), LeaseOptions{Clock: clock})
	err = l.Work(context.Background(), func() ([]string, error) {
		if calls > 0 {
			return nil, nil
		}
		return []string{"t"}, nil
	}, func(work context.Context, _ string) error {
		calls++
		disk.broken.Store(true)
		for work.Err() == nil {
			clock.move(time.Second)
			time.Sleep(time.Millisecond)
		}
		return work.Err()
	})
	require.NoError(t, err)
	require.Equal(t, 1, calls)
}
