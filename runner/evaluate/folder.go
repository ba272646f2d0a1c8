package evaluate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/runs"
	"graft/results"
	"graft/simulation"
)

// Inputs describes the policies, tables and files that an evaluation read, as recorded in its run folder.
type Inputs struct {
	config.EvaluationOptions
	Text     string   // text of the learning configuration; empty means none
	Networks []string // names of the tables' networks
}

// inputs reads the details of the policies, tables and files for the run folder.
func (e *Evaluation) inputs() (Inputs, error) {
	in := Inputs{EvaluationOptions: config.EvaluationOptions{Policies: e.o.Policies, Tables: e.o.Tables,
		Vocab: e.o.Vocab, Prefix: e.o.Prefix}}
	in.AddTables(e.o.Trees)
	for _, p := range e.policies {
		digest, err := p.digest(e.env.Files)
		if err != nil {
			return in, err
		}
		in.PolicyDigests = append(in.PolicyDigests, digest)
	}
	leave := e.o.Leave
	if leave.By == "" {
		return in, nil
	}
	in.Policies, in.LeaveOut, in.LearningFile, in.For, in.Seeds, in.Steps = []string{}, leave.By, leave.File, leave.For,
		len(e.study.Seeds), e.steps()
	in.Against, in.Try = leave.Against, leave.Try
	if leave.File == "" {
		return in, nil
	}
	in.LearningDigest, in.Tables = leave.Learning.Digest(),
		slices.Concat(leave.Learning.Tables.Folders, leave.Learning.Tables.HeldOut)
	in.Text = e.file.Text()
	return in, nil
}

// AddTables appends the digest and the network of each table to the inputs.
func (in *Inputs) AddTables(trees []*simulation.Tree) {
	for _, t := range trees {
		in.TableDigests = append(in.TableDigests, t.Digest())
		in.Networks = append(in.Networks, t.Network)
	}
}

// create makes the run folder; nil if none is requested.
func (e *Evaluation) create() (*Folder, error) {
	if e.o.Out == "" {
		return nil, nil
	}
	in, err := e.inputs()
	if err != nil {
		return nil, err
	}
	return Create(e.env.Files, e.o.Out, e.o.Force, in, e.env.Manifest(runs.EvaluationKind,
		results.Manifest{Device: "cpu"}))
}

// Folder is the run folder of an evaluation. Create it with Create; a nil folder writes nothing.
type Folder struct {
	run                          *results.Run
	verdicts, members, standings *results.Stream
	folds                        *results.Stream // nil if nothing is held out
}

// Create creates a run folder without an outcome. If force is true, an existing folder is moved aside.
func Create(fsys files.FS, folder string, force bool, in Inputs, m results.Manifest) (*Folder, error) {
	slices.Sort(in.Networks)
	m.Network = strings.Join(slices.Compact(in.Networks), ", ")
	resolved := (&config.Evaluation{Evaluate: in.EvaluationOptions}).Resolved()
	run, err := results.Create(fsys, folder,
		results.CreateOptions{Force: force, Config: in.Text, Resolved: resolved}, m)
	if errors.Is(err, results.ErrExists) {
		err = failure.With(failure.Usage, err)
	}
	if err != nil {
		return nil, err
	}
	f := &Folder{run: run}
	if err := f.open(in.LeaveOut != ""); err != nil {
		return nil, errors.Join(err, run.Close())
	}
	return f, nil
}

// open makes the tables that identify the folder.
func (f *Folder) open(folds bool) (err error) {
	for _, one := range []struct {
		stream  **results.Stream
		name    string
		columns []results.Column
	}{{&f.verdicts, "verdicts", verdictColumns}, {&f.members, "members", memberColumns},
		{&f.standings, "standings", standingColumns}, {&f.folds, "folds", foldColumns}} {
		if one.name == "folds" && !folds {
			continue
		}
		if *one.stream, err = f.run.Stream(one.name, one.columns); err != nil {
			return err
		}
	}
	return nil
}

// Close releases the folder. If Finish was not called, the folder has no outcome.
func (f *Folder) Close() {
	if f != nil {
		_ = f.run.Close() // Finish has returned the error of a valid folder
	}
}

// Finish writes all rows, then the outcome, which makes the rows valid, and closes the folder.
func (f *Folder) Finish(o *runs.EvaluationOutcome) error {
	if f == nil {
		return nil
	}
	if err := errors.Join(f.fill(o), f.fold(o)); err != nil {
		return fmt.Errorf("save the evaluation: %w", err)
	}
	if err := f.run.WriteOutcome(o); err != nil {
		return fmt.Errorf("save the evaluation: %w", err)
	}
	return f.run.Close()
}
