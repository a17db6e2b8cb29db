nproc_per_node=2
PYTHONPATH=. \
CUDA_VISIBLE_DEVICES=0,1 \
accelerate launch --config_file "./fsdp.json" \
    swift/cli/sft.py \
    --model Qwen/Qwen2.5-7B-Instruct \
    --train_type lora \
    --dataset swift/self-cognition#1000 \
    --num_train_epochs 1 \
    --per_device_train_batch_size 1 \
    --max_length 2048 \
    --quant_bits 4 \
    --bnb_4bit_quant_storage bfloat16 \
    --lora_rank 8 \
    --gradient_accumulation_steps $(expr 16 / $nproc_per_node)
