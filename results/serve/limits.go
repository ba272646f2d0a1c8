package serve

import (
	"time"
)

// Limits of the server: it is to stay small, however many look and whatever they ask.
const (
	MostViewers     = 256              // connections; more wait
	MostQuestion    = 64 << 10         // bytes of a question, which names runs to compare
	RenderedWithin  = 90 * time.Second // a page is, or its reader is let go
	mostKept        = 32 << 20         // bytes of pages that are kept
	mostRenderings  = 2                // at once: each uses all processors
	mostWaiting     = 64               // for a rendering to begin
	mostServed      = 10_000           // runs beneath the folder
	mostListed      = 1_000            // of them on the list
	MostCompared    = 200              // runs side by side
	mostOthersNamed = 100              // folders without a run
)
