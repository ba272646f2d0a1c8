package config

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"graft/cluster"
	"graft/cluster/fabric"
)

// FabricPoint is a combination of the values that vary.
type FabricPoint struct {
	Load      float64 `json:"load"`       // servers that jobs would keep busy if none was split, as a share of all
	Bandwidth float64 `json:"bandwidth"`  // of a server, bytes in a second
	Skewness  float64 `json:"skewness"`   // of limits that are skewed
	MaxDegree int     `json:"max_degree"` // largest degree

	names []string
}

// Name tells a point from the others of its run; empty for the only one.
func (p *FabricPoint) Name() string { return strings.Join(p.names, ", ") }

// Points are the combinations of values, in the order of the lists.
func (f *Fabric) Points() []FabricPoint {
	points := []FabricPoint{{Load: f.Demand.Load, Bandwidth: f.Fabric.Bandwidth, Skewness: f.Demand.Skewness, MaxDegree: f.Fabric.MaxDegree}}
	points = vary(points, f.Vary.Loads, "load", func(p *FabricPoint, v float64) { p.Load = v })
	points = vary(points, f.Vary.Bandwidths, "bandwidth", func(p *FabricPoint, v float64) { p.Bandwidth = v })
	points = vary(points, f.Vary.Skewness, "skewness", func(p *FabricPoint, v float64) { p.Skewness = v })
	return vary(points, f.Vary.MaxDegrees, "largest degree", func(p *FabricPoint, v int) { p.MaxDegree = v })
}

// vary makes a point of each point and each value.
func vary[T any](points []FabricPoint, list []T, name string, set func(p *FabricPoint, v T)) (all []FabricPoint) {
	if len(list) == 0 {
		return points
	}
	for _, p := range points {
		for _, v := range list {
			one := p
			one.names = append(p.names[:len(p.names):len(p.names)], fmt.Sprintf("%s %v", name, v))
			set(&one, v)
			all = append(all, one)
		}
	}
	return all
}

// Quirks are those of the file.
func (f *Fabric) Quirks() cluster.Quirks {
	quirks, _ := cluster.NamedQuirks(f.Fabric.Quirks, fabric.Quirks()) // Validate has looked
	return quirks
}

// Cluster makes the cluster of a point with some quirks; its episodes share the steps that they simulate.
func (f *Fabric) Cluster(p FabricPoint, q cluster.Quirks) (*fabric.Study, error) {
	o := f.Fabric
	if o.MaxDegree = p.MaxDegree; p.Bandwidth != o.Bandwidth {
		o.Uplink *= p.Bandwidth / o.Bandwidth
	}
	o.Bandwidth = p.Bandwidth
	network, err := o.network().Make(q)
	if err != nil {
		return nil, err
	}
	s := &fabric.Study{Network: network, Options: o.options(q)}
	for _, profile := range f.profiles {
		s.Models = append(s.Models, fabric.NewModel(profile.Mirror(fabric.Mirror(q))))
	}
	s.Prepare()
	return s, nil
}

// Episode draws the jobs of a cluster for a seed, from 0. Points with the same keys of demand have the
// same jobs.
func (f *Fabric) Episode(s *fabric.Study, p FabricPoint, seed int) (*fabric.Study, error) {
	demand, episode := f.Demand, *s
	demand.Load, demand.Skewness = p.Load, p.Skewness
	if err := demand.demand(f.Steps.Weights).Draw(&episode, seeded(f.Demand.Seed+uint64(seed), 0)); err != nil {
		return nil, err
	}
	return &episode, episode.Validate()
}

// Draws are the random numbers of deciders in the episode of a seed.
func (f *Fabric) Draws(seed int) *rand.Rand { return seeded(f.Demand.Seed+uint64(seed), 1) }
