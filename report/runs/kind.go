package runs

// Kind is a kind of run folder: how it is recognised and read. A new kind is a new file and a
// line in [Kinds].
type Kind struct {
	Name   string // one word, which reports use
	Title  string // singular, for headings
	Titles string // plural, for headings
	// matches recognises a folder of this kind by its files.
	matches func(f *Folder) bool
	// read fills in a run from a folder. It reads no more than a line in a list of a thousand
	// runs needs.
	read func(f *Folder, r *Run) error
	// series reads the time series; nil for a kind without any.
	series func(r *Run) ([]Series, error)
}

// Kinds lists all kinds; the first that matches a folder is its kind.
func Kinds() []*Kind {
	return append(StudyKinds(), NodeRunKind, NodeProfileKind,
		PipelineKind, SweepKind, SimulationKind, ElasticLearningKind, ElasticComparisonKind, ElasticCasesKind,
		PoliciesKind, PolicyKind, JobKind, EvaluationKind, TableKind, OriginalKind)
}
