package kineto

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"graft/internal/files"
)

// Limits of a file.
const (
	mostBytes  = 512 << 20 // after decompression
	mostEvents = 1 << 22
)

// Read reads a trace file, which may be compressed with gzip.
func Read(fsys files.FS, path string) (*Trace, error) {
	data, err := files.ReadAll(fsys, path, mostBytes)
	if err != nil {
		return nil, fmt.Errorf("read trace: %w", err)
	}
	t, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("read trace %s: %w", path, err)
	}
	return t, nil
}

// Parse reads the content of a trace file.
func Parse(data []byte) (*Trace, error) {
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		plain, err := unzip(data)
		if err != nil {
			return nil, fmt.Errorf("the compressed file is damaged: %w; export the trace again", err)
		}
		data = plain
	}
	p := &parser{decoder: json.NewDecoder(bytes.NewReader(data)), threads: map[string]int{}, flows: map[int64]*ends{},
		externals: map[int64]int{}, launches: map[int64]launch{}}
	if err := p.file(); err != nil {
		return nil, err
	}
	return p.trace()
}

func unzip(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(r, mostBytes+1))
	if err == nil && len(plain) > mostBytes {
		err = fmt.Errorf("the content exceeds %d bytes", mostBytes)
	}
	return plain, err
}

// parser collects the parts of a trace.
type parser struct {
	decoder   *json.Decoder
	events    int
	listed    bool           // the file has a list of events
	threads   map[string]int // indexes by process and thread
	raw       []operator     // in the order of the file
	notes     []Span
	syncs     []Span
	kernels   []kernel
	launches  map[int64]launch // by correlation
	externals map[int64]int    // event of the operator with an external id
	flows     map[int64]*ends
	shaped    bool // an operator has shapes
}

// file reads the object around the list of events.
func (p *parser) file() error {
	open, err := p.decoder.Token()
	if err != nil {
		return p.damaged(err)
	}
	if open != json.Delim('{') {
		return fmt.Errorf("byte 0: expected an object with the key traceEvents; %s", foreign)
	}
	for p.decoder.More() {
		key, err := p.decoder.Token()
		if err != nil {
			return p.damaged(err)
		}
		if key == "traceEvents" {
			err = p.list()
		} else {
			var skipped json.RawMessage
			if err = p.decoder.Decode(&skipped); err != nil {
				err = p.damaged(err)
			}
		}
		if err != nil {
			return err
		}
	}
	if _, err := p.decoder.Token(); err != nil {
		return p.damaged(err)
	}
	if _, err := p.decoder.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("byte %d: the object is followed by more text; export the trace again",
			p.decoder.InputOffset())
	}
	return nil
}

// foreign is the remedy for a file that is not a trace of PyTorch.
const foreign = "export the trace with torch.profiler's export_chrome_trace"

// list reads the events.
func (p *parser) list() error {
	if p.listed {
		return fmt.Errorf("byte %d: traceEvents occurs twice; export the trace again", p.decoder.InputOffset())
	}
	p.listed = true
	if open, err := p.decoder.Token(); err != nil {
		return p.damaged(err)
	} else if open != json.Delim('[') {
		return fmt.Errorf("byte %d: traceEvents is not a list; %s", p.decoder.InputOffset(), foreign)
	}
	for p.decoder.More() {
		if p.events == mostEvents {
			return fmt.Errorf("byte %d: the trace has more than %d events; record fewer steps",
				p.decoder.InputOffset(), mostEvents)
		}
		at := p.decoder.InputOffset()
		var e event
		if err := p.decoder.Decode(&e); err != nil {
			return p.damaged(err)
		}
		if err := p.event(&e); err != nil {
			return fmt.Errorf("event %d at byte %d: %w", p.events, at, err)
		}
		p.events++
	}
	_, err := p.decoder.Token()
	return p.damaged(err)
}

// damaged describes an error of the decoder.
func (p *parser) damaged(err error) error {
	if err == nil {
		return nil
	}
	at := p.decoder.InputOffset()
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("byte %d, after %d events: the file is cut short; copy or export the trace again", at,
			p.events)
	case errors.As(err, &kind):
		return fmt.Errorf("event %d at byte %d: %s is a %s; %s", p.events, at, kind.Field, kind.Value, foreign)
	case errors.As(err, &syntax):
		at = max(at, syntax.Offset)
	}
	return fmt.Errorf("byte %d, after %d events: not JSON: %w; export the trace again", at, p.events, err)
}
