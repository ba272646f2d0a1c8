package app

const secondsOfDay = 86_400

// Midnight is the last midnight up to a second of a trace whose second zero is one.
func Midnight(second int64) int64 {
	return second - (second%secondsOfDay+secondsOfDay)%secondsOfDay
}
