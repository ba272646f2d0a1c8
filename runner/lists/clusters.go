package lists

import (
	"fmt"

	"graft/cluster/worlds"
)

// schedulers lists the schedulers of all worlds.
func schedulers() (list []Entry) {
	for _, w := range worlds.All() {
		for _, s := range w.Schedulers() {
			list = append(list, Entry{Name: s.Name, Of: w.Name, About: s.About,
				Command: fmt.Sprintf("graft cluster run %s.toml --scheduler %s", w.Name, s.Name)})
		}
	}
	return list
}

// quirks lists the faults that worlds can keep. A file with ablations simulates each separately.
func quirks() (list []Entry) {
	for _, w := range worlds.All() {
		for _, q := range w.Quirks {
			list = append(list, Entry{Name: q.Name, Of: w.Name,
				About: "bug of a published simulator; after the fix, " + q.Fixed,

				Command: fmt.Sprintf("graft cluster run %s.toml --set schedule.ablate=true", w.Name)})
		}
	}
	return list
}
