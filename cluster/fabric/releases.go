package fabric

// Releases appends, for each server, the seconds until its job ends, or 0 if the server is free.
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
