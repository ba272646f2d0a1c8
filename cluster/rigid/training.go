package rigid

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"graft/cluster"
	"graft/cluster/fabric"
	"graft/cluster/fabric/networks"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/validate"
	"graft/model"
	"graft/trainer/clock"
)

// Training gives jobs the step times of neural networks. The rate of such a job depends on its devices, on its nodes
// and on other jobs that use the links of its nodes. A job runs as long as in the trace if it has the devices that it
// requests, on as few nodes as possible, and links of its own.
type Training struct {
	// Names of models in the trace. A job of one of these models trains the network at the same position of
	// training.networks. Empty means that the speed of all jobs is proportional to their numbers of devices.
	Models []string
	// Networks that the models stand for: names from 'graft model list', or network files.
	Networks []string `config:",path=word"`
	// Number of examples per step of each network, divided among a job's devices. Zero, or an empty list, means the
	// batch of the job in the trace or, without one, 64 for each requested device.
	Batches []int
	// Device profile that gives the step times: a name, such as h100, or a file path. Empty means h100.
	Profile   string  `config:",path=word"`
	Bandwidth float64 // Bandwidth of a node's link in bytes/s, in each direction. Zero means 12.5e9.
	Rack      int     `config:"nodes_per_rack"` // Number of nodes per rack. Zero means one rack for all nodes.
	// Bandwidth of a rack's uplink in bytes/s, in each direction. Zero means the total bandwidth of the rack's nodes.
	Uplink  float64
	Latency float64 `config:"latency_seconds"` // Latency of a message between nodes in seconds. Zero means 5e-6.
}

// EnsureDefaults fills in defaults.
func (o *Training) EnsureDefaults() {
	if len(o.Models) == 0 {
		return
	}
	o.Profile, o.Bandwidth = cmp.Or(o.Profile, "h100"), cmp.Or(o.Bandwidth, 12.5e9)
	o.Latency = cmp.Or(o.Latency, 5e-6)
}

// Validate returns an error that lists every invalid option.
func (o *Training) Validate() error {
	var f validate.Faults
	others := o.Profile != "" || o.Rack != 0 || o.Bandwidth != 0 || o.Uplink != 0 || o.Latency != 0
	f.When(len(o.Models) == 0 && others, "training.models is missing, so the other keys of the section training have "+
		"no effect; set training.models, or remove the section")
	f.When(len(o.Networks) != len(o.Models), "training.networks has %d entries for %d models; expected one for each",
		len(o.Networks), len(o.Models))
	f.When(len(o.Batches) > 0 && len(o.Batches) != len(o.Models),
		"training.batches has %d entries for %d models; expected none, or one for each", len(o.Batches), len(o.Models))
	for _, b := range o.Batches {
		f.When(b < 0 || b > clock.MostRows, "training.batches: got %d; expected 0 to %d", b, clock.MostRows)
	}
	for k, m := range o.Models {
		f.When(slices.Contains(o.Models[:k], m), "training.models: duplicate model %q; remove one", m)
	}
	f.When(o.Rack < 0, "training.nodes_per_rack is %d; must be at least 0", o.Rack)
	f.Unless(o.Bandwidth >= 0 && o.Uplink >= 0 && o.Latency >= 0,
		"training: bandwidth is %g, uplink is %g and latency_seconds is %g; must be at least 0", o.Bandwidth, o.Uplink,
		o.Latency)
	return errors.Join(f...)
}

// tree returns the links between the nodes of the largest virtual cluster. Virtual clusters share no links.
func (o *Training) tree(nodes int) (*fabric.Tree, error) {
	rack := cmp.Or(o.Rack, max(1, nodes))
	t := &fabric.Tree{Racks: max(1, (nodes+rack-1)/rack), Servers: rack, Bandwidth: o.Bandwidth, Latency: o.Latency,
		Uplink: cmp.Or(o.Uplink, o.Bandwidth*float64(rack))}
	return t, t.Validate()
}

// readers reads networks and device profiles.
type readers struct {
	network func(files.FS, string) (*model.Network, error)
	profile func(files.FS, string) (*clock.Profile, error)
}

// UseNetworks sets the functions that read networks and device profiles. Call it before Study.
func (f *File) UseNetworks(network func(files.FS, string) (*model.Network, error),
	profile func(files.FS, string) (*clock.Profile, error)) {
	f.readers = readers{network, profile}
}

// readTraining sets the speeds of the jobs whose models stand for networks.
func (s *inputs) readTraining() error {
	if len(s.Training.Models) == 0 {
		return nil
	}
	if err := s.rings(); err != nil {
		return failure.With(failure.Configuration, fmt.Errorf("training.%w", err))
	}
	return nil
}

func (s *inputs) rings() error {
	o := &s.Training
	nodes := 0
	for _, vc := range s.base.VCs {
		nodes = max(nodes, vc.Nodes)
	}
	tree, err := o.tree(nodes + s.Failures.SpareNodes)
	if err != nil {
		return fmt.Errorf("bandwidth: %w", err)
	}
	profile, err := s.readers.profile(s.env.Files, o.Profile)
	if err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	t := &trained{networks: map[string]*model.Network{}, batches: map[string]int{}, made: map[ringKey]fabric.Ring{},
		options: networks.RingOptions{Profile: profile, Tree: tree, PerNode: s.base.PerNode}}
	for k, name := range o.Networks {
		if t.networks[o.Models[k]], err = s.readers.network(s.env.Files, name); err != nil {
			return fmt.Errorf("networks: %w", err)
		}
		if len(o.Batches) > 0 {
			t.batches[o.Models[k]] = o.Batches[k]
		}
	}
	rings := &fabric.Rings{Tree: tree, Of: map[string]fabric.Ring{},
		Other: cluster.LinearSpeed{Profiles: s.base.Profiles}}
	for k := range s.base.Jobs {
		j := &s.base.Jobs[k]
		training := j.Trains()
		n := t.networks[training.Model]
		if n == nil || j.GPUs < 1 {
			continue
		}
		batch := cmp.Or(t.batches[training.Model], training.Batch, min(clock.MostRows, perDevice*j.GPUs))
		if rings.Of[j.ID], err = t.ring(ringKey{training.Model, j.GPUs, batch}); err != nil {
			return fmt.Errorf("networks: job %s: %w", j.ID, err)
		}
	}
	s.base.Speed = rings
	return nil
}

// perDevice is the number of examples per device of a job without a batch.
const perDevice = 64

// trained makes rings. Jobs of the same model, devices and batch share one.
type trained struct {
	networks map[string]*model.Network // by model
	batches  map[string]int            // by model
	options  networks.RingOptions
	made     map[ringKey]fabric.Ring
}

type ringKey struct {
	model          string
	devices, batch int
}

func (t *trained) ring(of ringKey) (fabric.Ring, error) {
	if ring, known := t.made[of]; known {
		return ring, nil
	}
	o := t.options
	o.Devices, o.Batch = of.devices, of.batch
	ring, err := networks.Ring(t.networks[of.model], o)
	t.made[of] = ring
	return ring, err
}
