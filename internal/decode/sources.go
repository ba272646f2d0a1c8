package decode

// Sources records where the values of a file come from. The options struct of every configuration file embeds it with
// the tag `config:"-"`.
type Sources struct {
	given  map[string]Source
	beside map[string]string // second searched places of missing files, by key
	text   string            // text of the file
}

// Origins returns s. Every struct that embeds Sources inherits this method, which the interface File requires.
func (s *Sources) Origins() *Sources { return s }

// Take stores the sources that a Reading recorded. The zero Reading clears the stored sources.
func (s *Sources) Take(r *Reading) {
	s.given, s.beside, s.text = r.Given, r.Beside, ""
	if r.doc != nil {
		s.text = r.doc.Text()
	}
}

// Text returns the text of the file that was read; it is empty without a file.
func (s *Sources) Text() string { return s.text }

// Given returns the source of each value that is not a default, by key.
func (s *Sources) Given() map[string]Source { return s.given }

// Source returns the source of the value of a key, such as time.budget.
func (s *Sources) Source(key string) Source { return s.given[key] }

// Elsewhere adds the second path that FindPaths tried to an error about a missing file.
func (s *Sources) Elsewhere(key string, err error) error {
	return (&Reading{Beside: s.beside}).Elsewhere(key, err)
}
