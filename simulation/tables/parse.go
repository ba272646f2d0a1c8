package tables

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// parser reads records as recordLine writes them, without a JSON parser, which would take ten times as long.
type parser struct {
	rest  []byte
	wrong bool       // unexpected input; nothing after it counts
	last  recordLine // the previous record, which has much in common

	texts  slab[string]
	floats slab[float64]
	ints   slab[int64]
}

// slab cuts many short lists out of few long ones.
type slab[T any] struct{ free, list []T }

// slabItems is the number of items that are allocated at once.
const slabItems = 4096

// cut ends a list and begins the next.
func (s *slab[T]) cut() []T {
	if len(s.free) < len(s.list) {
		s.free = make([]T, max(slabItems, len(s.list)))
	}
	n := copy(s.free, s.list)
	list := s.free[:n:n]
	s.free, s.list = s.free[n:], s.list[:0]
	return list
}

// parseRecord reads a record's line quickly if this version wrote it, else as JSON.
func (p *parser) parseRecord(body []byte) (recordLine, error) {
	p.rest, p.wrong = body, false
	r := p.record()
	if !p.wrong && len(p.rest) == 0 {
		p.last = r
		return r, nil
	}
	var line struct{ Record *recordLine }
	if err := json.Unmarshal(append([]byte("{"), body...), &line); err != nil {
		return recordLine{}, err
	}
	if line.Record == nil {
		return recordLine{}, errors.New("the line has no record")
	}
	return *line.Record, nil
}

// record parses the fields in the order of recordLine and Record.
func (p *parser) record() recordLine {
	var r recordLine
	p.expect(`"record":{"line":`)
	r.Line = int(p.int())
	p.expect(`,"key":`)
	r.Key = string(p.quoted())
	p.expect(`,"sequence":`)
	r.Sequence = p.textsLike(p.last.Sequence)
	p.expect(`,"left_s":`)
	r.Left = list(p, &p.floats, p.float)
	p.expect(`,"accuracy":`)
	r.Accuracy = list(p, &p.floats, p.float)
	p.expect(`,"seeds":`)
	r.Seeds = list(p, &p.ints, p.int)
	if p.next(`,"step_s":`) {
		r.Step = list(p, &p.floats, p.float)
	}
	if p.next(`,"before":`) {
		r.Before = list(p, &p.floats, p.float)
	}
	for _, field := range r.curves() {
		if p.next(`,"` + field.name + `":`) {
			*field.values = list(p, &p.floats, p.float)
		}
	}
	if p.next(`,"last_step_s":`) {
		r.LastStep = p.float()
	}
	if p.next(`,"networks":`) {
		r.Networks = p.textsLike(p.last.Networks)
	}
	if p.next(`,"profile":`) {
		r.Profile = p.textLike(p.last.Profile)
	}
	if p.next(`,"graft":`) {
		r.Graft = p.textLike(p.last.Graft)
	}
	if p.next(`,"libtorch":`) {
		r.LibTorch = p.textLike(p.last.LibTorch)
	}
	p.expect("}}")
	return r
}

// next skips a text if it comes next.
func (p *parser) next(text string) bool {
	if len(p.rest) < len(text) || string(p.rest[:len(text)]) != text {
		return false
	}
	p.rest = p.rest[len(text):]
	return true
}

func (p *parser) expect(text string) {
	if !p.next(text) {
		p.wrong = true
	}
}

// list reads items in brackets. No record has an empty list, so that case is left to JSON.
func list[T any](p *parser, s *slab[T], item func() T) []T {
	p.expect("[")
	for more := !p.wrong && !p.next("]"); more; more = !p.wrong && p.next(",") {
		s.list = append(s.list, item())
	}
	if len(s.list) == 0 {
		p.wrong = true
	} else {
		p.expect("]")
	}
	return s.cut()
}

// textsLike reads a list of texts that mostly equal the texts of another list.
func (p *parser) textsLike(last []string) []string {
	n := -1
	return list(p, &p.texts, func() string {
		if n++; n < len(last) {
			return p.textLike(last[n])
		}
		return p.textLike("")
	})
}

// textLike reads a text; if it equals another one, both share storage.
func (p *parser) textLike(last string) string {
	if text := p.quoted(); string(text) != last {
		return string(text)
	}
	return last
}

// quoted reads a text; escapes and characters beyond printable ASCII are left to JSON.
func (p *parser) quoted() []byte {
	p.expect(`"`)
	for k := 0; k < len(p.rest) && !p.wrong; k++ {
		switch c := p.rest[k]; {
		case c == '"':
			text := p.rest[:k]
			p.rest = p.rest[k+1:]
			return text
		case c < ' ' || c > '~' || c == '\\':
			p.wrong = true
		}
	}
	p.wrong = true
	return nil
}

// number cuts off a JSON number, and reports whether it is a whole number.
func (p *parser) number() (text []byte, whole bool) {
	at := 0
	digits := func() int {
		from := at
		for at < len(p.rest) && '0' <= p.rest[at] && p.rest[at] <= '9' {
			at++
		}
		return at - from
	}
	any := func(of string) bool {
		if at < len(p.rest) && strings.IndexByte(of, p.rest[at]) >= 0 {
			at++
			return true
		}
		return false
	}
	any("-")
	first := at
	n := digits()
	good := n == 1 || n > 1 && p.rest[first] != '0'
	whole = true
	if good && any(".") {
		whole, good = false, digits() > 0
	}
	if good && any("eE") {
		any("+-")
		whole, good = false, digits() > 0
	}
	p.wrong = p.wrong || !good
	text, p.rest = p.rest[:at], p.rest[at:]
	return text, whole
}

func (p *parser) int() int64 {
	text, whole := p.number()
	n, err := strconv.ParseInt(string(text), 10, 64)
	p.wrong = p.wrong || !whole || err != nil
	return n
}

func (p *parser) float() float64 {
	text, _ := p.number()
	f, err := strconv.ParseFloat(string(text), 64)
	p.wrong = p.wrong || err != nil
	return f
}
