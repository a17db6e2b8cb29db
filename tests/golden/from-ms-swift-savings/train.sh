# 4 * 80GiB
NPROC_PER_NODE=4 \
swift sft \
    --model Qwen/Qwen2.5-7B \
    --tuner_type lora \
    --use_dora true \
    --lora_rank 16 \
    --target_modules all-linear \
    --fsdp fsdp2 \
    --use_cce true \
    --packing true \
    --per_device_train_batch_size 1 \
    --torch_dtype bfloat16 \
    --max_length 8192
