// Package tensorboard writes TensorBoard's event files: numbers and texts by step, in records with checksums, which it
// can read again. The messages follow TensorFlow's event.proto, summary.proto and tensor.proto, and the records its
// description of TFRecord files.
package tensorboard

import "time"

// Version is the format of event files, stated in their first event. From version 2 on readers honour Event.Start.
const Version = "brain.Event:2"

// Event is a record. It has a time, a step and any of the following fields, except that a version or a start stands
// alone.
type Event struct {
	Time    time.Time // wall-clock time in whole microseconds; TensorBoard shows it
	Step    int64     // step of the numbers; not negative
	Version string    // format of the file, in its first event; empty in all others
	// Start marks a resumed run: a reader drops earlier events of this step and later steps.
	Start   bool
	Scalars []Scalar // numbers of the step
	Texts   []Text   // texts of the step
}

// Scalar is a number of a step.
type Scalar struct {
	Tag   string  // name; tags with equal text before the first slash are shown together
	Value float32 // value; event files have 32 bits
}

// Text is a text that TensorBoard shows as Markdown.
type Text struct {
	Tag  string // name of the text
	Text string // in UTF-8
}
