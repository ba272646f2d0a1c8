package decode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// RepeatedKey returns an error that names the first key that an object has twice. The text must be valid JSON. The case
// of keys does not count, as in encoding/json, which keeps the last of equal keys.
func RepeatedKey(text []byte) error {
	var open []map[string]bool // keys of the open objects; nil for a list
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '{':
			open = append(open, map[string]bool{})
		case '[':
			open = append(open, nil)
		case '}', ']':
			open = open[:len(open)-1]
		case '"':
			start := at
			for at++; text[at] != '"'; at++ {
				if text[at] == '\\' {
					at++
				}
			}
			if !bytes.HasPrefix(bytes.TrimLeft(text[at+1:], " \t\r\n"), []byte(":")) {
				continue // a text, not a key
			}
			var key string
			if err := json.Unmarshal(text[start:at+1], &key); err != nil {
				return err
			}
			seen := open[len(open)-1]
			if seen[strings.ToLower(key)] {
				return fmt.Errorf("line %d: the key %.100q is given twice; keep one of them",
					1+bytes.Count(text[:start], []byte("\n")), key)
			}
			seen[strings.ToLower(key)] = true
		}
	}
	return nil
}
