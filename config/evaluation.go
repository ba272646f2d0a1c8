package config

// Evaluation is the configuration of an evaluation, as its run folder keeps it. Graft
// writes it, and reads it as settings only.
type Evaluation struct {
	Evaluate EvaluationOptions // what was compared, and how
}

// EvaluationOptions are the flags of an evaluation, with digests of what it read.
type EvaluationOptions struct {
	Policies      []string // paths of the policies; empty where policies learn in the evaluation
	PolicyDigests []string // SHA-256 of the policies' files
	Tables        []string // folders of the tables
	TableDigests  []string // SHA-256 of the tables' contents
	Vocab         string   // vocabulary of policies of the original's; empty means none
	Prefix        string   // whether those read token 0 before the layers; empty means as they learned
	// what is held out in turn, scenario, network, dataset or budget, or held-out for what the file holds out
	// at once; empty means nothing
	LeaveOut string
	// what differences are relative to; empty means the first policy or, where something is held out, the
	// best fixed sequence
	Against        string
	Try            []string // assignments to its keys of which the best was taken; empty takes the file as it is
	LearningFile   string   // file that says how policies learn; empty means flags do
	LearningDigest string   // SHA-256 of that file; empty where there is none
	For            string   // defaults that policies learn with, known or new; empty where nothing is held out
	Seeds          int      // policies that learn; zero where nothing is held out
	Steps          int      // upper bound on the steps of learning; zero where nothing is held out
}

// Resolved is the text of the file.
func (e *Evaluation) Resolved() string { return Resolved(e) }
