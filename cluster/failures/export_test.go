package failures

// ParseList reads a list of outages of numbered nodes.
func ParseList(text []byte, path string) (list []Listed, err error) {
	entries, err := parseList(text, path, nil, false)
	for _, e := range entries {
		list = append(list, e.Listed)
	}
	return list, err
}
