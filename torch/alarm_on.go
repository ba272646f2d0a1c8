//go:build graftdebug

package torch

import (
	"runtime"
	"runtime/debug"
)

// If the garbage collector finds a scope that was dropped without Close, it calls OnLeak with the stack that opened the
// scope. OnLeak exists only in debug builds. It panics by default, since a leak is a programming error.
var OnLeak = func(stack string) {
	panic("torch: a scope was never closed; it was opened here:\n" + stack)
}

// alarm reports scopes that were dropped without Close.
type alarm struct{ cleanup runtime.Cleanup }

func watch(s *Scope) alarm {
	return alarm{runtime.AddCleanup(s, func(stack string) { OnLeak(stack) }, string(debug.Stack()))}
}

func (a alarm) stop() { a.cleanup.Stop() }
