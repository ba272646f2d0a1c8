package world

import (
	"fmt"
	"slices"

	"graft/cluster/fabric"
	"graft/internal/decode"
)

// blameUnused reports keys without an effect, and shares of a batch without an example.
func (f *File) blameUnused(r *decode.Reading) {
	o, usual := f.Fabric, Options{Network: f.Fabric.Network, Size: f.Fabric.Size, Bandwidth: f.Fabric.Bandwidth}
	usual.EnsureDefaults()
	var graphs Graphs
	graphs.EnsureDefaults()
	isTree, swept := o.Network == "tree", len(f.Vary.Networks) > 0
	recorded := f.times == len(f.profiles) // all times are from files
	timed := "all models are graphs with their own times"
	held := o.quirks().Keeps(fabric.HeldSizes)
	for _, c := range []struct {
		key   string
		isSet bool
		isFor bool // the key applies
		when  string
	}{
		{"fabric.uplink", o.Uplink != usual.Uplink, isTree, "fabric.network is ramp"},
		{"fabric.channels", o.Channels != usual.Channels, !isTree || swept, "fabric.network is tree"},
		{"fabric.io_seconds", o.IO != usual.IO, !isTree || swept, "fabric.network is tree"},
		{"fabric.quantum_ms", o.Quantum != usual.Quantum, o.Strategy == string(fabric.Tensor) || held,
			"fabric.strategy is " + o.Strategy},
		{"graphs.batch", f.Graphs.Batch != graphs.Batch, !recorded, timed},
		{"graphs.profile", f.Graphs.Profile != graphs.Profile, !recorded, timed},
	} {
		if c.isSet && !c.isFor {
			r.Blame(c.key, fmt.Sprintf("%s is not used if %s; remove it", c.key, c.when))
		}
	}
	most := o.MaxDegree
	if len(f.Vary.MaxDegrees) > 0 {
		most = slices.Max(f.Vary.MaxDegrees)
	}
	if o.Strategy == string(fabric.Data) && !recorded && !held && most > f.Graphs.Batch {
		r.Blame("graphs.batch", fmt.Sprintf("batch is %d, but up to %d servers share a batch; set a larger batch, or "+
			"a lower fabric.max_degree", f.Graphs.Batch, most))
	}
}

// Warnings lists the keys of the demand that are set and have no effect, one sentence each. They are no errors, because
// a file can set another key, such as demand.swing, for some of its runs only.
func (f *File) Warnings() (list []string) {
	d := &f.Demand
	drawn := Demand{Limits: d.Limits, Most: d.Most}
	drawn.EnsureDefaults()
	limits := "demand.limits is " + d.Limits
	for _, c := range []struct {
		key   string
		isSet bool
		isFor bool // the key applies
		when  string
	}{
		{"demand.load", d.Load != drawn.Load, d.Every == 0, "demand.arrival_interval is set"},
		{"demand.period", d.Period != drawn.Period, d.Swing > 0, "demand.swing is 0"},
		{"demand.min_limit", d.Least != drawn.Least, d.Limits == "uniform" || d.Limits == "skewed", limits},
		{"demand.max_limit", d.Most != 1, d.Limits != "values", limits},
		{"demand.skewness", d.Skewness != 0, d.Limits == "skewed", limits},
		{"demand.values", len(d.Values) > 0, d.Limits == "values", limits},
		{"demand.shares", len(d.Shares) > 0, d.Limits == "values", limits},
	} {
		if c.isSet && !c.isFor {
			list = append(list, c.key+" has no effect: "+c.when+".")
		}
	}
	return list
}
