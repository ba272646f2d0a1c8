package fabric

import (
	"fmt"
	"slices"

	"graft/cluster"
)

// NetworkOptions say which network connects the servers. The zero value is RAMP of PAC-ML's
// experiments: 32 servers.
type NetworkOptions struct {
	Kind      string  // ramp or tree; empty means ramp
	Size      []int   // of ramp: groups, racks in a group, servers in a rack; of tree: racks, servers in a rack; nil means 4, 4, 2 and 4, 8
	Channels  int     // of ramp, between two servers; zero means 1
	Bandwidth float64 // of a server, bytes in a second; zero means 1.6e12
	Uplink    float64 // of tree: of a rack, bytes in a second; zero is that of its servers together
	Latency   float64 // of a transfer, s; zero means 50e-9, as in PAC-ML's experiments
	IO        float64 // of ramp, to send and to receive, s; zero means 100e-9, as there
}

// kindsOfNetworks make networks, by kind. A new one has a line here.
var kindsOfNetworks = map[string]struct {
	size []int // by default
	make func(o *NetworkOptions, q cluster.Quirks) Network
	ask  string // what the numbers of its size are
}{
	"ramp": {[]int{4, 4, 2}, func(o *NetworkOptions, q cluster.Quirks) Network {
		return &Ramp{Groups: o.Size[0], Racks: o.Size[1], Servers: o.Size[2], Channels: o.Channels, Bandwidth: o.Bandwidth, Latency: o.Latency, IO: o.IO, Quirks: q}
	}, "groups, racks in a group and servers in a rack"},
	"tree": {[]int{4, 8}, func(o *NetworkOptions, _ cluster.Quirks) Network {
		return &Tree{Racks: o.Size[0], Servers: o.Size[1], Bandwidth: o.Bandwidth, Uplink: o.Uplink, Latency: o.Latency}
	}, "racks and servers in a rack"},
}

// EnsureDefaults fills what is zero.
func (o *NetworkOptions) EnsureDefaults() {
	if o.Kind == "" {
		o.Kind = "ramp"
	}
	if len(o.Size) == 0 {
		o.Size = slices.Clone(kindsOfNetworks[o.Kind].size)
	}
	if o.Channels == 0 {
		o.Channels = 1
	}
	for v, value := range map[*float64]float64{&o.Bandwidth: 1.6e12, &o.Latency: 50e-9, &o.IO: 100e-9} {
		if *v == 0 {
			*v = value
		}
	}
	if o.Uplink == 0 && len(o.Size) > 1 {
		o.Uplink = o.Bandwidth * float64(o.Size[1])
	}
}

// Make makes the network of options that have their defaults.
func (o NetworkOptions) Make(q cluster.Quirks) (Network, error) {
	kind, ok := kindsOfNetworks[o.Kind]
	if !ok {
		return nil, fmt.Errorf("network %q is unknown; expected ramp or tree", o.Kind)
	}
	if len(o.Size) != len(kind.size) {
		return nil, fmt.Errorf("size %v of %s: expected %d numbers, %s", o.Size, o.Kind, len(kind.size), kind.ask)
	}
	n := kind.make(&o, q)
	if v, ok := n.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return nil, err
		}
	}
	return n, nil
}
