package adaptive

// KnownApplications returns the properties that are missing from the files of Pollux's published applications: numbers
// of epochs, batch limits and size classes (Qiao et al., OSDI 2021, branch osdi21-artifact of petuum/adaptdl).
func KnownApplications() map[string]Fixed {
	return map[string]Fixed{
		"bert":        {Epochs: 2, Size: "medium"},
		"cifar10":     {Epochs: 100, Size: "small"},
		"deepspeech2": {Epochs: 80, Size: "medium"},
		"imagenet":    {Epochs: 90, Size: "extra-large"},
		"ncf":         {Epochs: 10, Alone: 32768, Size: "small"},
		"yolov3":      {Epochs: 50, DeviceMost: 8, Size: "large"},
	}
}
