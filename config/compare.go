package config

import (
	"cmp"
	"fmt"

	"graft/dataset"
	"graft/internal/decode"
	"graft/internal/files"
	"graft/internal/words"
	"graft/model"
	"graft/trainer"
)

// Declared creates the network from properties of the data that are known without reading images.
func (j *Job) Declared(fsys files.FS) (*model.Network, error) {
	if fsys != nil {
		j.noData = dataset.CheckFiles(fsys, j.Data)
		j.ignored = dataset.IgnoredFolder(fsys, j.Data)
	}
	return j.Model(dataset.Declared(fsys, j.Data))
}

// compare reports differences between the network and the data in input or classes, as far as these are known without
// reading images.
func (j *Job) compare(fsys files.FS, r *decode.Reading) {
	key := "network.name"
	if j.Network.File != "" {
		key = "network.file"
	}
	facts := dataset.Declared(fsys, j.Data)
	tokens := facts.Task != dataset.ImageLabel
	if tokens != j.network.Tokens() {
		r.Blame(key, trainer.Takes(j.network, j.Data.Kind, nil, tokens).Error())
		return
	}
	n, err := j.Declared(fsys)
	if err != nil {
		r.Blame(key, err.Error())
		return
	}
	if j.Data.Kind == dataset.KindCSV && fsys != nil && j.noData == nil {
		if err := dataset.CheckTable(fsys, j.Data); err != nil {
			r.Blame("data.path", err.Error())
		}
	}
	j.compareImages(facts.Shape, r)
	if len(facts.Shape) > 0 {
		if err := trainer.Takes(n, j.Data.Kind, facts.Shape, tokens); err != nil {
			r.Blame(key, err.Error())
		}
	}
	training, validation := dataset.DeclaredCounts(j.Data)
	if err := j.Options().Runs(n, training, validation); err != nil {
		r.Blame(key, err.Error())
		return
	}
	j.compareGraph(n, tokens, r)
	if onHost := j.Run.Device == "" || j.Run.Device == "cpu"; n.Graph != nil && fsys != nil && onHost {
		examples := cmp.Or(j.Train.MicroBatch, j.Train.Batch)
		if j.Train.MaxMemoryMB > 0 { // parts get as small as needed
			examples = 1
		}
		if err := n.FitsMachine(fsys, examples); err != nil {
			r.Blame(key, err.Error())
		}
	}
	if err := trainer.Answers(n, j.Data.Kind, facts, j.Network.Weights != "" && !j.Network.Fresh); err != nil {
		if j.Network.Classes > 0 && !tokens {
			key = "network.classes"
		}
		r.Blame(key, err.Error())
	}
}

// compareImages reports options that do not fit images of a shape: channels, height and width.
func (j *Job) compareImages(shape []int, r *decode.Reading) {
	if len(shape) != 3 {
		return
	}
	if pad, most := j.Train.Augment.Pad, min(shape[1], shape[2])-1; pad > most {
		r.Blame("augment.pad", fmt.Sprintf("pad is %d, but images have %d x %d pixels; expected at most %d", pad,
			shape[1], shape[2], most))
	}
	for key, n := range map[string]int{"mean": len(j.Data.Mean), "deviation": len(j.Data.Deviation)} {
		if n > 1 && n != shape[0] {
			r.Blame("data."+key, fmt.Sprintf("%s has %d values, but images have %s; expected one value, or one per "+
				"channel", key, n, words.Plural(shape[0], "channel")))
		}
	}
}

// compareGraph reports options that a network that runs as a graph, or a text dataset, does not support.
func (j *Job) compareGraph(n *model.Network, tokens bool, r *decode.Reading) {
	j.compareUndrawn(n, r)
	for key, on := range map[string]bool{"pad": j.Train.Augment.Pad > 0, "flip": j.Train.Augment.Flip,
		"cutout": j.Train.Augment.Cutout > 0, "rand_augment": j.Train.Augment.RandAugment > 0,
		"mixup": j.Train.Augment.Mixup > 0} {
		if tokens && on {
			r.Blame("augment."+key, "augmentation requires images, but the dataset is text; remove the section augment")
		}
	}
}

// compareUndrawn reports tensors that have no initialization and are in no file.
func (j *Job) compareUndrawn(n *model.Network, r *decode.Reading) {
	parameters, others := j.Undrawn()
	if missing := append(parameters, others...); n.Graph != nil && j.Network.Weights == "" && len(missing) > 0 {
		r.Blame("network.weights", fmt.Sprintf("no initialization is defined for %s and %d other tensors; "+
			"set weights to the weights file that was written with the network", missing[0], len(missing)-1))
	} else if j.Network.Fresh && len(parameters) > 0 {
		r.Blame("network.fresh", fmt.Sprintf("no initialization is defined for %s and %d other parameters; "+
			"set fresh to false", parameters[0], len(parameters)-1))
	}
}
