package weights

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// parseHeader reads the header token by token: encoding/json alone would accept the last of two equal names, and
// "DTYPE" for "dtype".
func parseHeader(text []byte, maxEntries int) (*header, error) {
	p := &parser{dec: json.NewDecoder(bytes.NewReader(text))}
	p.dec.UseNumber()
	h := &header{}
	p.object(func(name string) {
		switch {
		case name == metadataKey:
			h.metadata = p.metadata()
		case len(h.entries) >= maxEntries:
			p.fail("got more tensors than Options.MaxTensors = %d", maxEntries)
		default:
			h.entries = append(h.entries, p.entry(name))
		}
	})
	if p.err != nil {
		return nil, p.err
	}
	if _, err := p.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("extra data after the JSON object")
	}
	return h, nil
}

// parser reads JSON of a known form, and keeps the first error.
type parser struct {
	dec *json.Decoder
	err error
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

// token reads a token; nil after an error.
func (p *parser) token() (token json.Token) {
	if p.err == nil {
		token, p.err = p.dec.Token()
	}
	return token
}

// more reports whether an object or a list continues.
func (p *parser) more() bool { return p.err == nil && p.dec.More() }

// object reads an object and calls value for each name. A duplicate name is an error.
func (p *parser) object(value func(name string)) {
	p.delim('{')
	seen := make(map[string]bool)
	for p.more() {
		name := p.text()
		if seen[name] {
			p.fail("duplicate key %.200q", name)
		}
		seen[name] = true
		if p.err == nil {
			value(name)
		}
	}
	p.delim('}')
}

func (p *parser) metadata() map[string]string {
	texts := make(map[string]string)
	p.object(func(name string) { texts[name] = p.text() })
	return texts
}

// entry reads {"dtype": …, "shape": […], "data_offsets": [begin, end]}.
func (p *parser) entry(name string) entry {
	e := entry{name: name}
	fields := 0
	p.object(func(field string) {
		fields++
		switch field {
		case "dtype":
			e.dtype = p.dtype()
		case "shape":
			e.shape = p.sizes(maxDimensions)
		case "data_offsets":
			e.begin, e.end = p.offsets()
		default:
			p.fail("unknown field %.40q", field)
		}
	})
	if fields != 3 {
		p.fail("one of dtype, shape and data_offsets is missing")
	}
	if p.err != nil {
		p.err = fmt.Errorf("tensor %.200q: %w", name, p.err)
	}
	return e
}

func (p *parser) dtype() DType {
	name := p.text()
	d, ok := dtypeBy(func(f format) string { return f.safetensors }, name)
	if !ok {
		p.fail("unsupported type %.40q; convert the tensor to one of %s", name, dtypeNames())
	}
	return d
}

func (p *parser) offsets() (begin, end int64) {
	sizes := p.sizes(2)
	if len(sizes) != 2 {
		p.fail("data_offsets must be two numbers")
		return 0, 0
	}
	return sizes[0], sizes[1]
}

// sizes reads at most limit whole numbers in brackets.
func (p *parser) sizes(limit int) []int64 {
	p.delim('[')
	sizes := []int64{}
	for p.more() {
		token := p.token()
		number, ok := token.(json.Number)
		if !ok || len(sizes) == limit {
			p.fail("got %.40v, expected a list of at most %d numbers", token, limit)
		}
		sizes = append(sizes, p.size(number.String()))
	}
	p.delim(']')
	return sizes
}

// size parses a whole number.
func (p *parser) size(text string) int64 {
	n, err := strconv.ParseUint(text, 10, 63)
	switch {
	case errors.Is(err, strconv.ErrRange):
		p.fail("the number %.40q is too large", text)
	case err != nil:
		p.fail("%.40q is not a whole number of at least 0", text)
	}
	return int64(n)
}

func (p *parser) text() string {
	token := p.token()
	text, ok := token.(string)
	if !ok {
		p.fail("got %.40v, expected a string", token)
	}
	return text
}

func (p *parser) delim(want json.Delim) {
	if token := p.token(); token != want {
		p.fail("got %.40v, expected %v", token, want)
	}
}
