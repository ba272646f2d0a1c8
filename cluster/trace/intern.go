package trace

// maxInterned bounds how many strings are kept of a column whose values are all
// different, and of a file that was made to fill the memory.
const maxInterned = 1 << 16

// maxInternedLength is the longest string that is worth keeping.
const maxInternedLength = 256

// interner gives equal bytes one string, so that a trace keeps each name once.
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
