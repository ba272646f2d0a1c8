package tables

import (
	"cmp"
	"slices"
)

// found is a record that was read.
type found struct {
	*Entry
	number int32  // number of the record in reading order
	path   string // its sequence
}

// beginnings calls do for the network at each decision, until do returns false.
func (f *found) beginnings(do func(actions int, r reached) bool) {
	end := 0
	for n := range min(len(f.Sequence), len(f.Networks)) {
		if !do(n, reached{f.path[:end], f.Networks[n]}) {
			return
		}
		end += len(f.Sequence[n]) + 1
	}
}

// reached is a network, and the actions that led to it.
type reached struct{ path, network string }

// agreeing drops records whose networks differ from the networks of most records with the same beginning.
func agreeing(all []found) ([]found, Faults) {
	votes, voters := map[reached]int{}, map[string]int{}
	for k := range all {
		all[k].beginnings(func(_ int, r reached) bool {
			votes[r]++
			voters[r.path]++
			return true
		})
	}
	var faults Faults
	all = slices.DeleteFunc(all, func(f found) (odd bool) {
		f.beginnings(func(n int, r reached) bool {
			if odd = 2*votes[r] <= voters[r.path]; odd {
				faults = append(faults, *f.fault(Disagree, "sequence %s: after action %d, the network is %s, but only "+
					"%d of %d records with the same first actions have this network",
					Tuple(f.Sequence), n, r.network, votes[r], voters[r.path]))
			}
			return !odd
		})
		return odd
	})
	return all, faults
}

// merging merges the records of each sequence into one.
type merging struct {
	records []Record
	first   []*Entry       // first entry of each record
	apart   []bool         // whether the entries of a record contradict each other
	at      map[string]int // indices in records, by sequence
	faults  Faults
}

// merge makes a table's records in the order of choices, and returns their entries.
func merge(s Scenario, all []found) (records []Record, entries []*Entry, faults Faults) {
	m := merging{records: make([]Record, 0, len(all)), at: make(map[string]int, len(all))}
	for k := range all {
		m.add(&all[k])
	}
	for k := range all {
		if !m.apart[m.at[all[k].path]] {
			entries = append(entries, all[k].Entry)
		}
	}
	records = m.records[:0]
	for k := range m.records {
		if !m.apart[k] {
			sortBySeed(&m.records[k])
			records = append(records, m.records[k])
		}
	}
	sortByChoice(s, records)
	return records, entries, m.faults
}

func (m *merging) add(f *found) {
	k, has := m.at[f.path]
	switch {
	case !has:
		m.at[f.path] = len(m.records)
		m.records, m.first, m.apart = append(m.records, f.Record), append(m.first, f.Entry), append(m.apart, false)
	case !m.records[k].sharesCourse(&f.Record):
		m.apart[k] = true
		m.faults = append(m.faults, *f.fault(Disagree,
			"sequence %s: the times, networks or profile differ from %s:%d, which has the same sequence with other "+
				"seeds",
			Tuple(f.Sequence), m.first[k].File, m.first[k].Line))
	default:
		m.records[k].join(&f.Record)
	}
}

// sharesCourse reports whether two records differ only in values that depend on the seed. A last step of zero means
// unknown.
func (r *Record) sharesCourse(other *Record) bool {
	return slices.Equal(r.Left, other.Left) && slices.Equal(r.Step, other.Step) && len(r.Before) == len(other.Before) &&
		slices.Equal(r.Networks, other.Networks) && r.Profile == other.Profile &&
		(r.LastStep == other.LastStep || r.LastStep*other.LastStep == 0)
}

// join adds the runs of other seeds. A curve that either record lacks becomes unknown.
func (r *Record) join(other *Record) {
	mine, all := float64(len(r.Seeds)), float64(len(r.Seeds)+len(other.Seeds))
	theirs := append(other.curves(), curve{values: &other.Before})
	for n, c := range append(r.curves(), curve{values: &r.Before}) {
		if len(*c.values) != len(*theirs[n].values) {
			*c.values = nil
		}
		*c.values = slices.Clone(*c.values)
		for k := range *c.values {
			(*c.values)[k] = (mine*(*c.values)[k] + (all-mine)*(*theirs[n].values)[k]) / all
		}
	}
	r.LastStep = max(r.LastStep, other.LastStep)
	r.Accuracy = append(slices.Clip(r.Accuracy), other.Accuracy...)
	r.Seeds = append(slices.Clip(r.Seeds), other.Seeds...)
}

func sortBySeed(r *Record) {
	if slices.IsSorted(r.Seeds) {
		return
	}
	order := make([]int, len(r.Seeds))
	for n := range order {
		order[n] = n
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(r.Seeds[a], r.Seeds[b]) })
	r.Seeds, r.Accuracy = pick(r.Seeds, order), pick(r.Accuracy, order)
}

func pick[T any](list []T, order []int) []T {
	picked := make([]T, len(order))
	for n, k := range order {
		picked[n] = list[k]
	}
	return picked
}

// sortByChoice sorts records by their actions; alphabetically if there is no list of actions.
func sortByChoice(s Scenario, records []Record) {
	place := map[string]int{}
	for k, a := range s.Actions {
		place[a] = k
	}
	slices.SortFunc(records, func(a, b Record) int {
		return slices.CompareFunc(a.Sequence, b.Sequence, func(x, y string) int {
			if x == y {
				return 0
			}
			return cmp.Or(cmp.Compare(place[x], place[y]), cmp.Compare(x, y))
		})
	})
}
