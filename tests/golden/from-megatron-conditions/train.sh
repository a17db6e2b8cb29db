#!/bin/bash
MODEL_SIZE=${1:-8B}
GPUS_PER_NODE=8
PRECISION=fp8
RECOMPUTE=sel
DISTRIBUTED_OPTIMIZER=true
TP=2

case "$MODEL_SIZE" in
  "8B")
    SHAPE="--num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32"
    ;;
  70B|"72B")
    SHAPE="--num-layers 80 --hidden-size 8192 --ffn-hidden-size 28672 --num-attention-heads 64"
    ;;
  *)
    echo "unknown size"; exit 1 ;;
esac

if [ -z ${SEQ_LEN} ]; then
  SEQ_LEN=8192
fi

PRECISION_ARGS=(--bf16)
if [[ "$PRECISION" == "fp8" ]]; then
  PRECISION_ARGS+=("--fp8-format hybrid" "--fp8-amax-history-len 1024")
fi

if [ $RECOMPUTE = full ]; then
  RECOMPUTE_OPTIONS="--recompute-granularity full --recompute-method uniform --recompute-num-layers 1"
elif [ $RECOMPUTE = sel ]; then
  RECOMPUTE_OPTIONS="--recompute-activations"
fi

SP_OPTIONS=""
[ $TP -gt 1 ] && SP_OPTIONS="--sequence-parallel"
[[ $DISTRIBUTED_OPTIMIZER = true ]] && OPTIMIZER_OPTIONS="--use-distributed-optimizer"
[ -f extra.sh ] && EXTRA_ARGS="--recompute-granularity full"

torchrun --nproc_per_node $GPUS_PER_NODE pretrain_gpt.py $SHAPE \
  --group-query-attention --num-query-groups 8 --swiglu --normalization RMSNorm --disable-bias-linear \
  --position-embedding-type rope --untie-embeddings-and-output-weights \
  --tokenizer-type NullTokenizer --vocab-size 128256 --seq-length $SEQ_LEN --max-position-embeddings $SEQ_LEN \
  --micro-batch-size 1 --global-batch-size 128 --tensor-model-parallel-size $TP \
  ${PRECISION_ARGS[@]} $RECOMPUTE_OPTIONS $SP_OPTIONS $OPTIMIZER_OPTIONS --overlap-param-gather $EXTRA_ARGS
