#!/bin/bash
GPUS_PER_NODE=8
RECOMPUTE=selective

if [ $RECOMPUTE = selective ]; then
  RECOMPUTE_ARGS="--recompute-activations"
fi

DISTRIBUTED_ARGS="--nproc_per_node $GPUS_PER_NODE --nnodes 1"
MODEL_ARGS="--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 --swiglu"
command="torchrun $DISTRIBUTED_ARGS pretrain_gpt.py $MODEL_ARGS --micro-batch-size 1 --global-batch-size 256 --bf16 $RECOMPUTE_ARGS"
echo $command
eval $command
