package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"graft/simulation/learning"
	"graft/simulation/tables"
)

// Study is a policy that learns from a table, with the figures of how it does. It
// shows the same bits however often it is stopped and resumed.
type Study struct {
	*Learner
	Table      *tables.Table    // whose records are the ends of the learner's tree
	Every      int              // episodes that a row of figures is about; zero means 100
	Checkpoint time.Duration    // of the machine's time between checkpoints; zero means 30 s
	Now        func() time.Time // when checkpoints are due; nil saves in the end only
	Recorder   Recorder         // where figures go

	saved time.Time
}

// Row is the figures of some episodes.
type Row struct {
	Episodes    int     // in all, after these
	Objective   float64 // the mean of theirs
	Accuracy    float64 // the mean of theirs; with the rule exact what the policy expects
	Expected    float64 // accuracy that the policy expects after them
	Greedy      int     // record that the likeliest actions lead to
	Temperature float64 // of the next episode
	Rate        float64 // of the next step
}

// Recorder records a study.
type Recorder interface {
	// Row adds figures.
	Row(r Row) error
	// Episodes adds episodes, of which the first has a number from 0.
	Episodes(first int, l EpisodeResults) error
	// Save keeps a checkpoint that belongs to the rows and lessons so far, whole or
	// not at all.
	Save(l *Learner) error
}

// Run learns until all episodes are done. When ctx ends it saves and returns ErrStopped.
func (s *Study) Run(ctx context.Context) (*StudyOutcome, error) {
	s.saved = s.now()
	for !s.Done() {
		if ctx.Err() != nil {
			return nil, errors.Join(learning.ErrStopped, s.save())
		}
		if err := s.lesson(); err != nil {
			return nil, fmt.Errorf("learn from table %s: %w", s.Table.Name, err)
		}
	}
	if err := s.save(); err != nil {
		return nil, err
	}
	return s.Outcome()
}

func (s *Study) now() time.Time {
	if s.Now == nil {
		return time.Time{}
	}
	return s.Now()
}

func (s *Study) save() error {
	s.saved = s.now()
	return s.Recorder.Save(s.Learner)
}

// lesson learns as much as a row is about, and saves where it is time.
func (s *Study) lesson() error {
	first := s.Episodes()
	size := (cmp.Or(s.Every, 100) + s.Batch - 1) / s.Batch * s.Batch // whole batches
	l, err := s.Learn(size - first%size)
	if err != nil {
		return err
	}
	row, err := s.row(l)
	if err == nil {
		err = s.Recorder.Episodes(first, l)
	}
	if err == nil {
		err = s.Recorder.Row(row)
	}
	if err == nil && s.now().Sub(s.saved) >= cmp.Or(s.Checkpoint, 30*time.Second) {
		err = s.save()
	}
	return err
}

func (s *Study) row(l EpisodeResults) (Row, error) {
	o, err := s.Expect()
	r := Row{Episodes: s.Episodes(), Expected: o.Accuracy, Accuracy: o.Accuracy, Greedy: o.Greedy,
		Temperature: s.Heat(), Rate: s.Rate()}
	for _, v := range l.Objectives {
		r.Objective += v / float64(len(l.Objectives))
	}
	if len(l.Ends) > 0 {
		r.Accuracy = 0
	}
	for _, end := range l.Ends {
		r.Accuracy += s.Tree.Accuracy[end] / float64(len(l.Ends))
	}
	return r, err
}

// StudyOutcome is the result of a study.
type StudyOutcome struct {
	Episodes    int      `json:"episodes"`          // that were learned from
	Expected    float64  `json:"expected_accuracy"` // of a sequence that the policy draws
	Greedy      []string `json:"greedy"`            // the sequence of its likeliest actions
	Accuracy    float64  `json:"accuracy"`          // of that sequence
	Rank        int      `json:"rank"`              // of that sequence in the table, from 1
	Records     int      `json:"records"`           // of the table
	Best        []string `json:"best"`              // sequence of the table
	Most        float64  `json:"best_accuracy"`     // of that sequence
	Temperature float64  `json:"temperature"`       // in the end
	Rate        float64  `json:"learning_rate"`     // of the learning, in the end
}

// Outcome returns the result so far.
func (s *Study) Outcome() (*StudyOutcome, error) {
	now, err := s.Expect()
	if err != nil {
		return nil, fmt.Errorf("look at what was learned: %w", err)
	}
	best, rank := 0, 1
	for k, a := range s.Tree.Accuracy {
		if a > s.Tree.Accuracy[best] {
			best = k
		}
		if a > s.Tree.Accuracy[now.Greedy] || a == s.Tree.Accuracy[now.Greedy] && k < now.Greedy {
			rank++
		}
	}
	return &StudyOutcome{Episodes: s.Episodes(), Expected: now.Accuracy, Greedy: s.Table.Records[now.Greedy].Sequence,
		Accuracy: s.Tree.Accuracy[now.Greedy], Rank: rank, Records: len(s.Table.Records),
		Best: s.Table.Records[best].Sequence, Most: s.Tree.Accuracy[best], Temperature: s.Heat(),
		Rate: s.Rate()}, nil
}
