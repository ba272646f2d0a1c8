package schedulers

import (
	"fmt"
	"strings"

	"graft/cluster"
)

// Kinds are all schedulers.
func Kinds() []cluster.Policy {
	return []cluster.Policy{
		{Name: "fifo", About: "in the order of submission, nobody overtakes", New: newFIFO},
		{Name: "sjf", About: "the shortest first; knows the durations", New: newSJF},
		{Name: "srtf", About: "the one with the least left first, with preemption; knows the durations", New: newSRTF, Extra: true},
		{Name: "qssf", About: "the one expected to use the fewest device-seconds first", New: newQSSF, Estimate: true},
		{Name: "tiresias", About: "those that had the fewest device-seconds first, with preemption; knows nothing", New: newTiresias, Extra: true},
		Lucid(LucidOptions{}),
		{Name: "backfill", About: "in the order of submission, but who delays nobody may overtake", New: newBackfill},
		{Name: "fair", About: "as equal shares of the devices as can be; jobs grow and shrink", New: newFair},
	}
}

// Named is a kind by its name.
func Named(name string) (cluster.Policy, error) {
	var names []string
	for _, k := range Kinds() {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return cluster.Policy{}, fmt.Errorf("there is no scheduler %q; there are %s", name, strings.Join(names, ", "))
}
