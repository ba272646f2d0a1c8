package config

import "fmt"

// faultList gathers the faults of options.
type faultList []error

// when adds a fault if a condition holds.
func (f *faultList) when(wrong bool, format string, args ...any) {
	if wrong {
		*f = append(*f, fmt.Errorf(format, args...))
	}
}
