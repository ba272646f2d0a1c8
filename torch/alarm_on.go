//go:build graftdebug

package torch

import (
	"runtime"
	"runtime/debug"
)

// OnLeak receives the stack that opened a scope if the garbage collector finds that the scope was dropped without
// Close. It exists only in debug builds, and panics by default: a leak is a programming error.
var OnLeak = func(stack string) {
	panic("torch: a scope was never closed; it was opened here:\n" + stack)
}

// alarm reports scopes that were dropped without Close.
type alarm struct{ cleanup runtime.Cleanup }

func watch(s *Scope) alarm {
	return alarm{runtime.AddCleanup(s, func(stack string) { OnLeak(stack) }, string(debug.Stack()))}
}

func (a alarm) stop() { a.cleanup.Stop() }
