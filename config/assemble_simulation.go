package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"graft/dataset"
	"graft/internal/files"
	"graft/internal/words"
	"graft/model"
	"graft/net2net"
	"graft/simulation/grid"
	"graft/simulation/tables"
	"graft/trainer"
)

// ground returns the root of the tree and the choices at each node.
func (m *Simulation) ground(n *model.Network) grid.Space {
	return grid.Space{Network: n, Actions: m.Simulate.Actions, Kinds: m.Simulate.Kinds, Decisions: m.decisions(),
		Surgery: m.Adapt.Surgery}
}

// Rated returns the choices at a network whose gains a job computes; nil unless simulate.gains is set.
func (m *Simulation) Rated() func(n *model.Network) ([]net2net.Action, error) {
	if !m.Simulate.Gains {
		return nil
	}
	return m.ground(nil).Rated
}

func (m *Simulation) decisions() int {
	if m.Simulate.Decisions > 0 {
		return m.Simulate.Decisions
	}
	return m.Job.Decisions()
}

// unknown reports whether a program that has not started brings the network.
func (m *Simulation) unknown() bool { return m.Job.Program.On() && m.network == nil }

// Size returns the number of sequences, each of which runs with every seed, and the total number of legs over all
// seeds. A leg is one action with the training after it. Both numbers are known before the run, because the tree of
// actions depends only on the networks.
func (m *Simulation) Size() (sequences, legs int, err error) {
	if m.network == nil {
		return 0, 0, fmt.Errorf("the network of scenario %s was not read", m.Simulate.Name)
	}
	p := grid.Plan{Scenario: tables.Scenario{Name: m.Simulate.Name, Decisions: m.decisions()},
		Actions: m.Simulate.Actions, Kinds: m.Simulate.Kinds, Seeds: m.seeds(), Design: m.Simulate.design()}
	ground := m.ground(m.network)
	if _, _, err := p.Fits(ground); err != nil {
		return 0, 0, err
	}
	if err := m.coveredFrom(ground); err != nil {
		return 0, 0, err
	}
	ends, legs, err := grid.NewGrid(p, ground, nil, nil).Size()
	return ends / m.Simulate.Seeds, legs, err
}

// Decisions returns the number of decisions per sequence.
func (m *Simulation) Decisions() int { return m.decisions() }

// Plan returns the plan of the scenario, which is the same in all workers. The argument code identifies the software
// versions and the kind of device, because outcomes also depend on them.
func (m *Simulation) Plan(fsys files.FS, data *dataset.Set, code string) (*grid.Plan, error) {
	n, err := m.Model(data.Facts())
	if err != nil {
		return nil, err
	}
	form, err := json.Marshal(n.Form().Plain())
	if err != nil {
		return nil, err
	}
	o := m.Options()
	p := &grid.Plan{Actions: m.Simulate.Actions, Kinds: m.Simulate.Kinds, Seeds: m.seeds(), Design: m.Simulate.design(),
		Tries: m.Simulate.Tries}
	p.Scenario = tables.Scenario{Name: m.Simulate.Name, Network: n.Name(), Dataset: data.Name,
		Budget: o.Timeline.Budget.Seconds(), Start: m.firstDecision(), Decisions: m.decisions(),
		Origin: &tables.Origin{Form: form, Deepen: o.Adapt.Surgery.Form, Compat: o.Adapt.Surgery.Compat, Batch: o.Batch,
			Data: data.Digest}}
	p.Cause, err = m.cause(fsys, form, data.Digest, code)
	if err != nil {
		return nil, err
	}
	if err := p.CountSequences(); err != nil {
		return nil, err
	}
	return p, m.covered(p)
}

// covered returns an error if the profile has no costs for a network of the tree.
func (m *Simulation) covered(p *grid.Plan) error {
	g, err := p.Space()
	if err != nil {
		return err
	}
	return m.coveredFrom(g)
}

func (m *Simulation) coveredFrom(g grid.Space) error {
	if m.profile == nil || !m.profile.Closed() {
		return nil
	}
	return g.EachNetwork(func(n *model.Network) error {
		if err := m.Options().CoveredBy(m.profile, n, nil); err != nil {
			return fmt.Errorf("scenario %s: %w", m.Simulate.Name, err)
		}
		return nil
	})
}

func (m *Simulation) seeds() []int64 {
	var seeds []int64
	for k := range m.Simulate.Seeds {
		seeds = append(seeds, m.Run.Seed+int64(k))
	}
	return seeds
}

// firstDecision returns the time of the first decision, in seconds of the budget.
func (m *Simulation) firstDecision() float64 {
	if moments := m.Options().Moments(); len(moments) > 0 {
		return moments[0].Seconds()
	}
	for _, e := range m.Time.timeline().Events {
		if e.Change == trainer.Up {
			return e.At.Seconds()
		}
	}
	return 0
}

// CheckPlan returns an error if the initial weights, the options or the profile changed since a plan was made. New
// outcomes would have the keys of other outcomes in the cache.
func (m *Simulation) CheckPlan(fsys files.FS, p *grid.Plan) error {
	changed, err := m.changedParts(fsys, p)
	if err == nil && len(changed) > 0 {
		err = fmt.Errorf("%s changed since the start of the simulation; restore it, or start a new simulation in "+
			"another folder", changed[0])
	}
	return err
}

