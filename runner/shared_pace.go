package main

import (
	"math"
	"time"
)

// seldom is the time between two progress lines of a log.
const seldom = 10 * time.Second

// pace says when the next progress line is due. Make it with newPace.
type pace struct {
	now  func() time.Time
	last time.Time // of the last line
}

// newPace makes the first line due in ten seconds from now.
func newPace(now func() time.Time) *pace { return &pace{now, now()} }

// due says whether a line is due, and begins the next interval if so.
func (p *pace) due() bool {
	now := p.now()
	if now.Sub(p.last) < seldom {
		return false
	}
	p.last = now
	return true
}

// rounded rounds a value to four decimals for a log line. NaN and infinities stay.
func rounded(v float64) float64 {
	if math.Abs(v) > 1<<50 { // it has no such decimals, and times 10,000 may overflow
		return v
	}
	return math.Round(v*1e4) / 1e4
}
