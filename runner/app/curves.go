package app

import (
	"time"

	"graft/results"
	"graft/results/tensorboard"
)

// EventCurves writes curves to an event file for TensorBoard in a run folder.
type EventCurves struct{ *results.Events }

// OpenEventCurves opens an event file and adds the configuration to it as text. The argument next is the first step of
// the file.
func OpenEventCurves(now func() time.Time, run *results.Run, next int64, resolved string) (*EventCurves, error) {
	events, err := run.Events(now, next)
	if err != nil {
		return nil, err
	}
	return &EventCurves{events}, events.Text(next, "configuration", "```toml\n"+resolved+"```\n")
}

// Scalar creates a point of a curve. The part of the tag before the slash is the name of the curve's group.
func Scalar(tag string, value float64) tensorboard.Scalar {
	return tensorboard.Scalar{Tag: tag, Value: float32(value)}
}
