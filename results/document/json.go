package document

import (
	"encoding/json"
	"io"
)

// PrintJSON writes one value as one line of JSON.
func PrintJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
