package adaptive

// OneDevice is the time in seconds of a job of the application alone on one device with the smallest batch.
func (a *Application) OneDevice() (float64, error) {
	return a.seconds([]int{1}, a.Limits.Share(a.Limits.Least, 1, false))
}
