#!/bin/bash
# Tunes twice, the second time on what the first one wrote.
set -e
GPUS=4

torchrun --nproc_per_node $GPUS train_sft.py \
  --model_name_or_path Qwen/Qwen2.5-7B \
  --bf16 true \
  --per_device_train_batch_size 2 \
  --gradient_accumulation_steps 8 \
  --gradient_checkpointing true \
  --max_steps 500 \
  --output_dir out/sft

accelerate launch --num_processes $GPUS train_dpo.py \
  --model_name_or_path out/sft \
  --bf16 true \
  --per_device_train_batch_size 1 \
  --output_dir out/dpo

python upload.py --folder out/dpo
