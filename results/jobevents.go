package results

import "slices"

// JobEvent is the name of an event in the log of a job, events.jsonl.
type JobEvent string

// Look determines the mark of an event in reports. The zero value is a neutral mark.
type Look int

// Appearances of events.
const (
	Plain  Look = iota // neutral
	Up                 // the job has more resources than before
	Down               // the job has fewer resources than before
	Choice             // the decider made a decision
)

// Subject names the part of a job that an event concerns. The zero value is the whole job.
type Subject int

// Parts of a job that events concern.
const (
	OfJob Subject = iota
	OfDevices
	OfNetwork // the event changes the network
	OfProcesses
)

// Notice selects additional places that show an event. Logs, reports and pages show every event.
type Notice int

// Additional places that show an event.
const (
	Marked  Notice = iota // shown in the table of a completed job, and as a mark in figures
	Implied               // shown only in the table of a completed job, since it follows from a marked event
	Silent                // shown in no additional place, since every job has it
)

// EventTraits describes how an event is shown. An unknown event has the zero value: it is shown wherever other events
// are, with a neutral mark.
type EventTraits struct {
	Look   Look
	Of     Subject
	Notice Notice
	// consequence of the event, as stated in the log's warning; empty if the event causes no warning
	Warning string
	About   string // description of the event, worded as a clause
}

// Events of a job. To add one, add a line.
var (
	EventStart   = NewJobEvent("start", EventTraits{Notice: Silent, About: "the job starts"})
	EventUp      = NewJobEvent("up", EventTraits{Look: Up, Of: OfDevices, About: "the job gains devices"})
	EventDown    = NewJobEvent("down", EventTraits{Look: Down, Of: OfDevices, About: "the job loses devices"})
	EventDevices = NewJobEvent("devices",
		EventTraits{Of: OfDevices, About: "the number of devices changes without an adaptation"})
	EventDecision = NewJobEvent("decision",
		EventTraits{Look: Choice, Of: OfNetwork, About: "the decider has chosen an action"})
	EventSkipped = NewJobEvent("skipped", EventTraits{Look: Choice, Of: OfNetwork, Warning: goesOn,
		About: "the chosen action cannot be applied"})
	EventLate = NewJobEvent("too late", EventTraits{Look: Choice, Of: OfNetwork, Warning: untrained,
		About: "no training step fits after the chosen action, which is not applied"})
	EventShrink = NewJobEvent("shrink", EventTraits{Look: Down, Of: OfNetwork, Notice: Implied,
		About: "the network returns to a smaller one"})
	EventProcesses = NewJobEvent("processes",
		EventTraits{Of: OfProcesses, Notice: Implied, About: "the number of processes that train together changes"})
	EventPeerLost = NewJobEvent("peer lost",
		EventTraits{Of: OfProcesses, Warning: goesOn, About: "a process that trained with the job has ended"})
	EventPeerMissing = NewJobEvent("peer missing",
		EventTraits{Of: OfProcesses, Warning: goesOn, About: "a process that should train with the job has not joined"})
	EventBatch   = NewJobEvent("batch", EventTraits{About: "the number of images in a step changes"})
	EventLowRate = NewJobEvent("low rate",
		EventTraits{Warning: hardlyLearns, About: "the learning rate is low long before the budget ends"})
	EventEnd = NewJobEvent("end", EventTraits{Notice: Silent, About: "the job ends"})
)

const (
	goesOn       = "the job continues without it"
	untrained    = "the network stays the same; change it earlier, or raise the budget"
	hardlyLearns = "the weights hardly change from now on; choose schedule cosine or linear, a decay closer to 1 or " +
		"a higher min_lr"
)

// jobEvents lists all events, in the order of their registration.
var jobEvents []jobEventKind

type jobEventKind struct {
	event  JobEvent
	traits EventTraits
}

// NewJobEvent registers an event. Call it while packages are initialized.
func NewJobEvent(name JobEvent, traits EventTraits) JobEvent {
	jobEvents = append(jobEvents, jobEventKind{name, traits})
	return name
}

// Traits returns the event's traits, or the zero value for an unknown event.
func (e JobEvent) Traits() EventTraits {
	if k := slices.IndexFunc(jobEvents, func(k jobEventKind) bool { return k.event == e }); k >= 0 {
		return jobEvents[k].traits
	}
	return EventTraits{}
}
