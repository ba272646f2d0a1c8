package dl2

import (
	"graft/cluster/elastic"
	"graft/torch/weights"
)

// Registers policies of DL2 as schedulers of elastic jobs.
func init() {
	elastic.RegisterPolicies(func(name string, set *weights.Set) (kind elastic.Kind, mine bool, err error) {
		if !IsPolicy(set) {
			return kind, false, nil
		}
		p, err := ReadPolicy(set)
		if err != nil {
			return kind, true, err
		}
		return p.Scheduler(name, SchedulerOptions{}), true, nil
	})
}
