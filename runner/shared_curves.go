package main

import (
	"time"

	"graft/results"
	"graft/results/tensorboard"
)

// eventCurves write an event file for TensorBoard into a run folder.
type eventCurves struct{ *results.Events }

// openEventCurves begins an event file whose first step is next, with the configuration
// as a text.
func openEventCurves(now func() time.Time, run *results.Run, next int64, resolved string) (*eventCurves, error) {
	events, err := run.Events(now, next)
	if err != nil {
		return nil, err
	}
	return &eventCurves{events}, events.Text(next, "configuration", "```toml\n"+resolved+"```\n")
}

// scalar is a point of a curve. The part of the tag before the slash groups curves.
func scalar(tag string, value float64) tensorboard.Scalar {
	return tensorboard.Scalar{Tag: tag, Value: float32(value)}
}
