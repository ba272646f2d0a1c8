package parallel_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/internal/parallel"
)

var errOdd = errors.New("odd")

// Each call is made once, and the errors are the same for any number of workers.
func TestEachCallIsMadeOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, workers := rapid.IntRange(0, 100).Draw(t, "calls"), rapid.IntRange(-1, 200).Draw(t, "workers")
		calls := make([]int, n)
		errs := parallel.Each(context.Background(), n, workers, func(k int) error {
			calls[k]++
			if k%2 == 1 {
				return fmt.Errorf("call %d: %w", k, errOdd)
			}
			return nil
		})
		text := ""
		for k := range n {
			require.Equal(t, 1, calls[k])
			if k%2 == 1 {
				text += fmt.Sprintf("call %d: odd\n", k)
			}
		}
		if n < 2 {
			require.NoError(t, errs.Join())
			require.NoError(t, errs.First())
			return
		}
		require.EqualError(t, errs.Join(), text[:len(text)-1])
		require.EqualError(t, errs.First(), "call 1: odd")
	})
}

// At most the given number of calls runs at once. The first calls wait for one another, so all workers run.
func TestWorkersAreBoundedAndAllUsed(t *testing.T) {
	const workers = 5
	var now, most atomic.Int64
	var meeting sync.WaitGroup
	meeting.Add(workers)
	parallel.Do(3*workers, workers, func(k int) {
		running := now.Add(1)
		for seen := most.Load(); running > seen && !most.CompareAndSwap(seen, running); seen = most.Load() {
		}
		if k < workers {
			meeting.Done()
			meeting.Wait()
		}
		now.Add(-1)
	})
	require.EqualValues(t, workers, most.Load())
}

func TestCallsAfterTheEndAreNotMade(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	made := 0
	errs := parallel.Each(ctx, 4, 1, func(k int) error {
		made++
		if k == 1 {
			cancel()
		}
		return nil
	})
	require.Equal(t, 2, made)
	require.Equal(t, parallel.Errors{nil, nil, context.Canceled, context.Canceled}, errs)
}

func TestAroundIsCalledByEachWorker(t *testing.T) {
	var around, calls atomic.Int64
	p := parallel.Pool{Workers: 3, Around: func(work func()) { around.Add(1); work() }}
	require.NoError(t, p.Each(context.Background(), 50, func(int) error { calls.Add(1); return nil }).Join())
	require.EqualValues(t, 3, around.Load())
	require.EqualValues(t, 50, calls.Load())
}
