package fabric

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"graft/cluster"
	"graft/internal/validate"
)

// Ramp is an optical network with a separate channel from every server to every other server: RAMP (Ottino, Benjamin,
// Zervas, 2022, arXiv:2211.15226). Groups contain racks, and racks contain servers.
type Ramp struct {
	// number of communication groups, which is also the number of transceivers per server
	Groups    int
	Racks     int            // racks per group, at most Groups
	Servers   int            // servers per rack
	Channels  int            // channels between two servers, in each direction
	Bandwidth float64        // total bandwidth of a server's transceivers in bytes/s
	Latency   float64        // latency of a transfer in seconds
	IO        float64        // time to enter or leave a server in seconds
	Quirks    cluster.Quirks // faults to keep; nil keeps none
}

// maxServers is the maximum number of servers.
const maxServers = 1 << 20

// Validate returns an error that lists every invalid value.
func (r *Ramp) Validate() error {
	var faults validate.Faults
	for _, v := range []struct {
		name  string
		value int
	}{{"the number of groups", r.Groups}, {"the number of racks per group", r.Racks},
		{"the number of servers per rack", r.Servers}, {"channels", r.Channels}} {
		faults.Unless(v.value >= 1 && v.value <= maxServers, "%s is %d; expected 1 to %d", v.name, v.value, maxServers)
	}
	if len(faults) == 0 {
		faults.Unless(r.Racks <= r.Groups, "the number of racks per group is %d; expected at most %d, the number of "+
			"groups",
			r.Racks, r.Groups)
		faults.Unless(r.Groups*r.Racks*r.Servers <= maxServers, "the network has %d servers; expected at most %d",
			r.Groups*r.Racks*r.Servers, maxServers)
	}
	faults.Unless(r.Bandwidth > 0 && r.Bandwidth <= 1e18,
		"bandwidth is %g bytes/s; expected more than 0 and at most 1e18", r.Bandwidth)
	faults.Unless(r.Latency >= 0 && r.Latency <= 1e6, "latency_seconds is %g; expected 0 to 1e6", r.Latency)
	faults.Unless(r.IO >= 0 && r.IO <= 1e6, "io_seconds is %g; expected 0 to 1e6", r.IO)
	return errors.Join(faults...)
}

// Size returns the number of servers.
func (r *Ramp) Size() int { return r.Groups * r.Racks * r.Servers }

// Name returns the group, rack and position of a server, such as 0-2-1.
func (r *Ramp) Name(server int) string {
	return fmt.Sprintf("%d-%d-%d", r.group(server), r.rack(server), server%r.Servers)
}

// Lanes returns the number of channels between two servers.
func (r *Ramp) Lanes() int { return r.Channels }

func (r *Ramp) group(server int) int { return server / (r.Racks * r.Servers) }
func (r *Ramp) rack(server int) int  { return server / r.Servers % r.Racks }

// channel is the bandwidth of one transceiver in bytes/s.
func (r *Ramp) channel() float64 { return r.Bandwidth / float64(r.Groups) }

// single is the time of a transfer between two servers.
func (r *Ramp) single(size float64) float64 {
	if size == 0 {
		return 0
	}
	return r.Latency + 2*r.IO + size/r.channel()
}

// Rates of a server (an A100) for the sums of an all-reduce, from the model of RAMP: bytes per second of its memory,
// and operations per second.
const (
	sumBytes = 2e12
	sumRate  = 130e12
)

// allReduce is the time of the transfers and of the sums of half of an all-reduce between servers, in RAMP's four
// steps: over groups, over the servers that share a position in them, over racks, and over the rest. Contending is the
// number of racks that share transceivers.
func (r *Ramp) allReduce(message float64, servers, racks, groups, contending int) (transfer, sums float64) {
	transceivers := float64(r.Groups)
	rate := r.channel()
	if r.Quirks.Keeps(TwiceDivided) {
		rate /= transceivers
	}
	steps := [4]int{groups, min(groups, servers), racks, int(math.Ceil(float64(servers) / transceivers))}
	part := message
	for _, n := range steps {
		part = math.Ceil(part / float64(n))
		if n <= 1 {
			continue
		}
		sums += addition(part*float64(n), n)
		transfer += r.Latency + 2*r.IO + part/(float64(width(r.Groups, n, contending))*rate)
	}
	return transfer, sums
}

// width is the number of a server's transceivers for each transfer of a step between n servers, while the given number
// of racks contend.
func width(transceivers, n, racks int) int {
	if n == 1 {
		return 0
	}
	return min(transceivers/racks, transceivers/(n-1))
}

// addition is the time that a server takes to sum n messages.
func addition(size float64, n int) float64 {
	rounds := math.Ceil(math.Log2(float64(n)))
	intensity := rounds / (float64(n+1) * 2)
	return rounds * (size / float64(n)) / 2 / min(sumBytes*intensity, sumRate)
}

// Alike implements [Network]. Transfer times depend only on which servers share a group, a rack or a position. Alike
// therefore renumbers groups, racks and positions in the order in which they occur.
func (r *Ramp) Alike(servers []int, key []byte) []byte {
	var groups, racks, places renumber
	for _, server := range servers {
		for _, n := range [3]int{groups.of(r.group(server)), racks.of(r.rack(server)), places.of(server % r.Servers)} {
			key = append(key, byte(n), byte(n>>8))
		}
	}
	return key
}

// renumber numbers values in the order in which they occur.
type renumber struct{ seen []int }

func (r *renumber) of(value int) int {
	at := slices.Index(r.seen, value)
	if at < 0 {
		at = len(r.seen)
		r.seen = append(r.seen, value)
	}
	return at
}
