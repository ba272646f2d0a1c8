// Package validate gathers what is wrong with options, so that all of it is reported at once.
package validate

import "fmt"

// Faults lists what is wrong; errors.Join makes it an error.
type Faults []error

// When adds a fault where a condition holds. All arguments are evaluated in any case.
func (f *Faults) When(wrong bool, format string, args ...any) {
	if wrong {
		*f = append(*f, fmt.Errorf(format, args...))
	}
}

// Prefixed returns the faults with a text in front of each.
func (f Faults) Prefixed(text string) Faults {
	prefixed := make(Faults, len(f))
	for k, err := range f {
		prefixed[k] = fmt.Errorf("%s%w", text, err)
	}
	return prefixed
}

// Unless adds a fault where a condition does not hold.
func (f *Faults) Unless(right bool, format string, args ...any) { f.When(!right, format, args...) }
