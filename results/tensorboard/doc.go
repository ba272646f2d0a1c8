// Package tensorboard writes and reads TensorBoard's event files: numbers and texts by step, in records with
// checksums. The messages follow TensorFlow's event.proto, summary.proto and tensor.proto, and the records follow its
// description of TFRecord files.
package tensorboard

import "time"

// Version is the version of the event file format, which the first event of a file states. From version 2 on, readers
// honour Event.Start.
const Version = "brain.Event:2"

// Event is a record of an event file. It has a time, a step and some of the other fields. An event with Version or
// Start has no further fields.
type Event struct {
	Time    time.Time // wall-clock time in whole microseconds, which TensorBoard shows
	Step    int64     // step of the numbers; not negative
	Version string    // format of the file, in its first event; empty in all other events
	// Start marks the first event of a resumed run. A reader then discards every earlier event whose step is Step or
	// greater.
	Start   bool
	Scalars []Scalar // numbers of the step
	Texts   []Text   // texts of the step
}

// Scalar is a number that belongs to a step.
type Scalar struct {
	// name of the number; tags with equal text before the first slash are shown together
	Tag   string
	Value float32 // 32-bit value, as in event files
}

// Text is text that TensorBoard shows as Markdown.
type Text struct {
	Tag  string // name of the text
	Text string // content in UTF-8
}
