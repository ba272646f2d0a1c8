package decider_test

import (
	"context"
	"fmt"
	"time"

	"graft/decider"
	"graft/model"
	"graft/net2net"
)

// Early deepens the first block that can be deepened, while enough time is left to train the new layer.
type Early struct {
	Share float64 // of the budget that must be left; zero is none
}

// Decide chooses an action that fits the network, or none.
func (e Early) Decide(_ context.Context, s decider.State) (decider.Decision, error) {
	if float64(s.Left) < e.Share*float64(s.Budget) {
		return decider.Decision{}, nil
	}
	actions, err := net2net.Proposals(s.Network)
	if err != nil {
		return decider.Decision{}, fmt.Errorf("decide early: %w", err)
	}
	for _, a := range actions {
		if a.Kind == "deepen" {
			return decider.Decision{Action: a}, nil
		}
	}
	return decider.Decision{}, nil
}

func Example_ofOnesOwn() {
	network, err := model.Zoo("ConvSmall", model.ZooOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, left := range []time.Duration{40 * time.Second, 10 * time.Second} {
		d, err := Early{Share: 0.5}.Decide(context.Background(),
			decider.State{Network: network, Left: left, Budget: time.Minute})
		fmt.Println(d.Action, err)
	}
	// Output:
	// deepen:conv1 <nil>
	// none <nil>
}
