python3 -m MaxText.train configs/base.yml model_name=deepseek2-16b per_device_batch_size=0.125 \
    max_target_length=64 steps=5 ici_tensor_parallelism=4 ici_fsdp_parallelism=2 \
    weight_dtype=bfloat16 dtype=bfloat16 opt_type=sgd optimizer_memory_host_offload=true
