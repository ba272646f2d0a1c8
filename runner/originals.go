package main

// Studies of other programs register themselves with the worlds that they belong to.
import _ "graft/original/tasks"
