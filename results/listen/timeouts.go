package listen

import (
	"time"
)

// Timeouts of every HTTP server, so that slow clients hold no connection for long.
const (
	HeaderTimeout   = 5 * time.Second  // for the head of a request
	RequestTimeout  = 10 * time.Second // for a whole request
	IdleTimeout     = 30 * time.Second // between two requests
	ShutdownTimeout = 2 * time.Second  // for the answers under way when the server ends
)
