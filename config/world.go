package config

import (
	"fmt"
	"sync"

	"graft/cluster/study"
	"graft/cluster/worlds"
	"graft/internal/files"
)

// worldKinds are the kinds of the files of cluster simulations, one for each world.
var worldKinds = sync.OnceValue(func() (kinds []*Kind) {
	for _, w := range worlds.All() {
		kinds = append(kinds, worldKind(w))
	}
	return kinds
})

func worldKind(w *study.World) *Kind {
	return &Kind{
		Name: w.Name, Noun: w.Titles, Files: "files of " + w.Titles, Command: w.RunCommand(), Title: w.Titles,
		Sections: w.Sections, World: w,
		New: func() File { return w.New() },
		Summary: func(f File) (string, error) {
			text, err := f.(study.File).Summary()
			return fmt.Sprintf("%s; digest %.12s", text, Digest(f)), err
		},
		Page: Page{Title: "Keys of " + w.Titles, Intro: w.Intro},
	}
}

// KindOfWorld returns the kind of the files of a world.
func KindOfWorld(name string) *Kind {
	for _, k := range worldKinds() {
		if k.World.Name == name {
			return k
		}
	}
	return nil
}

// ReadWorld reads the file of a world; an empty path is no file.
func ReadWorld(w *study.World, fsys files.FS, path string, set []string) (study.File, error) {
	return Open(fsys, path).World(w, set)
}

// World is [ReadWorld] of the document.
func (d *Document) World(w *study.World, set []string) (study.File, error) {
	return readAs[study.File](KindOfWorld(w.Name), d, set)
}
