package results

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"graft/results/tensorboard"
)

// eventName is the prefix of event files; a number follows, increased by each process that writes events.
const eventName = "tensorboard-"

// Events writes an event file for TensorBoard in the run folder. Each event holds numbers or texts of one step. Create
// it with Run.Events; the zero value is not usable. It is safe for concurrent use. After a failed write, all later
// writes fail.
type Events struct {
	a   *appender
	now func() time.Time
}

// Events starts a new event file. Events have wall-clock timestamps, which the callback returns. A resumed run first
// calls Rewind, which truncates event files in the same way as tables. For a resumed run, the argument next is the step
// at which the run continues. An open TensorBoard then discards its old data of this step and of all later steps. For a
// run that starts from the beginning, next is zero.
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

// nextEvents returns the name of the next file; TensorBoard reads files in the order of names.
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

// Scalars records the values of a step.
func (e *Events) Scalars(step int64, figures ...tensorboard.Scalar) error {
	return e.add(tensorboard.Event{Step: step, Scalars: figures})
}

// Text adds text to a step. TensorBoard shows the text as Markdown.
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
