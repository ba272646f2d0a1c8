package graph

import "fmt"

// Limits of the JSON texts in an archive. An item takes up to some hundred bytes of memory, so a text within the limits
// takes less than 1 GB.
const (
	mostObjects = 1 << 20
	mostMembers = 1 << 21 // total of all lists and objects
)

// BoundJSON returns an error if JSON text has more objects, or more items in lists and objects, than any network needs.
// It counts objects and items before decoding, because an item of two bytes may take a hundred bytes in memory.
func BoundJSON(text []byte) error {
	objects, members, quoted := 0, 0, false
	for k := 0; k < len(text); k++ {
		switch c := text[k]; {
		case quoted && c == '\\':
			k++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			objects++
		case c == ',' || c == '[':
			members++
		}
	}
	if objects > mostObjects || members > mostMembers {
		return fmt.Errorf("the JSON text has %d objects, and %d items in lists and objects; expected at most %d "+
			"objects and %d items", objects, members, mostObjects, mostMembers)
	}
	return nil
}
