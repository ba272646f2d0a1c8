package decider

import "slices"

// InputGroup is a name for several inputs of policies.
type InputGroup struct {
	Name   string
	Inputs []string
}

// InputGroups lists the groups of inputs. A policy without the group "sizes" reads only inputs that are relative to the
// network, to the budget, or to the other choices, and the number of steps that are left.
func InputGroups() []InputGroup {
	return []InputGroup{
		{"sizes", []string{"added_parameters", "added_operations", "parameters", "operations", "layers",
			"step_seconds"}},
		{"curve", []string{"loss", "fall", "gap", "loss_share"}},
		{"gains", []string{gainShare, gainRate, gainLevel}},
	}
}

// expandInputs replaces the names of groups by their inputs.
func expandInputs(names []string) (inputs []string) {
	for _, name := range names {
		k := slices.IndexFunc(InputGroups(), func(g InputGroup) bool { return g.Name == name })
		if k < 0 {
			inputs = append(inputs, name)
			continue
		}
		inputs = append(inputs, InputGroups()[k].Inputs...)
	}
	return inputs
}
