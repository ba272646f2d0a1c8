package fabric

import (
	"errors"
	"fmt"
	"slices"
)

// Placed is a split training step placed on servers.
type Placed struct {
	Parted  *Parted
	Server  []int // server of each operation of Parted.Graph
	Servers []int // servers with at least one operation, in ascending order
	// work of each transfer in the network's unit, which is seconds for RAMP; unused for transfers within a server
	Work  []float64
	Flow  float64 // bytes per step that are sent between servers
	Lanes int     // number of lanes between servers that transfers use

	onServer [][]int // by index in Servers: its operations, in order of placement
	slot     []int   // by operation: index of its server in Servers
	balance  []int   // by index in Servers: scratch space of collectives
	lane     []int   // by transfer between servers: number of its lane
	busy     []bool  // by lane: scratch space of rates
}

// ErrNoPlace reports that a step does not fit on the free servers.
var ErrNoPlace = errors.New("no free block of servers has enough memory for an operation")

// Site describes the servers on which steps are placed.
type Site struct {
	Network Network
	Memory  float64               // memory per server in bytes
	Free    func(server int) bool // reports whether a server has no job
	Forward bool                  // counts only forward memory, and only its sum over servers
	Pick    func(lanes int) int   // chooses a lane for each transfer between servers, in order; nil uses lanes in turn
}

// placer places a step.
type placer struct {
	site   *Site
	parted *Parted
	placed *Placed
	used   map[int]float64 // bytes per server of this step
	hosts  [][]int         // by forward operation number minus 1: servers of its parts
}

// Place assigns the operations of a step to servers, one operation after the other. Predecessors come before their
// successors. An operation goes to the servers of a predecessor that has the same number of parts, if these servers
// have enough memory. Otherwise the operation goes to the first free block of servers.
func Place(site *Site, parted *Parted) (*Placed, error) {
	ops := len(parted.Graph.Ops)
	p := placer{
		site: site, parted: parted, used: map[int]float64{}, hosts: make([][]int, parted.Source.Nodes),
		placed: &Placed{Parted: parted, Server: make([]int, ops)},
	}
	if parted.stage != nil {
		return p.stages()
	}
	order := make([]int, 0, ops)
	for _, node := range parted.order {
		hosts := p.host(node)
		if hosts == nil {
			return nil, ErrNoPlace
		}
		p.hosts[node-1] = hosts
		forward, _ := parted.Parts(node)
		backward, _ := parted.Parts(parted.Source.Twin(node))
		for k, server := range hosts {
			p.used[server] += p.need(node)
			p.placed.Server[forward+k], p.placed.Server[backward+k] = server, server
			order = append(order, forward+k, backward+k)
		}
	}
	p.placed.finish(order)
	p.placed.lay(max(site.Network.Lanes(), 1), site.Pick)
	return p.placed, p.overflow()
}

// stages places each stage on one server of a block.
func (p *placer) stages() (*Placed, error) {
	need := make([]float64, p.parted.Degree)
	var order []int
	for _, node := range p.parted.order {
		for _, number := range [2]int{node, p.parted.Source.Twin(node)} {
			from, to := p.parted.Parts(number)
			for op := from; op < to; op++ {
				need[p.parted.stage[node-1]] += p.parted.Graph.Ops[op].Memory
				order = append(order, op)
			}
		}
	}
	if slices.Max(need) > p.site.Memory {
		return nil, ErrNoPlace
	}
	block := p.site.Network.Block(p.parted.Degree, p.site.Free, nil)
	if block == nil {
		return nil, ErrNoPlace
	}
	for k := range p.parted.Graph.Ops {
		node := p.parted.Graph.Ops[k].Node
		p.placed.Server[k] = block[p.parted.stage[min(node, p.parted.Source.Twin(node))-1]]
	}
	p.placed.finish(order)
	p.placed.lay(max(p.site.Network.Lanes(), 1), p.site.Pick)
	return p.placed, nil
}

