package operators

import "strings"

// elementwise lists operators that compute each value of the result from the values at the same place.
const elementwise = `add sub rsub mul div neg abs sqrt rsqrt square pow exp log clamp clamp_min clamp_max minimum
	maximum where relu relu6 hardtanh leaky_relu elu selu celu gelu silu mish softplus sigmoid tanh hardswish
	hardsigmoid dropout`

// standIns are groups of operators that take about equal time: views, parts of tensors, copies, and operators on single
// values. An operator that was not measured takes the times of the first operator of its group that was measured. Each
// group lists operators of the measured networks first.
var standIns = groups(
	`unflatten view flatten reshape transpose permute squeeze unsqueeze view_as reshape_as alias detach contiguous to
		type_as expand expand_as movedim swapaxes t numpy_T`,
	`chunk split split_with_sizes unbind select slice narrow`,
	`cat stack repeat_interleave repeat index index_select gather`,
	`hardtanh relu6 hardswish hardsigmoid clamp`,
	`mul `+elementwise,
)

// groups returns the operators of the group of each operator.
func groups(all ...string) map[string][]string {
	of := map[string][]string{}
	for _, group := range all {
		names := strings.Fields(group)
		for _, name := range names {
			if of[name] == nil {
				of[name] = names
			}
		}
	}
	return of
}
