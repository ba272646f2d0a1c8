package fabric

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"graft/internal/registry"
)

// Kind is a named kind of decider. To add a kind, add a line to [Kinds].
type Kind struct {
	Name  string
	About string // help text in a few words
	// New creates a decider for an episode. A decider that draws random numbers uses the argument random.
	New func(random *rand.Rand) Decider
}

// Listing returns the name and a one-line description.
func (k Kind) Listing() (name, about string) { return k.Name, k.About }

func always(d Decider) func(*rand.Rand) Decider { return func(*rand.Rand) Decider { return d } }

// Kinds lists the kinds of deciders, except constant degrees such as constant-4.
func Kinds() registry.List[Kind] {
	return registry.List[Kind]{
		{"never", "does not split jobs", always(Never{})},
		{"least", "splits jobs in two", always(Least{})},
		{"most", "splits jobs into as many parts as there are free servers", always(Most{})},
		{"in-time", "splits a job into as many parts as it needs to meet its limit, assuming linear speedup",
			always(InTime{})},
		{"thrifty", "simulates each degree and chooses the degree that meets the limit with the least server time",
			always(Thrifty{})},
		{"quickest", "simulates each degree and chooses the degree at which the job ends first", always(Quickest{})},
		{"random", "chooses a valid degree at random",
			func(random *rand.Rand) Decider { return Random{random.IntN} }},
	}
}

// constantPrefix is the prefix of the names of constant degrees.
const constantPrefix = "constant-"

// Named returns a kind of decider by its name.
func Named(name string) (Kind, error) {
	if k, found := Kinds().Find(name); found {
		return k, nil
	}
	if text, ok := strings.CutPrefix(name, constantPrefix); ok {
		if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= maxParts && (n == 1 || n%2 == 0) {
			return ConstantKind(n), nil
		}
		return Kind{}, fmt.Errorf("decider %q has an invalid degree; expected 1 or an even number up to %d, such as "+
			"constant-4", name, maxParts)
	}
	return Kind{}, fmt.Errorf("unknown decider %q; expected one of: %s, or constant-N with a degree N", name,
		strings.Join(Kinds().Names(), ", "))
}

// ConstantKind returns the kind of decider that chooses the same degree for all jobs.
func ConstantKind(parts int) Kind {
	return Kind{constantPrefix + strconv.Itoa(parts),
		fmt.Sprintf("splits all jobs into %d parts, or fewer if fewer servers are free", parts),
		always(Constant{parts})}
}

// Draws reports whether deciders of this kind draw random numbers.
func (k Kind) Draws() bool { return k.Name == "random" }
