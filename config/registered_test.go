package config

import (
	"graft/internal/files"
	jobfile "graft/original/dl2/learning"
	"graft/original/policyfile"
	_ "graft/original/published" // reads policies, tables and weights of the original's
)

// readLearningJobs reads the file of schedulers of elastic jobs that learn.
func readLearningJobs(path string, set []string) (*jobfile.File, error) {
	return ReadNamed[*jobfile.File](jobfile.KindName, Open(files.OS{}, path), set)
}

// readPolicyFile reads the file of a policy of the original system that learns.
func readPolicyFile(path string, set []string) (*policyfile.File, error) {
	return ReadNamed[*policyfile.File](policyfile.KindName, Open(files.OS{}, path), set)
}
