package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"graft/decider"
	"graft/internal/decode"
	"graft/internal/files"
	"graft/internal/validate"
	"graft/simulation/grid"
	"graft/trainer"
)

// SimulationKind is the kind of files with a section "simulate".
var SimulationKind = &Kind{
	Name: "simulation", Noun: "scenario", Command: "graft simulate",
	Files: "scenario files", Title: "a scenario of graft", Sections: []string{"simulate"},
	New: func() File { return NewSimulation() }, Summary: summaryOf((*Simulation).Summary),
	Page: Page{Title: "Keys of a scenario's file", Sections: []string{"simulate", "fleet"},
		Intro: "A file with the section `simulate`, for `graft simulate`: a job file in which\n" +
			"graft tries every action at each decision. It has all sections of a job file. See\n" +
			"[simulations](simulate.md).\n"},
}

// Simulation holds the options of a scenario file: a job with a section "simulate", whose decisions are enumerated
// rather than made by a decider.
type Simulation struct {
	Job
	Simulate SimulateOptions // sequences of actions to run
	// Workers that run the sequences, and their resources. Outcomes do not depend on this section.
	Fleet FleetOptions `result:"none"`

	likely *decider.Structural // for the design likely; otherwise nil
}

// NewSimulation returns the options of an empty scenario file. EnsureDefaults sets the remaining defaults.
func NewSimulation() *Simulation { return &Simulation{Job: *NewJob()} }

// ReadSimulation reads a scenario with SimulationKind.Read.
func ReadSimulation(fsys files.FS, path string, set []string) (*Simulation, error) {
	return readAs[*Simulation](SimulationKind, Open(fsys, path), set)
}

// named names a scenario without a name after its file.
func (m *Simulation) named(path string) {
	m.Simulate.Name = cmp.Or(m.Simulate.Name, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
}

func (m *Simulation) load(fsys files.FS, r *decode.Reading) {
	m.Job.load(fsys, r)
	r.Attempt("simulate.policy", m.Simulate.Design == grid.Likely && m.Simulate.Policy != "", func() (err error) {
		m.likely, err = decider.ReadStructural(fsys, m.Simulate.Policy)
		return err
	})
}

// Check tries the actions of the first decision, and reports actions that do not fit the initial network.
func (m *Simulation) Check(fsys files.FS, r *decode.Reading) {
	m.checkProgram(r)
	if m.Job.Program.On() && m.Fleet.Fit {
		r.Blame("fleet.fit", "fleet.fit measures workers that train themselves, but program.command starts a program "+
			"that trains; set fleet.workers instead")
	}
	if m.Job.Program.On() && m.Simulate.Gains {
		r.Blame("simulate.gains", "simulate.gains computes gradients of the network, but program.command starts a "+
			"program that trains; remove simulate.gains")
	}
	if m.network == nil || r.Failed() {
		return
	}
	if m.compare(fsys, r); r.Failed() {
		return
	}
	if m.Job.Decisions() == 0 {
		r.Blame(m.Undecided())
		return
	}
	g := m.ground(m.network)
	g.Decisions = 1
	if _, _, err := g.Count(m.Simulate.MaxSequences); err != nil {
		r.Blame("simulate.actions", err.Error())
		return
	}
	m.checkEvents(r)
}

// EnsureDefaults sets zero fields to their defaults.
func (m *Simulation) EnsureDefaults() {
	m.Job.EnsureDefaults()
	m.Simulate.EnsureDefaults()
	m.Fleet.EnsureDefaults()
}

// Validate returns an error that lists every invalid option.
func (m *Simulation) Validate() error {
	faults := validate.Faults{m.Job.Validate(), m.Simulate.Validate(), m.Fleet.Validate()}
	faults.When(m.Adapt.Decider != DecideNone,
		"decider is %s, but a simulation tries every action of each decision; remove decider", m.Adapt.Decider)
	faults.When(m.Time.Clock == WallClock && m.Simulate.Seeds > 1, "several seeds require the virtual clock: "+
		"wall-clock times differ between seeds; use the virtual clock with the device's profile, or one seed")
	faults.When((m.Fleet.GPUs > 0 || m.Fleet.Gres != "") && m.Run.Device == "cpu",
		"fleet.gpus is for workers that train on GPUs, but run.device is cpu; set run.device to cuda")
	faults.When(m.Time.Stop > 0 || m.Time.StopLoss > 0, "stop and stop_loss end a job early, but a simulation trains "+
		"until the budget; remove them, or shorten time.budget")
	faults.When(m.Train.Parallel.On, "parallel.on is true, but a simulation trains each sequence in one process; set "+
		"parallel.on to false")
	faults.When(m.Run.Fork != "" || m.Train.Checkpoint.Keep > 0, "run.fork and checkpoint.keep_every do not "+
		"apply to a simulation, which shares the beginnings of its sequences by itself; remove them")
	if asked := m.Job.Decisions(); m.Simulate.Decisions > asked {
		faults = append(faults, fmt.Errorf("decisions is %d, but the timeline and adapt.max_decisions allow only %d; "+
			"lower decisions, or add %s", m.Simulate.Decisions, asked, m.moreDecisions()))
	}
	faults.When(m.Adapt.Kind().Trained, "adapt.when is %q, so the times of decisions depend on training and differ "+
		"between sequences; set adapt.when to \"share\", \"periodic\" or \"devices\"", string(m.Adapt.When))
	faults.When(m.shrinksBetween(),
		"events contains an \"up\" event after a \"down\" event: the network would shrink between decisions, "+
			"which a sequence of actions cannot express; simulate each growth in its own scenario")
	faults = append(faults, m.shrinksBefore())
	return errors.Join(faults...)
}

// shrinksBetween reports whether the network shrinks between two ups.
func (m *Simulation) shrinksBetween() bool {
	down := false
	for _, e := range m.Time.timeline().Events {
		if e.Change == trainer.Up && down {
			return true
		}
		down = down || e.Change == trainer.Down
	}
	return false
}

// shrinksBefore returns an error if the network may shrink before a decision at a time that is known in advance.
func (m *Simulation) shrinksBefore() error {
	moments, up := m.Options().Moments(), false
	for _, e := range m.Time.timeline().Events {
		if last := len(moments) - 1; up && e.Change == trainer.Down && last >= 0 && moments[last] >= e.At {
			return fmt.Errorf("events contains a \"down\" event at %v, which reverts changes since the \"up\" "+
				"event before it, but adapt.when = %q asks for a decision at %v: the network would shrink between "+
				"decisions, which a sequence of actions cannot express; remove the \"up\" or the \"down\" event, or "+
				"decide earlier",
				e.At, string(m.Adapt.When), moments[last])
		}
		up = up || e.Change == trainer.Up
	}
	return nil
}

// Resolved returns the text of the file with the value of every key, including defaults.
func (m *Simulation) Resolved() string { return Resolved(m) }

// Digest covers the job's digest and, for the design "likely", the policy.
func (m *Simulation) Digest() string {
	h := sha256.New()
	_, _ = io.WriteString(h, m.Job.Digest()) // a hash never fails
	writeKeys(h, m, "simulate.")
	if m.likely != nil {
		_ = m.likely.Format(h) // errors depend only on the policy, not on the writer
	}
	return hex.EncodeToString(h.Sum(nil))
}

// LikelyPolicy returns the policy that the design "likely" uses, or nil for other designs.
func (m *Simulation) LikelyPolicy() *decider.Structural { return m.likely }
