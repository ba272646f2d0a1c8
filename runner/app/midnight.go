package app

const secondsOfDay = 86_400

// Midnight returns the last midnight at or before a second of a trace. It assumes that second 0 of the trace is a
// midnight.
func Midnight(second int64) int64 {
	return second - (second%secondsOfDay+secondsOfDay)%secondsOfDay
}
