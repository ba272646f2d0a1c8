package fabric

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"graft/internal/validate"
)

// Tree is a network of switches. Each server has a link to its rack's switch, and each switch has a link to a core
// with unlimited capacity. Links have equal capacity in both directions. Transfers on a link share it with max-min
// fairness. The transfers of different jobs of a [World] do not share links. The jobs of [Rings] do.
type Tree struct {
	Racks     int
	Servers   int     // servers per rack
	Bandwidth float64 // bandwidth of a server's link in bytes/s
	// bandwidth of a rack's link in bytes/s; a link of at least Servers*Bandwidth does not slow transfers between
	// racks
	Uplink float64
	// latency of a transfer in seconds; it is simulated as additional bytes, Latency*Bandwidth, on the transfer's links
	Latency float64
}

// Validate returns an error that lists every invalid value.
func (t *Tree) Validate() error {
	var faults validate.Faults
	faults.Unless(t.Racks >= 1 && t.Racks <= maxServers, "the number of racks is %d; expected 1 to %d", t.Racks,
		maxServers)
	faults.Unless(t.Servers >= 1 && t.Servers <= maxServers, "the number of servers per rack is %d; expected 1 to %d",
		t.Servers, maxServers)
	if len(faults) == 0 {
		faults.Unless(t.Size() <= maxServers, "the network has %d servers; expected at most %d", t.Size(), maxServers)
	}
	faults.Unless(t.Bandwidth > 0 && t.Bandwidth <= 1e18,
		"bandwidth is %g bytes/s; expected more than 0 and at most 1e18", t.Bandwidth)
	faults.Unless(t.Uplink > 0 && t.Uplink <= 1e18,
		"uplink is %g bytes/s; expected more than 0 and at most 1e18", t.Uplink)
	faults.Unless(t.Latency >= 0 && t.Latency <= 1e6, "latency_seconds is %g; expected 0 to 1e6", t.Latency)
	return errors.Join(faults...)
}

// Size returns the number of servers.
func (t *Tree) Size() int { return t.Racks * t.Servers }

// Name returns the rack and position of a server, such as 3-1.
func (t *Tree) Name(server int) string {
	return fmt.Sprintf("%d-%d", server/t.Servers, server%t.Servers)
}

// Lanes returns 0, because transfers share links.
func (t *Tree) Lanes() int { return 0 }

// Fits reports whether the network has at least n servers.
func (t *Tree) Fits(n int) bool { return n <= t.Size() }

// Block takes n servers from one rack if possible. Among the racks with enough free servers, Block chooses the rack
// with the fewest free servers. If no rack has enough free servers, Block takes servers from as few racks as possible.
func (t *Tree) Block(n int, use func(server int) bool, into []int) []int {
	free := make([][]int, t.Racks)
	all := 0
	for rack := range free {
		for k := range t.Servers {
			if server := rack*t.Servers + k; use(server) {
				free[rack] = append(free[rack], server)
			}
		}
		all += len(free[rack])
	}
	if all < n {
		return nil
	}
	slices.SortStableFunc(free, func(a, b []int) int { return cmp.Compare(len(a), len(b)) })
	at, _ := slices.BinarySearchFunc(free, n, func(servers []int, n int) int { return cmp.Compare(len(servers), n) })
	if at < len(free) {
		return append(into, free[at][:n]...)
	}
	block := into
	for k := len(free) - 1; n > 0; k-- {
		taken := free[k][:min(n, len(free[k]))]
		block = append(block, taken...)
		n -= len(taken)
	}
	return block
}

// Alike implements [Network]: it renumbers racks and servers in order of occurrence.
func (t *Tree) Alike(servers []int, key []byte) []byte {
	var racks renumber
	for _, server := range servers {
		n := racks.of(server / t.Servers)
		key = append(key, byte(n), byte(n>>8))
	}
	return key
}

// Load sets the size of each transfer in bytes, including its latency, which is converted to bytes.
func (t *Tree) Load(p *Placed) error {
	p.Work = make([]float64, len(p.Parted.Graph.Deps))
	for dep := range p.Work {
		if p.flows(dep) {
			p.Work[dep] = p.Parted.Graph.Deps[dep].Size + t.Latency*t.Bandwidth
		}
	}
	return nil
}

// way lists the links of a transfer by number: links of the servers, then links of the racks.
func (t *Tree) way(from, to int, links []int) []int {
	n := t.Size()
	links = append(links, from, n+to)
	if a, b := from/t.Servers, to/t.Servers; a != b {
		links = append(links, 2*n+a, 2*n+t.Racks+b)
	}
	return links
}

// Rates sets max-min fair rates.
func (t *Tree) Rates(p *Placed, ready []int, rates []float64) {
	flows := make([][2]int, len(ready))
	for k, dep := range ready {
		d := &p.Parted.Graph.Deps[dep]
		flows[k] = [2]int{p.Server[d.From], p.Server[d.To]}
	}
	t.share(flows, rates)
}

// share sets the max-min fair rates of flows between two servers each. All rates grow equally until a link is full;
// this fixes the rates of the link's flows, and the other rates continue to grow (Bertsekas and Gallager, Data
// Networks, 1992, 6.5.2).
func (t *Tree) share(flows [][2]int, rates []float64) {
	links := map[int]*link{}
	var order []*link
	ways := make([][]*link, len(flows))
	for k, flow := range flows {
		rates[k] = -1
		for _, number := range t.way(flow[0], flow[1], nil) {
			l, ok := links[number]
			if !ok {
				l = &link{left: t.Bandwidth}
				if number >= 2*t.Size() {
					l.left = t.Uplink
				}
				links[number] = l
				order = append(order, l)
			}
			l.open++
			l.transfers = append(l.transfers, k)
			ways[k] = append(ways[k], l)
		}
	}
	for {
		tight := tightest(order)
		if tight == nil {
			return
		}
		share := max(tight.left/float64(tight.open), 0)
		for _, k := range tight.transfers {
			if rates[k] >= 0 {
				continue
			}
			rates[k] = share
			for _, l := range ways[k] {
				l.left -= share
				l.open--
			}
		}
	}
}

// link is the state of a link while rates are computed.
type link struct {
	left      float64 // unassigned bytes/s
	open      int     // transfers without a rate
	transfers []int
}

// tightest returns the link with the smallest share per transfer without a rate; nil if all have a rate.
func tightest(links []*link) (tight *link) {
	least := math.Inf(1)
	for _, l := range links {
		if l.open > 0 && l.left/float64(l.open) < least {
			tight, least = l, l.left/float64(l.open)
		}
	}
	return tight
}
