package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"

	"graft/decider"
	"graft/files"
	"graft/simulation/learning"
)

// Pipeline is the file of all that leads from scenarios to a policy: what is simulated,
// how policies learn from it, and how they are judged.
type Pipeline struct {
	Pipeline PipelineOptions         // which scenarios are simulated, and where results go
	Run      TreeLearningRun         `config:",omit=folder"` // seeds and checkpoints of the policies that learn
	Policy   decider.StructuralShape // how large a policy is
	Learn    TreeLearningLessons     // how it learns
	Evaluate PipelineEvaluate        // how policies are judged

	given     map[string]Source
	scenarios []*Simulation
}

// NewPipeline is what a file says that says nothing, before zero is filled in.
// Policies are for known scenarios or for new ones.
func NewPipeline(scenarios string) *Pipeline {
	l := NewTreeLearning(scenarios)
	return &Pipeline{Run: l.Run, Learn: l.Learn}
}

// ReadPipeline reads the file of a pipeline, then assignments such as run.seeds=20, and
// the files of all its scenarios. Where anything that is written is wrong, the error
// wraps [Faults].
func ReadPipeline(fsys files.FS, path string, set []string) (*Pipeline, error) {
	p := NewPipeline(ForKnown)
	r, err := readInto(fsys, path, set, p)
	if err == nil && p.Learn.For == ForNew { // whose defaults are others
		p = NewPipeline(ForNew)
		r, err = readInto(fsys, path, set, p)
	}
	if err == nil {
		err = p.complete(fsys, r)
	}
	if err != nil {
		return nil, fmt.Errorf("read pipeline: %w", err)
	}
	return p, nil
}

// IsPipeline says whether a file is one of a pipeline: it has the section pipeline.
// What cannot be read is none.
func IsPipeline(fsys files.FS, path string) bool { return sectionsOf(fsys, path)["pipeline"] != nil }

// complete fills in defaults, reads the scenarios and checks it all.
func (p *Pipeline) complete(fsys files.FS, r *reading) error {
	p.given = r.given
	r.defaults()
	r.validate()
	p.load(fsys, r)
	return r.finish()
}

// EnsureDefaults fills in what zero stands for.
func (p *Pipeline) EnsureDefaults() {
	p.Run.EnsureDefaults()
	p.Policy.EnsureDefaults()
	p.Learn.EnsureDefaults()
	p.Evaluate.EnsureDefaults()
}

// Validate lists all that is wrong.
func (p *Pipeline) Validate() error {
	return errors.Join(p.Pipeline.Validate(), p.Run.Validate(), p.Policy.Validate(), p.Learn.Validate(), p.Evaluate.Validate())
}

// reservedNames are of folders that are no scenario's.
var reservedNames = []string{"cache", "policy", "evaluation", "left-out"}

// load reads all scenarios.
func (p *Pipeline) load(fsys files.FS, r *reading) {
	const key = "pipeline.scenarios"
	o, _ := r.outline.lookUp(key)
	if r.broken[key] {
		return
	}
	names := map[string]int{}
	for k, path := range p.Pipeline.Scenarios {
		blame := func(format string, args ...any) {
			r.blame(o, fmt.Sprintf("scenarios[%d]: ", k)+fmt.Sprintf(format, args...), k)
		}
		m, err := p.scenario(fsys, path)
		var faults Faults
		switch {
		case errors.As(err, &faults):
			r.others = append(r.others, faults...)
			continue
		case err != nil:
			blame("%v", err)
			continue
		}
		name := m.Simulate.Name
		if other, twice := names[name]; twice {
			blame("the scenario is called %s, as that of scenarios[%d]; give one of them another simulate.name", name, other)
		} else if slices.Contains(reservedNames, name) || name != filepath.Base(name) || name == "." || name == ".." {
			blame("the scenario is called %q, which no folder of a scenario can be; give it another simulate.name", name)
		}
		names[name] = k
		p.scenarios = append(p.scenarios, m)
	}
	p.groups(r)
}

// scenario reads the file of one.
func (p *Pipeline) scenario(fsys files.FS, path string) (*Simulation, error) {
	if _, err := fsys.Stat(path); err != nil {
		return nil, fmt.Errorf("%w; name the file of a scenario, from the folder in which graft is called", err)
	}
	if !IsSimulation(fsys, path) {
		return nil, fmt.Errorf("%s has no section simulate; name the file of a scenario", path)
	}
	return ReadSimulation(fsys, path, p.Assignments())
}

// Assignments are those to keys of every scenario.
func (p *Pipeline) Assignments() []string {
	set := slices.Clone(p.Pipeline.Set)
	if p.Pipeline.Cache != "" {
		set = append(set, "simulate.cache="+quoteTOML(p.Pipeline.Cache))
	}
	return set
}

// groups checks that there is something to learn from when others are left out.
func (p *Pipeline) groups(r *reading) {
	var names []string
	for _, m := range p.scenarios {
		name := m.Simulate.Name
		if p.Evaluate.LeaveOut == LeaveNetwork {
			name = m.network.Name()
		}
		names = append(names, name)
	}
	slices.Sort(names)
	if p.Evaluate.LeaveOut != LeaveNone && len(p.scenarios) == len(p.Pipeline.Scenarios) && len(slices.Compact(names)) < 2 {
		o, _ := r.outline.lookUp("evaluate.leave_out")
		r.blame(o, fmt.Sprintf("leave_out is %s, of which there is but one, and nothing else to learn from; add scenarios, or write none", p.Evaluate.LeaveOut))
	}
}

var pipelineOutline = outlineOf(reflect.TypeFor[Pipeline]())

// Values lists all keys in the order of a file.
func (p *Pipeline) Values() []Value {
	return valuesOf(pipelineOutline, reflect.ValueOf(p).Elem(), p.given)
}

// Resolved is the file with every value filled in. ReadPipeline reads the same from
// it.
func (p *Pipeline) Resolved() string { return layoutStruct(pipelineOutline, reflect.ValueOf(p).Elem()) }

// Described is Resolved with what each key is for as a comment above it.
func (p *Pipeline) Described() string {
	return layoutDescribed(pipelineOutline, reflect.ValueOf(p).Elem())
}

// immaterialToPipelines are the keys that change no result: scenarios count by what
// they say.
var immaterialToPipelines = slices.Concat(immaterialToTrees, []string{"pipeline.scenarios", "pipeline.folder", "pipeline.cache", "pipeline.set"})

// Digest is a SHA-256 in hex over all that results depend on.
func (p *Pipeline) Digest() string {
	h := sha256.New()
	for _, v := range p.Values() {
		if !slices.Contains(immaterialToPipelines, v.Key) {
			fmt.Fprintf(h, "%s = %s\n", v.Key, v.Text)
		}
	}
	for _, m := range p.scenarios {
		fmt.Fprintln(h, m.Simulate.Name, m.Digest())
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Scenarios are those that were read.
func (p *Pipeline) Scenarios() []*Simulation { return p.scenarios }

// Learning is the file of the policies that learn from the folders of tables.
func (p *Pipeline) Learning(folders []string) *TreeLearning {
	return &TreeLearning{Run: p.Run, Tables: TreeLearningTables{Folders: folders, HeldOut: []string{}}, Policy: p.Policy, Learn: p.Learn}
}

// LearnOptions are those of the learner, for any seed.
func (p *Pipeline) LearnOptions() learning.Options { return p.Learning(nil).Options() }
