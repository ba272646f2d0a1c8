package elastic

import "graft/torch/weights"

// PolicyReader reads a learned scheduler from weights. It returns false if another learner wrote the weights.
type PolicyReader = func(name string, set *weights.Set) (kind Kind, mine bool, err error)

var policyReaders []PolicyReader

// RegisterPolicies adds a reader of learned policies from another package. Call it before any policy is read.
func RegisterPolicies(read PolicyReader) { policyReaders = append(policyReaders, read) }

// PolicyReaders returns the registered readers of learned policies.
func PolicyReaders() []PolicyReader { return policyReaders }
