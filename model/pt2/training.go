package pt2

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"graft/model/graph"
)

// checkTraining makes the archive's network train as in PyTorch, and notes or refuses what an archive cannot express.
func (b *builder) checkTraining() error {
	b.freeze()
	b.noteSpectralNorms()
	return b.checkMomentum()
}

// freeze makes buffers of the parameters that do not require gradients, because graft trains all parameters. Parameters
// that share memory with a trained one stay parameters. If there is no other parameter, the network was probably frozen
// for inference.
func (b *builder) freeze() {
	tensors := b.out.Graph.Tensors
	parameters, trained := 0, map[string]bool{} // memory of trained parameters, by the name of the first tensor
	for k, t := range tensors {
		if t.Role == graph.Parameter {
			parameters++
			memory := cmp.Or(t.Tied, t.Name)
			trained[memory] = trained[memory] || !slices.Contains(b.frozen, k)
		}
	}
	b.frozen = slices.DeleteFunc(b.frozen, func(k int) bool {
		return trained[cmp.Or(tensors[k].Tied, tensors[k].Name)]
	})
	switch {
	case len(b.frozen) == 0:
	case len(b.frozen) == parameters:
		b.note("no parameter requires gradients in the archive; graft trains all of them. To train only some, set " +
			"requires_grad of these before the export")
	default:
		for _, k := range b.frozen {
			tensors[k].Role = graph.Buffer
		}
		b.note("%d of %d parameters do not require gradients, such as %s: they are buffers in graft, which does not "+
			"train them", len(b.frozen), parameters, tensors[b.frozen[0]].Name)
	}
}

// checkMomentum refuses batch normalisations that average all batches: an archive has a momentum of zero for them, with
// which the running statistics would never change.
func (b *builder) checkMomentum() error {
	for k := range b.out.Graph.Nodes {
		n := &b.out.Graph.Nodes[k]
		if _, tracks := n.Arg("running_mean").(graph.Weight); n.Operator != "batch_norm.default" || !tracks ||
			n.Arg("momentum") != 0.0 {
			continue
		}
		for _, m := range b.out.Graph.Modules {
			if m.Path == n.Module && strings.Contains(m.Extra, "momentum=None") {
				return fmt.Errorf("the batch normalisation %q has momentum=None, and graft does not support a "+
					"cumulative average; set its momentum to a number, such as 0.1, and export the network again",
					n.Module)
			}
		}
		b.note("the batch normalisation %q has momentum 0, so training does not change its running statistics; if "+
			"its momentum is None in PyTorch, set it to a number, such as 0.1, and export the network again", n.Module)
	}
	return nil
}

// noteSpectralNorms names the spectral norms, by the buffers of PyTorch's two implementations.
func (b *builder) noteSpectralNorms() {
	for _, t := range b.out.Graph.Tensors {
		stem, parametrized := strings.CutSuffix(t.Name, "._u")
		old, hooked := strings.CutSuffix(t.Name, "_u")
		if hooked {
			hooked = b.out.Graph.Tensor(old+"_orig") != nil
		}
		if t.Role != graph.Buffer || !hooked && !(parametrized && strings.Contains(stem, "parametrizations.")) {
			continue
		}
		b.note("the spectral norm with the buffer %q keeps its vectors of the export; PyTorch improves them in each "+
			"step of a training", t.Name)
	}
}
