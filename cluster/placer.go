package cluster

import (
	"cmp"
	"fmt"
)

// Placer chooses the devices of a job, at most [Nodes.Room] per node. Place selects the requested number of devices,
// gpus. It appends the devices selected on each node, as a [Share], to the list shares, and returns the list. It
// returns false if there is no placement. Place is called only if the nodes have enough free devices in total. If Place
// succeeds, it must also succeed after further devices become free.
type Placer interface {
	Place(n *Nodes, gpus int, shares []Share) ([]Share, bool)
}

// Placers returns the placement rules by name.
func Placers() map[string]Placer {
	return map[string]Placer{"consolidate": consolidate{}, "consolidate-first": consolidateFirst{}, "random": inOrder{}}
}

// PlacerNamed returns a placement rule by name. Empty means "consolidate".
func PlacerNamed(name string) (Placer, error) {
	name = cmp.Or(name, "consolidate")
	p, ok := Placers()[name]
	if !ok {
		return nil, fmt.Errorf("unknown placement %q; expected consolidate, consolidate-first or random", name)
	}
	return p, nil
}

// consolidate uses as few nodes as possible: part of one node, the fullest with room, or whole nodes and part of one
// more.
type consolidate struct{}

func (consolidate) Place(n *Nodes, gpus int, shares []Share) ([]Share, bool) {
	each := n.Each()
	if gpus <= each {
		if at := n.fullest(gpus); at >= 0 {
			return append(shares, n.Share(at, gpus)), true
		}
		return shares, false
	}
	whole, rest := gpus/each, gpus%each
	if n.view.count[each] < whole {
		return shares, false
	}
	at := -1
	for range whole {
		if at = n.roomy(each, each, at+1); at < 0 {
			return shares, false
		}
		shares = append(shares, n.Share(at, each))
	}
	if rest == 0 {
		return shares, true
	}
	// The rest must fit on the emptiest node.
	if at = n.roomy(each, rest, at+1); at >= 0 {
		return append(shares, n.Share(at, rest)), true
	}
	for f := each - 1; f >= rest; f-- {
		if at = n.roomy(f, rest, 0); at >= 0 {
			return append(shares, n.Share(at, rest)), true
		}
	}
	return shares, false
}

// consolidateFirst consolidates if possible, and otherwise spreads a job over the emptiest nodes.
type consolidateFirst struct{}

func (consolidateFirst) Place(n *Nodes, gpus int, shares []Share) ([]Share, bool) {
	before := len(shares)
	shares, ok := consolidate{}.Place(n, gpus, shares)
	if ok {
		return shares, true
	}
	shares = shares[:before]
	for f := n.Each(); f > 0; f-- {
		for at := n.roomy(f, 1, 0); at >= 0 && gpus > 0; at = n.roomy(f, 1, at+1) {
			take := min(n.Room(at), gpus)
			shares = append(shares, n.Share(at, take))
			gpus -= take
		}
	}
	return shares, gpus == 0
}

// inOrder takes free devices of one node after another. Its name is "random", as in its first simulator.
type inOrder struct{}

func (inOrder) Place(n *Nodes, gpus int, shares []Share) ([]Share, bool) {
	for at := n.FirstFree(0); at >= 0 && gpus > 0; at = n.FirstFree(at + 1) {
		if take := min(n.Room(at), gpus); take > 0 {
			shares = append(shares, n.Share(at, take))
			gpus -= take
		}
	}
	return shares, gpus == 0
}
