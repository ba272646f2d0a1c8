package app

const secondsOfDay = 86_400

// Midnight returns the second of the last midnight at or before a given second. Second 0 of the trace must be midnight.
func Midnight(second int64) int64 {
	return second - (second%secondsOfDay+secondsOfDay)%secondsOfDay
}
