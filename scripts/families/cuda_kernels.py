"""Stands in on a CPU for the fused attention that CUDA runs, so that autograd saves there what it saves on a card.

torch's CPU kernel saves other tensors than those of CUDA. These operators save what tools/autograd/derivatives.yaml
says of the CUDA ones, lay their result out as those do, and are counted by torch.utils.flop_counter's own formulas:
_scaled_dot_product_flash_attention (query, key, value, output, fp32 logsumexp; the output lies as the query does:
aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp, mha_fwd) and _scaled_dot_product_efficient_attention
(the mask as attn_bias besides; the output lies by position: cuda/attention.cu). Which of the two runs is the choice of
cuda/sdp_utils.cpp: flash without a mask, heads of up to 256 and of one width; else the other; and the products written
out where heads of keys would have to be expanded, or are grouped for a kernel that is not there.
"""
import torch
from torch.utils import flop_counter

LARGEST_FLASH_HEAD = 256
HAS_FLASH = True  # not on accelerators before Ampere
EFFICIENT_ROWS = 32  # the logsumexp is padded to (cuda/attention.cu, kAlignLSE)


def _empty(lies_like, columns, by_position):
    batch, heads, positions, _ = lies_like.shape
    if by_position:
        return lies_like.new_zeros(batch, positions, heads, columns).transpose(1, 2)
    return torch.empty_like(lies_like.transpose(1, 2)).zero_().transpose(1, 2)


@torch.library.custom_op("cuda_like::flash", mutates_args=())
def flash(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return _empty(q, q.shape[-1], False), q.new_zeros(q.shape[:3], dtype=torch.float32)


@torch.library.custom_op("cuda_like::efficient", mutates_args=())
def efficient(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bias: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor]:
    rows = -(-q.shape[2] // EFFICIENT_ROWS) * EFFICIENT_ROWS
    return _empty(q, v.shape[-1], True), q.new_zeros((*q.shape[:2], rows), dtype=torch.float32)


@torch.library.custom_op("cuda_like::backward", mutates_args=())
def backward(
    gradient: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)


def _save(ctx, inputs, output):
    q, k, v = inputs[:3]
    bias = inputs[3] if len(inputs) > 3 else None
    ctx.biased = bias is not None
    ctx.save_for_backward(q, k, v, *([bias] if ctx.biased else []), *output)


def _backward(context, gradient, _):
    q, k, v = context.saved_tensors[:3]
    return torch.ops.cuda_like.backward(gradient, q, k, v)


flash.register_autograd(_backward, setup_context=_save)
efficient.register_autograd(lambda c, *g: (*_backward(c, *g), None), setup_context=_save)


def _forward_flops(q, k, v, *_, out_shape=None, **__):
    heads = q[1]
    return flop_counter.sdpa_flop_count(q, (k[0], heads, *k[2:]), (v[0], heads, *v[2:]))


def _backward_flops(g, q, k, v, *_, out_shape=None, **__):
    heads = q[1]
    return flop_counter.sdpa_backward_flop_count(g, q, (k[0], heads, *k[2:]), (v[0], heads, *v[2:]))


def _grouped_flops(a, b, *_, out_shape=None, **__):
    """Rows of the first operand meet one matrix each of the second; both 2-d: the gradient of the matrices."""
    return 2 * a[-2] * a[-1] * b[-1]


def _not_a_product(*_, out_shape=None, **__):
    """Depthwise convolutions and those that cut an image or a sound are no layer's products."""
    return 0


FLOPS = {
    torch.ops.cuda_like.flash: _forward_flops,
    torch.ops.cuda_like.efficient: _forward_flops,
    torch.ops.cuda_like.backward: _backward_flops,
    torch.ops.aten._grouped_mm: _grouped_flops,
    torch.ops.aten.convolution: _not_a_product,
    torch.ops.aten.convolution_backward: _not_a_product,
}


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    """What torch.nn.functional's function of that name runs on a card."""
    if query.shape[1] != key.shape[1] and not enable_gqa:
        return torch.ops.aten._scaled_dot_product_attention_math(
            query, key, value, attn_mask, dropout_p, is_causal, scale=scale
        )[0]
    equal = query.shape[-1] == key.shape[-1] == value.shape[-1] <= LARGEST_FLASH_HEAD
    if HAS_FLASH and attn_mask is None and equal and query.dtype != torch.float32:
        return torch.ops.cuda_like.flash(query, key, value)[0]
    if enable_gqa and query.shape[1] != key.shape[1]:
        assert attn_mask is None, "transformers groups no heads beside a mask"
        return torch.ops.aten._scaled_dot_product_attention_math(
            query, key, value, None, dropout_p, is_causal, scale=scale, enable_gqa=True
        )[0]
    bias = attn_mask
    if bias is not None and bias.dtype == torch.bool:  # aten/src/ATen/native/transformers/attention.cpp
        bias = torch.zeros_like(bias, dtype=query.dtype).masked_fill(bias.logical_not(), float("-inf"))
    return torch.ops.cuda_like.efficient(query, key, value, bias)[0]


def install():
    torch.nn.functional.scaled_dot_product_attention = scaled_dot_product_attention
    torch._C._nn.scaled_dot_product_attention = scaled_dot_product_attention
