package learn

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"graft/results"
	"graft/simulation/tables"
	"graft/torch/weights"
	"graft/trainer"
)

// Names of the tables in a study's run folder, and of its checkpoints and their sections.
const (
	learningTable  = "learning"
	episodeTable   = "episodes"
	studySaved     = "study"
	studyPosition  = "position.json"
	studyTensors   = "policy" // in safetensors format
	studyCondition = "conditions.json"
)

var learningColumns = []results.Column{
	{Name: "episodes", Kind: results.Int}, {Name: "objective"}, {Name: "accuracy"}, {Name: "expected_accuracy"},
	{Name: "greedy", Kind: results.String}, {Name: "temperature"}, {Name: "learning_rate"},
}

var episodeColumns = []results.Column{
	{Name: "episode", Kind: results.Int}, {Name: "sequence", Kind: results.String}, {Name: "accuracy"},
	{Name: "objective"},
}

// Folder records the training of a policy in a run folder.
type Folder struct {
	Run   *results.Run
	Table *tables.Table // table that the policy is trained on
	// Conditions is a digest of everything that the metrics depend on. Training is resumed only if the digest is
	// unchanged.
	Conditions string

	rows, episodes *results.Stream
}

// OpenFolder opens the tables in the folder of a run that trains a policy on the table t. The argument conditions sets
// the field Conditions. The caller closes the run.
func OpenFolder(run *results.Run, t *tables.Table, conditions string) (*Folder, error) {
	f := &Folder{Run: run, Table: t, Conditions: conditions}
	var err error
	if f.rows, err = run.Stream(learningTable, learningColumns); err != nil {
		return nil, err
	}
	if f.episodes, err = run.Stream(episodeTable, episodeColumns); err != nil {
		return nil, err
	}
	return f, f.episodes.Buffer(1000) // rows lost in a kill are learned again
}

// Row appends a row to the table "learning".
func (f *Folder) Row(r Row) error {
	return f.rows.Append(r.Episodes, r.Objective, r.Accuracy, r.Expected,
		tables.Sequence(f.Table.Records[r.Greedy].Sequence), r.Temperature, r.Rate)
}

// Episodes appends a row for each episode to the table "episodes". The argument first is the number of the first
// episode, counted from 0. The learning rule "exact" plays no episodes.
func (f *Folder) Episodes(first int, l EpisodeResults) error {
	for k, end := range l.Ends {
		r := &f.Table.Records[end]
		if err := f.episodes.Append(first+k, tables.Sequence(r.Sequence), r.Mean(), l.Objectives[k]); err != nil {
			return err
		}
	}
	return nil
}

// Save writes a checkpoint. It must be called after all rows up to the checkpoint have been written.
func (f *Folder) Save(l *Learner) error {
	set, position, err := l.Save()
	if err != nil {
		return fmt.Errorf("save the policy: %w", err)
	}
	var tensors bytes.Buffer
	if err := weights.WriteSafetensors(&tensors, set); err != nil {
		return fmt.Errorf("save the policy: %w", err)
	}
	conditions, err := json.Marshal(f.Conditions)
	if err != nil {
		return fmt.Errorf("save the policy: %w", err)
	}
	return f.Run.SaveCheckpoint(studySaved, func(w *results.CheckpointWriter) error {
		return errors.Join(w.Bytes(studyCondition, conditions), w.Bytes(studyPosition, position),
			w.Bytes(studyTensors, tensors.Bytes()))
	})
}

// Restore restores the learner from the newest intact checkpoint, and the tables to their state at that checkpoint. If
// there is no checkpoint, it returns false, and the training starts from the beginning.
func (f *Folder) Restore(l *Learner) (bool, error) {
	c, err := f.Run.LoadCheckpoint()
	if errors.Is(err, results.ErrNoCheckpoint) {
		return false, errors.Join(f.rows.Truncate(0), f.episodes.Truncate(0))
	}
	if err != nil {
		return false, err
	}
	defer c.Close()
	sections, err := trainer.ReadSections(c)
	if err != nil {
		return false, err
	}
	var conditions string
	if err := json.Unmarshal(sections[studyCondition], &conditions); err != nil || conditions != f.Conditions {
		return false, errors.New("resume the study: the options, table, vocabulary or initial policy have changed " +
			"since the study was started; restore them, or start another study")
	}
	set, err := weights.ReadFrom(bytes.NewReader(sections[studyTensors]), int64(len(sections[studyTensors])),
		weights.Options{})
	if err != nil {
		return false, fmt.Errorf("resume the study: %w", err)
	}
	if err := f.Run.Rewind(c); err != nil {
		return false, err
	}
	return true, l.Restore(set, sections[studyPosition])
}

// Digest returns a digest of the tables: equal digests mean bit-identical tables.
func (f *Folder) Digest() string { return f.rows.Digest() + f.episodes.Digest() }
