package validate

import "fmt"

// Unused is a key of a configuration that was set and has no effect.
type Unused struct {
	Key    string // name of the key, with its section
	Why    string // reason, as a clause that follows "because"
	Remedy string // change after which the key has an effect
}

// String returns a warning in one sentence.
func (u Unused) String() string {
	return fmt.Sprintf("%[1]s has no effect, because %[2]s; remove %[1]s, or %[3]s", u.Key, u.Why, u.Remedy)
}
