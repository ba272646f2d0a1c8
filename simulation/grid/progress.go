package grid

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"graft/internal/files"
	"graft/simulation/tables"
)

// Progress is the state of a grid: finished and remaining work.
type Progress struct {
	Sequences int   `json:"sequences"`        // number of sequences to run, for all seeds, as far as known
	Ended     int   `json:"sequences_ended"`  // number of sequences that have ended
	Failed    int   `json:"sequences_failed"` // number of sequences that failed too often
	Segments  int   `json:"legs"`             // number of segments of these sequences
	Done      int   `json:"legs_done"`        // number of segments that have run
	Steps     int64 `json:"steps"`            // number of training steps taken
	// number of steps that the finished sequences would have taken if each had run from the beginning
	Alone   int64   `json:"steps_alone"`
	Seconds float64 `json:"machine_seconds"` // wall-clock time of the segments
	Best    []Best  `json:"best"`            // best sequences so far
	// Ahead is the estimated time of the remaining work for one worker, in seconds, computed from the times of segments
	// at the same depth in the tree. Zero means unknown.
	Ahead float64 `json:"machine_seconds_left"`
}

// Best is a finished sequence with a high accuracy.
type Best struct {
	Sequence []string `json:"sequence"` // actions of the sequence
	Accuracy float64  `json:"accuracy"` // mean accuracy over the seeds that have ended
	Seeds    int      `json:"seeds"`    // number of seeds that have ended
}

// mostBest limits the best sequences in a progress.
const mostBest = 3

// survey visits the known nodes of the grid.
func (g *Grid) survey(visit visitor) error {
	return g.walk(func(b *node) error {
		if err := g.look(b); err != nil {
			return err
		}
		return visit(b)
	})
}

// Progress reads the progress of the grid.
func (g *Grid) Progress() (Progress, error) {
	var s Progress
	var err error
	if s.Sequences, s.Segments, err = g.Size(); err != nil {
		return s, err
	}
	depths := make([]depth, g.Space.Decisions+1)
	err = g.survey(func(b *node) error {
		for k := range g.Seeds {
			s.count(b, k, &depths[len(b.sequence)])
			if b.failed[k] && (b.parent == nil || !b.parent.failed[k]) {
				n, err := g.below(b)
				if err != nil {
					return err
				}
				s.Failed += n
			}
		}
		s.rank(b)
		return nil
	})
	s.Ahead = g.ahead(depths)
	return s, err
}

// below returns the number of sequences that begin with a node.
func (g *Grid) below(b *node) (n int, err error) {
	if len(b.sequence) == g.Space.Decisions {
		return 1, nil
	}
	next, err := g.next(b)
	for _, child := range next {
		if err == nil {
			var more int
			more, err = g.below(child)
			n += more
		}
	}
	return n, err
}

func (s *Progress) count(b *node, seed int, d *depth) {
	o := b.outcomes[seed]
	if o == nil {
		return
	}
	s.Done, d.done = s.Done+1, d.done+1
	s.Steps += o.Steps
	s.Seconds, d.seconds = s.Seconds+o.Seconds, d.seconds+o.Seconds
	if !o.Ended {
		return
	}
	s.Ended++
	for up := b; up != nil; up = up.parent {
		if o := up.outcomes[seed]; o != nil {
			s.Alone += o.Steps
		}
	}
}

func (s *Progress) rank(b *node) {
	one := Best{Sequence: b.sequence}
	for _, o := range b.outcomes {
		if o != nil && o.Ended {
			one.Accuracy += o.Accuracy
			one.Seeds++
		}
	}
	if one.Seeds == 0 {
		return
	}
	one.Accuracy /= float64(one.Seeds)
	s.Best = append(s.Best, one)
	slices.SortStableFunc(s.Best, func(a, b Best) int { return cmp.Compare(b.Accuracy, a.Accuracy) })
	s.Best = s.Best[:min(len(s.Best), mostBest)]
}

// depth counts the segments of a depth in the tree.
type depth struct {
	done    int
	seconds float64
}

// ahead estimates the machine seconds of the remaining segments. A depth without a finished segment counts like the one
// before.
func (g *Grid) ahead(depths []depth) float64 {
	sum, each := 0.0, 0.0
	for k, d := range depths {
		if d.done > 0 {
			each = d.seconds / float64(d.done)
		}
		sum += each * float64(max(0, g.extent[k]-d.done))
	}
	return sum
}

// tableWriter is the name of the file of records.
const tableWriter = "grid"

// WriteTable writes the table of all finished sequences into a folder and replaces the previous table. Equal outcomes
// give byte-identical tables, regardless of the workers that produced them.
func (g *Grid) WriteTable(fsys files.FS, dir string) (records int, err error) {
	var found []*Outcome
	err = g.survey(func(b *node) error {
		for _, o := range b.outcomes {
			if o != nil && o.Ended {
				found = append(found, o)
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	place := g.places()
	slices.SortFunc(found, func(a, b *Outcome) int {
		return slices.Compare(place(a), place(b))
	})
	fresh, old := dir+".new", dir+".old"
	if err := errors.Join(files.RemoveAll(fsys, fresh), g.write(fsys, fresh, found)); err != nil {
		return 0, err
	}
	return len(found), swap(fsys, dir, fresh, old)
}

// places returns the sort key of an outcome: its choices at each decision, and its seed.
func (g *Grid) places() func(o *Outcome) []int {
	return func(o *Outcome) []int {
		var at []int
		b := g.root
		for _, action := range o.Sequence {
			k := slices.IndexFunc(b.children, func(c *node) bool { return c.sequence[len(c.sequence)-1] == action })
			at, b = append(at, k), b.children[k]
		}
		return append(at, slices.Index(g.Seeds, o.Seed))
	}
}

func (g *Grid) write(fsys files.FS, dir string, found []*Outcome) error {
	if err := tables.Create(fsys, dir, g.Scenario, tables.CreateOptions{}); err != nil {
		return err
	}
	w, err := tables.Open(fsys, dir, tables.WriterOptions{Name: tableWriter, Lazy: true})
	if err != nil {
		return err
	}
	for _, o := range found {
		if err := w.Append(o.Key, o.record()); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return w.Close()
}

// swap replaces an old table by a new one. If it is killed in between, the new table remains in its own folder and the
// next call starts over.
func swap(fsys files.FS, dir, fresh, old string) error {
	if err := files.RemoveAll(fsys, old); err != nil {
		return err
	}
	if err := fsys.Rename(dir, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("replace table %s: %w", dir, err)
	}
	if err := fsys.Rename(fresh, dir); err != nil {
		return fmt.Errorf("replace table %s: %w", dir, err)
	}
	return errors.Join(fsys.SyncDir(filepath.Dir(dir)), files.RemoveAll(fsys, old))
}
