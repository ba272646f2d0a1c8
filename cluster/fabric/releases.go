package fabric

// Releases appends one value per server to a list: the seconds until the job on the server ends, or 0 if the server is
// free.
func (w *World) Releases(to []float64) []float64 {
	for _, id := range w.owner {
		left := 0.0
		if id >= 0 {
			left = max(0, w.left(&w.Jobs[id]))
		}
		to = append(to, left)
	}
	return to
}
