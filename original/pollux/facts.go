// Package pollux reproduces the published simulator of Pollux (Qiao et al., OSDI 2021, branch
// osdi21-artifact of petuum/adaptdl): facts of its applications that are in no file of theirs. Its world
// and schedulers stand in [graft/cluster/adaptive].
package pollux

import "graft/cluster/adaptive"

// Facts returns the facts of the published applications.
func Facts() map[string]adaptive.Fixed {
	return map[string]adaptive.Fixed{
		"bert":        {Epochs: 2},
		"cifar10":     {Epochs: 100},
		"deepspeech2": {Epochs: 80},
		"imagenet":    {Epochs: 90},
		"ncf":         {Epochs: 10, Alone: 32768},
		"yolov3":      {Epochs: 50, DeviceMost: 8},
	}
}
