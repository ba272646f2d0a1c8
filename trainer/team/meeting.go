package team

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"graft/torch"
)

// storeCall is a follower's call of the leader's store. It uses the connection that carries orders, so no second port
// is needed, and only holders of the token reach the store.
type storeCall struct {
	ID      int64 `json:"id"`
	Meeting int64 `json:"meeting"`
	torch.StoreCall
}

// storeReply is the answer to the call of the same ID.
type storeReply struct {
	ID int64 `json:"id"`
	torch.StoreResult
	Error string `json:"error,omitempty"`
}

// Limits of a store, which suffice for the addresses of a thousand processes.
const (
	storeKey   = 4 << 10   // bytes of a key
	storeValue = 1 << 20   // bytes of a value
	storeTotal = 256 << 20 // bytes of all values
)

// meetings is the leader's store for the group that is forming or working. Members that left the group can no longer
// call it.
type meetings struct {
	mu     sync.Mutex
	number int64 // number of the group
	values map[string][]byte
	total  int
}

// open begins a meeting without keys and ends earlier ones.
func (m *meetings) open() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.number++
	m.values, m.total = map[string][]byte{}, 0
	return m.number
}

// serve answers a follower's call.
func (m *meetings) serve(c storeCall) storeReply {
	r, err := m.call(c.Meeting, c.StoreCall)
	reply := storeReply{ID: c.ID, StoreResult: r}
	if err != nil {
		reply.Error = err.Error()
	}
	return reply
}

func (m *meetings) call(number int64, c torch.StoreCall) (r torch.StoreResult, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if number != m.number || m.values == nil {
		return r, errors.New("the group has ended")
	}
	key := string(c.Key)
	value, there := m.values[key]
	switch c.Op {
	case torch.StoreSet:
		return r, m.set(key, c.Value)
	case torch.StoreGet:
		if !there {
			return r, fmt.Errorf("unknown key %.40q in the rendezvous store", key)
		}
		r.Value = value
	case torch.StoreAdd:
		return m.add(key, c.Number)
	case torch.StoreCheck, torch.StoreDelete:
		if there {
			r.Number = 1
		}
		if c.Op == torch.StoreDelete && there {
			m.total -= len(key) + len(value)
			delete(m.values, key)
		}
	default:
		err = fmt.Errorf("unknown operation %d on the rendezvous store", c.Op)
	}
	return r, err
}

func (m *meetings) set(key string, value []byte) error {
	grown := m.total + len(value) - len(m.values[key])
	if _, there := m.values[key]; !there {
		grown += len(key)
	}
	if len(key) > storeKey || len(value) > storeValue || grown > storeTotal {
		return fmt.Errorf("a key of %d bytes and a value of %d bytes do not fit into the store, which already "+
			"contains %d bytes", len(key), len(value), m.total)
	}
	m.values[key], m.total = value, grown
	return nil
}

// add counts in decimal text, as the other stores of c10d do. A missing key counts as zero.
func (m *meetings) add(key string, number int64) (torch.StoreResult, error) {
	if old, there := m.values[key]; there {
		n, err := strconv.ParseInt(string(old), 10, 64)
		if err != nil {
			return torch.StoreResult{}, fmt.Errorf("the value of key %.40q is not a number", key)
		}
		number += n
	}
	return torch.StoreResult{Number: number}, m.set(key, strconv.AppendInt(nil, number, 10))
}

// ownStore is the store as called by the leader itself.
type ownStore struct {
	*meetings
	number int64
}

// Call performs an operation on the leader's own store.
func (s ownStore) Call(c torch.StoreCall) (torch.StoreResult, error) { return s.call(s.number, c) }

// leaderLink is a follower's side of the connection to its leader.
type leaderLink struct {
	saying  sync.Mutex
	out     *json.Encoder
	calling sync.Mutex // one call of the store at a time
	id      int64      // ID of the last call
	replies <-chan storeReply
}

// say sends an answer.
func (l *leaderLink) say(a answer) error {
	l.saying.Lock()
	defer l.saying.Unlock()
	return l.out.Encode(a)
}

// leadersStore is the leader's store as called by a follower.
type leadersStore struct {
	*leaderLink
	number  int64
	timeout time.Duration
}

// Call sends an operation to the leader's store and waits for the result.
func (s leadersStore) Call(c torch.StoreCall) (torch.StoreResult, error) {
	s.calling.Lock()
	defer s.calling.Unlock()
	s.id++
	if err := s.say(answer{Store: &storeCall{ID: s.id, Meeting: s.number, StoreCall: c}}); err != nil {
		return torch.StoreResult{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	for {
		select {
		case r, more := <-s.replies:
			switch {
			case !more:
				return torch.StoreResult{}, errGone
			case r.ID != s.id: // reply to an abandoned call
			case r.Error != "":
				return torch.StoreResult{}, errors.New(r.Error)
			default:
				return r.StoreResult, nil
			}
		case <-ctx.Done():
			return torch.StoreResult{}, errSilent
		}
	}
}
