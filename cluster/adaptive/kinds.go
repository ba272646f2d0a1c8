package adaptive

import (
	"fmt"
	"strings"

	"graft/cluster"
)

// Kinds returns all schedulers. A new one is a new file and a line here.
func Kinds() []Kind {
	return []Kind{
		{Name: "tiresias", About: "the jobs with the least service first, with the devices and the batch that users ask for", Quirks: []cluster.Quirk{WholeSeconds}, New: newTiresias},
		{Name: "optimus", About: "the next device to the job whose remaining time falls most by it; knows what jobs have left", Quirks: []cluster.Quirk{WholeSeconds, EpochLeftOut, AlwaysTwice, FullNodes}, New: newOptimus},
		PolluxOptions{}.Kind(),
		GoodputOptions{}.Kind(),
	}
}

// Named returns a scheduler by its name.
func Named(name string) (Kind, error) {
	var all []string
	for _, k := range Kinds() {
		if k.Name == name {
			return k, nil
		}
		all = append(all, k.Name)
	}
	return Kind{}, fmt.Errorf("unknown scheduler %q; expected one of %s", name, strings.Join(all, ", "))
}
