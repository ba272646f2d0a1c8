package decider

import "graft/torch/weights"

// IsStructural reports whether a file of weights is a structural policy.
func IsStructural(set *weights.Set) bool {
	_, marked := set.Metadata[structuralKey]
	return marked
}
