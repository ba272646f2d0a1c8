package files

import (
	"path/filepath"
	"strings"
)

// IsPath reports whether a text is a path rather than a built-in name: it has a separator or ends in .toml.
func IsPath(text string) bool {
	return strings.ContainsAny(text, "/"+string(filepath.Separator)) || strings.EqualFold(filepath.Ext(text), ".toml")
}
