// Package parallel runs function calls on a limited number of goroutines. Results do not depend on that number.
package parallel

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Errors holds one entry per call, in the order of the calls: the call's error, or nil if the call succeeded.
type Errors []error

// Join joins all errors in the order of the calls. It returns nil if there are no errors.
func (e Errors) Join() error { return errors.Join(e...) }

// First returns the error of the call with the lowest number among the failed ones, or nil if none failed.
func (e Errors) First() error {
	if k := slices.IndexFunc(e, func(err error) bool { return err != nil }); k >= 0 {
		return e[k]
	}
	return nil
}

// Pool runs function calls on several workers. The zero value is ready to use.
type Pool struct {
	// Workers is the number of concurrent calls. Zero or less means the number of processors that the program uses.
	Workers int
	// Around is called on each worker's goroutine. It must call work exactly once; work makes the worker's share of the
	// calls. If Around is nil, the pool calls work directly.
	Around func(work func())
}

// Each calls do(k) for each k from 0 to n-1, and returns when all calls have returned. Calls start in ascending order
// of k. After an error it continues. After the end of ctx, calls that have not started get the error of ctx.
func (p Pool) Each(ctx context.Context, n int, do func(k int) error) Errors {
	errs := make(Errors, n)
	var next atomic.Int64
	work := func() {
		for k := int(next.Add(1)) - 1; k < n; k = int(next.Add(1)) - 1 {
			if errs[k] = ctx.Err(); errs[k] == nil {
				errs[k] = do(k)
			}
		}
	}
	around := p.Around
	if around == nil {
		around = func(work func()) { work() }
	}
	var wait sync.WaitGroup
	for range min(p.workers(), n) {
		wait.Go(func() { around(work) })
	}
	wait.Wait()
	return errs
}

func (p Pool) workers() int {
	if p.Workers > 0 {
		return p.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// Each calls [Pool.Each] of a pool with the given number of workers.
func Each(ctx context.Context, n, workers int, do func(k int) error) Errors {
	return Pool{Workers: workers}.Each(ctx, n, do)
}

// Do calls do(k) for each k from 0 to n-1, on several workers. Zero or fewer workers means the number of processors
// that the program uses.
func Do(n, workers int, do func(k int)) {
	Each(context.Background(), n, workers, func(k int) error { do(k); return nil })
}
