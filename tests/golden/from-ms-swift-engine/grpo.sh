NPROC_PER_NODE=8 \
swift rlhf \
    --rlhf_type grpo \
    --model Qwen/Qwen2.5-7B-Instruct \
    --train_type lora \
    --torch_dtype bfloat16 \
    --max_length 2048 \
    --max_completion_length 1024 \
    --per_device_train_batch_size 1 \
    --gradient_accumulation_steps 1 \
    --use_vllm true \
    --vllm_gpu_memory_utilization 0.5 \
    --sleep_level 1 \
    --tensor_parallel_size 4
