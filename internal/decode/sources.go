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

// Take stores the sources of values and the text that a Reading recorded. The zero Reading clears them.
func (s *Sources) Take(r *Reading) {
	s.given, s.beside, s.text = r.Given, r.Beside, ""
	if r.doc != nil {
		s.text = r.doc.Text()
	}
}

// Text returns the text of the file from which the values were read, or an empty string if there is no file.
func (s *Sources) Text() string { return s.text }

// Given maps the key of each value that is not a default to the value's source.
func (s *Sources) Given() map[string]Source { return s.given }

// Source returns the source of the value of a key, such as time.budget.
func (s *Sources) Source(key string) Source { return s.given[key] }

// Elsewhere extends an error about a missing file: it adds the second path at which FindPaths looked for the file.
func (s *Sources) Elsewhere(key string, err error) error {
	return (&Reading{Beside: s.beside}).Elsewhere(key, err)
}
