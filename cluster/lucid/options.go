package lucid

import (
	"cmp"
	"fmt"
	"slices"

	"graft/cluster"
	"graft/cluster/trace"
)

// Limit is the default profiling time in seconds.
const Limit = 200

// Options determines how Lucid profiles jobs. The zero value uses the authors' settings for the cluster Venus, and the
// closest equivalent on other clusters.
type Options struct {
	// Number of nodes on which Lucid profiles jobs, which the cluster gives up. Zero means the number of virtual
	// clusters in from or, without it, 2, or 1 if there is one virtual cluster.
	Nodes int
	Limit int64 `config:"profile_seconds,was=limit"` // Profiling time per job in seconds. Zero means 200.
	// Maximum size of a job that is profiled, in GPUs. Zero means 8, or all GPUs of the profiler if it has fewer.
	Largest int `config:"max_gpus,was=largest"`
	// Names of the virtual clusters that each give the profiler one node. For traces of the cluster Venus, an empty
	// list means vc8Gr and vcefl, as Lucid's authors chose; for other traces, it means the two largest virtual
	// clusters.
	From []string
	// Name of the virtual cluster that lends the profiler an additional node on demand. Empty means vcYVn for traces of
	// the cluster Venus, as in Lucid's published configuration. For other traces, empty means the largest of the
	// virtual clusters without a node for the profiler.
	Echo string
}

// Validate returns an error that lists every invalid option.
func (o Options) Validate() error {
	if o.Nodes < 0 || o.Limit < 0 || o.Largest < 0 {
		return fmt.Errorf("the profiler has %d nodes, and limits of %d seconds and %d GPUs per job; all must be at "+
			"least 0", o.Nodes, o.Limit, o.Largest)
	}
	if o.Nodes > trace.MaxNodes {
		return fmt.Errorf("the profiler has %d nodes; expected at most %d", o.Nodes, trace.MaxNodes)
	}
	if len(o.From) > 0 && o.Nodes > 0 && len(o.From) != o.Nodes {
		return fmt.Errorf("the profiler has %d nodes, but lucid.from names %d virtual clusters; expected one for "+
			"each node", o.Nodes, len(o.From))
	}
	return nil
}

// Virtual clusters of Venus: the first two give the profiler a node each, the third echoes it.
var ofVenus = []string{"vc8Gr", "vcefl", "vcYVn"}

func (o *Options) applyDefaults(r *cluster.Run) {
	o.Nodes, o.Limit = cmp.Or(o.Nodes, len(o.From), min(2, len(r.Pools))), cmp.Or(o.Limit, Limit)
	o.Largest = cmp.Or(o.Largest, min(8, o.devices(r)))
	names := ofVenus
	if o.Nodes != 2 || slices.ContainsFunc(names, func(name string) bool { return r.Pool(name) == nil }) {
		names = largest(r, o.Nodes+1)
	}
	for k := range o.Nodes - len(o.From) {
		o.From = append(o.From, names[k%len(names)]) // several nodes of one, if there are more nodes than clusters
	}
	if o.Echo == "" && len(names) > o.Nodes {
		o.Echo = names[o.Nodes]
	}
}

func (o *Options) devices(r *cluster.Run) int { return cmp.Or(r.PerNode, 8) * o.Nodes }

func largest(r *cluster.Run, count int) []string {
	pools := slices.Clone(r.Pools)
	slices.SortStableFunc(pools, func(a, b *cluster.PoolRun) int { return b.Nodes - a.Nodes })
	var names []string
	for _, p := range pools[:min(count, len(pools))] {
		names = append(names, p.Name)
	}
	return names
}
