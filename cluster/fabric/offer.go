package fabric

// Offer holds the predicted run time and the number of servers for the waiting job at a given degree of parallelism.
type Offer struct {
	Degree  int
	Cause   Cause   // reason to block the job at this degree; NoCause if the job would start
	Time    float64 // run time of the job in seconds; zero if it has no servers
	Servers int
}

// Area returns the job's run time multiplied by its number of servers, in server-seconds.
func (o *Offer) Area() float64 { return o.Time * float64(o.Servers) }

// Offers returns an offer for each degree of parallelism that can be chosen now, except degree 0.
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

// best returns the degree of the cheapest offer that would start, the first on a tie; 0 if none would.
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

// Thrifty simulates the step at each degree. Among the degrees at which the job ends in time, it chooses the degree
// with the smallest server time. It blocks a job that would not end in time at any degree.
type Thrifty struct{}

// Degree implements [Decider].
func (Thrifty) Degree(w *World) (int, error) { return best(w, (*Offer).Area) }

// Quickest simulates the step at each degree and chooses the degree with the shortest run time.
type Quickest struct{}

// Degree implements [Decider].
func (Quickest) Degree(w *World) (int, error) {
	return best(w, func(o *Offer) float64 { return o.Time })
}
