python3 -m openrlhf.cli.train_ppo_ray \
   --actor_num_nodes 1 --actor_num_gpus_per_node 8 \
   --vllm_num_engines 4 --vllm_tensor_parallel_size 2 \
   --colocate_all_models --vllm_gpu_memory_utilization 0.5 --vllm_enable_sleep --deepspeed_enable_sleep \
   --pretrain NousResearch/Meta-Llama-3-8B --reward_pretrain OpenRLHF/Llama-3-8b-rm-700k \
   --train_batch_size 128 --rollout_batch_size 1024 \
   --prompt_max_len 1024 --generate_max_len 1024 \
   --zero_stage 3 --param_dtype bf16 --gradient_checkpointing --packing_samples \
   --use_dynamic_batch --train_max_tokens_per_gpu 16384
