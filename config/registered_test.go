package config

import (
	"graft/internal/files"
	jobfile "graft/original/dl2/learning"
	"graft/original/policyfile"
	_ "graft/original/published" // registers readers of the original's policies, tables and weights
)

// readLearningJobs reads a file of learning schedulers for elastic jobs.
func readLearningJobs(path string, set []string) (*jobfile.File, error) {
	return ReadNamed[*jobfile.File](jobfile.KindName, Open(files.OS{}, path), set)
}

// readPolicyFile reads the file of a learning policy of the original system.
func readPolicyFile(path string, set []string) (*policyfile.File, error) {
	return ReadNamed[*policyfile.File](policyfile.KindName, Open(files.OS{}, path), set)
}
