# 8 cards of 80 GB
NPROC_PER_NODE=8 \
CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 \
swift sft \
    --model Qwen/Qwen2.5-32B \
    --train_type full \
    --dataset 'some/reasoning' \
    --torch_dtype bfloat16 \
    --max_steps 2000 \
    --streaming true \
    --per_device_train_batch_size 1 \
    --per_device_eval_batch_size 1 \
    --gradient_accumulation_steps 2 \
    --packing true \
    --max_length 8192 \
    --save_only_model true \
    --deepspeed zero3 \
    --use_liger_kernel true \
    --attn_impl flash_attn
