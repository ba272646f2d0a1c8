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

// Study trains a policy on a table and records metrics. Its results are bit-identical however often it is stopped and
// resumed.
type Study struct {
	*Learner
	Table      *tables.Table    // its records are the ends of the learner's tree
	Every      int              // episodes per row of metrics; zero means 100
	Checkpoint time.Duration    // wall-clock time between checkpoints; zero means 30 s
	Now        func() time.Time // clock for checkpoints; nil saves only at the end
	Recorder   Recorder         // receives metrics

	saved time.Time
}

// Row holds the metrics of some episodes.
type Row struct {
	Episodes    int     // total after this row
	Objective   float64 // mean over these episodes
	Accuracy    float64 // mean over these episodes; with the rule exact, the policy's expectation
	Expected    float64 // accuracy expected by the policy after them
	Greedy      int     // record of the most likely actions
	Temperature float64 // temperature of the next episode
	Rate        float64 // learning rate of the next step
}

// Recorder records a study.
type Recorder interface {
	// Row adds metrics.
	Row(r Row) error
	// Episodes adds episodes; first is the number of the first one, from 0.
	Episodes(first int, l EpisodeResults) error
	// Save atomically writes a checkpoint that belongs to the rows and episodes so far.
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

// lesson learns the episodes of one row, and saves if a checkpoint is due.
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
	Episodes    int      `json:"episodes"`          // episodes learned from
	Expected    float64  `json:"expected_accuracy"` // accuracy of a sequence drawn by the policy
	Greedy      []string `json:"greedy"`            // sequence of its most likely actions
	Accuracy    float64  `json:"accuracy"`          // accuracy of that sequence
	Rank        int      `json:"rank"`              // rank of that sequence in the table, from 1
	Records     int      `json:"records"`           // records in the table
	Best        []string `json:"best"`              // best sequence in the table
	Most        float64  `json:"best_accuracy"`     // accuracy of that sequence
	Temperature float64  `json:"temperature"`       // final temperature
	Rate        float64  `json:"learning_rate"`     // final learning rate
}

// Outcome returns the result so far.
func (s *Study) Outcome() (*StudyOutcome, error) {
	now, err := s.Expect()
	if err != nil {
		return nil, fmt.Errorf("evaluate the policy: %w", err)
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
