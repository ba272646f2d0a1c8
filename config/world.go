package config

import (
	"fmt"
	"sync"

	"graft/cluster/worlds"
	"graft/internal/decode"
)

// worldKinds are the kinds of the files of cluster simulations, one for each world.
var worldKinds = sync.OnceValue(func() (kinds []*Kind) {
	for _, w := range worlds.All() {
		kinds = append(kinds, kindOfRoom(&decode.FileKind{Name: w.Name, Noun: w.Titles, Files: "files of " + w.Titles,
			Command: w.RunCommand(), Title: w.Titles, Sections: w.Sections,
			New:  func() decode.CheckedFile { return w.New() },
			Page: Page{Title: "Keys of " + w.Titles, Intro: w.Intro}}))
	}
	return kinds
})

// registeredKinds are the kinds that other rooms registered: first the kinds listed before cluster simulations, then
// the others.
var registeredKinds = sync.OnceValues(func() (first, last []*Kind) {
	for _, r := range decode.Registered() {
		if r.BeforeWorlds {
			first = append(first, kindOfRoom(r))
		} else {
			last = append(last, kindOfRoom(r))
		}
	}
	return first, last
})

// kindOfRoom converts a kind that another room defines.
func kindOfRoom(r *decode.FileKind) *Kind {
	return &Kind{
		Name: r.Name, Noun: r.Noun, Files: r.Files, Command: r.Command, Title: r.Title, Sections: r.Sections,
		Page: r.Page,
		New:  func() File { return r.New() },
		Summary: func(f File) (string, error) {
			text, err := f.(decode.CheckedFile).Summary()
			return fmt.Sprintf("%s; digest %.12s", text, Digest(f)), err
		},
	}
}

// KindNamed returns the kind with the given name, or nil if there is none.
func KindNamed(name string) *Kind {
	for _, k := range Kinds() {
		if k.Name == name {
			return k
		}
	}
	return nil
}
