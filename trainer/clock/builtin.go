package clock

import (
	"fmt"
	"strings"

	"graft/internal/registry"
)

// Profiles returns the built-in device profiles. The computed ones have the options that a name without options means.
func Profiles() registry.List[*Profile] {
	all := registry.List[*Profile]{v100(), steady(), roundGPU()}
	for _, h := range hardware() {
		all = append(all, computed(h, ComputedOptions{}))
	}
	return all
}

// FindProfile returns the built-in device profile with the given name. The name of a computed profile may end with
// options, such as "h100:tf32,graphs".
func FindProfile(name string) (*Profile, error) {
	plain, options, has := strings.Cut(name, ":")
	p, found := Profiles().Find(plain)
	switch {
	case !found:
		return nil, fmt.Errorf("unknown profile %q; expected one of: %s", name, strings.Join(Profiles().Names(), ", "))
	case !has:
		return p, nil
	case !p.Computed.On():
		return nil, fmt.Errorf("unknown profile %q: %s was not computed and has no options; use %q", name, plain, plain)
	}
	return computedProfile(plain, options)
}

// v100 is the node of the original experiments: a V100 that waited for images, which were loaded one by one. Its rates
// are the best fit to the published times of epochs at a batch of 64 (782 steps, and 157 batches of the test), of two
// networks and of the networks after up to three deepenings; a test derives them again. Loading takes 10.4 s of 11 s. A
// layer with weights adds 0.13 s to an epoch, and a GFLOP per step 0.06 s. The time of an operation is in the published
// logs. The time of a decision is not: three decisions and learning from them took 14 to 17 ms. The power is the
// maximum of the SXM2 board in NVIDIA's data sheet of the V100.
func v100() *Profile {
	return &Profile{Version: profileVersion, Name: "v100-original",
		Device: "Tesla V100 whose images are loaded one by one, as in the original experiments", Watts: 300,
		Costs: Costs{
			Step: Rates{CallSeconds: 42.7e-6, ExampleSeconds: 173.8e-6, LayerSeconds: 154.4e-6,
				OperationSeconds: 7.79e-14}, Batch: Rates{ExampleSeconds: 173.8e-6, LayerSeconds: 35.0e-6},
			DecisionSeconds: 5e-3, SurgerySeconds: 2e-3}}
}

// steady has round numbers, for tests and demonstrations.
func steady() *Profile {
	return &Profile{Version: profileVersion, Name: "steady",
		Device: "no device: 5 ms and 1 ms for each layer with weights a step, 5 ms and 0.5 ms a batch of evaluation",
		Costs: Costs{
			Step:            Rates{CallSeconds: 5e-3, LayerSeconds: 1e-3},
			Batch:           Rates{CallSeconds: 5e-3, LayerSeconds: 0.5e-3},
			DecisionSeconds: 10e-3, SurgerySeconds: 10e-3}}
}

// roundGPU is a GPU with round numbers that were not measured. An epoch of 45,000 images of CIFARResNet20 at a batch of
// 128 takes about 10 s. More floating-point operations take longer, so widening has a cost.
func roundGPU() *Profile {
	return &Profile{Version: profileVersion, Name: "round-gpu", Device: "no device: a GPU in round numbers, " +
		"0.2 ms for each layer with weights and 1.7 ms for each GFLOP forward a step", Costs: Costs{
		Step:            Rates{CallSeconds: 0.5e-3, LayerSeconds: 0.2e-3, OperationSeconds: 1.7e-12},
		Batch:           Rates{CallSeconds: 0.5e-3, LayerSeconds: 0.07e-3, OperationSeconds: 0.6e-12},
		DecisionSeconds: 5e-3, SurgerySeconds: 50e-3}}
}
