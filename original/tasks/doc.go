// Package tasks reproduces the GPU scheduling study "scheduling-algo" as published
// (github.com/gabbyvaillant/scheduling-algo), bit for bit. Other schedulers should not work this way. [Env] is the
// packing environment of its PPO agent with its faults, [Baselines] are its simple policies, [Evaluate] compares
// policies, and [LearnPPO] trains the agent.
//
// [Python] generates the random numbers of Python's module random. Observations are float32 in the published program;
// here they are float64 with the same values.
package tasks
