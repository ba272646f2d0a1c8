package weights

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// parseHeader reads the header token by token: encoding/json alone would let
// the last of two equal names win, and would take "DTYPE" for "dtype".
func parseHeader(text []byte, maxEntries int) (*header, error) {
	p := &parser{dec: json.NewDecoder(bytes.NewReader(text))}
	p.dec.UseNumber()
	h := &header{}
	err := p.object(func(name string) error {
		if name == metadataKey {
			return p.metadata(h)
		}
		if len(h.entries) >= maxEntries {
			return fmt.Errorf("there are more tensors than Options.MaxTensors = %d", maxEntries)
		}
		e, err := p.entry(name)
		if err != nil {
			return fmt.Errorf("tensor %.200q: %w", name, err)
		}
		h.entries = append(h.entries, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if _, err := p.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON object")
	}
	return h, nil
}

// parser reads JSON of a known form.
type parser struct {
	dec *json.Decoder
}

// object reads an object and has value read what is under each name. A name
// that comes twice is an error.
func (p *parser) object(value func(name string) error) error {
	if err := p.delim('{'); err != nil {
		return err
	}
	seen := make(map[string]bool)
	for p.dec.More() {
		name, err := p.text()
		if err != nil {
			return err
		}
		if seen[name] {
			return fmt.Errorf("%.200q is there twice", name)
		}
		seen[name] = true
		if err := value(name); err != nil {
			return err
		}
	}
	return p.delim('}')
}

func (p *parser) metadata(h *header) error {
	h.metadata = make(map[string]string)
	return p.object(func(name string) (err error) {
		h.metadata[name], err = p.text()
		return err
	})
}

// entry reads {"dtype": …, "shape": […], "data_offsets": [begin, end]}.
func (p *parser) entry(name string) (entry, error) {
	e := entry{name: name}
	fields := 0
	err := p.object(func(field string) (err error) {
		fields++
		switch field {
		case "dtype":
			e.dtype, err = p.dtype()
		case "shape":
			e.shape, err = p.sizes(maxDimensions)
		case "data_offsets":
			e.begin, e.end, err = p.offsets()
		default:
			err = fmt.Errorf("there is no field %.40q in the format", field)
		}
		return err
	})
	if err == nil && fields != 3 {
		err = errors.New("one of dtype, shape and data_offsets is missing")
	}
	return e, err
}

func (p *parser) dtype() (DType, error) {
	name, err := p.text()
	if err != nil {
		return Invalid, err
	}
	d, ok := dtypeBy(func(f format) string { return f.safetensors }, name)
	if !ok {
		return Invalid, fmt.Errorf("the type %.40q is not read: convert the tensor to one of %s", name, dtypeNames())
	}
	return d, nil
}

func (p *parser) offsets() (begin, end int64, err error) {
	sizes, err := p.sizes(2)
	if err != nil {
		return 0, 0, err
	}
	if len(sizes) != 2 {
		return 0, 0, errors.New("data_offsets are not two numbers")
	}
	return sizes[0], sizes[1], nil
}

// sizes reads at most limit whole numbers in brackets.
func (p *parser) sizes(limit int) ([]int64, error) {
	if err := p.delim('['); err != nil {
		return nil, err
	}
	sizes := []int64{}
	for p.dec.More() {
		token, err := p.dec.Token()
		if err != nil {
			return nil, err
		}
		number, ok := token.(json.Number)
		if !ok || len(sizes) == limit {
			return nil, fmt.Errorf("%.40v stands where at most %d numbers should", token, limit)
		}
		size, err := asOffset(number.String())
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, size)
	}
	return sizes, p.delim(']')
}

func (p *parser) text() (string, error) {
	token, err := p.dec.Token()
	if err != nil {
		return "", err
	}
	text, ok := token.(string)
	if !ok {
		return "", fmt.Errorf("%.40v stands where a text should", token)
	}
	return text, nil
}

func (p *parser) delim(want json.Delim) error {
	token, err := p.dec.Token()
	if err != nil {
		return err
	}
	if token != want {
		return fmt.Errorf("%.40v stands where %v should", token, want)
	}
	return nil
}
