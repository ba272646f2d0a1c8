// Package learn trains agents in environments: rollouts, imitation and policy gradients. An environment may take
// several actions before its time advances. All random numbers come from streams of the seed, one per environment, so
// results are bit-identical for any number of parallel environments.
//
// # Design
//
// One study for all learners. learn.Study takes the steps of any Learner for several seeds. It handles rows of
// figures, timed checkpoints, stops and disk faults, after which results are still bit-identical. The learner on
// trees of simulation, the agents of cluster/elastic and DL2's training use it. A learner's state is one file, which
// includes its rows.
//
// An agent imitates before it learns from rewards. A slot takes hundreds of actions and has one reward: with rewards
// alone, agents learned nothing in the few minutes that a user waits. Therefore a teacher, by default the best
// scheduler for each workload, decides the counts of a slot. Every action that leads to these counts is right, in any
// order, in the states that the agent itself reaches. Rounds of PPO follow. They compare episodes of the same
// workload with each other, since the errors of a critic were larger than the differences between actions. Validation
// chooses the best agent, so rounds that make it worse only cost time.
//
// The cost of an action is proportional to its changes. A candidate's score is the product of its embedding and a query
// of the state. An action changes a few of the hundreds of candidates; only these are described and embedded again,
// when playing and when learning.
//
// The environment decides when time advances. Each decision in a slot is a separate action. An outcome states the
// number of elapsed steps of time, and only elapsed steps are discounted.
//
// An agent scores candidates, not positions. One network scores each action of each job, so the number of jobs is
// unlimited and their order has no effect. Networks run in Go. Because most inputs are zero and examples come one at
// a time, a call into LibTorch costs more than the arithmetic, and results in Go are bit-identical on every
// processor. Each of several parallel environments has its own random stream, so results do not depend on
// parallelism.
package learn
