package fleet

// For the tests of package fleet_test.

// SetToy sets what the binary does when it was started as a process of the suite.
func SetToy(main func(Clock) (int, bool)) { asToy = main }

// After has something run when all tests have.
func After(f func()) { after = append(after, f) }

// Long says whether the tests that take minutes are taken.
func Long() bool { return *long }
