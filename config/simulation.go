package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strings"

	"graft/dataset"
	"graft/decider"
	"graft/files"
	"graft/model"
	"graft/simulation/grid"
	"graft/simulation/tables"
	"graft/torch/weights"
	"graft/trainer"
)

// Simulation is the file of a scenario: a job's, whose decisions are not made by a
// decider but tried, and the section simulate.
type Simulation struct {
	Job
	Simulate SimulateOptions // which sequences of actions are run, and how
	Fleet    FleetOptions    // who runs the sequences, and what each of the workers gets; no outcome depends on it

	likely *decider.Structural // of the design likely; nil for others
}

// NewSimulation is what a file says that says nothing, before zero is filled in.
func NewSimulation() *Simulation { return &Simulation{Job: *NewJob()} }

// ReadSimulation reads the file of a scenario, then assignments such as
// simulate.seeds=3, and what it names. Where anything that is written is wrong, the
// error wraps [Faults].
func ReadSimulation(fsys files.FS, path string, set []string) (*Simulation, error) {
	m := NewSimulation()
	r, err := readInto(fsys, path, set, m)
	if err == nil {
		if m.Simulate.Name == "" {
			m.Simulate.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		}
		err = m.complete(fsys, r)
	}
	if err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	return m, nil
}

// IsSimulation says whether a file is one of a scenario: it has the section simulate.
// What cannot be read is none.
func IsSimulation(fsys files.FS, path string) bool {
	return sectionsOf(fsys, path)["simulate"] != nil
}

// complete fills in defaults, reads what is named and checks it all.
func (m *Simulation) complete(fsys files.FS, r *reading) error {
	m.given = r.given
	r.defaults()
	m.load(fsys, r)
	m.begin(fsys, r)
	r.attempt("simulate.policy", m.Simulate.Design == grid.Likely && m.Simulate.Policy != "", func() (err error) {
		m.likely, err = decider.ReadStructural(fsys, m.Simulate.Policy)
		return err
	})
	r.validate()
	m.survey(r)
	return r.finish()
}

// EnsureDefaults fills in what zero stands for.
func (m *Simulation) EnsureDefaults() {
	m.Job.EnsureDefaults()
	m.Simulate.EnsureDefaults()
	m.Fleet.EnsureDefaults()
}

// Validate lists all that is wrong.
func (m *Simulation) Validate() error {
	faults := []error{m.Job.Validate(), m.Simulate.Validate(), m.Fleet.Validate()}
	if m.Adapt.Decider != DecideNone {
		faults = append(faults, fmt.Errorf("decider is %s, and a simulation tries what each decision could be; leave it out", m.Adapt.Decider))
	}
	if m.Time.Clock == WallClock && m.Simulate.Seeds > 1 {
		faults = append(faults, errors.New("seeds of one sequence have the same times, which they have not on a wall clock; give the virtual clock the profile of the device, or one seed"))
	}
	if (m.Fleet.GPUs > 0 || m.Fleet.Gres != "") && m.Run.Device == "cpu" {
		faults = append(faults, errors.New("fleet.gpus are for workers that train there, and run.device is cpu; let it be cuda"))
	}
	if asked := m.asked(); m.Simulate.Decisions > asked {
		faults = append(faults, fmt.Errorf("decisions are %d, and the timeline and adapt.most lead to %d; let there be as many", m.Simulate.Decisions, asked))
	}
	if m.shrinksBetween() {
		faults = append(faults, errors.New("events have an up after a down: the network would shrink between decisions, which sequences of actions do not say; simulate each growth by itself"))
	}
	return errors.Join(faults...)
}

// shrinksBetween says whether the network is taken back before it grows again.
func (m *Simulation) shrinksBetween() bool {
	down := false
	for _, e := range m.Time.timeline().Events {
		if e.Change == trainer.Up && down {
			return true
		}
		down = down || e.Change == trainer.Down
	}
	return false
}

// asked is how many decisions the timeline leads to.
func (m *Simulation) asked() int {
	ups := 0
	for _, e := range m.Time.timeline().Events {
		if e.Change == trainer.Up {
			ups++
		}
	}
	return ups * m.Options().Adapt.Most
}

// survey looks at the beginning of the tree, so that what does not fit is told before
// the work.
func (m *Simulation) survey(r *reading) {
	if m.network == nil || len(r.faults)+len(r.others) > 0 {
		return
	}
	if m.asked() == 0 {
		o, _ := r.outline.lookUp("time.events")
		r.blame(o, "there is no up in the timeline, and so no decision; add one, such as events = [{at = \"30s\", change = \"up\"}]")
		return
	}
	g := m.ground(m.network)
	g.Decisions = 1
	if _, _, err := g.Count(m.Simulate.Most); err != nil {
		o, _ := r.outline.lookUp("simulate.actions")
		r.blame(o, err.Error())
	}
}

var simulationOutline = outlineOf(reflect.TypeFor[Simulation]())

// Values lists all keys in the order of a file.
func (m *Simulation) Values() []Value {
	return valuesOf(simulationOutline, reflect.ValueOf(m).Elem(), m.given)
}

// Resolved is the file with every value filled in. ReadSimulation reads the same from
// it.
func (m *Simulation) Resolved() string {
	return layoutStruct(simulationOutline, reflect.ValueOf(m).Elem())
}

// Described is Resolved with what each key is for as a comment above it.
func (m *Simulation) Described() string {
	return layoutDescribed(simulationOutline, reflect.ValueOf(m).Elem())
}

