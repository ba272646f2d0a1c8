package world

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"graft/cluster"
	"graft/cluster/fabric"
	"graft/cluster/study"
)

// point is a combination of swept values.
type point struct {
	load      float64
	bandwidth float64 // per server, bytes/s
	skewness  float64
	degree    int    // maximum degree
	network   string // kind and size

	names  []string
	values map[string]float64 // swept values by name with unit
}

// gigabyte is the number of bytes in a gigabyte.
const gigabyte = 1e9

// points returns the combinations of values, in the order of the lists.
func (f *File) points() []point {
	own := f.Fabric.network()
	points := []point{{load: f.Demand.Load, bandwidth: f.Fabric.Bandwidth, skewness: f.Demand.Skewness,
		degree: f.Fabric.MaxDegree, network: own.Named(), values: map[string]float64{}}}
	points = vary(points, f.Vary.Networks, func(p *point, v string) string {
		if o, err := own.Renamed(v); err == nil { // validated
			p.network = o.Named()
		}
		return "network " + v
	})
	points = vary(points, f.Vary.Loads, func(p *point, v float64) string {
		p.load, p.values["load"] = v, v
		return fmt.Sprintf("load %v", v)
	})
	points = vary(points, f.Vary.Bandwidths, func(p *point, v float64) string {
		p.bandwidth, p.values["bandwidth_gb_per_s"] = v, v/gigabyte
		return fmt.Sprintf("bandwidth %v GB/s", v/gigabyte)
	})
	points = vary(points, f.Vary.Skewness, func(p *point, v float64) string {
		p.skewness, p.values["skewness"] = v, v
		return fmt.Sprintf("skewness %v", v)
	})
	return vary(points, f.Vary.MaxDegrees, func(p *point, v int) string {
		p.degree, p.values["max_degree"] = v, float64(v)
		return fmt.Sprintf("largest degree %v", v)
	})
}

// vary combines each point with each value. The function set applies a value and returns its part of the point's name.
func vary[T any](points []point, list []T, set func(p *point, v T) string) (all []point) {
	if len(list) == 0 {
		return points
	}
	for _, p := range points {
		for _, v := range list {
			one := p
			one.values = maps.Clone(p.values)
			one.names = append(slices.Clip(p.names), set(&one, v))
			all = append(all, one)
		}
	}
	return all
}

// name distinguishes a point from the others; empty for the only point.
func (p *point) name() string { return strings.Join(p.names, ", ") }

func (p *point) plan() study.Point { return study.Point{Name: p.name(), Values: p.values} }

// cluster builds the cluster of a point with some quirks. Its episodes share the simulated steps.
func (f *File) cluster(p *point, q cluster.Quirks) (*fabric.Study, error) {
	o := f.Fabric
	if o.MaxDegree = p.degree; p.bandwidth != o.Bandwidth {
		o.Uplink *= p.bandwidth / o.Bandwidth
	}
	o.Bandwidth = p.bandwidth
	options := o.network()
	if options.Named() != p.network {
		var err error
		if options, err = options.Renamed(p.network); err != nil {
			return nil, err
		}
	}
	network, err := options.Make(q)
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

// Streams of random numbers. Schedulers use further streams, one per seed.
const (
	episodeStream    = 0
	schedulerStream  = 1
	trainStream      = 2
	validationStream = 3

	seedsApart = 1 << 32 // distance between the streams of two seeds of a scheduler
)

// episode draws the jobs of an episode, counted from 0. Points with equal demand have equal jobs.
func (f *File) episode(s *fabric.Study, p *point, k int) (*fabric.Study, error) {
	return f.draw(s, p, rand.New(rand.NewPCG(f.Demand.Seed+uint64(k), episodeStream)))
}

func (f *File) draw(s *fabric.Study, p *point, random *rand.Rand) (*fabric.Study, error) {
	demand, episode := f.Demand, *s
	demand.Load, demand.Skewness = p.load, p.skewness
	if err := demand.demand(f.Graphs.Weights).Draw(&episode, random); err != nil {
		return nil, err
	}
	return &episode, episode.Validate()
}

// draws returns the random numbers of a scheduler in an episode.
func (f *File) draws(episode int, seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(f.Demand.Seed+uint64(episode), schedulerStream+seed*seedsApart))
}
