package trainer

import (
	"math"
	"time"

	"graft/dataset"
	"graft/net2net"
	"graft/results"
)

// Outcome is the result of a job.
type Outcome struct {
	Epochs     int           `json:"epochs"`            // completed epochs
	Steps      int64         `json:"steps"`             // training steps
	Budget     time.Duration `json:"budget_ns"`         // budget of the job
	Used       time.Duration `json:"used_ns"`           // part of the budget that was used
	Deciding   time.Duration `json:"deciding_ns"`       // part of Used for decisions
	Operating  time.Duration `json:"operating_ns"`      // part of Used for operations
	Decisions  int           `json:"decisions"`         // number of decisions
	Skipped    int           `json:"skipped,omitempty"` // decisions whose action could not be done
	Parameters int           `json:"parameters"`        // parameters of the final network
	Validation Score         `json:"validation"`        // score that decisions are based on
	Test       Score         `json:"test"`              // reported, never used for selection
	// Perplexity is e to the power of the mean loss per token. It is zero for images.
	Perplexity           float64 `json:"perplexity,omitempty"`            // on the test text
	ValidationPerplexity float64 `json:"validation_perplexity,omitempty"` // on the validation text
	// SHA-256 over the network and its weights
	Digest string `json:"digest"`
	// the best network by validation, with Options.KeepBest; nil otherwise
	Best *Best `json:"best,omitempty"`
	// images per step at the end, if noise was measured
	Batch        int `json:"batch,omitempty"`
	BatchChanges int `json:"batch_changes,omitempty"` // changes of the batch, with an adaptive batch
	// noise scale tr(Σ)/|G|², in images, as last measured; zero means unknown
	NoiseScale float64 `json:"noise_scale,omitempty"`
	// efficiency of the final batch; zero means unknown
	Efficiency float64 `json:"efficiency,omitempty"`
	// changes that the network still has
	Changes []*net2net.Change `json:"-"`
	Resources
	ImagesPerSecond float64 `json:"images_per_second"` // training images per second of budget used
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
	note.Parameters = o.Parameters
	if err := j.Book.Note(note); err != nil {
		return nil, err
	}
	j.Ended = true
	return o, j.save()
}

func (j *Job) outcome() (*Outcome, error) {
	last, a := j.evaluation.result(), &j.adaptation
	o := &Outcome{Epochs: j.Epoch, Steps: j.Steps, Budget: j.Scheduler.Budget(), Used: j.Spent, Deciding: a.Deciding,
		Operating: a.Operating, Decisions: j.Decisions, Skipped: a.Skipped, Parameters: last.Parameters(),
		Validation: j.Validation, Changes: a.Changes, Resources: j.resources(j.Spent)}
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
	if o.Best, err = j.evaluation.testBest(); err != nil {
		return nil, err
	}
	if j.Data.Task == dataset.NextToken {
		o.Perplexity, o.ValidationPerplexity = math.Exp(o.Test.Loss), math.Exp(o.Validation.Loss)
	}
	o.Digest, err = digest(last)
	return o, err
}
