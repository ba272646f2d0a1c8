package serve

import (
	"time"
)

// Limits of the server, which bound its memory under any load.
const (
	MaxConnections  = 256              // connections at once; more wait
	MaxRequestBytes = 64 << 10         // bytes of a request, which names runs to compare
	RenderTimeout   = 90 * time.Second // time to render and send a page
	maxCacheBytes   = 32 << 20         // bytes of cached pages
	maxRenderings   = 2                // renderings at once, each on all processors
	maxWaiting      = 64               // requests that wait for a rendering
	maxRuns         = 10_000           // runs that are indexed
	maxListed       = 1_000            // runs on the list
	MaxCompared     = 200              // runs in a comparison
	maxOthers       = 100              // folders without a run on the list
)
