"""Stands in on a CPU for the kernels of recurrent layers that need a GPU: causal_conv1d, mamba_ssm, fla and RWKV's.

transformers takes a kernel from the package that bears its name where that can be imported (integrations/
hub_kernels.py, use_kernel_func_from_hub_with_fallback), and install() gives it packages. Their autograd functions save
what the public ones save, return tensors of the public ones' shape, type and layout, and run the matrix products that
the public ones hand to PyTorch, forward and backward, whether somebody asks for a gradient or not. The scans themselves
are kernels of their own, of which torch's counter sees nothing: their values are zero here. Taken from causal-conv1d
1.7.0, mamba_ssm 2.3.2 and flash-linear-attention 0.6.0.
"""
import sys
import types

import torch
from torch.nn import functional
from transformers.models.rwkv import modeling_rwkv

import delta_kernels

SCAN_CHUNK = 2048  # positions between the states that a selective scan keeps (selective_scan.cpp, n_chunks)


def _gradients(inputs):
    return tuple(torch.zeros_like(x) if isinstance(x, torch.Tensor) else None for x in inputs)


def _rows(x):
    """By channel and position: a row a position."""
    return x.transpose(1, 2).reshape(-1, x.shape[1])


class CausalConv1dFn(torch.autograd.Function):
    """causal_conv1d/causal_conv1d_interface.py: the input, contiguous in one of its two dimensions."""

    @staticmethod
    def forward(ctx, x, weight, bias):
        if x.stride(2) != 1 and x.stride(1) != 1:
            x = x.contiguous()
        ctx.save_for_backward(x, weight, bias)
        return torch.zeros_like(x)

    @staticmethod
    def backward(ctx, _):
        return _gradients(ctx.saved_tensors)


def causal_conv1d_fn(x, weight, bias=None, seq_idx=None, activation=None):
    return CausalConv1dFn.apply(x, weight, bias)


class SelectiveScanFn(torch.autograd.Function):
    """mamba_ssm/ops/selective_scan_interface.py: what it reads, made contiguous; states; its result before the gate."""

    @staticmethod
    def forward(ctx, u, delta, A, B, C, D, z, delta_bias):
        u, delta, B, C, z = (x if x.stride(-1) == 1 else x.contiguous() for x in (u, delta, B, C, z))
        states = _states(u, A)
        ctx.save_for_backward(u, delta, A, B, C, D, z, delta_bias, states, torch.zeros_like(delta))
        return torch.zeros_like(z)

    @staticmethod
    def backward(ctx, _):
        return _gradients(ctx.saved_tensors[:8])


