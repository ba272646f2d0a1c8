package fabric

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"graft/cluster"
)

// NetworkOptions holds the options of the network that connects the servers. The zero value is RAMP with the 32 servers
// of PAC-ML's experiments.
type NetworkOptions struct {
	Kind string // topology: ramp or tree; empty means ramp
	// groups, racks per group and servers per rack for ramp; racks and servers per rack for tree; nil means 4, 4, 2 for
	// ramp and 4, 8 for tree
	Size      []int
	Channels  int     // channels between two servers, for ramp; zero means 1
	Bandwidth float64 // bandwidth of a server in bytes/s; zero means 1.6e12
	// bandwidth of a rack's uplink in bytes/s, for tree; zero means the total bandwidth of the rack's servers
	Uplink  float64
	Latency float64 // latency of a transfer in seconds; zero means 50e-9, as in PAC-ML's experiments
	// time to send and receive a message in seconds, for ramp; zero means 100e-9, as in PAC-ML's experiments
	IO float64
}

// kindsOfNetworks has the constructor of each kind. To add a kind, add a line.
var kindsOfNetworks = map[string]struct {
	size []int // default size
	make func(o *NetworkOptions, q cluster.Quirks) Network
	ask  string // meaning of the numbers of a size
}{
	"ramp": {[]int{4, 4, 2}, func(o *NetworkOptions, q cluster.Quirks) Network {
		return &Ramp{Groups: o.Size[0], Racks: o.Size[1], Servers: o.Size[2], Channels: o.Channels,
			Bandwidth: o.Bandwidth, Latency: o.Latency, IO: o.IO, Quirks: q}
	}, "groups, racks per group and servers per rack"},
	"tree": {[]int{4, 8}, func(o *NetworkOptions, _ cluster.Quirks) Network {
		return &Tree{Racks: o.Size[0], Servers: o.Size[1], Bandwidth: o.Bandwidth, Uplink: o.Uplink, Latency: o.Latency}
	}, "racks and servers per rack"},
}

// EnsureDefaults replaces zero values with defaults.
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

// Make builds the network. Call EnsureDefaults first.
func (o NetworkOptions) Make(q cluster.Quirks) (Network, error) {
	kind, ok := kindsOfNetworks[o.Kind]
	if !ok {
		return nil, fmt.Errorf("unknown network %q; expected ramp or tree", o.Kind)
	}
	if len(o.Size) != len(kind.size) {
		return nil, fmt.Errorf("size is %v; expected %d numbers for network %s: %s", o.Size, len(kind.size), o.Kind,
			kind.ask)
	}
	n := kind.make(&o, q)
	if v, ok := n.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// ReadSize parses a size such as 4x4x2.
func ReadSize(text string) (size []int, err error) {
	for part := range strings.SplitSeq(text, "x") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, fmt.Errorf("invalid size %q; expected numbers such as 4x4x2", text)
		}
		size = append(size, n)
	}
	return size, nil
}

// Named returns the topology and the size as text, such as ramp 4x4x2.
func (o *NetworkOptions) Named() string {
	return o.Kind + " " + strings.Trim(strings.ReplaceAll(fmt.Sprint(o.Size), " ", "x"), "[]")
}

// Renamed returns a copy of the options with the topology and size from a text in the format of Named. If the text has
// no size, an unchanged topology keeps its size, and a new topology gets its default size. The ratio of a rack's uplink
// to the bandwidth of its servers stays the same.
func (o NetworkOptions) Renamed(text string) (NetworkOptions, error) {
	share := 1.0
	if o.Kind == "tree" && len(o.Size) > 1 {
		share = o.Uplink / (o.Bandwidth * float64(o.Size[1]))
	}
	kind, size, sized := strings.Cut(text, " ")
	if _, ok := kindsOfNetworks[kind]; !ok {
		return o, fmt.Errorf("unknown network %q; expected ramp or tree, with or without a size, such as \"tree "+
			"4x8\"", kind)
	}
	if kind != o.Kind {
		o.Size = nil
	}
	o.Kind, o.Uplink = kind, 0
	if sized {
		var err error
		if o.Size, err = ReadSize(size); err != nil {
			return o, err
		}
	}
	o.EnsureDefaults()
	o.Uplink *= share
	return o, nil
}
