# 4 * 80 GiB
CUDA_VISIBLE_DEVICES=0,1,2,3 \
NPROC_PER_NODE=4 \
swift rlhf \
    --rlhf_type grpo \
    --model Qwen/Qwen2.5-7B-Instruct \
    --tuner_type lora \
    --torch_dtype bfloat16 \
    --reward_funcs accuracy format \
    --use_vllm true \
    --vllm_mode colocate \
    --vllm_gpu_memory_utilization 0.4 \
    --vllm_tensor_parallel_size 2 \
    --vllm_max_model_len 16384 \
    --max_length 2048 \
    --max_completion_length 8192 \
    --dataset AI-MO/NuminaMath-TIR#5000 \
    --split_dataset_ratio 0.01 \
    --per_device_train_batch_size 2 \
    --per_device_eval_batch_size 2 \
    --gradient_accumulation_steps 4 \
    --num_generations 8 \
    --num_iterations 1 \
    --epsilon 0.2 \
    --temperature 1.0 \
    --top_p 0.9 \
    --deepspeed zero2
