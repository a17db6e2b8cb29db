#!/usr/bin/env bash
set -e
: ${TP:=2}
if [ -z "$WORLD" ]; then
  WORLD=8
fi
MICRO=2
ACCUM=4
GLOBAL=$(expr $MICRO \* $ACCUM \* 4)
ARGS="--num-layers 32 --hidden-size 4096 --num-attention-heads 32 \
  --group-query-attention --num-query-groups 8 --ffn-hidden-size 14336"
ARGS+=" --seq-length 8192 --swiglu --normalization RMSNorm --position-embedding-type rope"
ARGS="$ARGS --disable-bias-linear --untie-embeddings-and-output-weights --vocab-size 128256"
torchrun --nproc_per_node=8 pretrain_gpt.py $ARGS \
  --micro-batch-size $MICRO --global-batch-size "$GLOBAL" --bf16 --grad-reduce-in-bf16 \
  --tensor-model-parallel-size 2 --pipeline-model-parallel-size 1 --sequence-parallel \
  --recompute-granularity full --recompute-method uniform --recompute-num-layers 4 \
  --use-flash-attn --overlap-grad-reduce ${EXTRA_ARGS} 2>&1 | tee log.txt
