package cluster

import (
	"errors"
	"fmt"
	"math/bits"
)

// Check reports inconsistencies of a pool: devices with too many jobs, jobs that are listed twice or nowhere, and free
// devices that are counted as taken. Debug builds (-tags graftdebug) call it at every simulated second that has an
// event.
func (p *Pool) Check() error {
	users := map[int][]int{} // jobs on each device of a node
	for _, nd := range p.nodes.list {
		users[nd.name] = make([]int, bits.OnesCount64(nd.all))
	}
	count := 0
	for j := range p.Running() {
		count++
		if err := p.checkJob(j, users); err != nil {
			return err
		}
	}
	if count != p.running {
		return fmt.Errorf("the list of running jobs has %d entries, but the counter of running jobs is %d", count,
			p.running)
	}
	return p.checkNodes(users)
}

func (p *Pool) checkJob(j *Job, users map[int][]int) error {
	if !j.Running() || p.agenda.Event(j.running.ending) != j || j.Ends() < p.Now() {
		return fmt.Errorf("job %s is in the list of running jobs, but should have ended at second %d", j.Trace.ID,
			j.Ends())
	}
	if other := j.Partner(); other != nil && (other.Partner() != j || !other.Running()) {
		return fmt.Errorf("job %s shares its devices with job %s, but that job is not running, or shares its devices "+
			"with a third job", j.Trace.ID, other.Trace.ID)
	}
	gpus := 0
	for _, s := range j.Nodes {
		on, known := users[s.Node]
		if !known || bits.Len64(s.GPUs) > len(on) {
			return fmt.Errorf("job %s is assigned to devices that node %d does not have (device mask %b)",
				j.Trace.ID, s.Node, s.GPUs)
		}
		gpus += bits.OnesCount64(s.GPUs)
		for g := range on {
			on[g] += int(s.GPUs >> g & 1)
		}
	}
	if err := p.checkType(j); err != nil {
		return err
	}
	if gpus != j.GPUs {
		return fmt.Errorf("job %s has %d devices; expected %d", j.Trace.ID, gpus, j.GPUs)
	}
	return p.checkPartner(j)
}

// checkPartner checks that jobs that share devices have the same devices.
func (p *Pool) checkPartner(j *Job) error {
	other := j.Partner()
	if other == nil {
		return nil
	}
	for k, s := range j.Nodes {
		if k >= len(other.Nodes) || other.Nodes[k] != s {
			return fmt.Errorf("jobs %s and %s are packed, but do not share all their devices", j.Trace.ID,
				other.Trace.ID)
		}
	}
	return nil
}

func (p *Pool) checkNodes(users map[int][]int) error {
	free, pairs := 0, 0
	if err := errors.Join(p.nodes.checkTypes(), p.spots.check(p.nodes)); err != nil {
		return err
	}
	for _, nd := range p.nodes.list {
		if err := p.checkNode(nd); err != nil {
			return err
		}
		for g, jobs := range users[nd.name] {
			parted := nd.parts != nil && nd.parts[g] > 0
			lent := nd.lent>>g&1 == 1
			if jobs > 2 && !parted || (jobs == 0 && !lent) != (nd.free>>g&1 == 1) {
				return fmt.Errorf("device %d of node %d runs %d jobs, but the free flag of the device is %t", g,
					nd.name,
					jobs, nd.free>>g&1 == 1)
			}
			if jobs == 0 && !lent {
				free++
			}
			if jobs == 2 && !parted {
				pairs++
			}
		}
	}
	shared := 0
	for j := range p.Running() {
		if j.Partner() != nil {
			shared += j.GPUs
		}
	}
	if free != p.nodes.free+p.nodes.lost || shared != 2*pairs {
		return fmt.Errorf("free devices: counted %d, expected %d; devices that run two jobs: counted %d, "+
			"expected %d", free, p.nodes.free+p.nodes.lost, pairs, shared/2)
	}
	return nil
}

// checkNode compares a node's other resources and parts of devices with the demands of its jobs.
func (p *Pool) checkNode(nd *node) error {
	if nd.out&outFailed != 0 && nd.jobs > 0 || nd.out&outSpare != 0 && nd.jobs > nd.ending {
		return fmt.Errorf("node %d runs %d jobs, but has failed, or is in reserve and had %d jobs when it became a "+
			"spare node", nd.name, nd.jobs, nd.ending)
	}
	used, parts := make([]int64, len(nd.used)), make([]int, p.nodes.each)
	copy(used, nd.lentUsed)
	for j := range p.Running() {
		for _, s := range j.Nodes {
			if s.Node != nd.name {
				continue
			}
			for k := range used {
				used[k] += j.beside.wants[k] * int64(bits.OnesCount64(s.GPUs))
			}
			if j.Share() > 0 {
				parts[bits.TrailingZeros64(s.GPUs)] += j.Share()
			}
		}
	}
	for k := range used {
		if nd.used[k] != used[k] || used[k] > p.nodes.limitsOf(nd)[k] && !p.nodes.lends {
			return fmt.Errorf("jobs use %[5]d of the %[2]d units of resource %[3]d on node %[1]d, but the counter of "+
				"used units is %[4]d", nd.name, p.nodes.limitsOf(nd)[k], k, nd.used[k], used[k])
		}
	}
	for g, taken := range parts {
		counted := 0
		if nd.parts != nil {
			counted = int(nd.parts[g])
		}
		if taken != counted || taken > Whole {
			return fmt.Errorf("jobs use %[3]d thousandths of device %[1]d on node %[2]d, but the counter of used "+
				"thousandths is %[4]d", g, nd.name, taken, counted)
		}
	}
	return nil
}
