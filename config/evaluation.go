package config

// Evaluation is the configuration file in the run folder of an evaluation. Graft writes this file for reference, and
// reads it only to list the settings.
type Evaluation struct {
	Evaluate EvaluationOptions // policies, tables and settings of the comparison
}

// EvaluationOptions holds the flags of an evaluation, with digests of its inputs.
type EvaluationOptions struct {
	Policies      []string // paths of the policies; empty if policies learn in the evaluation
	PolicyDigests []string // SHA-256 of each policy file
	Tables        []string // paths of the tables' folders
	TableDigests  []string // SHA-256 of each table's content
	// path of the vocabulary for policies in the original system's format; empty means none
	Vocab string
	// whether policies in the original system's format read token 0 before the layers; empty means the setting used in
	// training
	Prefix string
	// grouping of the tables that are left out in turn: scenario, network, dataset or budget, or held-out for the
	// held-out tables of the learning file; empty means none
	LeaveOut string
	// baseline to which differences are relative; empty means the first policy or, for leave-one-out, the best fixed
	// sequence
	Against string
	// alternative assignments to keys of the learning file, from which the best is selected; empty uses the file
	// unchanged
	Try            []string
	LearningFile   string // path of the learning file; empty means that flags set the options
	LearningDigest string // SHA-256 of the learning file; empty if there is no file
	For            string // purpose of the policies: known or new scenarios; empty without leave-one-out
	Seeds          int    // number of policies to learn; zero without leave-one-out
	Steps          int    // maximum number of learning steps; zero without leave-one-out
}

// Resolved returns the TOML text of the file.
func (e *Evaluation) Resolved() string { return Resolved(e) }
