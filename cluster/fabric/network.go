package fabric

// Network connects servers, and says how long transfers between them take. A new one is one file,
// and a line in kindsOfNetworks.
type Network interface {
	// Size returns the number of servers, which have the places 0 to Size()-1.
	Size() int
	// Name names a server.
	Name(server int) string
	// Lanes returns the number of ways from one server to another, each of which carries one transfer
	// at a time; 0 if transfers share them.
	Lanes() int
	// Fits reports whether a block of n servers exists when all are free.
	Fits(n int) bool
	// Block appends to into the servers of a block of n for which use is true, or returns nil.
	Block(n int, use func(server int) bool, into []int) []int
	// Alike appends to key what servers have in common: two lists of servers with the same key are
	// alike to every transfer between them.
	Alike(servers []int, key []byte) []byte
	// Load sets the work of each transfer of a placed step: what [Network.Rates] works off.
	Load(p *Placed) error
	// Rates sets, for each transfer that is ready, the work done in a second. The transfers are
	// in order of priority, highest first.
	Rates(p *Placed, ready []int, rates []float64)
}
