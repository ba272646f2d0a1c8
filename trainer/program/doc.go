// Package program drives a user's PyTorch program that trains the network of a job in its own loop. The program uses
// python/graft_job.py, which talks to a Session over a socket.
//
// The two sides take turns. The program sends a report, one line of JSON, and waits; graft answers with an order:
//
//	hello      {"hello": 1, "torch": …, "python": …}       answered by {"protocol": 1, "seed": …, "folder": …, …}
//	network    {"network": PATH, "optimizer": {…}}         answered by start or restore
//	epoch      {"epoch": {…}, "position": …}               before the first step of a process
//	trained    {"losses": […], "correct": […], "rate": …}  after the order train; correct is -1 if unknown
//	validated  {"loss": …, "accuracy": …}                  after the order evaluate
//
// The orders pull, push and save are answered at once, end ends the program. Tensors travel as safetensors files
// in a folder of the session.
//
// A program may consist of several processes, which torchrun or another launcher starts. Its first process talks to
// graft and passes the orders on, so all processes change the network between the same two steps. Launchers close
// inherited descriptors: the first process then connects to a socket in the session's folder. All processes hold the
// folder's pipe open and exit when it ends. A process that fails writes its error to the folder, unless another one was
// first.
package program
