// Package team trains with several processes, on one machine or on several machines that join over the network. Team
// is the leader's side, and Follow is a follower's side. Orders are lines of JSON that are sent over pipes or
// connections; LibTorch transfers tensors between processes. Only the job defines the work: see [Job] and [Replica].
//
// # Design
//
// Leader and followers. The process that runs the job is the leader: it has the clock, the scheduler, the decider,
// the recorder and the checkpoints, and only the leader performs surgery. For each other device it starts a follower
// through a Starter, in runner the hidden command graft follow. A follower loads the images and executes orders: meet
// (a rendezvous: rank, and the file or the leader's store of a group), copy (the network's form, options, counts of
// steps and the generator's state; tensors are broadcast), train (rows of an epoch's order, a rate, the share of
// distillation), evaluate. An order is a line of JSON on standard input; an answer is a line on file 3. A follower
// has no state that the leader lacks. It therefore gets a new copy after surgery, after the loss of a process and
// after a change of the group, and checkpoints do not contain its state.
//
// Between steps the leader stops surplus followers and starts missing followers. It does not restart a follower
// before the follower has done some work. After a call the leader reads every answer. If its own part failed, it
// closes the group, so the other processes fail too, removes processes that are gone, unresponsive or failed, and
// repeats the call with the remaining processes. If a group fails twice although no process is gone, the leader
// returns an error. If elastic is true, the leader admits all followers that join, and reports the number of ready
// followers to the scheduler: Live turns the difference into changes of one device each. A follower ends when its
// input ends; a running call then fails, so no follower outlives its leader. Only the leader handles signals: it
// saves, and stops the followers.
package team
