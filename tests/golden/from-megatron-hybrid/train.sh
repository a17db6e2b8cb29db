#!/bin/bash
torchrun --nproc_per_node 8 pretrain_mamba.py --num-layers 56 --hidden-size 4096 --num-attention-heads 32 \
  --hybrid-attention-ratio 0.08 --hybrid-mlp-ratio 0.5 --seq-length 4096 --micro-batch-size 4 --global-batch-size 32 --bf16
