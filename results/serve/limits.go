package serve

import (
	"time"
)

// Limits of the server: it is to stay small, however many look and whatever they ask.
const (
	MaxConnections  = 256              // connections; more wait
	MaxRequestBytes = 64 << 10         // bytes of a question, which names runs to compare
	RenderTimeout   = 90 * time.Second // a page is, or its reader is let go
	maxCacheBytes   = 32 << 20         // bytes of pages that are kept
	maxRenderings   = 2                // at once: each uses all processors
	maxWaiting      = 64               // for a rendering to begin
	maxRuns         = 10_000           // runs beneath the folder
	maxListed       = 1_000            // of them on the list
	MaxCompared     = 200              // runs side by side
	maxOthers       = 100              // folders without a run
)
