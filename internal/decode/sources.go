package decode

// Sources tells where the values of a file come from. Structs of files embed it with the tag `config:"-"`.
type Sources struct {
	given  map[string]Source
	beside map[string]string // second places of files that are missing, by key
	text   string            // of the file
}

// Origins returns the sources themselves, for structs that embed them.
func (s *Sources) Origins() *Sources { return s }

// Take keeps the sources of a reading; the zero Reading clears them.
func (s *Sources) Take(r *Reading) {
	s.given, s.beside, s.text = r.Given, r.Beside, ""
	if r.doc != nil {
		s.text = r.doc.Text()
	}
}

// Text is the text of the file from which the values were read; empty for none.
func (s *Sources) Text() string { return s.text }

// Given returns the source of each value that is not a default, by key.
func (s *Sources) Given() map[string]Source { return s.given }

// Source returns the source of the value of a key such as time.budget.
func (s *Sources) Source(key string) Source { return s.given[key] }

// Elsewhere adds the second place where a missing file of a key was looked for to an error.
func (s *Sources) Elsewhere(key string, err error) error {
	return (&Reading{Beside: s.beside}).Elsewhere(key, err)
}
