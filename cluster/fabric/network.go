package fabric

// Network connects servers and computes the duration of transfers between them. To add a network, add a file, and an
// entry to "kindsOfNetworks".
type Network interface {
	// Size returns the number of servers. Servers are numbered from 0 to Size()-1.
	Size() int
	// Name returns the name of a server.
	Name(server int) string
	// Lanes returns the number of channels from one server to another. A channel carries one transfer at a time. Zero
	// means that transfers share links.
	Lanes() int
	// Fits reports whether a block of n servers exists if all servers are free. A block is a set of servers that can
	// run the parts of a split operation.
	Fits(n int) bool
	// Block appends a block of n servers to the list "into" and returns the extended list. The block contains only
	// servers for which the function use returns true. If there is no such block, Block returns nil.
	Block(n int, use func(server int) bool, into []int) []int
	// Alike appends a key that identifies the transfer times between the servers in a list. If two lists have the same
	// key, transfers between their servers take equally long.
	Alike(servers []int, key []byte) []byte
	// Load sets the amount of work of each transfer of a placed step. [Network.Rates] uses the same unit of work.
	Load(p *Placed) error
	// Rates sets the work per second of each ready transfer. The ready transfers are listed in order of priority,
	// highest first.
	Rates(p *Placed, ready []int, rates []float64)
}
