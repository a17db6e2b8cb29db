#!/bin/bash
torchrun --nproc_per_node 8 train.py \
  --model_name_or_path meta-llama/Llama-3.1-8B --bf16 True --per_device_train_batch_size 2 \
  --gradient_accumulation_steps 4 --model_max_length 2048 --gradient_checkpointing True --fsdp "full_shard auto_wrap"
