package trace

import "strings"

// maxInterned is the maximum number of cached strings, which limits memory for columns with many different values and
// for malicious files.
const maxInterned = 1 << 16

// maxInternedLength is the maximum length of a cached string.
const maxInternedLength = 256

// interner returns one string for equal bytes, so that a trace stores each name once.
type interner struct {
	last  string // runs of one user's jobs are common
	known map[string]string
}

func (n *interner) of(text []byte) string {
	switch {
	case len(text) == 0:
		return ""
	case string(text) == n.last:
		return n.last
	case len(text) > maxInternedLength:
		return string(text)
	}
	s, known := n.known[string(text)]
	if !known {
		s = string(text)
		if n.known == nil {
			n.known = map[string]string{}
		}
		if len(n.known) < maxInterned {
			n.known[s] = s
		}
	}
	n.last = s
	return s
}

// trainings returns one description for equal ones.
type trainings struct {
	last  *Training
	known map[Training]*Training
}

func (n *trainings) of(t *Training) *Training {
	switch {
	case *t == Training{}:
		return nil
	case n.last != nil && *n.last == *t:
		return n.last
	}
	shared, known := n.known[*t]
	if !known {
		own := *t
		shared = &own
		if n.known == nil {
			n.known = map[Training]*Training{}
		}
		if len(n.known) < maxInterned {
			n.known[own] = shared
		}
	}
	n.last = shared
	return shared
}

// arenaBlock is the size of a block of an arena, in bytes.
const arenaBlock = 1 << 14

// arena stores short strings in shared blocks. Separate strings would take twice the memory of short IDs, and the
// garbage collector would visit each of them.
type arena struct{ block strings.Builder }

func (a *arena) of(text []byte) string {
	if len(text) > maxInternedLength {
		return string(text)
	}
	if a.block.Len()+len(text) > a.block.Cap() {
		a.block = strings.Builder{}
		a.block.Grow(arenaBlock)
	}
	from := a.block.Len()
	a.block.Write(text)
	return a.block.String()[from:]
}
