package results

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"graft/results/tensorboard"
)

// eventName begins the names of event files; a number follows, one more with each process
// that writes some.
const eventName = "tensorboard-"

// Events writes figures and texts by step for TensorBoard, to a file beside the tables.
// It is made by Run.Events and has no useful zero value. It may be used by several
// goroutines. After a failed write it accepts no more.
type Events struct {
	a   *appender
	now func() time.Time
}

// Events starts a new event file. Now is the machine's clock, which stamps the events. A
// resumed run calls Rewind before, which cuts event files like tables, and passes its
// next step: a TensorBoard that is open then forgets that step and later ones. Zero
// starts a run from the beginning.
func (r *Run) Events(now func() time.Time, next int64) (*Events, error) {
	file, err := r.nextEvents()
	if err != nil {
		return nil, fmt.Errorf("open event file: %w", err)
	}
	a, err := r.appender(file, "")
	if err != nil {
		return nil, fmt.Errorf("open event file %s: %w", file, err)
	}
	e := &Events{a: a, now: now}
	return e, errors.Join(e.add(tensorboard.Event{Version: tensorboard.Version}),
		e.add(tensorboard.Event{Step: next, Start: true}))
}

// nextEvents is the name of the next file; TensorBoard reads files by name.
func (r *Run) nextEvents() (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.readKnown(); err != nil {
		return "", err
	}
	last := 0
	for _, file := range r.known {
		name, _ := splitStream(file)
		n := 0
		if _, err := fmt.Sscanf(strings.TrimPrefix(name, eventName), "%d", &n); err == nil && isEvents(file) {
			last = max(last, n)
		}
	}
	return fmt.Sprintf("%s%06d%s", eventName, last+1, eventSuffix), nil
}

// Scalars adds figures of a step.
func (e *Events) Scalars(step int64, figures ...tensorboard.Scalar) error {
	return e.add(tensorboard.Event{Step: step, Scalars: figures})
}

// Text adds a text, which TensorBoard shows as Markdown, to a step.
func (e *Events) Text(step int64, tag, text string) error {
	return e.add(tensorboard.Event{Step: step, Texts: []tensorboard.Text{{Tag: tag, Text: text}}})
}

func (e *Events) add(event tensorboard.Event) error {
	event.Time = e.now()
	return e.a.append(tensorboard.Append(nil, event))
}

// ForgetEvents removes all events of a run, so that it can write them again.
func (r *Run) ForgetEvents() error {
	all, err := r.all()
	if err != nil {
		return err
	}
	for file, a := range all {
		if isEvents(file) {
			err = errors.Join(err, a.truncate(0, ""))
		}
	}
	return err
}
