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
	// whether policies in the original system's format read token 0 before the tokens of the network's layers: "always"
	// or "never"; empty uses the setting with which each policy was trained
	Prefix string
	// cross-validation: "scenario" leaves out one table at a time; "network", "dataset" or "budget" leaves out all
	// tables with the same network, dataset or budget; "held-out" leaves out the held-out tables of the learning file;
	// empty means no cross-validation
	LeaveOut string
	// baselines to compare with; empty means the first policy or, with cross-validation, the best fixed sequence
	Against []string
	// additional candidate settings, such as learn.leaf=5; the learning file without them is also a candidate, and
	// cross-validation on the training tables selects the best; empty means the learning file only
	Try            []string
	LearningFile   string // path of the learning file; empty means that flags set the options
	LearningDigest string // SHA-256 of the learning file; empty if there is no file
	For            string // purpose of the policies: known or new scenarios; empty without cross-validation
	Seeds          int    // number of policies to learn; zero without cross-validation
	Steps          int    // maximum number of learning steps; zero without cross-validation
}

// Resolved returns the TOML text of the file.
func (e *Evaluation) Resolved() string { return Resolved(e) }
