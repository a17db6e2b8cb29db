#!/bin/bash
n_gpus_per_node=8
rl_alg=grpo
max_response_length=3065
python3 -m verl.trainer.main_ppo \
    algorithm.adv_estimator=$rl_alg \
    algorithm.use_kl_in_reward=False \
    +algorithm.filter_groups.enable=True \
    data.train_batch_size=256 \
    data.max_prompt_length=1024 \
    data.max_response_length=$max_response_length \
    actor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct \
    actor_rollout_ref.model.enable_gradient_checkpointing=True \
    actor_rollout_ref.actor.optim.lr=1e-6 \
    actor_rollout_ref.actor.ppo_mini_batch_size=128 \
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 \
    actor_rollout_ref.actor.strategy=fsdp \
    actor_rollout_ref.actor.fsdp_config.param_offload=False \
    actor_rollout_ref.actor.use_kl_loss=True \
    actor_rollout_ref.rollout.name=sglang \
    actor_rollout_ref.rollout.n=8 \
    actor_rollout_ref.rollout.gpu_memory_utilization=0.6 \
    trainer.n_gpus_per_node=$n_gpus_per_node \
    trainer.nnodes=1 \
    trainer.total_epochs=5
