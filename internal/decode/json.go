package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// JSON reads the document as one JSON object and records the positions of its keys and values. Numbers have the type
// json.Number. A returned error has the type Faults.
func (d *Document) JSON() (map[string]any, error) {
	if at, bad := d.badText(); bad {
		return nil, d.faults(placed{span{at, at + 1}, "invalid JSON: the text is not UTF-8"})
	}
	var whole json.RawMessage // unlike a Decoder, Unmarshal also checks the end of the text
	if err := json.Unmarshal([]byte(d.text), &whole); err != nil {
		return nil, d.jsonFault(err)
	}
	decoder := json.NewDecoder(strings.NewReader(d.text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, d.jsonFault(err)
	}
	table, ok := value.(map[string]any)
	if !ok {
		return nil, d.faults(placed{text: "the file must contain one object, { … }"})
	}
	d.places = places{}
	w := &jsonWalk{Document: d, decoder: json.NewDecoder(strings.NewReader(d.text))}
	w.decoder.UseNumber()
	w.value(&d.places.root)
	return table, nil
}

// badText finds the first byte that is not UTF-8.
func (d *Document) badText() (int, bool) {
	if utf8.ValidString(d.text) {
		return 0, false
	}
	for k, r := range d.text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(d.text[k:]); size == 1 {
				return k, true
			}
		}
	}
	return 0, false
}

func (d *Document) jsonFault(err error) error {
	text := "invalid JSON: " + err.Error()
	var found *json.SyntaxError
	if !errors.As(err, &found) {
		return d.faults(placed{span{-1, -1}, text})
	}
	at := min(max(int(found.Offset)-1, 0), len(d.text))
	return d.faults(placed{span{at, at + 1}, text})
}

// jsonWalk follows the tokens of a valid document.
type jsonWalk struct {
	*Document
	decoder *json.Decoder
}

func (w *jsonWalk) token() (json.Token, span) {
	w.work++
	start := int(w.decoder.InputOffset())
	for start < len(w.text) && bytes.IndexByte([]byte(" \t\r\n,:"), w.text[start]) >= 0 {
		start++
	}
	token, err := w.decoder.Token()
	if err != nil {
		return nil, span{start, start}
	}
	return token, span{start, int(w.decoder.InputOffset())}
}

func (w *jsonWalk) value(p *place) {
	token, at := w.token()
	switch token {
	case json.Delim('{'):
		w.object(p)
	case json.Delim('['):
		for k := 0; w.decoder.More(); k++ {
			w.value(w.places.item(p, k))
		}
		w.token()
	}
	p.setValue(at)
}

func (w *jsonWalk) object(p *place) {
	seen := map[string]bool{}
	for w.decoder.More() {
		token, at := w.token()
		key, ok := token.(string)
		if !ok {
			return
		}
		if seen[key] {
			w.repeated(at, "this key is given twice")
		}
		seen[key] = true
		inner := w.places.key(p, key)
		inner.setKey(at)
		w.value(inner)
	}
	w.token()
}
