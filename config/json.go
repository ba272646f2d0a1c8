package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// readJSON reads a document and notes where its keys and values stand.
func readJSON(d *document) (map[string]any, error) {
	if fault, bad := d.badText(); bad {
		return nil, Faults{fault}
	}
	var whole json.RawMessage // Unmarshal looks at the end as well, a Decoder does not
	if err := json.Unmarshal(d.text, &whole); err != nil {
		return nil, d.jsonFault(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(d.text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, d.jsonFault(err)
	}
	table, ok := value.(map[string]any)
	if !ok {
		return nil, Faults{d.fault(span{}, "the file must hold one object, { … }")}
	}
	w := &jsonPlaces{document: d, decoder: json.NewDecoder(bytes.NewReader(d.text))}
	w.decoder.UseNumber()
	w.value(nil)
	return table, nil
}

// badText finds the first byte that is not UTF-8.
func (d *document) badText() (Fault, bool) {
	for k := 0; k < len(d.text); {
		r, size := utf8.DecodeRune(d.text[k:])
		if r == utf8.RuneError && size == 1 {
			return d.fault(span{k, k + 1}, "this is no JSON: the text is not in UTF-8"), true
		}
		k += size
	}
	return Fault{}, false
}

// jsonFault is what keeps a document from being JSON.
func (d *document) jsonFault(err error) error {
	text := "this is no JSON: " + err.Error()
	var found *json.SyntaxError
	if !errors.As(err, &found) {
		return Faults{{File: d.file, Text: text}}
	}
	offset := min(max(int(found.Offset)-1, 0), len(d.text))
	return Faults{d.fault(span{offset, offset + 1}, text)}
}

// jsonPlaces follows the tokens of a document that is known to be JSON.
type jsonPlaces struct {
	*document
	decoder *json.Decoder
}

// token is the next one and where it stands.
func (w *jsonPlaces) token() (json.Token, span) {
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

func (w *jsonPlaces) value(where []any) {
	token, at := w.token()
	switch token {
	case json.Delim('{'):
		w.object(where)
	case json.Delim('['):
		for k := 0; w.decoder.More(); k++ {
			w.value(deeper(where, k))
		}
		w.token()
	}
	place(w.values, where, at)
}

func (w *jsonPlaces) object(where []any) {
	seen := map[string]bool{}
	for w.decoder.More() {
		token, at := w.token()
		key, ok := token.(string)
		if !ok {
			return
		}
		if seen[key] {
			w.twice = append(w.twice, placed{at.start, w.fault(at, "this key is given twice")})
		}
		seen[key] = true
		inner := deeper(where, key)
		place(w.keys, inner, at)
		w.value(inner)
	}
	w.token()
}

// deeper leads one step further, until it no longer matters.
func deeper(where []any, step any) []any {
	if len(where) > deepestPlace {
		return where
	}
	return below(where, step)
}
