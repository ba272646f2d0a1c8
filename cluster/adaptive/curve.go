package adaptive

import (
	"math"

	"graft/trainer/goodput"
)

// most is the largest number of devices that can share the largest batch.
func (a *Application) most() int {
	if a.Alone > 0 {
		return 1
	}
	return a.Limits.Most / a.Limits.DeviceLeast
}

// keeps is the share of the speedup that a job retains if its devices change: the share of its time in which it would
// have trained if its devices had changed equally often before (Qiao et al., OSDI 2021, section 4.2.1).
func (j *Job) keeps(w *World, delay float64) float64 {
	if j.devices == 0 && !w.options.Quirks.Keeps(FirstStartMoves) {
		return 1
	}
	age := w.now - j.Submitted
	return max(age-delay*float64(j.Restarts), 0) / (age + delay)
}

// curves holds the curves of jobs.
type curves map[*Job]*curve

// speedup returns the speedup function of one of some jobs, relative to an equal share of the cluster. A job that has
// not run is expected to speed up in proportion to its devices.
func (c curves) speedup(w *World, j *Job, jobs int) func(spans bool, devices int) float64 {
	each := 1 / float64(w.Devices())
	fair := int(math.Ceil(1 / each / float64(jobs)))
	if j.known == nil {
		return func(_ bool, devices int) float64 { return float64(devices) / float64(fair) }
	}
	if c[j] == nil {
		c[j] = &curve{}
	}
	known := c[j]
	known.follow(j.known)
	fair = max(min(fair, j.App.Limits.Most/j.App.Limits.DeviceLeast), 1)
	base := known.best(!w.options.Quirks.Keeps(FairOnOneNode) && fair > w.options.Devices, fair)
	return func(spans bool, devices int) float64 {
		if base <= 0 {
			return 0
		}
		return known.best(spans, devices) / base
	}
}

// curve caches the goodput of a job at its best batch, by number of devices and by single or multiple nodes. The model
// depends on nothing else of a placement.
type curve struct {
	known  goodput.Job
	values [2][]float64 // negative if not computed yet
}

// follow clears the cache if the job's model has changed.
func (c *curve) follow(known *goodput.Job) {
	if c.known != *known {
		c.known = *known
		c.values[0], c.values[1] = c.values[0][:0], c.values[1][:0]
	}
}

// best returns the goodput on a number of devices.
func (c *curve) best(spans bool, devices int) float64 {
	nodes := 1
	if spans {
		nodes = 2
	}
	list := c.values[nodes-1]
	for len(list) <= devices {
		list = append(list, -1)
	}
	c.values[nodes-1] = list
	if list[devices] < 0 {
		list[devices], _ = c.known.Best(nodes, devices)
	}
	return list[devices]
}
