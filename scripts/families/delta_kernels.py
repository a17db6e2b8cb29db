"""Stands in on a CPU for the delta rules of flash-linear-attention 0.6.0, as recurrent_kernels.py says."""
import torch

DELTA_CHUNK = 64  # positions that the delta rule joins in one matrix (ChunkGatedDeltaRuleFunction, chunk_size)


class ChunkDeltaRule(torch.autograd.Function):
    """fla/ops/gated_delta_rule/chunk.py, ChunkGatedDeltaRuleFunction: normalised q and k with their 1/norm, a copy of v
    (utils/decorators.py, input_guard), the sums of g, beta, and a matrix a chunk and head; ops/kda/chunk.py,
    ChunkKDAFunction, which has decays a channel, keeps g itself and a second matrix besides."""

    @staticmethod
    def forward(ctx, q, k, v, g, beta):
        by_channel = g.dim() == 4
        matrices = [v.new_zeros(*v.shape[:3], DELTA_CHUNK) for _ in range(2 if by_channel else 1)]
        norms = [x.new_zeros(x.shape[:-1], dtype=torch.float32) for x in (q, k)]
        q, k = (torch.zeros_like(x, memory_format=torch.contiguous_format) for x in (q, k))
        v, g, beta = v.contiguous(), g.contiguous(), beta.contiguous()
        sums = torch.zeros_like(g, dtype=torch.float32)
        ctx.like = [(x.shape, x.dtype) for x in (q, k, v, g, beta)]
        ctx.save_for_backward(q, *norms, k, v, sums, beta, *matrices, *([g] if by_channel else []))
        return torch.zeros_like(v)

    @staticmethod
    def backward(ctx, gradient):
        return tuple(gradient.new_zeros(shape, dtype=dtype) for shape, dtype in ctx.like)


def chunk_gated_delta_rule(q, k, v, g, beta, initial_state=None, output_final_state=False,
                           use_qk_l2norm_in_kernel=False, cu_seqlens=None):
    if not use_qk_l2norm_in_kernel:
        raise ValueError("no class of transformers normalises q and k itself")
    return ChunkDeltaRule.apply(q, k, v, g, beta), None


def chunk_kda(q, k, v, g, beta, initial_state=None, output_final_state=False, use_qk_l2norm_in_kernel=False):
    return chunk_gated_delta_rule(q, k, v, g, beta, use_qk_l2norm_in_kernel=use_qk_l2norm_in_kernel)
