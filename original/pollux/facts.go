// Package pollux reproduces the published simulator of Pollux (Qiao et al., OSDI 2021, branch
// osdi21-artifact of petuum/adaptdl): facts of its applications that are in no file of theirs. Its world
// and schedulers stand in [graft/cluster/adaptive].
package pollux

import "graft/cluster/adaptive"

// Facts returns the facts of the published applications.
func Facts() map[string]adaptive.Fixed {
	return map[string]adaptive.Fixed{
		"bert":        {Epochs: 2, Size: "medium"},
		"cifar10":     {Epochs: 100, Size: "small"},
		"deepspeech2": {Epochs: 80, Size: "medium"},
		"imagenet":    {Epochs: 90, Size: "extra-large"},
		"ncf":         {Epochs: 10, Alone: 32768, Size: "small"},
		"yolov3":      {Epochs: 50, DeviceMost: 8, Size: "large"},
	}
}
