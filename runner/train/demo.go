package train

// Demo returns the assignments of the demo job: a network trains, grows when it gets devices, and returns to its
// initial size when they are taken away.
func Demo() []string {
	return []string{
		"time.budget=18s",
		`time.events=[{at = "5s", change = "up", devices = 2}, {at = "14s", change = "down", devices = 1}]`,
		"data.synthetic.train=4000",
		"data.synthetic.test=1000",
		"augment.pad=2",
		"augment.flip=true",
		`adapt.decider="script"`,
		`adapt.actions=["deepen:conv2", "widen:conv3:64"]`,
		"adapt.each_epoch=true",
		"adapt.max_decisions=2",
		"adapt.noise=0.05", // so that copied channels diverge
	}
}
