package trainer

import (
	"time"

	"graft/torch"
)

// trialShare is the share of the time that may go into trying one other number of threads.
const trialShare = 0.02

// threadChooser finds the number of LibTorch's threads that trains fastest, by trying. It is
// for steady jobs, whose results do not depend on it. A nil chooser changes nothing.
type threadChooser struct {
	now        func() time.Time
	set        func(int) error
	candidates []threads
	current    int // index of the number that is set
	network    int // parameters of the network that was measured
}

// threads is a number of threads and its latest measurement.
type threads struct {
	count   int
	warm    bool          // a call has created what later ones reuse
	perRow  time.Duration // zero is unknown
	elapsed time.Duration // trained with other numbers since
}

// chooseThreads returns a chooser of up to the number of threads that LibTorch has now.
func chooseThreads(now func() time.Time) (*threadChooser, error) {
	r, err := torch.Describe()
	return newThreadChooser(r.Threads, now, torch.SetThreads), err
}

// close sets the largest number again, for what comes after the job.
func (c *threadChooser) close() {
	if c != nil {
		_ = c.use(len(c.candidates) - 1)
	}
}

// newThreadChooser tries 1, 2, 4 and so on up to most threads, beginning with one.
func newThreadChooser(most int, now func() time.Time, set func(int) error) *threadChooser {
	c := &threadChooser{now: now, set: set}
	for n := 1; n < most; n *= 2 {
		c.candidates = append(c.candidates, threads{count: n})
	}
	c.candidates = append(c.candidates, threads{count: max(1, most)})
	return c
}

// train runs a call that trains on rows with the number of threads whose turn it is.
func (c *threadChooser) train(network, rows int, call func() error) error {
	if c == nil {
		return call()
	}
	if network != c.network { // surgery
		c.forget(network)
	}
	if err := c.use(c.next(rows)); err != nil {
		return err
	}
	began := c.now()
	if err := call(); err != nil {
		return err
	}
	c.record(rows, c.now().Sub(began))
	return nil
}

// evaluate runs a call with the fastest number of threads known.
func (c *threadChooser) evaluate(call func() error) error {
	if c != nil {
		if err := c.use(c.fastest()); err != nil {
			return err
		}
	}
	return call()
}

func (c *threadChooser) forget(network int) {
	for k := range c.candidates {
		c.candidates[k] = threads{count: c.candidates[k].count}
	}
	c.network = network
}

func (c *threadChooser) use(k int) error {
	c.current = k
	return c.set(c.candidates[k].count)
}

// fastest is the fastest number measured, or the current one.
func (c *threadChooser) fastest() int {
	best := c.current
	for k, t := range c.candidates {
		if t.perRow > 0 && (c.candidates[best].perRow == 0 || t.perRow < c.candidates[best].perRow) {
			best = k
		}
	}
	return best
}

// next is the fastest number, or a neighbour of it that was never tried, or whose trial is
// affordable by now: it costs what the neighbour was slower by.
func (c *threadChooser) next(rows int) int {
	if c.candidates[c.current].perRow == 0 {
		return c.current
	}
	best := c.fastest()
	for _, k := range []int{best + 1, best - 1} {
		if k < 0 || k >= len(c.candidates) {
			continue
		}
		t := c.candidates[k]
		cost := time.Duration(rows) * (t.perRow - c.candidates[best].perRow)
		if t.perRow == 0 || float64(cost) <= trialShare*float64(t.elapsed) {
			return k
		}
	}
	return best
}

// record takes a measurement. The first call with each number is left out: it creates what
// later calls reuse.
func (c *threadChooser) record(rows int, took time.Duration) {
	for k := range c.candidates {
		c.candidates[k].elapsed += took
	}
	t := &c.candidates[c.current]
	if !t.warm {
		t.warm = true
		return
	}
	t.elapsed, t.perRow = 0, max(1, took/time.Duration(max(1, rows)))
}
