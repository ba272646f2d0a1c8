package config

import "graft/internal/decode"

// Parse parses the text of a file into f, the options struct of the file's kind. It does not read the files that the
// text names. The error wraps [Faults] if a value is invalid.
func Parse(name string, text []byte, f File) error {
	r, err := dialect.Read(decode.NewDocument(name, text), nil, f)
	if err != nil {
		return err
	}
	return finish(nil, f, r)
}