def _states(u, A):
    batch, channels, positions = u.shape
    return A.new_zeros(batch, channels, -(-positions // SCAN_CHUNK), 2 * A.shape[1])


def selective_scan_fn(
    u, delta, A, B, C, D=None, z=None, delta_bias=None, delta_softplus=False, return_last_state=False
):
    return SelectiveScanFn.apply(u, delta, A, B, C, D, z, delta_bias)


class MambaInnerFn(torch.autograd.Function):
    """The same file's: makes the convolution and the time steps again backward (checkpoint_lvl 1)."""

    @staticmethod
    def forward(ctx, xz, conv_weight, conv_bias, parameters_weight, delta_weight, out_weight, A, D, delta_bias):
        if xz.stride(-1) != 1:
            xz = xz.contiguous()
        batch, _, positions = xz.shape
        rank, state = delta_weight.shape[1], A.shape[1]
        x = xz.chunk(2, dim=1)[0]
        parameters = functional.linear(_rows(x), parameters_weight)
        delta = (delta_weight @ parameters[:, :rank].t()).view(-1, batch, positions).transpose(0, 1)
        B, C = (xz.new_zeros(batch, 1, state, positions) for _ in range(2))
        ctx.save_for_backward(
            xz, conv_weight, conv_bias, parameters, parameters_weight, delta_weight, out_weight, A, B, C, D, delta_bias,
            _states(x, A), torch.zeros_like(delta),
        )
        return functional.linear(torch.zeros_like(x).transpose(1, 2), out_weight)

    @staticmethod
    def backward(ctx, gradient):
        xz, conv_weight, conv_bias, parameters, parameters_weight, *others = ctx.saved_tensors
        delta_weight, out_weight, A, _, _, D, delta_bias, *_ = others
        x = _rows(xz.chunk(2, dim=1)[0])
        rank = delta_weight.shape[1]
        steps = delta_weight @ parameters[:, :rank].t()
        rows = gradient.reshape(-1, gradient.shape[-1])
        rows @ out_weight
        rows.t() @ x
        steps @ parameters[:, :rank]
        steps.t() @ delta_weight
        parameters.t() @ x
        parameters @ parameters_weight
        return _gradients(
            (xz, conv_weight, conv_bias, parameters_weight, delta_weight, out_weight, A, D, delta_bias)
        )


def mamba_inner_fn(xz, conv1d_weight, conv1d_bias, x_proj_weight, delta_proj_weight, out_proj_weight, out_proj_bias,
                   A, B=None, C=None, D=None, delta_bias=None, delta_softplus=True):
    if out_proj_bias is not None or B is not None or C is not None:
        raise ValueError("no small model has these")
    return MambaInnerFn.apply(
        xz, conv1d_weight, conv1d_bias, x_proj_weight, delta_proj_weight, out_proj_weight, A, D, delta_bias
    )


class MambaSplitConv1dScanCombinedFn(torch.autograd.Function):
    """mamba_ssm/ops/triton/ssd_combined.py: the projection, the scan's result, and of a norm 1/std a row and group."""

    @staticmethod
    def forward(
        ctx, projected, conv_weight, conv_bias, dt_bias, A, D, norm_weight, out_weight, out_bias, width, groups
    ):
        shape = *projected.shape[:2], width
        out = projected.new_zeros(shape)
        deviation = None if norm_weight is None else A.new_zeros(groups * shape[0] * shape[1])
        ctx.save_for_backward(
            projected, conv_weight, conv_bias, dt_bias, A, D, norm_weight, out_weight, out_bias, out, deviation
        )
        if out_weight is None:
            return projected.new_zeros(shape)
        return functional.linear(projected.new_zeros(shape), out_weight, out_bias)

    @staticmethod
    def backward(ctx, gradient):
        *inputs, out, _ = ctx.saved_tensors
        out_weight = inputs[7]
        if out_weight is not None:
            rows = gradient.reshape(-1, gradient.shape[-1])
            rows @ out_weight
            rows.t() @ out.view(-1, out.shape[-1])
        return *_gradients(inputs), None, None


def mamba_split_conv1d_scan_combined(
    zxbcdt, conv1d_weight, conv1d_bias, dt_bias, A, D, chunk_size, initial_states=None, dt_limit=None,
    return_final_states=False, activation="silu", rmsnorm_weight=None, rmsnorm_eps=1e-6, outproj_weight=None,
    outproj_bias=None, headdim=None, ngroups=1, norm_before_gate=True,
):
    return MambaSplitConv1dScanCombinedFn.apply(
        zxbcdt, conv1d_weight, conv1d_bias, dt_bias, A, D, rmsnorm_weight, outproj_weight, outproj_bias,
        D.shape[0] * headdim, ngroups,
    )


class RwkvLinearAttention(torch.autograd.Function):
    """transformers modeling_rwkv.py, the class of that name: decays in fp32, keys, values and its result."""

    @staticmethod
    def forward(ctx, time_decay, time_first, key, value):
        output = torch.zeros_like(key)
        ctx.save_for_backward(-torch.exp(time_decay.float()), time_first, key, value, output)
        return output

    @staticmethod
    def backward(ctx, _):
        return tuple(torch.zeros_like(x) for x in ctx.saved_tensors[:4])


def rwkv_linear_attention(time_decay, time_first, key, value, state=None, return_state=False):
    return RwkvLinearAttention.apply(time_decay, time_first, key, value), state


def _package(name, functions):
    """transformers looks for a function at the root of a package before it looks deeper (resolve_internal_import)."""
    sys.modules[name] = types.ModuleType(name)
    for function in functions:
        setattr(sys.modules[name], function.__name__, function)


def install():
    """To be called before a class of transformers that takes them is imported."""
    _package("causal_conv1d", [causal_conv1d_fn])
    _package("mamba_ssm", [selective_scan_fn, mamba_inner_fn, mamba_split_conv1d_scan_combined])
    modeling_rwkv.rwkv_linear_attention = rwkv_linear_attention
    _package("fla", [delta_kernels.chunk_gated_delta_rule, delta_kernels.chunk_kda])
