//go:build graftdebug

package torch

import (
	"runtime"
	"runtime/debug"
)

// OnLeak is called with the stack that opened a scope when the collector finds
// that the scope was dropped without Close. It is there in debug builds only,
// and panics unless it is replaced: a leak is a programmer's error.
var OnLeak = func(stack string) {
	panic("torch: a scope was never closed; it was opened here:\n" + stack)
}

// alarm reports scopes that were dropped without Close.
type alarm struct{ cleanup runtime.Cleanup }

func watch(s *Scope) alarm {
	return alarm{runtime.AddCleanup(s, func(stack string) { OnLeak(stack) }, string(debug.Stack()))}
}

func (a alarm) stop() { a.cleanup.Stop() }
