package config

import (
	"cmp"
	"fmt"

	"graft/config/decode"
	"graft/dataset"
	"graft/files"
	"graft/model"
)

// Declared makes the network for what is known of the data without reading images.
func (j *Job) Declared(fsys files.FS) (*model.Network, error) {
	if j.Data.Path != "" && fsys != nil {
		_, err := fsys.Stat(j.Data.Path)
		j.noData = err != nil
	}
	shape, classes := dataset.Declared(fsys, j.Data)
	return j.Model(shape, classes)
}

// compare reports where input or classes of the network are not those of the data, as far as these
// are known without reading images.
func (j *Job) compare(fsys files.FS, r *decode.Reading) {
	key := "network.name"
	if j.Network.File != "" {
		key = "network.file"
	}
	n, err := j.Declared(fsys)
	if err != nil {
		r.Blame(key, err.Error())
		return
	}
	shape, classes := dataset.Declared(fsys, j.Data)
	if len(shape) > 0 && !n.Input.Same(shape) {
		r.Blame(key, fmt.Sprintf("the network takes %v and the images of %s are %v; give the network that input, or other images", n.Input, j.Data.Kind, model.Shape(shape)))
	}
	out, err := n.Output()
	switch {
	case err != nil:
		r.Blame(key, err.Error())
	case len(out) != 1 || classes > 0 && out[0] != classes:
		if j.Network.Classes > 0 {
			key = "network.classes"
		}
		r.Blame(key, fmt.Sprintf("the network gives %v and %s has %d classes; set network.classes to %d, or take other data", out, j.Data.Kind, classes, cmp.Or(classes, 10)))
	}
}
