package app

const secondsOfDay = 86_400

// Midnight returns the last midnight at or before a time in a trace, in seconds. It assumes that time 0 of the trace is
// midnight.
func Midnight(second int64) int64 {
	return second - (second%secondsOfDay+secondsOfDay)%secondsOfDay
}
