package decider

import "graft/torch/weights"

// IsStructural tells a file of a structural policy from any other file of weights.
func IsStructural(set *weights.Set) bool {
	_, marked := set.Metadata[structuralKey]
	return marked
}
