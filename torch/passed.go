package torch

import "strings"

// passable are the operators of LibTorch that a network may call although graft does not support them itself:
// documented functions of tensors and numbers without side effects and random numbers. Operators whose kernels trust
// their arguments and may end the process are excluded, and so are functions whose time grows with a value. A test
// tries each with arguments that do not fit.
var passable = func() map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields(elementwise + special + reductions + placements + algebra + layers) {
		set[name] = true
	}
	return set
}()

const (
	elementwise = ` absolute acos acosh angle arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan2
		atanh bitwise_left_shift bitwise_right_shift clip conj_physical copysign deg2rad digamma divide erfc erfinv
		float_power floor_divide fmax fmin frac gcd greater greater_equal heaviside hypot i0 igamma igammac isclose
		isfinite isinf isneginf isposinf isreal lcm ldexp less less_equal lgamma log10 logaddexp logaddexp2 logit
		multiply negative nextafter not_equal polygamma rad2deg sgn signbit sinc subtract true_divide xlogy`
	special = ` special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_digamma
		special_entr special_erf special_erfc special_erfcx special_erfinv special_exp2 special_expit special_expm1
		special_gammainc special_gammaincc special_gammaln special_i0 special_i0e special_i1 special_i1e special_log1p
		special_log_ndtr special_log_softmax special_logit special_logsumexp special_modified_bessel_i0
		special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1 special_ndtr special_ndtri
		special_polygamma special_psi special_round special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1
		special_sinc special_softmax special_spherical_bessel_j0 special_xlog1py special_xlogy special_zeta`
	reductions = ` aminmax argsort corrcoef count_nonzero cov cummax cummin cumprod cumulative_trapezoid dist
		frobenius_norm histc kthvalue logcumsumexp median mode msort nanmedian nansum norm_except_dim nuclear_norm
		pairwise_distance pdist renorm sort std_mean sum_to_size trapezoid trapz var_mean`
	placements = ` atleast_1d atleast_2d atleast_3d block_diag bucketize cartesian_prod column_stack combinations
		concat concatenate diag diag_embed diagflat diagonal_scatter dstack fliplr flipud hstack index_add index_fill
		isin masked_scatter pad_sequence reflection_pad3d replication_pad3d rot90 row_stack scatter scatter_add take
		take_along_dim vander vstack`
	algebra = ` addbmm addmv addr chain_matmul cholesky cross det ger inner inverse kron linalg_cholesky linalg_cond
		linalg_cross linalg_det linalg_inv linalg_matmul linalg_matrix_exp linalg_matrix_power linalg_multi_dot
		linalg_pinv linalg_slogdet linalg_solve linalg_solve_triangular linalg_tensorinv linalg_tensorsolve
		linalg_vander linalg_vecdot logdet matrix_exp matrix_power pinverse slogdet tensordot trace triangular_solve
		vdot`
	layers = ` adaptive_max_pool3d affine_grid_generator binary_cross_entropy binary_cross_entropy_with_logits conv_tbc
		convolution cosine_embedding_loss cross_entropy_loss hinge_embedding_loss huber_loss kl_div l1_loss
		margin_ranking_loss max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices mse_loss
		multi_margin_loss nll_loss nll_loss_nd poisson_nll_loss smooth_l1_loss soft_margin_loss triplet_margin_loss`
)
