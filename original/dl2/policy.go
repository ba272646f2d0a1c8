package dl2

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"graft/cluster"
	"graft/cluster/elastic"
	"graft/internal/random/numpy"
	"graft/learn/dense"
	"graft/torch/weights"
)

// Policy is a learned policy of DL2. It is safe for concurrent use.
type Policy struct {
	Shape     ShapeOptions // observations and actions of the policy
	AllReduce bool         // whether the policy was trained for clusters without parameter servers

	network *dense.Network
}

// newPolicy draws a policy.
func newPolicy(o ShapeOptions, allReduce bool, random *rand.Rand) (*Policy, error) {
	n, err := network(o, allReduce, false, random)
	return &Policy{Shape: o, AllReduce: allReduce, network: n}, err
}

// network draws a policy's network, or the value network.
func network(o ShapeOptions, allReduce, value bool, random *rand.Rand) (*dense.Network, error) {
	rows := o.Rows()
	return dense.New(rows*o.Size, random, o.Stack(rows, o.PerJob(allReduce), value)...)
}

// clone copies a network.
func clone(n *dense.Network) *dense.Network {
	c := *n
	c.Params = nil
	for _, p := range n.Params {
		c.Params = append(c.Params, append([]float64{}, p...))
	}
	return &c
}

// Fits returns an error if the policy was trained for a different kind of cluster.
func (p *Policy) Fits(o elastic.Options) error {
	if o.AllReduce == p.AllReduce {
		return nil
	}
	kinds := map[bool]string{true: "without", false: "with"}
	return fmt.Errorf("the DL2 policy was trained for a cluster %s parameter servers, but is used for a cluster %s "+
		"parameter servers; use a policy that was trained for this kind of cluster", kinds[p.AllReduce],
		kinds[o.AllReduce])
}

// checkSize compares the size of a file with the size of a policy, so that a small file cannot exhaust the memory.
func (s *saved) checkSize(o ShapeOptions, allReduce bool) {
	width, want, got := o.Rows()*o.Size, 0, 0
	for _, l := range o.Stack(o.Rows(), o.PerJob(allReduce), false) {
		for _, size := range l.Sizes(width) {
			want += size
		}
		width = l.Outputs(width)
	}
	for _, t := range s.set.Tensors {
		got += len(t.Data) / 8
	}
	if got != want {
		s.fail(fmt.Errorf("the tensors have %d values; expected %d", got, want))
	}
}

// SchedulerOptions selects how a scheduler chooses actions with a policy.
type SchedulerOptions struct {
	Likeliest bool   // takes the most likely action; false draws it, as published
	Seed      uint32 // seed for drawing the actions of each simulation; zero is a valid seed
}

// Scheduler returns a scheduler that uses the policy in the same way as the validation in DL2's published code. Each
// job first gets a worker and a server. If an action does not fit on the cluster, the scheduler takes no further
// actions in the slot. If the policy was trained for a different kind of cluster, the scheduler does nothing.
func (p *Policy) Scheduler(name string, o SchedulerOptions) elastic.Kind {
	return elastic.Kind{Name: name, About: "learned as DL2",
		Quirks: []cluster.Quirk{elastic.FirstNode, elastic.Backward}, New: func(w *elastic.World) elastic.Scheduler {
			w.Without(elastic.StaleShare)
			return &scheduler{board: newBoard(w, p.Shape), pass: p.network.NewPass(1), o: o, random: numpy.New(o.Seed),
				fits: p.Fits(w.Options()) == nil}
		}}
}

type scheduler struct {
	board
	pass   *dense.Pass
	o      SchedulerOptions
	random *numpy.Random
	fits   bool
}

// Schedule implements [elastic.Scheduler].
func (s *scheduler) Schedule(*elastic.World) {
	if !s.fits {
		return
	}
	for s.begin(); ; {
		m, _, ok := s.masked(probabilities(s.pass, s.Observe()))
		if !ok {
			return
		}
		action := 0
		if s.o.Likeliest {
			action = likeliest(m)
		} else {
			action = draw(m, s.random)
		}
		if s.job(action) == nil || !s.add(action) {
			return
		}
	}
}

// probabilities returns the probabilities of the actions in one state or several.
func probabilities(p *dense.Pass, states []float64) []float64 {
	return dense.Softmax(p.Forward(states), p.Outputs())
}

// policyKey names the description of a policy in the metadata of its file.
const policyKey = "graft.dl2.policy"

// policyHeader is the description of a policy, as JSON.
type policyHeader struct {
	Version   int          `json:"version"`
	Shape     ShapeOptions `json:"shape"`
	AllReduce bool         `json:"all_reduce"`
}

const policyVersion = 1

// Save converts the policy to a set of tensors, which can be written to a file.
func (p *Policy) Save() (*weights.Set, error) {
	text, err := json.Marshal(policyHeader{policyVersion, p.Shape, p.AllReduce})
	if err != nil {
		return nil, fmt.Errorf("save a DL2 policy: %w", err)
	}
	s := &saved{set: &weights.Set{Metadata: map[string]string{policyKey: string(text)}}}
	s.putAll("policy", p.network.Params)
	return s.set, nil
}

// IsPolicy reports whether a file is marked as a policy of DL2.
func IsPolicy(set *weights.Set) bool { return set.Metadata[policyKey] != "" }

// ReadPolicy returns the policy that Save wrote.
func ReadPolicy(set *weights.Set) (*Policy, error) {
	fault := func(err error) (*Policy, error) { return nil, fmt.Errorf("read a DL2 policy: %w", err) }
	var h policyHeader
	text, ok := set.Metadata[policyKey]
	if !ok {
		return fault(fmt.Errorf("the file has no metadata entry %s; expected a file written by DL2 training",
			policyKey))
	}
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		return fault(fmt.Errorf("the metadata entry %s is damaged: %w", policyKey, err))
	}
	if h.Version != policyVersion {
		return fault(fmt.Errorf("the file has format version %d; expected %d", h.Version, policyVersion))
	}
	h.Shape.EnsureDefaults()
	if err := h.Shape.Validate(); err != nil {
		return fault(err)
	}
	s := &saved{set: set}
	if s.checkSize(h.Shape, h.AllReduce); s.err != nil {
		return fault(s.err)
	}
	p, err := newPolicy(h.Shape, h.AllReduce, rand.New(rand.NewPCG(0, 0)))
	if err != nil {
		return fault(err)
	}
	if s.takeAll("policy", p.network.Params); s.err != nil {
		return fault(s.err)
	}
	return p, nil
}
