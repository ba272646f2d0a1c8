// Package coprocess runs a user's program, in any language, that answers requests. A request is one line of JSON on the
// program's standard input, an answer is one line of JSON on its standard output. Standard error is free for messages.
//
// The first request states the version of the protocol and the role of the program: {"protocol": 1, "role":
// "scheduler"}, with further keys for the role. The program answers {"protocol": 1}. The end of standard input ends the
// program.
//
// An answer is limited in size and time. If a program exits, answers too late or does not answer JSON with the expected
// keys, the error quotes the last lines of its standard error.
package coprocess
