package trainer

import (
	"fmt"
	"math"
	"slices"
	"time"

	"graft/dataset"
	"graft/internal/stat"
	"graft/net2net"
	"graft/results"
)

// Outcome is the result of a job.
type Outcome struct {
	Epochs     int           `json:"epochs"`            // number of completed epochs
	Steps      int64         `json:"steps"`             // number of training steps
	Budget     time.Duration `json:"budget_ns"`         // budget of the job
	Used       time.Duration `json:"used_ns"`           // part of the budget that was used
	Deciding   time.Duration `json:"deciding_ns"`       // part of Used that decisions took
	Operating  time.Duration `json:"operating_ns"`      // part of Used that surgery took
	Decisions  int           `json:"decisions"`         // number of decisions
	Skipped    int           `json:"skipped,omitempty"` // number of decisions whose action failed
	Late       int           `json:"late,omitempty"`    // number of decisions whose action came too late for training
	Parameters int           `json:"parameters"`        // number of parameters of the final network
	Validation Score         `json:"validation"`        // validation score, on which decisions are based
	Test       Score         `json:"test"`              // test score, reported but never used for selection
	// Perplexity is e to the power of the mean loss per token on the test text. It is zero for images.
	Perplexity float64 `json:"perplexity,omitempty"`
	// perplexity on the validation text; zero for images
	ValidationPerplexity float64 `json:"validation_perplexity,omitempty"`
	// SHA-256 of the network and its weights
	Digest string `json:"digest"`
	// best network by validation accuracy if Options.KeepBest is set; nil otherwise
	Best *Best `json:"best,omitempty"`
	// number of images per step at the end, if gradient noise was measured
	Batch        int `json:"batch,omitempty"`
	BatchChanges int `json:"batch_changes,omitempty"` // number of changes of an adaptive batch
	// last measured noise scale tr(Σ)/|G|² in images; zero means unknown
	NoiseScale float64 `json:"noise_scale,omitempty"`
	// statistical efficiency of the final batch size; zero means unknown
	Efficiency float64 `json:"efficiency,omitempty"`
	// changes of devices outside of the timeline, such as over HTTP; absent without such changes
	Live []LiveChange `json:"live_changes,omitempty"`
	// changes to the network that were not reverted
	Changes []*net2net.Change `json:"-"`
	Resources
	ImagesPerSecond float64 `json:"images_per_second"` // number of training images per second of used budget
}

// finish evaluates on the test split at no cost of time, and records the end once.
func (j *Job) finish() (*Outcome, error) {
	j.Scheduler.End(nil)
	j.show(Evaluates)
	o, err := j.outcome()
	if err != nil {
		return nil, err
	}
	j.show(Ended)
	if j.Ended {
		return o, nil
	}
	note := j.note(results.EventEnd)
	note.Parameters, note.Why = o.Parameters, j.early()
	if err := j.Book.Note(note); err != nil {
		return nil, err
	}
	j.Ended = true
	return o, j.save()
}

// early returns why the job ended before its budget; empty if it did not, or if Epochs ended it.
func (j *Job) early() string {
	switch t := j.Timeline; {
	case j.Step == 0 && !j.Fresh && t.Reached(j.Validation.Loss):
		return fmt.Sprintf("the validation loss %.4g reached time.stop_loss = %.4g", j.Validation.Loss, t.StopLoss)
	case t.Stop > 0 && t.Stop < j.deadline() && (j.Epochs == 0 || j.Epoch < j.Epochs):
		return fmt.Sprintf("time.stop = %v", t.Stop)
	}
	return ""
}

// Missed lists the events of the timeline that came too late for the job. Events after an early stop do not count.
func (j *Job) Missed() []Event {
	if j.early() != "" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(j.Timeline.Events[j.Past:]), j.Timeline.cuts)
}

func (j *Job) outcome() (*Outcome, error) {
	if err := j.pull(); err != nil {
		return nil, err
	}
	last, a := j.evaluation.result(), &j.adaptation
	o := &Outcome{Epochs: j.Epoch, Steps: j.Steps, Budget: j.Scheduler.Budget(), Used: j.Spent, Deciding: a.Deciding,
		Operating: a.Operating, Decisions: j.Decisions, Skipped: a.Skipped, Late: a.Late, Parameters: last.Parameters(),
		Validation: j.Validation, Changes: a.Changes, Live: j.Live, Resources: j.resources(j.Spent)}
	if took := j.Spent - j.Timeline.Start; took > 0 {
		o.ImagesPerSecond = float64(o.Images) / took.Seconds()
	}
	if j.AdaptiveBatch.Measures() {
		o.Batch, o.BatchChanges, o.NoiseScale, o.Efficiency = j.batch(), j.Batching.Changes,
			j.Batching.Noise.Moments().Scale(), j.batchRates().Efficiency
	}
	var err error
	if o.Test, err = j.evaluation.test(); err != nil {
		return nil, err
	}
	if !stat.Finite(o.Test.Loss) {
		return nil, j.diverged("test loss", o.Test.Loss)
	}
	if o.Best, err = j.evaluation.testBest(); err != nil {
		return nil, err
	}
	if j.Data.Task == dataset.NextToken {
		o.Perplexity, o.ValidationPerplexity = perplexity(o.Test.Loss), perplexity(o.Validation.Loss)
	}
	o.Digest, err = digest(last)
	return o, err
}

// perplexity returns e to the power of a loss, at most the largest number: JSON has no infinities, so the outcome of a
// job with a loss above 709 could not be written.
func perplexity(loss float64) float64 { return min(math.Exp(loss), math.MaxFloat64) }
