#!/bin/bash
deepspeed --num_gpus 4 train/train_mem.py \
    --lora_enable True --lora_r 128 --lora_alpha 256 --mm_projector_lr 2e-5 \
    --deepspeed ./scripts/zero3.json \
    --model_name_or_path lmsys/vicuna-13b-v1.5 \
    --vision_tower openai/clip-vit-large-patch14-336 \
    --bf16 True \
    --per_device_train_batch_size 16 \
    --model_max_length 2048 \
    --gradient_checkpointing True \
    --lazy_preprocess True
