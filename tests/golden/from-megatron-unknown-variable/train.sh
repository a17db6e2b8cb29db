#!/bin/bash
if [ "$1" == big ]; then MICRO=4; else MICRO=1; fi
python pretrain_gpt.py --num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 1024 \
  --micro-batch-size $MICRO --fp16
