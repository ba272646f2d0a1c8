package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"graft/simulation/grid"
	"graft/simulation/tables"
)

// simulationDetail is what a simulation has come to.
type simulationDetail struct {
	Table    *tableReport   `json:"table"`    // null where nothing was collected yet
	Failures []grid.Failure `json:"failures"` // every attempt that failed
	State    *grid.Progress `json:"state"`    // how far it has come; null where the cache is not at hand
	// Saved is the share of the steps that sequences of a common beginning saved; null
	// where that is not known.
	Saved *float64 `json:"steps_saved_share"`
	Note  string   `json:"note"` // why State is not known; empty where it is

	all bool
}

func readSimulationDetail(r *runData, all bool) (runDetail, error) {
	f := &runFolderView{path: r.Path, fsys: r.fsys}
	d := &simulationDetail{Failures: []grid.Failure{}, all: all}
	table, err := r.collected()
	if err != nil {
		return nil, err
	}
	if table != nil {
		d.Table = reportTable(table)
	}
	failed, err := failures(f)
	if err != nil {
		return nil, err
	}
	d.Failures = append(d.Failures, failed...)
	d.look(r)
	return d, nil
}

// look says how far the simulation has come, by what its cache has.
func (s *simulationDetail) look(r *runData) {
	state, err := stateOf(r)
	if err != nil {
		s.Note = err.Error()
		return
	}
	s.State = state
	if state.Alone > 0 {
		saved := 1 - float64(state.Steps)/float64(state.Alone)
		s.Saved = &saved
	}
}

// errNoState says that how far a simulation has come is not known.
var errNoState = errors.New("how many steps were taken is not known")

func stateOf(r *runData) (*grid.Progress, error) {
	plan, err := readPlan(filepath.Join(r.Path, planFile))
	if err != nil {
		return nil, err
	}
	if plan.Design.Which == grid.Likely {
		return nil, fmt.Errorf("%w: the design goes by a policy", errNoState)
	}
	ground, err := plan.Space()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoState, err)
	}
	store, err := grid.OpenStore(r.fsys, r.cache())
	if err != nil {
		return nil, fmt.Errorf("%w: the cache %s is not there", errNoState, r.cache())
	}
	log, err := grid.OpenFailures(r.fsys, filepath.Join(r.Path, failuresFolder))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoState, err)
	}
	state, err := grid.NewGrid(*plan, ground, store, log).Progress()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoState, err)
	}
	return &state, nil
}

// cache is where the simulation keeps what it ran.
func (r *runData) cache() string {
	if said, _ := r.setting("simulate.cache"); said != "" {
		return said
	}
	return cacheBeside(r.Path)
}

func (s *simulationDetail) write(d *document) {
	if s.Table != nil {
		writeRanks(d, s.Table, s.all)
	}
	if st := s.State; st != nil {
		text := fmt.Sprintf("%d of %d runs ended, of %d legs: %d steps of training", st.Ended, st.Sequences, st.Legs, st.Steps)
		if s.Saved != nil {
			text += fmt.Sprintf("; each run alone would have taken %d: %.1f%% are saved", st.Alone, 100**s.Saved)
		}
		d.say(text)
	}
	d.say(s.Note)
	if len(s.Failures) == 0 {
		return
	}
	d.head("%s", counted(len(s.Failures), "failed attempt"))
	t := newTable("SEQUENCE", ">SEED", ">ATTEMPT", "WHY")
	for k, f := range s.Failures {
		if k == mostFailures && !s.all {
			t.add(fmt.Sprintf("… %d more", len(s.Failures)-k), "", "", "")
			break
		}
		t.add(tables.Sequence(f.Sequence), fmt.Sprint(f.Seed), fmt.Sprint(f.Attempt), f.Why)
	}
	d.show(t)
}

// mostFailures is how many failed attempts are shown without --all.
const mostFailures = 10

// writeRanks adds the ranks of a table.
func writeRanks(d *document, r *tableReport, all bool) {
	d.head("sequences")
	d.say(r.title())
	if len(r.Rows) > 0 {
		d.show(r.ranks(all))
		d.say(r.summary())
	}
}

// tableDetail is the ranks of a table's sequences.
type tableDetail struct {
	Table *tableReport `json:"table"`

	all bool
}

func readTableDetail(r *runData, all bool) (runDetail, error) {
	table, err := r.readTable(r.Path)
	if err != nil {
		return nil, err
	}
	return &tableDetail{reportTable(table), all}, nil
}

func (t *tableDetail) write(d *document) { writeRanks(d, t.Table, t.all) }

// notThere says whether an error is that something is not there.
func notThere(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// hasRanks is a detail with the ranks of a table, or nil: JSON has all of them on demand.
type hasRanks interface{ ranks() *tableReport }

func (s *simulationDetail) ranks() *tableReport { return s.Table }

func (t *tableDetail) ranks() *tableReport { return t.Table }

func (o *originalDetail) ranks() *tableReport { return o.Table }
