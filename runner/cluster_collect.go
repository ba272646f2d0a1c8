package main

import (
	"os"
	"runtime/debug"

	"graft/runner/app"
)

// Percentages for GOGC. A simulation of a large trace frees little of its allocations, so waiting until the heap has
// doubled wastes memory; a simulation of a small trace ends before much can be collected. GOGC in the environment takes
// precedence.
const (
	largeTrace     = 32 << 20 // bytes of the file
	collectedAfter = 15       // for large traces
	smallCollected = 400      // for others
)

// tuneCollector sets the pace of the garbage collector for a trace.
func tuneCollector(env *app.Env, traces ...string) {
	if os.Getenv("GOGC") != "" {
		return
	}
	for _, trace := range traces {
		if info, err := env.Files.Stat(trace); err == nil && info.Size() > largeTrace {
			debug.SetGCPercent(collectedAfter)
			return
		}
	}
	debug.SetGCPercent(smallCollected)
}
