#!/bin/bash
MLA_ARGS="--multi-head-latent-attention --qk-rope-head-dim 64 --qk-nope-head-dim 128 --kv-lora-rank 512 --v-head-dim 128 --qk-layernorm"
MOE_ARGS="--moe-grouped-gemm --first-k-dense-replace 1 --moe-layer-freq 1 --n-shared-experts 2 --num-experts 64 \
  --moe-router-topk 6 --moe-intermediate-size 1408 --routed-scaling-factor 1.0 --seq-aux"
GPT_ARGS="--num-layers 27 --hidden-size 2048 --ffn-hidden-size 10944 --num-attention-heads 16 --seq-length 4096 \
  --max-position-embeddings 163840 --vocab-size 102400 --make-vocab-size-divisible-by 1 --padded-vocab-size 102400 \
  --untie-embeddings-and-output-weights --disable-bias-linear --position-embedding-type rope --normalization RMSNorm \
  --swiglu --use-fused-swiglu --reuse-fp32-param --micro-batch-size 1 --global-batch-size 64 --bf16 \
  --expert-model-parallel-size 8 --use-distributed-optimizer --use-flash-attn \
  --recompute-granularity full --recompute-method uniform --recompute-num-layers 1"
python -m torch.distributed.launch --nproc_per_node 8 --nnodes 1 pretrain_gpt.py $GPT_ARGS $MLA_ARGS $MOE_ARGS
