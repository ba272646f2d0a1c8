package fleet

// Exports for package fleet_test.

// SetToy sets the main function of the suite's processes.
func SetToy(main func(Clock) (int, bool)) { asToy = main }

// After registers a function to run after all tests.
func After(f func()) { after = append(after, f) }

// Long reports whether tests that take minutes run.
func Long() bool { return long }
