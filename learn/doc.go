// Package learn trains agents in environments: rollouts, imitation and policy gradients. An
// environment may take several actions before its time goes on. All random numbers come from streams
// of the seed, one for each environment, so that the same seed has the same bits however many
// environments run at once.
//
// # Design
//
// One study for all learners. learn.Study takes the steps of any Learner for several seeds: rows of figures,
// checkpoints by time, stops, faults of a disk, and the same bits afterwards. The learner along trees of
// simulation, agents of cluster/elastic and DL2's training stand on it. A learner's state is one file, with its
// rows.
//
// An agent imitates before it is rewarded. A slot takes hundreds of actions and has one reward: by reward alone
// nothing was learned in the minutes that a user waits. So a teacher, by default the best scheduler of each
// workload, decides the counts of a slot, and every action that leads there is right, in whatever order, in the
// states that the agent itself gets into. Rounds of PPO follow; episodes of one workload are compared with each
// other, since a critic's errors were larger than what actions differ by. Validation chooses the best, so
// rounds that make it worse cost time only.
//
// An action costs what it changes. A candidate's score is the product of its embedding and a query of the
// state. Of the hundreds of candidates an action changes a few; only these are described and embedded again,
// when playing and when learning.
//
// Time goes on when an environment says so. A decision in a slot is an action of its own. An outcome says how
// many steps of time it took, and only those are discounted.
//
// An agent scores candidates, not positions. One network scores each action of each job, so that any number of
// jobs fits and their order cannot matter. Networks run in Go: with most inputs zero and one example at a time,
// a call into LibTorch costs more than the arithmetic, and the bits are the same on every processor. Rollouts
// of several environments have streams of their own, and so the same bits whatever runs at once.
package learn
