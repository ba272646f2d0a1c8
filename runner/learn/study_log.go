package learn

import (
	"errors"
	"time"

	"go.uber.org/zap"

	"graft/original/learn"
	"graft/results"
	"graft/runner/app"
	"graft/simulation/tables"
)

// studyLog writes the metrics of a study into its run folder, its curves and the log.
type studyLog struct {
	*learn.Folder
	log      *zap.Logger
	now      func() time.Time
	limiter  *app.ProgressLimiter
	begun    time.Time // start of this process
	from     int       // episodes at the start of this process
	total    int       // final number of episodes
	reported []StudyRow
	curves   *curves // nil where TensorBoard is not wanted
	track    *results.Tracker
}

func newStudyLog(f *learn.Folder, log *zap.Logger, now func() time.Time, from, total int) *studyLog {
	return &studyLog{Folder: f, log: log, now: now, limiter: app.NewProgressLimiter(now), begun: now(), from: from,
		total: total, reported: []StudyRow{}}
}

// Row appends a row of metrics to the run folder, and logs metrics at limited intervals and at the end.
func (s *studyLog) Row(r learn.Row) error {
	greedy := tables.Sequence(s.Table.Records[r.Greedy].Sequence)
	s.reported = append(s.reported, StudyRow{r.Episodes, r.Objective, r.Accuracy, r.Expected, greedy,
		r.Temperature, r.Rate})
	s.track.Note(float64(r.Episodes), float64(s.total))
	if s.limiter.Due() || r.Episodes >= s.total {
		s.log.Info("learning", zap.Int("episodes", r.Episodes), zap.Int("of", s.total),
			zap.Int("per_second", int(s.speed(r.Episodes))), zap.Float64("objective", app.Rounded(r.Objective)),
			zap.Float64("accuracy", app.Rounded(r.Accuracy)), zap.Float64("expected_accuracy", app.Rounded(r.Expected)),
			zap.Float64("temperature", app.Rounded(r.Temperature)), zap.Float64("learning_rate", r.Rate))
	}
	return errors.Join(s.Folder.Row(r), s.curves.study(r, greedy))
}

// speed returns the episodes per second of this process.
func (s *studyLog) speed(episodes int) float64 {
	return float64(episodes-s.from) / max(s.now().Sub(s.begun).Seconds(), 1e-9)
}
