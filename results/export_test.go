package results

// JobEvents returns all events of jobs.
func JobEvents() []JobEvent {
	var list []JobEvent
	for _, k := range jobEvents {
		list = append(list, k.event)
	}
	return list
}

// ReadRegistry reads the names of the tables, logs and event files of a folder.
var ReadRegistry = readRegistry