// Digest is a SHA-256 in hex over all that the table depends on.
func (m *Simulation) Digest() string {
	h := sha256.New()
	_, _ = io.WriteString(h, m.Job.Digest()) // a hash takes everything
	for _, v := range m.Values() {
		if strings.HasPrefix(v.Key, "simulate.") && !simulateOptionsThatChangeNothing[strings.TrimPrefix(v.Key, "simulate.")] {
			fmt.Fprintf(h, "%s = %s\n", v.Key, v.Text)
		}
	}
	if m.likely != nil {
		if set, err := m.likely.Set(); err == nil {
			_ = weights.WriteSafetensors(h, set)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Differences lists the keys on which the table depends and that another scenario has
// other values for, each as "key was its value and is ours".
func (m *Simulation) Differences(was *Simulation) []string {
	return differences(m.Values(), was.Values(), func(key string) bool {
		mine, simulates := strings.CutPrefix(key, "simulate.")
		return immaterial(key) || strings.HasPrefix(key, "fleet.") || simulates && simulateOptionsThatChangeNothing[mine]
	})
}

// Likely is the policy of the design of that name; nil for others.
func (m *Simulation) Likely() *decider.Structural { return m.likely }

// ground is what the tree grows from.
func (m *Simulation) ground(n *model.Network) grid.Space {
	return grid.Space{Network: n, Actions: m.Simulate.Actions, Kinds: m.Simulate.Kinds, Decisions: m.decisions(), Surgery: m.Adapt.Surgery}
}

func (m *Simulation) decisions() int {
	if m.Simulate.Decisions > 0 {
		return m.Simulate.Decisions
	}
	return m.asked()
}

// Size is how many sequences are run and how many legs they consist of, for all seeds,
// as far as that can be told before: how large a tree is depends on its networks alone.
func (m *Simulation) Size() (sequences, legs int, err error) {
	if m.network == nil {
		return 0, 0, fmt.Errorf("the network of scenario %s was not read; use ReadSimulation", m.Simulate.Name)
	}
	p := grid.Plan{Scenario: tables.Scenario{Name: m.Simulate.Name, Decisions: m.decisions()}, Actions: m.Simulate.Actions, Kinds: m.Simulate.Kinds,
		Seeds: m.seeds(), Design: m.Simulate.design()}
	ground := m.ground(m.network)
	if err := p.Fits(ground); err != nil {
		return 0, 0, err
	}
	if err := m.coveredFrom(ground); err != nil {
		return 0, 0, err
	}
	return grid.NewGrid(p, ground, nil, nil).Size()
}

// Decisions is how many each sequence has.
func (m *Simulation) Decisions() int { return m.decisions() }

// Plan is what all processes that work at the scenario must know. Code names what
// outcomes depend on beside all that is configured: versions, and the kind of device.
func (m *Simulation) Plan(fsys files.FS, data *dataset.Set, code string) (*grid.Plan, error) {
	n, err := m.Model(data.Shape[:], len(data.Classes))
	if err != nil {
		return nil, err
	}
	form, err := json.Marshal(n.Form().Plain())
	if err != nil {
		return nil, err
	}
	o := m.Options()
	p := &grid.Plan{Actions: m.Simulate.Actions, Kinds: m.Simulate.Kinds, Seeds: m.seeds(), Design: m.Simulate.design(), Tries: m.Simulate.Tries}
	p.Scenario = tables.Scenario{Name: m.Simulate.Name, Network: n.Name(), Dataset: data.Name, Budget: o.Timeline.Budget.Seconds(), Start: m.firstUp(), Decisions: m.decisions(),
		Origin: &tables.Origin{Form: form, Deepen: o.Adapt.Surgery.Form, Compat: o.Adapt.Surgery.Compat, Batch: o.Batch}}
	p.Cause, err = m.cause(fsys, form, data, code)
	if err != nil {
		return nil, err
	}
	if err := p.CountSequences(); err != nil {
		return nil, err
	}
	return p, m.covered(p)
}

// covered is an error where the profile cannot say what a network of the tree takes.
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
		if err := m.profile.Covers(n, m.Options(), nil); err != nil {
			return fmt.Errorf("scenario %s: %w", m.Simulate.Name, err)
		}
		return nil
	})
}

// seeds are those of the runs of a sequence.
func (m *Simulation) seeds() []int64 {
	var seeds []int64
	for k := range m.Simulate.Seeds {
		seeds = append(seeds, m.Run.Seed+int64(k))
	}
	return seeds
}

// firstUp is when decisions begin, in seconds of the budget.
func (m *Simulation) firstUp() float64 {
	for _, e := range m.Time.timeline().Events {
		if e.Change == trainer.Up {
			return e.At.Seconds()
		}
	}
	return 0
}

// cause is what all outcomes of the scenario follow from.
func (m *Simulation) cause(fsys files.FS, form []byte, data *dataset.Set, code string) (tables.Cause, error) {
	b := m.Beginning()
	network := sha256.New()
	fmt.Fprintf(network, "%s\n%d epochs before\n", form, b.Epochs)
	if b.Weights != "" {
		if err := hashFile(fsys, network, b.Weights); err != nil {
			return tables.Cause{}, err
		}
	}
	o := m.Options()
	o.Seed, o.Steady = 0, o.Steady || m.profile != nil
	c := tables.Cause{Network: hex.EncodeToString(network.Sum(nil)), Data: data.Digest, Options: trainer.Digest(o), Code: code}
	if m.profile != nil {
		p := *m.profile
		p.Made, p.Fit = trainer.Made{}, trainer.Fit{} // how it came about changes no result
		sum := sha256.Sum256([]byte(FormatProfile(&p)))
		c.Profile = hex.EncodeToString(sum[:])
	}
	return c, nil
}

func hashFile(fsys files.FS, h io.Writer, path string) error {
	file, err := fsys.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(h, io.NewSectionReader(file, 0, 1<<62))
	return errors.Join(err, file.Close())
}
