#!/bin/bash
CONFIG=ds_config.json
MICRO_BATCH=4
cat <<EOT > $CONFIG
{
  "train_micro_batch_size_per_gpu": $MICRO_BATCH,
  "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}},
  "fp16": {"enabled": true}
}
EOT
ds_args=" "
ds_args=" --deepspeed ${ds_args}"
ds_args=" --deepspeed_config=$CONFIG ${ds_args}"
ds_args=" --zero-stage=3 ${ds_args}"
deepspeed --num_nodes=1 --num_gpus 8 pretrain_gpt.py --num-layers 24 --hidden-size 2048 --num-attention-heads 16 \
  --seq-length 1024 --max-position-embeddings 1024 --micro-batch-size $MICRO_BATCH --global-batch-size 32 \
  --train-tokens 300000000 --checkpoint-activations --data-impl mmap --fp16 $ds_args
