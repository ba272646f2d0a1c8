package app

const secondsOfDay = 86_400

// Midnight returns the last midnight at or before a second, in a trace whose second zero is midnight.
func Midnight(second int64) int64 {
	return second - (second%secondsOfDay+secondsOfDay)%secondsOfDay
}
