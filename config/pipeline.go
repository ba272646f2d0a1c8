package config

import (
	"errors"
	"fmt"
	"io"

	"graft/decider"
	"graft/files"
	"graft/simulation"
)

// PipelineKind is the kind of files with the section pipeline.
var PipelineKind = &Kind{
	Name: "pipeline", Noun: "pipeline", Files: "files of pipelines", Title: "a pipeline of graft",
	Sections: []string{"pipeline"}, New: func() File { return NewPipeline(ForKnown) }, Summary: summaryOf((*Pipeline).Summary),
	Page: Page{Title: "Keys of a pipeline's file", Sections: []string{"pipeline", "evaluate"},
		Intro: "A file with the section `pipeline`, for `graft pipeline`. See [from scenarios to a policy](simulate.md#from-scenarios-to-a-policy).\n" +
			"It has the sections `run`, `policy` and `learn` of structural policies that learn, but for\n`run.folder`, and these.\n"},
}

// Pipeline is the file of all that leads from scenarios to a policy: what is simulated,
// how policies learn from it, and how they are judged.
type Pipeline struct {
	Pipeline PipelineOptions         // which scenarios are simulated, and where results go
	Run      TreeLearningRun         `config:",omit=folder"` // seeds and checkpoints of the policies that learn
	Policy   decider.StructuralShape // how large a policy is
	Learn    TreeLearningLessons     // how it learns
	Evaluate PipelineEvaluate        // how policies are judged

	sources
	scenarios []*Simulation
}

// NewPipeline is what a file says that says nothing, before zero is filled in.
// Policies are for known scenarios or for new ones.
func NewPipeline(scenarios string) *Pipeline {
	l := NewTreeLearning(scenarios)
	return &Pipeline{Run: l.Run, Learn: l.Learn}
}

// ReadPipeline is PipelineKind.Read.
func ReadPipeline(fsys files.FS, path string, set []string) (*Pipeline, error) {
	return readAs[*Pipeline](PipelineKind, fsys, path, set)
}

// preset has the defaults for new scenarios where the file is for them.
func (p *Pipeline) preset() (File, bool) { return NewPipeline(ForNew), p.Learn.For == ForNew }

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

// Resolved is the function of that name.
func (p *Pipeline) Resolved() string { return Resolved(p) }

// Digest covers the scenarios, wherever their files lie.
func (p *Pipeline) Digest() string {
	return digest(p, func(w io.Writer) {
		for _, m := range p.scenarios {
			fmt.Fprintln(w, m.Simulate.Name, m.Digest())
		}
	})
}

// Scenarios are those that were read.
func (p *Pipeline) Scenarios() []*Simulation { return p.scenarios }

// Learning is the file of the policies that learn from the folders of tables.
func (p *Pipeline) Learning(folders []string) *TreeLearning {
	return &TreeLearning{Run: p.Run, Tables: TreeLearningTables{Folders: folders, HeldOut: []string{}}, Policy: p.Policy, Learn: p.Learn}
}

// LearnOptions are those of the learner, for any seed.
func (p *Pipeline) LearnOptions() simulation.TreeLearnOptions { return p.Learning(nil).Options() }
