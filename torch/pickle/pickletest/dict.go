// Package pickletest creates pickle values for tests.
package pickletest

import "graft/torch/pickle"

// Dict returns a dict with the given entries. It returns an error for a key that is invalid in Python, such as a list.
func Dict(pairs ...pickle.Pair) (*pickle.Dict, error) {
	d := &pickle.Dict{}
	for _, p := range pairs {
		if err := d.Set(p.Key, p.Value); err != nil {
			return nil, err
		}
	}
	return d, nil
}
