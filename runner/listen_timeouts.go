package main

import "time"

// Timeouts of every HTTP server, so that slow clients hold no connection for long.
const (
	headerTimeout   = 5 * time.Second  // for the head of a request
	requestTimeout  = 10 * time.Second // for a whole request
	idleTimeout     = 30 * time.Second // between two requests
	shutdownTimeout = 2 * time.Second  // for the answers under way when the server ends
)
