package main

import (
	"os"
	"runtime/debug"

	"graft/runner/app"
)

// Percentages of GOGC. A simulation frees little of what it allocates of a large trace, so
// waiting until the heap has doubled wastes memory; that of a small trace is over before much
// can be collected. A GOGC of the environment comes first.
const (
	largeTrace     = 32 << 20 // bytes of the file
	collectedAfter = 25       // for large traces
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
