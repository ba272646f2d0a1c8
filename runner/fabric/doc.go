// Package fabric plays episodes of clusters on which training steps run operation by operation.
package fabric
