MODEL_PATH=${MODEL_PATH:-Qwen/Qwen2.5-3B-Instruct}
python -m verl.trainer.main_ppo \
  algorithm.adv_estimator=grpo \
  data.max_prompt_length=512 \
  data.max_response_length=1024 \
  actor_rollout_ref.model.path="${MODEL_PATH}" \
  actor_rollout_ref.model.lora_rank=64 \
  actor_rollout_ref.model.lora_alpha=32 \
  actor_rollout_ref.model.target_modules=all-linear \
  actor_rollout_ref.actor.ppo_mini_batch_size=32 \
  actor_rollout_ref.actor.use_dynamic_bsz=True \
  actor_rollout_ref.actor.ppo_max_token_len_per_gpu=12288 \
  actor_rollout_ref.actor.strategy=fsdp2 \
  actor_rollout_ref.rollout.free_cache_engine=False \
  actor_rollout_ref.rollout.gpu_memory_utilization=0.4 \
  actor_rollout_ref.rollout.n=4 \
  trainer.n_gpus_per_node=1 trainer.nnodes=1
