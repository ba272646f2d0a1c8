// Package tensorboard writes and reads the records of TensorBoard's event files: figures
// and texts by step, each in a frame with checksums. What an event is was taken from
// TensorFlow's event.proto, summary.proto and tensor.proto, what a frame is from its
// description of TFRecord files; the few messages that are needed are put together here.
package tensorboard

import "time"

// Version is the format of event files, which their first event has. From 2 on a reader
// heeds Event.Start.
const Version = "brain.Event:2"

// Event is a record. What it holds beside time and step is as many of the following as
// are not empty, but a version and a start stand alone.
type Event struct {
	Time    time.Time // by the machine's clock, whole microseconds; TensorBoard shows it
	Step    int64     // that the figures are of; not negative
	Version string    // of the file, in its first event; empty in all others
	// Start says that a process went on with the run at Step: what a reader has of that
	// step and later ones from before is void. False says nothing.
	Start   bool
	Scalars []Scalar // figures of the step
	Texts   []Text   // texts of the step
}

// Scalar is a figure.
type Scalar struct {
	Tag   string  // what is measured; up to the first slash, what it is shown with
	Value float32 // as event files have it
}

// Text is a text that TensorBoard shows as Markdown.
type Text struct {
	Tag  string // what it is about
	Text string // in UTF-8
}
