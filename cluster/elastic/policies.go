package elastic

import "graft/torch/weights"

// PolicyReader reads a learned scheduler from weights. It returns false for weights of another learner.
type PolicyReader = func(name string, set *weights.Set) (kind Kind, mine bool, err error)

var policyReaders []PolicyReader

// RegisterPolicies adds the policies of a learner outside of this room. Call it before any policy is read.
func RegisterPolicies(read PolicyReader) { policyReaders = append(policyReaders, read) }

// PolicyReaders returns the registered readers.
func PolicyReaders() []PolicyReader { return policyReaders }
