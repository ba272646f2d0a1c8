package fabric

// Offer says what the waiting job would do at a degree.
type Offer struct {
	Degree  int
	Cause   Cause   // of a block; none if the job would start
	Time    float64 // s of the job; zero where it has no servers
	Servers int
}

// Area is the time of the job on all its servers, s.
func (o *Offer) Area() float64 { return o.Time * float64(o.Servers) }

// Offers lists what the waiting job would do at each degree above 0 that can be chosen now.
func (w *World) Offers() ([]Offer, error) {
	degrees := w.Degrees()[1:]
	offers := make([]Offer, len(degrees))
	for k, degree := range degrees {
		run, cause, err := w.prepare(w.Waiting(), degree, nil)
		if err != nil {
			return nil, err
		}
		if offers[k] = (Offer{Degree: degree, Cause: cause}); run != nil {
			offers[k].Time, offers[k].Servers = run.Step.Time*float64(w.Waiting().Steps), len(run.Placed.Servers)
		}
	}
	return offers, nil
}

// best returns the degree of the offer of the smallest cost among those that would start, the first of
// equals; 0 if none would.
func best(w *World, cost func(*Offer) float64) (int, error) {
	offers, err := w.Offers()
	degree, least := 0, 0.0
	for k := range offers {
		if o := &offers[k]; o.Cause == NoCause && (degree == 0 || cost(o) < least) {
			degree, least = o.Degree, cost(o)
		}
	}
	return degree, err
}

// Thrifty simulates the step at each degree and chooses, of those that end in time, the one with the
// least time on all servers together. It blocks a job that would not end in time.
type Thrifty struct{}

// Degree chooses the degree.
func (Thrifty) Degree(w *World) (int, error) { return best(w, (*Offer).Area) }

// Quickest simulates the step at each degree and chooses the one that ends first.
type Quickest struct{}

// Degree chooses the degree.
func (Quickest) Degree(w *World) (int, error) {
	return best(w, func(o *Offer) float64 { return o.Time })
}
