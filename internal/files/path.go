package files

import (
	"path/filepath"
	"strings"
)

// IsPath reports whether text is a path rather than a built-in name: it contains a separator or ends with .toml.
func IsPath(text string) bool {
	return strings.ContainsAny(text, "/"+string(filepath.Separator)) || strings.EqualFold(filepath.Ext(text), ".toml")
}
