package elastic

// Action adds workers or parameter servers to a job.
type Action int

// Actions, in the order of the outputs of a learned policy.
const (
	Worker Action = iota // adds one worker
	Server               // adds one parameter server
	Bundle               // adds one worker and one server on the same node; without servers, one worker
)

// demand returns the resources of an action's tasks.
func (a Action) demand(t *JobType, o *Options) (need Resources) {
	if a != Server {
		need = need.Plus(t.Worker)
	}
	if a == Server || a == Bundle && !o.AllReduce {
		need = need.Plus(t.Server)
	}
	return need
}

// Demand returns the resources that the tasks added by an action need on a node.
func (*World) Demand(j *Job, a Action) Resources { return j.needs[a] }

// Allowed reports whether an action keeps a job within its maximum numbers of workers and servers.
func (w *World) Allowed(j *Job, a Action) bool {
	worker, server := a != Server, a == Server || a == Bundle && !w.options.AllReduce
	return (!worker || len(j.Workers) < w.options.Most) &&
		(!server || !w.options.AllReduce && len(j.Servers) < w.options.Most)
}

// Add performs an action on the least loaded node with enough free resources. With the quirk [FirstNode], it tries only
// the least loaded node. It returns false and changes nothing if there is no room or the action is not allowed.
func (w *World) Add(j *Job, a Action) bool {
	node, ok := w.take(j, a)
	if ok {
		w.act(j, node, a)
	}
	if ok && (a == Bundle || !w.Keeps(StaleShare)) {
		w.share(j)
	}
	return ok
}

// AddPair performs a [Bundle]: it adds a worker and a server to a job. Observers are notified of two actions, first the
// worker and then the server.
func (w *World) AddPair(j *Job) bool {
	node, ok := w.take(j, Bundle)
	if !ok {
		return false
	}
	w.act(j, node, Worker)
	w.share(j)
	if !w.options.AllReduce {
		w.act(j, node, Server)
		w.share(j)
	}
	return true
}

// AddOn performs an action on a given node. It returns false and changes nothing if there is no room or the action is
// not allowed.
func (w *World) AddOn(j *Job, node int, a Action) bool {
	ok := w.Allowed(j, a) && w.nodes.take(node, j.needs[a])
	if ok {
		w.act(j, node, a)
		w.share(j)
	}
	return ok
}

// take reserves resources for an action and returns their node.
func (w *World) take(j *Job, a Action) (node int, ok bool) {
	if !w.Allowed(j, a) {
		return 0, false
	}
	need := j.needs[a]
	if w.Keeps(FirstNode) {
		node = w.nodes.least()
		return node, w.nodes.take(node, need)
	}
	node, ok = w.nodes.room(need)
	return node, ok && w.nodes.take(node, need)
}

// act adds an action's tasks to a job's counts.
func (w *World) act(j *Job, node int, a Action) {
	if w.Observer != nil {
		w.Observer(w, j, a)
	}
	if a != Server {
		j.Workers = append(j.Workers, node)
	}
	if a == Server || a == Bundle && !w.options.AllReduce {
		j.Servers = append(j.Servers, node)
	}
}

func (w *World) share(j *Job) { j.Share = j.demand().DominantShare(w.total) }
