// Package learn trains agents in environments: rollouts, imitation and policy gradients. An environment may take
// several actions before its time advances. All random numbers come from streams of the seed, one per environment, so
// results are bit-identical for any number of parallel environments.
//
// # Design
//
// One study for all learners. learn.Study takes the steps of any Learner for several seeds. It handles rows of figures,
// checkpoints by time, stops, disk faults, and bit-identical results after them. The learner on trees of simulation,
// the agents of cluster/elastic and DL2's training use it. A learner's state is one file, which includes its rows.
//
// An agent imitates before it is rewarded. A slot takes hundreds of actions and has one reward: with rewards only,
// nothing was learned in the minutes that a user waits. A teacher, by default the best scheduler of each workload,
// therefore decides the counts of a slot. Every action that leads to these counts is right, in any order, in the states
// that the agent itself reaches. Rounds of PPO follow. They compare episodes of one workload with each other, since the
// errors of a critic were larger than the differences between actions. Validation chooses the best agent, so rounds
// that make it worse only cost time.
//
// The cost of an action is proportional to its changes. A candidate's score is the product of its embedding and a query
// of the state. An action changes a few of the hundreds of candidates; only these are described and embedded again,
// when playing and when learning.
//
// Time advances when an environment says so. A decision in a slot is an action of its own. An outcome states the number
// of elapsed steps of time, and only elapsed steps are discounted.
//
// An agent scores candidates, not positions. One network scores each action of each job, so any number of jobs fits and
// their order cannot matter. Networks run in Go. With most inputs zero and one example at a time, a call into LibTorch
// costs more than the arithmetic, and results in Go are bit-identical on every processor. Each of several parallel
// environments has its own random stream, so results do not depend on parallelism.
package learn
