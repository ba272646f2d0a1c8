package fabric

import (
	"errors"
	"fmt"
	"math"
)

// Load sets the duration of each transfer in seconds. A transfer that belongs to a collective takes the time of the
// collective.
func (r *Ramp) Load(p *Placed) error {
	p.Work = make([]float64, len(p.Parted.Graph.Deps))
	const together, lone = 1, 2
	claims := make([]uint8, len(p.Work))
	var error error
	for g := range p.Parted.groups {
		group := &p.Parted.groups[g]
		claim := uint8(lone)
		time := 0.0
		if group.together(p) {
			claim = together
			if time = r.collective(p, group); math.IsInf(time, 0) || math.IsNaN(time) {
				error = errors.Join(error, fmt.Errorf("a collective operation of %d transfers never ends, because its "+
					"servers have too few transceivers", len(group.deps)))
			}
		}
		for _, dep := range group.deps {
			claims[dep] |= claim
			if claim == together {
				p.Work[dep] = time
			}
		}
	}
	for dep, claim := range claims {
		switch {
		case claim == 0:
			error = errors.Join(error, fmt.Errorf("transfer %d of %s belongs to no operation", dep,
				p.Parted.Graph.Model))
		case claim&lone != 0:
			p.Work[dep] = 0
			if p.flows(dep) {
				p.Work[dep] = r.single(p.Parted.Graph.Deps[dep].Size)
			}
		}
	}
	return error
}

// collective returns the seconds of a group that runs as one collective.
func (r *Ramp) collective(p *Placed, g *group) float64 {
	var places, racks, groups spread
	message := 0.0
	first, alone := p.Server[p.Parted.Graph.Deps[g.deps[0]].From], true
	for _, dep := range g.deps {
		d := &p.Parted.Graph.Deps[dep]
		message += d.Size
		for _, op := range [2]int{d.From, d.To} {
			server := p.Server[op]
			alone = alone && server == first
			places.see(server % r.Servers)
			racks.see(r.rack(server))
			groups.see(r.group(server))
		}
	}
	if alone {
		return 0
	}
	if g.bytes > 0 {
		message = g.bytes
	}
	transfer, sums := r.allReduce(message, places.count, racks.count, groups.count, 1)
	if g.kind == gather {
		return transfer
	}
	return 2*transfer + sums
}

// spread counts distinct small numbers.
type spread struct {
	seen  []bool
	count int
}

func (s *spread) see(k int) {
	for len(s.seen) <= k {
		s.seen = append(s.seen, false)
	}
	if !s.seen[k] {
		s.seen[k] = true
		s.count++
	}
}

// Rates implements [Network]: on each lane, only the transfer with the highest priority makes progress.
func (r *Ramp) Rates(p *Placed, ready []int, rates []float64) {
	for k, dep := range ready {
		rates[k] = 0
		if !p.busy[p.lane[dep]] {
			p.busy[p.lane[dep]] = true
			rates[k] = 1
		}
	}
	for _, dep := range ready {
		p.busy[p.lane[dep]] = false
	}
}
