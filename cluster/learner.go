package cluster

import "math"

// Learner computes the work of jobs whose networks adapt to their devices. Each pool has its own learner.
type Learner interface {
	// Given is called when a job has got its devices, or a different number of devices, with its remaining work in
	// seconds at rate 1. It returns the remaining work from now on.
	Given(j *Job, left float64) (work float64, err error)
	// Ended is called when a job has ended.
	Ended(j *Job, left float64)
	// Offers returns how a waiting or running job would use a number of devices.
	Offer(j *Job, gpus int, left float64) Offer
	// Columns returns the names of columns that the table of jobs has in addition.
	Columns() []string
	// Cells appends the cells of a job in these columns to a row, each after a comma.
	Cells(row []byte, j *Job) []byte
}

// Offer states how a job would use a number of devices.
type Offer struct {
	Action string // how it would adapt, such as deepen; empty if it would not
	// progress per second: 1 is the progress of the job without adaptation on the devices that it requests
	Goodput float64
}

// PlainOffer returns the offer of a job whose network does not adapt: it works in proportion to its devices, up to the
// number that it requests.
func PlainOffer(j *Job, gpus int) Offer {
	return Offer{Goodput: float64(min(gpus, int(j.asked))) / float64(j.asked)}
}

// Offer asks a job what it would do with a number of devices.
func (p *Pool) Offer(j *Job, gpus int) Offer {
	left := max(0, p.Left(j))
	if p.learner != nil && left > 0 {
		return p.learner.Offer(j, gpus, left)
	}
	return PlainOffer(j, gpus)
}

// given lets a settled job adapt to its devices.
func (p *Pool) given(j *Job) {
	if p.learner == nil || j.work <= 0 {
		return
	}
	work, err := p.learner.Given(j, j.work)
	if err != nil {
		p.Fail(err)
		return
	}
	if !(work > 0) || math.IsInf(work, 1) {
		p.fail("the learning curve of job %s leaves %v seconds of work; expected a positive, finite number", j.Trace.ID,
			work)
		return
	}
	j.work = work
}
