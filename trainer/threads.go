package trainer

import (
	"math"
	"time"

	"graft/torch"
)

const (
	// trialCall is the target time of a call in a trial. Results do not depend on how steps are
	// grouped into calls.
	trialCall = 10 * time.Millisecond
	// trialShare is the maximum share of the time that trials of a slower number of threads may lose.
	trialShare = 0.02
	// trialPause and longestPause are the shortest and longest pause after a trial, in multiples of the trial's time.
	// The pause doubles while the same number wins, since short alternating calls are all slow.
	trialPause, longestPause = 8, 64
	// clearly is the ratio of times that ends a trial early.
	clearly = 1.25
)

// ThreadChooser finds the number of LibTorch threads with which training is fastest. It runs trials: a few short calls
// that alternate between the current number and the next larger or smaller number. Use it only for jobs whose results
// do not depend on the number of threads. Successive jobs may share a chooser and its results. A nil chooser changes
// nothing.
type ThreadChooser struct {
	now     func() time.Time
	set     func(int) error
	counts  []int
	current int         // index of the number that trains fastest
	pairs   []countPair // comparisons of counts k and k+1
	network int         // parameters of the last trained network
	trial   *trial      // current trial
}

// countPair compares two neighbouring numbers of threads.
type countPair struct {
	ratio float64       // time of the larger number divided by the time of the smaller; zero means unknown
	wait  time.Duration // training time until the next trial
	pause time.Duration // pause after the last trial, in multiples of the trial's time
}

// NewThreadChooser returns a chooser whose maximum is LibTorch's current number of threads.
func NewThreadChooser(now func() time.Time) (*ThreadChooser, error) {
	r, err := torch.Describe()
	return newThreadChooser(r.Threads, now, torch.UseThreads), err
}

// newThreadChooser tries 1, 2, 4 and so on up to most threads. It starts in the middle of the list, with the larger one
// of two.
func newThreadChooser(most int, now func() time.Time, set func(int) error) *ThreadChooser {
	c := &ThreadChooser{now: now, set: set}
	for n := 1; n < most; n *= 2 {
		c.counts = append(c.counts, n)
	}
	c.pairs = make([]countPair, len(c.counts))
	c.counts = append(c.counts, max(1, most))
	c.current = len(c.counts) / 2
	return c
}

// close restores the largest number, for work after the job.
func (c *ThreadChooser) close() {
	if c != nil {
		c.trial = nil
		_ = c.set(c.counts[len(c.counts)-1])
	}
}

// steps is the number of steps of the network's next call, given the pace of the last call. Calls are short in a trial
// and if one is due next.
func (c *ThreadChooser) steps(network int, p pace) int {
	if c != nil && (network != c.network || c.trial != nil || c.due() >= 0) {
		return p.next(trialCall)
	}
	return p.next(callTime)
}

// train runs a call that trains on rows. Short means that the call's last batch is smaller than the others; trials
// ignore such a call, since its rows take longer.
func (c *ThreadChooser) train(network, rows int, short bool, call func() error) error {
	if c == nil {
		return call()
	}
	trying := c.begin(network) && !short
	k := c.current
	if trying {
		k = c.trial.next()
	}
	if err := c.set(c.counts[k]); err != nil {
		return err
	}
	began := c.now()
	if err := call(); err != nil {
		return err
	}
	took := c.now().Sub(began)
	if !trying {
		for k := range c.pairs {
			c.pairs[k].wait -= took
		}
	} else if c.trial.record(took, rows) {
		c.decide()
	}
	return nil
}

// evaluate runs a call with the number of threads that trains fastest.
func (c *ThreadChooser) evaluate(call func() error) error {
	if c != nil {
		if err := c.set(c.counts[c.current]); err != nil {
			return err
		}
	}
	return call()
}

// begin begins a trial if one is due, and reports whether a trial is running. After surgery the number stays, and a
// trial is due once a call has created the state that later calls reuse.
func (c *ThreadChooser) begin(network int) bool {
	if network != c.network {
		c.network, c.trial = network, nil
		for k := range c.pairs {
			c.pairs[k] = countPair{wait: 1}
		}
	}
	if k := c.due(); c.trial == nil && k >= 0 {
		c.trial = &trial{current: c.current, rival: 2*k + 1 - c.current, pair: k}
	}
	return c.trial != nil
}

// due is the pair of the current number whose trial is due, or -1.
func (c *ThreadChooser) due() int {
	for _, k := range []int{c.current - 1, c.current} {
		if k >= 0 && k < len(c.pairs) && c.pairs[k].wait <= 0 {
			return k
		}
	}
	return -1
}

// decide ends the trial. Its ratio has the same weight as all earlier trials of the network together. The next trial of
// the pair waits until the time lost in this one is a small share of the total.
func (c *ThreadChooser) decide() {
	t, p := c.trial, &c.pairs[c.trial.pair]
	c.trial = nil
	ratio := t.best[1] / t.best[0]
	lost := float64(t.took) * (1 - min(ratio, 1/ratio)) // upper bound
	if t.rival < t.current {
		ratio = 1 / ratio
	}
	if p.ratio > 0 {
		ratio = math.Sqrt(ratio * p.ratio)
	}
	p.ratio, c.current = ratio, t.pair
	if ratio < 1 {
		c.current++
	}
	p.pause = min(2*p.pause, longestPause)
	if p.pause == 0 || c.current != t.current {
		p.pause = trialPause
	}
	p.wait = max(p.pause*t.took, time.Duration(lost/trialShare))
}

// trial alternates a few calls between the current number of threads and a rival. Its first call warms up the rival.
type trial struct {
	current, rival, pair int
	calls                int
	took                 time.Duration
	best                 [2]float64 // nanoseconds per row of the current number and of the rival
	warmUp               float64    // time of the rival's first call
}

// trialOrder has a 1 for each turn of the rival. The first number is not the last one, so a machine that becomes slower
// affects both alike.
var trialOrder = [...]int{1, 0, 1, 1, 0}

func (t *trial) next() int { return [2]int{t.current, t.rival}[trialOrder[t.calls]] }

// record adds a call, and reports whether it was the last one. The faster of two calls counts, because other processes
// delay single calls.
func (t *trial) record(took time.Duration, rows int) (last bool) {
	perRow := max(1, float64(took)) / float64(max(1, rows))
	which := trialOrder[t.calls]
	switch best := &t.best[which]; {
	case t.calls == 0:
		t.warmUp = perRow
	case *best == 0 || perRow < *best:
		*best = perRow
	}
	t.calls++
	t.took += took
	return t.calls == len(trialOrder) || t.calls == 3 && min(t.warmUp, t.best[1]) > clearly*t.best[0]
}
