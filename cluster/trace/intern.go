package trace

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
