package team

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/torch"
)

// idle is a replica that never works.
type idle struct{}

func (idle) Load() (string, torch.Device, error)                         { return "images", torch.CPU, nil }
func (idle) Copy(json.RawMessage, torch.Device) ([]*torch.Tensor, error) { return nil, nil }
func (idle) Work(json.RawMessage, *torch.Peers) error                    { return nil }
func (idle) Close()                                                      {}

// A follower that is stopped while it waits for orders announces that it leaves.
func TestFollowersAnnounceThatTheyLeave(t *testing.T) {
	orders, _ := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var said bytes.Buffer
	require.NoError(t, Follow(ctx, idle{}, "", orders, &said))
	var answers []answer
	for in := json.NewDecoder(&said); in.More(); {
		var a answer
		require.NoError(t, in.Decode(&a))
		answers = append(answers, a)
	}
	require.Equal(t, []answer{{Data: "images"}, {Leaves: true}}, answers)
}
