package runs

import "slices"

// Kind is a kind of run folder: how it is recognised and read. A new kind is a new file and a
// line in [Kinds].
type Kind struct {
	Name   string // one word, which manifests and reports use
	Title  string // singular, for headings
	Titles string // plural, for headings
	By     string // command that makes the folders, such as graft train
	// matches recognises a folder of this kind by its files, if its manifest names no kind.
	matches func(f *Folder) bool
	// read fills in a run from a folder. It reads no more than a line in a list of a thousand
	// runs needs.
	read func(f *Folder, r *Run) error
	// series reads the time series; nil for a kind without any.
	series func(r *Run) ([]Series, error)
}

// Kinds lists all kinds. If the manifest of a folder names none, its kind is the first that matches.
func Kinds() []*Kind {
	return slices.Concat(StudyKinds(), []*Kind{NodeRunKind, NodeProfileKind,
		PipelineKind, SweepKind, SimulationKind, ElasticLearningKind, ElasticComparisonKind, ElasticCasesKind,
		PoliciesKind, PolicyKind, JobKind, EvaluationKind, TableKind, OriginalKind})
}

// kindNamed returns the kind of this name; nil for none.
func kindNamed(name string) *Kind {
	for _, k := range Kinds() {
		if k.Name == name {
			return k
		}
	}
	return nil
}
