package results

import "slices"

// JobEvent is the name of an event in the log of a job, events.jsonl.
type JobEvent string

// Look is the way in which reports show an event. The zero value is a plain mark.
type Look int

// The looks of events.
const (
	Plain  Look = iota // something happened
	Up                 // the job has more than before
	Down               // the job has less than before
	Choice             // something was decided
)

// The events of a job. A new one is one line.
var (
	EventStart       = jobEvent("start", Plain, "the job starts")
	EventUp          = jobEvent("up", Up, "the job gains devices")
	EventDown        = jobEvent("down", Down, "the job loses devices")
	EventDevices     = jobEvent("devices", Plain, "the number of devices changes without an adaptation")
	EventDecision    = jobEvent("decision", Choice, "the decider has chosen an action")
	EventShrink      = jobEvent("shrink", Down, "the network goes back to a smaller one")
	EventProcesses   = jobEvent("processes", Plain, "the number of processes that train together changes")
	EventPeerLost    = jobEvent("peer lost", Plain, "a process that trained along has ended")
	EventPeerMissing = jobEvent("peer missing", Plain, "a process that was to train along has not come")
	EventEnd         = jobEvent("end", Plain, "the job ends")
)

// jobEvents are all events, in the order above.
var jobEvents []jobEventKind

type jobEventKind struct {
	event JobEvent
	look  Look
	about string
}

func jobEvent(name JobEvent, look Look, about string) JobEvent {
	jobEvents = append(jobEvents, jobEventKind{name, look, about})
	return name
}

// JobEvents returns all events of jobs.
func JobEvents() []JobEvent {
	var list []JobEvent
	for _, k := range jobEvents {
		list = append(list, k.event)
	}
	return list
}

func (e JobEvent) kind() jobEventKind {
	if k := slices.IndexFunc(jobEvents, func(k jobEventKind) bool { return k.event == e }); k >= 0 {
		return jobEvents[k]
	}
	return jobEventKind{event: e}
}

// Look is the way in which reports show the event; plain for an unknown one.
func (e JobEvent) Look() Look { return e.kind().look }

// About says what has happened, in a clause; empty for an unknown event.
func (e JobEvent) About() string { return e.kind().about }
