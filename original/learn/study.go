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

// Study trains a policy on a table and records metrics. The results are bit-identical, no matter how often the training
// is stopped and resumed.
type Study struct {
	*Learner
	Table      *tables.Table    // table whose records are the ends of the learner's tree
	Every      int              // number of episodes per row of metrics; zero means 100
	Checkpoint time.Duration    // wall-clock time between checkpoints; zero means 30 s
	Now        func() time.Time // clock for checkpoints; nil saves a checkpoint only at the end
	Recorder   Recorder         // receiver of metrics and checkpoints

	saved time.Time
}

// Row holds the metrics of a group of consecutive episodes.
type Row struct {
	Episodes  int     // number of episodes up to and including this row
	Objective float64 // mean objective of these episodes
	// mean accuracy of these episodes; if the learning rule is "exact", the expected accuracy of the policy instead
	Accuracy    float64
	Expected    float64 // expected accuracy of the policy after these episodes
	Greedy      int     // index of the record that the most likely actions reach
	Temperature float64 // temperature for the next episode
	Rate        float64 // learning rate for the next step
}

// Recorder records the metrics and checkpoints of a Study.
type Recorder interface {
	// Row records one row of metrics.
	Row(r Row) error
	// Episodes records the results of episodes. The argument first is the number of the first episode, counted from 0.
	Episodes(first int, l EpisodeResults) error
	// Save writes a checkpoint atomically. The checkpoint covers the rows and episodes recorded so far.
	Save(l *Learner) error
}

// Run trains until all episodes are played. When ctx ends, it saves a checkpoint and returns ErrStopped.
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
	Episodes    int      `json:"episodes"`          // number of episodes learned from
	Expected    float64  `json:"expected_accuracy"` // expected accuracy of a sequence drawn by the policy
	Greedy      []string `json:"greedy"`            // sequence of the policy's most likely actions
	Accuracy    float64  `json:"accuracy"`          // accuracy of the sequence Greedy
	Rank        int      `json:"rank"`              // rank of the sequence Greedy in the table, from 1
	Records     int      `json:"records"`           // number of records in the table
	Best        []string `json:"best"`              // sequence with the best accuracy in the table
	Most        float64  `json:"best_accuracy"`     // accuracy of the sequence Best
	Temperature float64  `json:"temperature"`       // final temperature
	Rate        float64  `json:"learning_rate"`     // final learning rate
}

// Outcome returns the result of the study so far.
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
