package main

import (
	"graft/results/runs"
)

// learnTreesReport is what `graft learn --json` prints of structural policies.
type learnTreesReport struct {
	Folder  string                `json:"folder"`  // of the run
	Policy  string                `json:"policy"`  // the file of the vote
	Outcome *runs.PoliciesOutcome `json:"outcome"` // what was learned
	Seconds float64               `json:"seconds"` // of the machine's time that learning took, in this process
}
