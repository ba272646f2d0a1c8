// Package validate collects invalid options, so that all of them are reported at once.
package validate

import "fmt"

// Faults lists invalid options; errors.Join combines them into an error.
type Faults []error

// When adds an error if a condition is true. The arguments are always evaluated.
func (f *Faults) When(wrong bool, format string, args ...any) {
	if wrong {
		*f = append(*f, fmt.Errorf(format, args...))
	}
}

// Prefixed returns the errors, each with a prefix.
func (f Faults) Prefixed(text string) Faults {
	prefixed := make(Faults, len(f))
	for k, err := range f {
		prefixed[k] = fmt.Errorf("%s%w", text, err)
	}
	return prefixed
}

// Unless adds an error if a condition is false.
func (f *Faults) Unless(right bool, format string, args ...any) { f.When(!right, format, args...) }
