package model

// Kinds returns the names of the layers with a notation.
func Kinds() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}
