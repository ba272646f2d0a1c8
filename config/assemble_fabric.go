package config

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"graft/cluster"
	"graft/cluster/fabric"
	"graft/cluster/fabric/agent"
	"graft/config/decode"
	"graft/internal/files"
	"graft/learn/candidates"
	"graft/torch/weights"
)

// FabricPoint is a combination of the values that vary.
type FabricPoint struct {
	Load      float64 `json:"load"`       // servers that jobs would keep busy if none was split, as a share of all
	Bandwidth float64 `json:"bandwidth"`  // of a server, bytes in a second
	Skewness  float64 `json:"skewness"`   // of limits that are skewed
	MaxDegree int     `json:"max_degree"` // largest degree
	Network   string  `json:"network"`    // kind and size

	names []string
}

// Name tells a point from the others of its run; empty for the only one.
func (p *FabricPoint) Name() string { return strings.Join(p.names, ", ") }

// Points are the combinations of values, in the order of the lists.
func (f *Fabric) Points() []FabricPoint {
	own := f.Fabric.network()
	points := []FabricPoint{{Load: f.Demand.Load, Bandwidth: f.Fabric.Bandwidth, Skewness: f.Demand.Skewness,
		MaxDegree: f.Fabric.MaxDegree, Network: own.Named()}}
	points = vary(points, f.Vary.Networks, "network", func(p *FabricPoint, v string) {
		if o, err := own.Renamed(v); err == nil { // Validate has looked
			p.Network = o.Named()
		}
	})
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

// Quirks returns the quirks that the file keeps.
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
	options := o.network()
	if options.Named() != p.Network {
		var err error
		if options, err = options.Renamed(p.Network); err != nil {
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

// Episode draws the jobs of a cluster for a seed, from 0. Points with the same keys of demand have the
// same jobs.
func (f *Fabric) Episode(s *fabric.Study, p FabricPoint, seed int) (*fabric.Study, error) {
	return f.episode(s, p, seeded(f.Demand.Seed+uint64(seed), 0))
}

func (f *Fabric) episode(s *fabric.Study, p FabricPoint, random *rand.Rand) (*fabric.Study, error) {
	demand, episode := f.Demand, *s
	demand.Load, demand.Skewness = p.Load, p.Skewness
	if err := demand.demand(f.Graphs.Weights).Draw(&episode, random); err != nil {
		return nil, err
	}
	return &episode, episode.Validate()
}

// search finds the plans of the decider exact at a point, if it is asked for.
func (f *Fabric) search(s *fabric.Study, p FabricPoint) error {
	if !slices.Contains(f.Degree.Deciders, Exact) {
		return nil
	}
	plans := make([]*fabric.Plan, f.Demand.TestCount)
	for seed := range plans {
		episode, err := f.Episode(s, p, seed)
		if err == nil {
			plans[seed], err = fabric.Exact(episode, mostStates)
		}
		if err != nil {
			return fmt.Errorf("%s: %w; demand.jobs is %d", strings.TrimSuffix(fmt.Sprintf("%s, episode %d, %s", Exact,
				seed+1, p.Name()), ", "), err, f.Demand.Jobs)
		}
	}
	f.plans = append(f.plans, plans)
	return nil
}

// Plans returns the plans of the decider exact at a point, by the point's index, for each seed.
func (f *Fabric) Plans(point int) []*fabric.Plan { return f.plans[point] }

// Streams of the episodes to learn from and to choose by.
const (
	fabricTrainStream  = 2
	fabricChooseStream = 3
)

// FabricDecider is a way to choose degrees, which may have been learned.
type FabricDecider struct {
	fabric.Kind
	Seeds []fabric.Kind // of a run folder: what each seed learned; nil for others

	digest string // of what was learned; empty where nothing was
}

// Learned reports whether the decider was learned.
func (d *FabricDecider) Learned() bool { return d.digest != "" }

// Kinds returns the learned decider of each seed, or the decider itself.
func (d *FabricDecider) Kinds() []fabric.Kind {
	if len(d.Seeds) > 0 {
		return d.Seeds
	}
	return []fabric.Kind{d.Kind}
}

// Deciders returns the deciders to compare. BestConstant and Exact have no New.
func (f *Fabric) Deciders() []FabricDecider { return f.rivals }

// Against is the decider that differences are from.
func (f *Fabric) Against() string { return cmp.Or(f.Degree.Against, f.rivals[0].Name) }

// readDeciders finds deciders by name, reads learned ones, and reports whether all is right.
func (f *Fabric) readDeciders(fsys files.FS, r *decode.Reading) bool {
	f.rivals = nil
	for _, name := range f.Degree.Deciders {
		d, err := readDecider(fsys, name)
		if err == nil && slices.ContainsFunc(f.rivals, func(other FabricDecider) bool { return other.Name == d.Name }) {
			err = fmt.Errorf("two deciders have the name %s; rename the folder or the file of one", d.Name)
		}
		if err != nil {
			r.Blame("degree.deciders", r.Elsewhere("degree.deciders", err).Error())
			return false
		}
		f.rivals = append(f.rivals, d)
	}
	if against := f.Against(); !slices.ContainsFunc(f.rivals, func(d FabricDecider) bool { return d.Name == against }) {
		r.Blame("degree.against", fmt.Sprintf("against is %s, which is not among the deciders", against))
		return false
	}
	return true
}

func readDecider(fsys files.FS, name string) (d FabricDecider, err error) {
	if name == BestConstant || name == Exact {
		d.Name = name
		return d, nil
	}
	if d.Kind, err = fabric.Named(name); err == nil {
		return d, nil
	}
	d.Kind, d.Seeds, d.digest, err = readScheduler(fsys, name,
		func(name string, set *weights.Set) (fabric.Kind, error) {
			p, err := agent.ReadPolicy(set)
			if err != nil {
				return fabric.Kind{}, err
			}
			return agent.KindOf(name, p.Agent), nil
		})
	return d, err
}

// Learning draws the episodes to learn from and to choose by, at the first point. Those that are compared
// have others.
func (f *Fabric) Learning() (train, validation []*fabric.Study, err error) {
	p := f.Points()[0]
	base, err := f.Cluster(p, f.Quirks())
	if err != nil {
		return nil, nil, err
	}
	draw := func(count int, stream uint64) (all []*fabric.Study) {
		for k := 0; k < count && err == nil; k++ {
			var s *fabric.Study
			s, err = f.episode(base, p, seeded(f.Demand.Seed+uint64(k), stream))
			all = append(all, s)
		}
		return all
	}
	train, validation = draw(f.Demand.TrainCount, fabricTrainStream), draw(f.Demand.ValidationCount, fabricChooseStream)
	return train, validation, err
}

// Learner makes the learner of a seed.
func (f *Fabric) Learner(seed uint64) (candidates.SchedulerLearner, error) {
	train, validation, err := f.Learning()
	if err != nil {
		return nil, err
	}
	return agent.NewLearner(train, validation, f.Learn, seed)
}

// Figures names the columns of the table of learning.
func (f *Fabric) Figures() []string { return candidates.FigureNames() }

// Steps is the number of a learner's steps, at most.
func (f *Fabric) Steps() int { return f.Learn.Steps() }

// TeacherAndMethod are the decider that is imitated first, and what comes then.
func (f *Fabric) TeacherAndMethod() (teacher, method string) { return f.Learn.Teacher, f.Learn.Method }

// Draws are the random numbers of deciders in the episode of a seed.
func (f *Fabric) Draws(seed int) *rand.Rand { return seeded(f.Demand.Seed+uint64(seed), 1) }
