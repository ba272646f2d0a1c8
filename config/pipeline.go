package config

import (
	"errors"
	"fmt"
	"io"

	"graft/decider"
	"graft/internal/decode"
	"graft/internal/files"
	"graft/learn"
	"graft/simulation/learning"
)

// PipelineKind is the kind of files with a section "pipeline".
var PipelineKind = &Kind{
	Name: "pipeline", Noun: "pipeline", Command: "graft pipeline",
	Files: "pipeline files", Title: "a pipeline of graft", Sections: []string{"pipeline"},
	New: func() File { return NewPipeline(ForKnown) }, Summary: summaryOf((*Pipeline).Summary),
	Page: Page{Title: "Keys of a pipeline's file", Sections: []string{"pipeline", "evaluate"},
		Intro: "A file with the section `pipeline`, for `graft pipeline`. " +
			"See [from scenarios to a policy](simulate.md#from-scenarios-to-a-policy)\n" +
			"and [studies of many trials](simulate.md#studies-of-many-trials), which use only this section.\n" +
			"The sections `run` (without `run.folder`), `policy` and `learn` have the same keys as for\n" +
			"[structural policies](#keys-for-training-structural-policies). Additional sections:\n"},
}

// Pipeline configures all stages from scenarios to policies: simulation, learning and evaluation. A pipeline of trials
// has only the section "pipeline".
type Pipeline struct {
	Pipeline PipelineOptions  // scenarios to simulate or trials to run, and the output
	Run      learn.RunOptions `config:",omit=folder"` // Seeds and checkpoints of the learned policies.
	// Size of the structural policy's own network, not of the networks that the policy changes.
	Policy   decider.StructuralShape
	Learn    TreeLearningOptions // Options for the learner.
	Evaluate PipelineEvaluate    // Evaluation of the learned policies.

	sources
	scenarios []*Simulation
	entries   []*TrialsEntry
}

// NewPipeline returns the options of an empty pipeline file; EnsureDefaults sets the remaining defaults. The argument
// scenarios is the value of the key learn.for, "known" or "new".
func NewPipeline(scenarios string) *Pipeline {
	l := NewTreeLearning(scenarios)
	return &Pipeline{Run: l.Run, Learn: l.Learn}
}

// load finds the files that entries name, as findPaths does for other keys.
func (p *Pipeline) load(fsys files.FS, r *decode.Reading) {
	find := pathFinder(fsys, r, trialsKey)
	for k := range p.Pipeline.Trials {
		e := &p.Pipeline.Trials[k]
		e.Job, e.Cases = find(e.Job), find(e.Cases)
	}
}

// ReadPipeline reads a pipeline with PipelineKind.Read.
func ReadPipeline(fsys files.FS, path string, set []string) (*Pipeline, error) {
	return readAs[*Pipeline](PipelineKind, Open(fsys, path), set)
}

// preset returns the defaults for new scenarios if the file sets learn.for to them.
func (p *Pipeline) preset() (File, bool) { return NewPipeline(ForNew), p.Learn.For == ForNew }

// EnsureDefaults sets zero fields to their defaults.
func (p *Pipeline) EnsureDefaults() {
	p.Pipeline.EnsureDefaults()
	p.Run.EnsureDefaults()
	p.Policy.EnsureDefaults()
	p.Learn.EnsureDefaults()
	p.Evaluate.EnsureDefaults()
}

// Validate returns an error that lists every invalid option.
func (p *Pipeline) Validate() error {
	return errors.Join(p.Pipeline.Validate(), p.Run.Validate(), p.Policy.Validate(), p.Learn.Validate(),
		p.Evaluate.Validate())
}

// Resolved returns the text of the file with the value of every key, including defaults.
func (p *Pipeline) Resolved() string { return Resolved(p) }

// Digest covers the contents of the scenarios, but not the paths of their files.
func (p *Pipeline) Digest() string {
	return digest(p, func(w io.Writer) {
		for _, m := range p.scenarios {
			fmt.Fprintln(w, m.Simulate.Name, m.Digest())
		}
		for _, e := range p.entries {
			fmt.Fprintln(w, e.Name, e.Digest())
		}
	})
}

// Scenarios returns the scenarios, in the order of the file.
func (p *Pipeline) Scenarios() []*Simulation { return p.scenarios }

// Entries returns the entries of pipeline.trials, in the order of the file.
func (p *Pipeline) Entries() []*TrialsEntry { return p.entries }

// Learning returns the configuration for learning policies from the tables in the given folders.
func (p *Pipeline) Learning(folders []string) *TreeLearning {
	return &TreeLearning{Run: p.Run, Tables: TreeLearningTables{Folders: folders, HeldOut: []string{}},
		Policy: p.Policy, Learn: p.Learn}
}

// LearnOptions returns the options of the learner, without a seed.
func (p *Pipeline) LearnOptions() learning.Options { return p.Learning(nil).Options() }
