package runs

import "slices"

// Kind describes how a kind of run folder is recognised and read. To add a kind, add a file and a line in [Kinds].
type Kind struct {
	Name   string // name in one word, used in manifests and reports
	Title  string // name of one run in headings
	Titles string // name of several runs in headings
	By     string // command that creates the folders, such as graft train
	// matches recognises a folder of this kind by its files, if its manifest names no kind.
	matches func(f *Folder) bool
	// read reads a run from a folder. It reads only what a line in a list of a thousand runs requires.
	read func(f *Folder, r *Run) error
	// series reads the time series; nil for a kind without time series.
	series func(r *Run) ([]Series, error)
	list   overview // progress, trend and members in a list of runs
}

// Kinds lists all kinds of run folders. If the manifest of a folder does not name a kind, the first kind whose files
// match is used.
func Kinds() []*Kind {
	return slices.Concat(StudyKinds(), []*Kind{NodeRunKind, NodeProfileKind,
		PipelineKind, SweepKind, SimulationKind, ElasticLearningKind, ElasticComparisonKind, ElasticCasesKind,
		PoliciesKind, PolicyKind, JobKind, EvaluationKind, TableKind, OriginalKind, CellKind})
}

// kindNamed returns the kind with a name; nil for none.
func kindNamed(name string) *Kind {
	for _, k := range Kinds() {
		if k.Name == name {
			return k
		}
	}
	return nil
}
