package trainer

import "fmt"

// Profiles are those that come with graft.
func Profiles() []*Profile { return []*Profile{v100(), steady(), roundGPU()} }

// FindProfile is the one of a name.
func FindProfile(name string) (*Profile, error) {
	var names string
	for _, p := range Profiles() {
		if p.Name == name {
			return p, nil
		}
		names += " " + p.Name
	}
	return nil, fmt.Errorf("there is no profile %q; there are%s", name, names)
}

// v100 is the node of the original experiments: a V100 that was kept waiting by the
// loading of its images, one by one. Its rates are those that agree best with the
// published times of epochs at a batch of 64 (782 steps, and 157 batches of the
// test), of two networks and of what up to three deepenings made of them; a test
// derives them again. Of 11 s, loading takes 10.4; a layer with weights adds 0.13 s
// to an epoch and a GFLOP a step 0.06 s. What an operation takes stands in the
// published logs. What a decision took was not published; three of them and the
// learning from them took 14 to 17 ms.
func v100() *Profile {
	return &Profile{Version: profileVersion, Name: "v100-original", Device: "Tesla V100 whose images are loaded one by one, as in the original experiments", Costs: Costs{
		Step:            Rates{CallSeconds: 42.7e-6, ExampleSeconds: 173.8e-6, LayerSeconds: 154.4e-6, OperationSeconds: 7.79e-14},
		Batch:           Rates{ExampleSeconds: 173.8e-6, LayerSeconds: 35.0e-6},
		DecisionSeconds: 5e-3, SurgerySeconds: 2e-3}}
}

// steady is a round number for everything, for tests and demonstrations.
func steady() *Profile {
	return &Profile{Version: profileVersion, Name: "steady", Device: "no device: 5 ms and 1 ms for each layer with weights a step, 5 ms and 0.5 ms a batch of evaluation", Costs: Costs{
		Step:            Rates{CallSeconds: 5e-3, LayerSeconds: 1e-3},
		Batch:           Rates{CallSeconds: 5e-3, LayerSeconds: 0.5e-3},
		DecisionSeconds: 10e-3, SurgerySeconds: 10e-3}}
}

// roundGPU is a GPU in round numbers, which none was measured to have: an epoch of 45,000
// images of CIFARResNet20 at a batch of 128 takes about 10 s, and more floating-point
// operations take longer, so that nobody widens for nothing.
func roundGPU() *Profile {
	return &Profile{Version: profileVersion, Name: "round-gpu", Device: "no device: a GPU in round numbers, 0.2 ms for each layer with weights and 1.7 ms for each GFLOP forward a step", Costs: Costs{
		Step:            Rates{CallSeconds: 0.5e-3, LayerSeconds: 0.2e-3, OperationSeconds: 1.7e-12},
		Batch:           Rates{CallSeconds: 0.5e-3, LayerSeconds: 0.07e-3, OperationSeconds: 0.6e-12},
		DecisionSeconds: 5e-3, SurgerySeconds: 50e-3}}
}
