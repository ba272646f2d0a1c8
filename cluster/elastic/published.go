package elastic

// PublishedTypes returns the eight models whose speeds the authors of DL2 measured in MXNet, numbered as in their
// traces. Each GPU is counted as four GPU slots. DL2's authors also published the compute times (seconds per step), the
// model sizes (MB) and the bandwidths (MB/s).
func PublishedTypes() []JobType {
	onGPU, onCPU := Resources{CPU: 2, GPU: 4}, Resources{CPU: 2}
	return []JobType{
		{"resnet-50", onGPU, onCPU, 115, 0.3, 0.449, 102.2, 91.875, 306.5},
		{"vgg-16", onGPU, onCPU, 115, 0.96, 0.535, 553.4, 233, 427.75},
		{"resnext-110", onGPU, onCPU, 390, 0.05, 0.226, 6.92, 59.5, 63},
		{"inception-bn", onGPU, onCPU, 120, 0.54, 0.815, 42.1, 145.875, 1082.125},
		{"seq2seq", onGPU, onCPU, 780, 0.95, 0.075, 36.5, 120.125, 181.125},
		{"cnn-text-classification", onCPU, onCPU, 193, 0.46, 0.585, 24, 60.75, 159.625},
		{"dssm", onCPU, onCPU, 349, 0.33, 0.567, 6, 92.125, 65.625},
		{"wlm", onGPU, onCPU, 165, 0.23, 0.154, 19.2, 10.375, 22.875},
	}
}
