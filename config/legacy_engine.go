package config

import (
	"reflect"
	"time"

	"graft/config/decode"
	"graft/files"
	"graft/model"
)

// The names under which the conversion of the original's files uses package decode.

const largestFile = decode.LargestFile

type document struct{ *decode.Document }

type span struct{ start, end int }

func newDocument(path string, text []byte) *document {
	return &document{decode.NewDocument(path, text)}
}

func (d *document) readLoosely() (map[string]any, error) { return d.LooseTOML() }

func (d *document) locate(err error) error {
	faults, _ := err.(model.FormFaults)
	return d.Locate(problems(faults))
}

func (d *document) find(f model.FormFault) (span, bool) {
	start, end, found := d.Span(decode.Problem(f))
	return span{start, end}, found
}

// reading is a document that is read into a struct.
type reading struct {
	*decode.Reading
	doc    *decode.Document
	target reflect.Value
}

func newReading(path string, text []byte, target any) *reading {
	return &reading{doc: decode.NewDocument(path, text), target: reflect.ValueOf(target).Elem()}
}

func (r *reading) file() (err error) {
	r.Reading, err = dialect.Read(r.doc, nil, r.target.Addr().Interface())
	return err
}

func (j *Job) complete(fsys files.FS, r *reading) error        { return finish(fsys, j, r.Reading) }
func (m *Simulation) complete(fsys files.FS, r *reading) error { return finish(fsys, m, r.Reading) }
func (l *Learning) complete(fsys files.FS, r *reading) error   { return finish(fsys, l, r.Reading) }

func oneLine(v any) string                     { return decode.OneLine(tableOf(v)) }
func quoteTOML(text string) string             { return decode.Quote(text) }
func describe(v any) string                    { return decode.Describe(v) }
func floatText(f float64) string               { return decode.FloatText(f) }
func durationText(d time.Duration) string      { return decode.DurationText(d) }
func choice(list []string) string              { return decode.Choice(list) }
func guess(name string, names []string) string { return decode.Guess(name, names) }