// need returns the bytes of one part.
func (p *placer) need(node int) float64 {
	forward, _ := p.parted.Parts(node)
	memory := p.parted.Graph.Ops[forward].Memory
	if !p.site.Forward {
		backward, _ := p.parted.Parts(p.parted.Source.Twin(node))
		memory += p.parted.Graph.Ops[backward].Memory
	}
	return memory
}

// host returns servers for an operation's parts, or nil.
func (p *placer) host(node int) []int {
	split, need := p.parted.Split[node-1], p.need(node)
	source := p.parted.Source
	at := p.at(node)
	for _, dep := range source.In[at] {
		parent := source.Ops[source.Deps[dep].From].Node
		if hosts := p.hosts[parent-1]; len(hosts) == split && p.room(hosts, need) {
			return hosts
		}
	}
	return p.site.Network.Block(split, func(server int) bool {
		return p.site.Free(server) && p.site.Memory-p.used[server] >= need
	}, nil)
}

// at returns the index of an operation in the source.
func (p *placer) at(node int) int { return p.parted.at[node-1] }

// room reports whether each server has room for a part.
func (p *placer) room(hosts []int, need float64) bool {
	if p.site.Forward {
		free := 0.0
		for _, server := range hosts {
			free += p.site.Memory - p.used[server]
		}
		return free >= need*float64(len(hosts))
	}
	for _, server := range hosts {
		if p.site.Memory-p.used[server] < need {
			return false
		}
	}
	return true
}

// overflow reports a server that exceeds its memory, which only the quirk forward-memory allows.
func (p *placer) overflow() error {
	if !p.site.Forward {
		return nil
	}
	used := map[int]float64{}
	for k := range p.parted.Graph.Ops {
		server := p.placed.Server[k]
		if used[server] += p.parted.Graph.Ops[k].Memory; used[server] > p.site.Memory {
			return fmt.Errorf("operations on server %s exceed its memory of %g bytes; the quirk \"forward-memory\" "+
				"places them by the memory of the forward pass alone: remove the quirk, or raise the memory",
				p.site.Network.Name(server), p.site.Memory)
		}
	}
	return nil
}

// finish lists servers and their operations; order is the order of placement.
func (p *Placed) finish(order []int) {
	p.Servers = slices.Clone(p.Server)
	slices.Sort(p.Servers)
	p.Servers = slices.Compact(p.Servers)
	slots := make(map[int]int, len(p.Servers))
	for k, server := range p.Servers {
		slots[server] = k
	}
	p.slot, p.balance = make([]int, len(p.Server)), make([]int, len(p.Servers))
	p.onServer = make([][]int, len(p.Servers))
	for _, op := range order {
		slot := slots[p.Server[op]]
		p.slot[op] = slot
		p.onServer[slot] = append(p.onServer[slot], op)
	}
}

// lay assigns a lane to each transfer between servers, from the lanes between its two servers.
func (p *Placed) lay(lanes int, pick func(int) int) {
	n := len(p.Servers)
	used, turn := make([]bool, n*n*lanes), make([]int, n*n)
	p.lane = make([]int, len(p.Parted.Graph.Deps))
	for k := range p.lane {
		if !p.flows(k) {
			continue
		}
		d := &p.Parted.Graph.Deps[k]
		pair := p.slot[d.From]*n + p.slot[d.To]
		lane := turn[pair] % lanes
		if turn[pair]++; pick != nil {
			lane = pick(lanes)
		}
		p.lane[k] = pair*lanes + lane
		p.Flow += d.Size
		if !used[p.lane[k]] {
			used[p.lane[k]] = true
			p.Lanes++
		}
	}
	p.busy = make([]bool, len(used))
}

// flows reports whether a transfer sends bytes to another server.
func (p *Placed) flows(dep int) bool {
	d := &p.Parted.Graph.Deps[dep]
	return d.Size > 0 && p.slot[d.From] != p.slot[d.To]
}

// summary returns a copy without the details per operation, since long episodes have many jobs.
func (p *Placed) summary() *Placed {
	return &Placed{Parted: p.Parted, Servers: slices.Clone(p.Servers), Flow: p.Flow, Lanes: p.Lanes}
}
