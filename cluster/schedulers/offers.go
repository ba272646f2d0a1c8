package schedulers

import (
	"graft/cluster"
	"graft/internal/events"
)

// newOffers returns a scheduler that asks jobs what they would do with more devices. Each job has one device, or the
// devices that it requests if it cannot be resized; earlier jobs come first, as under fair. Each further device goes to
// the job whose goodput it increases most, the earlier one of equals. This is Pollux's objective with equal weights and
// the exponent 1 (Qiao et al., OSDI 2021, section 4.2), maximised greedily: goodputs grow less with each device, so the
// greedy choice is optimal.
//
// It divides when fair does, but less often. Between divisions, jobs start on the devices that they request if there
// are enough free ones for all waiting jobs. Running jobs keep their devices if others offer less than leastGain more.
func newOffers(cluster.Setup) (cluster.Scheduler, error) {
	return &fair{split: byOffers, every: divideEvery, fewer: true}, nil
}

// divideEvery is the number of seconds between two divisions. Resized jobs repeat up to a minute of work, so that jobs
// hardly progress if nodes fail every minute and jobs are resized as often.
const divideEvery = 300

// leastGain is the relative increase of the sum of all goodputs below which running jobs keep their devices: a job
// whose share changes repeats some work.
const leastGain = 0.05

// byOffers returns the number of devices of each job; nil if running jobs keep their devices and no job starts.
func byOffers(p *cluster.Pool, jobs []*cluster.Job) []int {
	shares, gains := make([]int, len(jobs)), &events.Heap[offered]{}
	sum, free := 0.0, p.GPUs()
	for k, j := range jobs {
		shares[k] = least(j)
		free -= shares[k]
		now := p.Offer(j, shares[k]).Goodput
		sum += now
		if j.Resizable() {
			push(gains, p, jobs, offered{at: k, devices: 1, goodput: now})
		}
	}
	for ; free > 0; free-- {
		_, o, some := gains.Head()
		if !some {
			break
		}
		gains.Pop()
		shares[o.at] = o.devices + 1
		sum += o.gain
		push(gains, p, jobs, offered{at: o.at, devices: o.devices + 1, goodput: o.goodput + o.gain})
	}
	if isKept(p, jobs, sum) {
		return nil
	}
	return shares
}

// offered is the offer of a job for one device more.
type offered struct {
	at, devices   int
	goodput, gain float64
}

// push asks a job for its offer for one device more, and adds it if the device is useful.
func push(gains *events.Heap[offered], p *cluster.Pool, jobs []*cluster.Job, o offered) {
	o.gain = p.Offer(jobs[o.at], o.devices+1).Goodput - o.goodput
	if o.gain > leastUseful*o.goodput {
		gains.Push(events.Key{events.Float(-o.gain), int64(o.at)}, o)
	}
}

// leastUseful is the relative increase of goodput below which a device is useless; rounding causes smaller ones.
const leastUseful = 1e-9

// isKept reports whether all jobs run and the sum of their goodputs would hardly increase to another sum.
func isKept(p *cluster.Pool, jobs []*cluster.Job, to float64) bool {
	now := 0.0
	for _, j := range jobs {
		if !j.Running() {
			return false
		}
		now += p.Offer(j, j.GPUs).Goodput
	}
	return to <= (1+leastGain)*now
}
