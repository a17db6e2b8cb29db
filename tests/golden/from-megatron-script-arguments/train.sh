#!/bin/bash
# paths come as arguments of the script: none of them is needed
CHECKPOINTS=$1
VOCAB_FILE=$2 #<path>/gpt2-vocab.json
DATA=$3
NODES=${NODES:-2}
MODEL=(
    --num-layers 24 # GPT-3 medium
    --hidden-size 1024
    --num-attention-heads 16
    --seq-length 2048
    --attention-backend auto
)
RUN=(
	--micro-batch-size 4
    --global-batch-size 512
    --rampup-batch-size 16 16 5859375
    --train-iters 1000
    --fp16
)
torchrun --nproc_per_node 8 --nnodes $NODES pretrain_gpt.py ${MODEL[@]} ${RUN[@]} \
    --data-path $DATA --vocab-file $VOCAB_FILE --load $CHECKPOINTS --use-distributed-optimizer
