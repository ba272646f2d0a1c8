package cluster

import "slices"

// Try calls a function with the devices of the running jobs that can be resized free. The function place reserves a
// number of devices for a job among the free ones; it returns false if there is no placement. Afterwards, all devices
// are as before.
func (p *Pool) Try(try func(place func(j *Job, gpus int) bool)) {
	freed := p.free()
	defer p.restore(freed)
	var placed []*Job
	var reserved [][]Share
	try(func(j *Job, gpus int) bool {
		shares, ok := p.find(j, gpus)
		if ok {
			shares = slices.Clone(shares)
			p.nodes.at(j).take(shares)
			placed, reserved = append(placed, j), append(reserved, shares)
		}
		return ok
	})
	for k, j := range placed {
		p.nodes.at(j).release(reserved[k])
	}
}

// Vacate preempts jobs that can be resized, so that a waiting job can start: jobs on the devices of a placement, and
// then, if the nodes lack other resources, jobs on its nodes. It returns false, and preempts no job, if the waiting job
// has no placement even without these jobs.
func (p *Pool) Vacate(j *Job) bool {
	freed := p.free()
	shares, ok := p.find(j, j.GPUs)
	shares = slices.Clone(shares)
	p.restore(freed)
	if !ok {
		return false
	}
	for _, sameNode := range []bool{false, true} {
		for _, other := range freed.jobs {
			if other.Running() && overlap(other.Nodes, shares, sameNode) && !p.Fits(j) {
				p.Preempt(other)
			}
		}
	}
	return p.Fits(j)
}

// freed holds the jobs whose devices are free for a trial.
type freed struct {
	jobs  []*Job
	lower *Nodes // nodes for spot jobs, which the trial does not change
}

// free releases the devices of the jobs that can be resized and share no devices.
func (p *Pool) free() (f freed) {
	f.lower, p.nodes.lower = p.nodes.lower, nil
	for j := range p.Running() {
		if j.Resizable() && j.Partner() == nil {
			p.nodes.at(j).release(j.Nodes)
			f.jobs = append(f.jobs, j)
		}
	}
	return f
}

// restore takes the devices again.
func (p *Pool) restore(f freed) {
	for _, j := range f.jobs {
		p.nodes.at(j).take(j.Nodes)
	}
	p.nodes.lower = f.lower
}

// overlap reports whether two sets have common devices or, with sameNode, common nodes.
func overlap(a, b []Share, sameNode bool) bool {
	for _, s := range a {
		for _, other := range b {
			if s.Node == other.Node && (sameNode || s.GPUs&other.GPUs != 0) {
				return true
			}
		}
	}
	return false
}