// CheckInitialWeights returns an error if the files of initial weights changed since a plan was made.
func (m *Simulation) CheckInitialWeights(fsys files.FS, p *grid.Plan) error {
	if len(m.firstFiles()) == 0 {
		return nil
	}
	changed, err := m.changedParts(fsys, p)
	if name := m.firstFilesText(); err == nil && slices.Contains(changed, name) {
		err = fmt.Errorf("%s changed since the start of the simulation; restore them, choose another folder with "+
			"option \"folder\", or set option \"force\" to move the existing folder aside", name)
	}
	return err
}

// changedParts names the parts of the cause of outcomes that changed since a plan was made.
func (m *Simulation) changedParts(fsys files.FS, p *grid.Plan) (names []string, err error) {
	now, err := m.causeNow(fsys, p)
	if err != nil {
		return nil, err
	}
	for _, part := range []struct{ name, was, is string }{{m.firstFilesText(), p.Cause.Network, now.Network},
		{"the options of training, as this version of graft reads them,", p.Cause.Options, now.Options},
		{"the device profile", p.Cause.Profile, now.Profile}} {
		if part.was != part.is {
			names = append(names, part.name)
		}
	}
	return names, nil
}

// causeNow returns the cause of outcomes for the network and the images of a plan.
func (m *Simulation) causeNow(fsys files.FS, p *grid.Plan) (c tables.Cause, err error) {
	if p.Scenario.Origin == nil {
		return c, fmt.Errorf("scenario %s: the plan has no initial network; start a new simulation in another folder",
			m.Simulate.Name)
	}
	var form bytes.Buffer
	if err := json.Compact(&form, p.Scenario.Origin.Form); err != nil {
		return c, fmt.Errorf("scenario %s: the network of the plan is damaged: %w; start a new simulation in another "+
			"folder", m.Simulate.Name, err)
	}
	return m.cause(fsys, form.Bytes(), p.Cause.Data, p.Cause.Code)
}

// firstFilesText describes the initial weights in messages.
func (m *Simulation) firstFilesText() string {
	if list := m.firstFiles(); len(list) > 0 {
		return "the initial weights in " + words.Some(list, mostNamed)
	}
	return "the initial network or its program"
}

// mostNamed is the maximum number of files that a message names.
const mostNamed = 3

// cause digests everything that determines the outcomes of the scenario. The argument data is the digest of the images.
func (m *Simulation) cause(fsys files.FS, form []byte, data, code string) (tables.Cause, error) {
	b := m.InitialWeights()
	network := sha256.New()
	fmt.Fprintf(network, "%s\n%d epochs before\n", form, b.Epochs)
	if m.Network.Fresh { // the files provide only some tensors
		fmt.Fprintln(network, "fresh")
	}
	if m.trains != "" {
		fmt.Fprintf(network, "program %s %q %q\n", m.trains, m.Job.Program.Command, m.Job.Program.Env)
	}
	for _, path := range m.firstFiles() {
		if err := files.CopyTo(network, fsys, path); err != nil {
			return tables.Cause{}, err
		}
	}
	o := m.Options()
	o.Seed, o.Steady = 0, o.Steady || m.profile != nil
	c := tables.Cause{Network: hex.EncodeToString(network.Sum(nil)), Data: data, Options: trainer.Digest(o),
		Code: code}
	if m.Simulate.Gains {
		c.Options += " with gains"
	}
	if m.profile != nil {
		sum := sha256.Sum256([]byte(chargedText(m.profile)))
		c.Profile = hex.EncodeToString(sum[:])
	}
	return c, nil
}

// firstFiles lists the files from which networks take weights or constants, each once.
func (m *Simulation) firstFiles() (list []string) {
	for _, seed := range m.seeds() {
		for _, path := range []string{m.InitialWeightsOf(seed).Weights, m.ConstantsOf(seed)} {
			if path != "" && !slices.Contains(list, path) {
				list = append(list, path)
			}
		}
	}
	return list
}

// Summary describes the scenario in one line.
func (m *Simulation) Summary() (string, error) {
	if m.unknown() {
		return fmt.Sprintf("scenario %s of the program %q, %v of a %s clock; the number of sequences is known when "+
			"the program has started; digest %.12s", m.Simulate.Name, m.Job.Program, m.Time.Budget, m.Time.Clock,
			m.Digest()), nil
	}
	sequences, legs, err := m.Size()
	if err != nil {
		return "", err
	}
	design := ""
	if m.Simulate.Design != grid.All {
		design = fmt.Sprintf(" of the design %s", m.Simulate.Design)
	}
	return fmt.Sprintf("scenario %s, %s on %s, %v of a %s clock: %s of %s × %s in %s%s; digest %.12s",
		m.Simulate.Name, m.source(), m.dataName(), m.Time.Budget,
		m.Time.Clock, words.Plural(sequences, "sequence"), words.Plural(m.Decisions(), "decision"),
		words.Plural(m.Simulate.Seeds, "seed"), words.Plural(legs, "leg"), design, m.Digest()), nil
}
