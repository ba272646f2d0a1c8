package tables

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// SameRuns reports whether two tables hold the same runs, also if one of them was renamed, reordered, or extended with
// further sequences or seeds. Every run of a sequence with a seed that both tables have must be equal, and these must
// be at least half of the runs of the smaller table.
func (t *Table) SameRuns(other *Table) bool {
	data := t.Origin == nil || other.Origin == nil || t.Origin.Data == other.Origin.Data
	if !data || t.Network != other.Network || t.Budget != other.Budget || t.Decisions != other.Decisions {
		return false
	}
	shared := 0
	for k := range t.Records {
		ours := &t.Records[k]
		theirs := other.Find(ours.Sequence...)
		if theirs == nil {
			continue
		}
		count, equal := ours.shared(theirs)
		if !equal {
			return false
		}
		shared += count
	}
	return shared > 0 && 2*shared >= min(t.runs(), other.runs())
}

// shared counts the runs with seeds that two records of a sequence share, and reports whether these runs are equal.
func (r *Record) shared(other *Record) (count int, equal bool) {
	for at, seed := range r.Seeds {
		if k := slices.Index(other.Seeds, seed); k >= 0 {
			count++
			if r.Accuracy[at] != other.Accuracy[k] {
				return count, false
			}
		}
	}
	networks := len(r.Networks) == 0 || len(other.Networks) == 0 || slices.Equal(r.Networks, other.Networks)
	return count, count == 0 || networks && slices.Equal(r.Left, other.Left)
}

// runs counts the runs of all sequences.
func (t *Table) runs() (count int) {
	for k := range t.Records {
		count += len(t.Records[k].Seeds)
	}
	return count
}

// sampledRuns is the number of runs in a sample. The standard error of a share of one half is 6%.
const sampledRuns = 64

// RunHashes identifies the runs of a table by their hashes.
type RunHashes map[string]bool

// Hashes returns a hash of each run: network, budget, sequence, times of decisions, seed and accuracy.
func (t *Table) Hashes() RunHashes {
	all := make(RunHashes, t.runs())
	for k := range t.Records {
		r := &t.Records[k]
		head := fmt.Sprintf("%q %v %q %v", t.Network, t.Budget, r.Sequence, r.Left)
		for at, seed := range r.Seeds {
			h := sha256.Sum256(fmt.Appendf(nil, "%s %d:%v", head, seed, r.Accuracy[at]))
			all[hex.EncodeToString(h[:6])] = true
		}
	}
	return all
}

// Sample returns the 64 smallest hashes, sorted, which are a random part of the runs. It returns all hashes if there
// are fewer.
func (h RunHashes) Sample() []string {
	all := slices.Sorted(maps.Keys(h))
	return all[:min(len(all), sampledRuns)]
}

// Overlaps reports whether two tables share at least half of the runs of the smaller one, as in [Table.SameRuns], given
// the sample of the other table. If the sample is a part of the other table, Overlaps compares the runs in the sample's
// range of hashes, which are a random part of both tables. Unlike SameRuns, it accepts other results for the remaining
// common runs.
func (h RunHashes) Overlaps(sample []string) bool {
	shared, inRange := 0, len(h)
	for _, hash := range sample {
		if h[hash] {
			shared++
		}
	}
	if len(sample) == sampledRuns {
		inRange = 0
		for hash := range h {
			if hash <= sample[len(sample)-1] {
				inRange++
			}
		}
	}
	return shared > 0 && 2*shared >= min(len(sample), inRange)
}

// RunsDigest returns the SHA-256, in hexadecimal, of the runs: network, budget, sequences, times of decisions, seeds
// and accuracies. It does not depend on the name of the table, its other values, or the order of records and seeds.
func (t *Table) RunsDigest() string {
	lines := make([]string, len(t.Records))
	for k := range t.Records {
		r := &t.Records[k]
		order := make([]int, len(r.Seeds))
		for at := range order {
			order[at] = at
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(r.Seeds[a], r.Seeds[b]) })
		lines[k] = fmt.Sprintf("%q %v", r.Sequence, r.Left)
		for _, at := range order {
			lines[k] += fmt.Sprintf(" %d:%v", r.Seeds[at], r.Accuracy[at])
		}
	}
	slices.Sort(lines)
	h := sha256.New()
	fmt.Fprintf(h, "%q %v\n", t.Network, t.Budget)
	for _, line := range lines {
		fmt.Fprintln(h, line)
	}
	return hex.EncodeToString(h.Sum(nil))
}
