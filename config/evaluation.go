package config

// Evaluation is the configuration of an evaluation in its run folder. Graft writes it, and reads it only as settings.
type Evaluation struct {
	Evaluate EvaluationOptions // policies, tables and settings of the comparison
}

// EvaluationOptions are the flags of an evaluation, with digests of its inputs.
type EvaluationOptions struct {
	Policies      []string // paths of the policies; empty if policies learn in the evaluation
	PolicyDigests []string // SHA-256 of the policies' files
	Tables        []string // folders of the tables
	TableDigests  []string // SHA-256 of the tables' contents
	Vocab         string   // vocabulary of the original's policies; empty means none
	Prefix        string   // whether these policies read token 0 before the layers; empty means as they learned
	// unit of cross-validation: scenario, network, dataset or budget; held-out for the tables that the file holds out;
	// empty means none
	LeaveOut string
	// baseline of the differences; empty means the first policy, or with held-out tables the best fixed sequence
	Against        string
	Try            []string // alternative assignments to its keys; the best is selected; empty uses the file unchanged
	LearningFile   string   // file of the learning options; empty means flags
	LearningDigest string   // SHA-256 of that file; empty if there is none
	For            string   // defaults of learning, known or new; empty without held-out tables
	Seeds          int      // policies to learn; zero without held-out tables
	Steps          int      // upper bound on the steps of learning; zero without held-out tables
}

// Resolved returns the text of the file.
func (e *Evaluation) Resolved() string { return Resolved(e) }
