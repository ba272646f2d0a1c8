package app

import (
	"math"
	"time"
)

// ProgressInterval is the time between two progress lines of a log.
const ProgressInterval = 10 * time.Second

// ProgressLimiter limits the rate of progress lines. Create it with [NewProgressLimiter].
type ProgressLimiter struct {
	now  func() time.Time
	last time.Time // time of the last line
}

// NewProgressLimiter returns a limiter whose first line is due ten seconds from now.
func NewProgressLimiter(now func() time.Time) *ProgressLimiter { return &ProgressLimiter{now, now()} }

// Due reports whether a line is due; if so, it starts the next interval.
func (p *ProgressLimiter) Due() bool {
	now := p.now()
	if now.Sub(p.last) < ProgressInterval {
		return false
	}
	p.last = now
	return true
}

// Rounded rounds a value to four decimals for a log line. It returns NaN and infinities unchanged.
func Rounded(v float64) float64 {
	if math.Abs(v) > 1<<50 { // has no such decimals, and the product with 10,000 may overflow
		return v
	}
	return math.Round(v*1e4) / 1e4
}
