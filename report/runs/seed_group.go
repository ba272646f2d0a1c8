package runs

import (
	"fmt"
	"slices"
)

// SeedGroup holds runs of one kind that differ only in their seeds. Comparisons and figures show a group as one column
// or curve.
type SeedGroup struct {
	Settings map[string]string // settings that all runs share, from [Run.ColumnSettings]
	Runs     []*Run
	Copies   []string // folders with copies of these runs, which do not count as runs
}

// SeedGroups sorts runs of one kind into groups, in the order of their first runs.
func SeedGroups(list []*Run) (groups []*SeedGroup) {
	place, outcomes := map[string]*SeedGroup{}, map[string]bool{}
	for _, r := range list {
		settings := r.ColumnSettings()
		print := r.Fingerprint(settings)
		c := place[print]
		if c == nil {
			c = &SeedGroup{Settings: settings}
			place[print], groups = c, append(groups, c)
		}
		same := fmt.Sprint(print, r.Manifest.Seed, r.Outcome)
		if r.Outcome != "" && outcomes[same] {
			c.Copies = append(c.Copies, r.Path)
			continue
		}
		outcomes[same] = true
		c.Runs = append(c.Runs, r)
	}
	return groups
}

// Machines lists the machines on which the runs of the group that used the wall clock started. Their results depend on
// the speed of the machine.
func (c *SeedGroup) Machines() (names []string) {
	for _, r := range c.Runs {
		if host := r.Manifest.Host; host != "" && r.onWallClock() && !slices.Contains(names, host) {
			names = append(names, host)
		}
	}
	return names
}

// onWallClock reports whether the time budget of a run passed on the clock of the machine.
func (r *Run) onWallClock() bool {
	return (r.Kind == JobKind || r.Kind == SweepKind) && r.Manifest.Profile == ""
}
