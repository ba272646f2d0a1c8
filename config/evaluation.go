package config

// Evaluation is what policies were held against, as its run folder keeps it. Graft
// writes it and reads it as settings only.
type Evaluation struct {
	Evaluate EvaluationOptions // what was compared, and how
}

// EvaluationOptions are the flags of an evaluation, with digests of what it read.
type EvaluationOptions struct {
	Policies       []string // that were given; empty where policies learn from what is left in
	PolicyDigests  []string // SHA-256 of the policies' files
	Tables         []string // their folders
	TableDigests   []string // SHA-256 of what the tables hold
	Vocab          string   // of policies of the original's; empty for none
	Prefix         string   // whether those read token 0 before the layers; empty means as they learned
	LeaveOut       string   // what is left out in turn, scenario or network; empty means nothing
	LearningFile   string   // the file that says how policies learn; empty means flags do
	LearningDigest string   // SHA-256 of that; empty where there is no such file
	For            string   // whose defaults policies learn with, known or new; empty where nothing is left out
	Seeds          int      // of the policies that learn; zero where nothing is left out
	Steps          int      // of learning at most; zero where nothing is left out
}

// Resolved is the file.
func (e *Evaluation) Resolved() string { return Resolved(e) }
