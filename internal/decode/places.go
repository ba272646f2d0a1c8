package decode

// Problem is an error at a key or value in a document. Where identifies the key or value by its path.
type Problem struct {
	// keys (string) and list indices (int) from the top of the document; empty for the whole document
	Where []any
	Key   bool // whether the last key itself is wrong, not its value
	Text  string
}

// span is a range of bytes.
type span struct{ start, end int }

// Limits on recorded places. A problem beyond them is reported at the nearest enclosing place.
const (
	deepestPlace = 200     // keys and indices in a path
	mostPlaces   = 500_000 // places in a document
)

// place is a node in the tree of keys and indices, with the spans of its key and value.
type place struct {
	keys       map[string]*place
	items      []*place
	key, value span
	hasKey     bool
	hasValue   bool
	depth      int
}

// places builds a tree of places.
type places struct {
	root  place
	count int
}

// key returns the place of a key; nil below nil and beyond the limits.
func (t *places) key(p *place, key string) *place {
	if p == nil {
		return nil
	}
	if inner, has := p.keys[key]; has {
		return inner
	}
	inner := t.below(p)
	if inner != nil {
		if p.keys == nil {
			p.keys = map[string]*place{}
		}
		p.keys[key] = inner
	}
	return inner
}

// item returns the place of an index that follows all previous indices, or the last one.
func (t *places) item(p *place, k int) *place {
	if p == nil || k > len(p.items) {
		return nil
	}
	if k < len(p.items) {
		return p.items[k]
	}
	inner := t.below(p)
	if inner != nil {
		p.items = append(p.items, inner)
	}
	return inner
}

func (t *places) below(p *place) *place {
	if p.depth >= deepestPlace || t.count >= mostPlaces {
		return nil
	}
	t.count++
	return &place{depth: p.depth + 1}
}

// setKey records the span of a key; the first one counts.
func (p *place) setKey(s span) {
	if p != nil && !p.hasKey {
		p.key, p.hasKey = s, true
	}
}

// setValue records the span of a value; the first one counts.
func (p *place) setValue(s span) {
	if p != nil && !p.hasValue {
		p.value, p.hasValue = s, true
	}
}

// span returns the place of a problem, or the nearest enclosing place.
func (t *places) span(f Problem) (found span, ok bool) {
	at := &t.root
	for k := 0; at != nil; k++ {
		last := k == len(f.Where)
		switch {
		case last && f.Key && at.hasKey:
			return at.key, true
		case k > 0 && at.hasValue:
			found, ok = at.value, true
		case k > 0 && at.hasKey:
			found, ok = at.key, true
		}
		if last {
			break
		}
		at = at.step(f.Where[k])
	}
	return found, ok
}

func (p *place) step(to any) *place {
	switch to := to.(type) {
	case string:
		return p.keys[to]
	case int:
		if to >= 0 && to < len(p.items) {
			return p.items[to]
		}
	}
	return nil
}
