#!/bin/bash
NVLINK_COUNT=$(nvidia-smi topo -m | wc -l)
source "./scripts/models/qwen3-4B.sh"
CKPT_ARGS=(--hf-checkpoint /root/Qwen3-4B --ref-load /root/Qwen3-4B_torch_dist --save-interval 20)
ROLLOUT_ARGS=(--rollout-batch-size 32 --n-samples-per-prompt 8 --rollout-max-response-len 8192 --global-batch-size 256)
PERF_ARGS=(
   --tensor-model-parallel-size 2
   --sequence-parallel
   --recompute-granularity full
   --recompute-method uniform
   --recompute-num-layers 1
   # --micro-batch-size 1
   --use-dynamic-batch-size
   --max-tokens-per-gpu 9216
)
GRPO_ARGS=(--advantage-estimator grpo --use-kl-loss --kl-loss-coef 0.00)
ray job submit --address="http://127.0.0.1:8265" --runtime-env-json="${RUNTIME_ENV_JSON}" \
   -- python3 train.py --actor-num-nodes 1 --actor-num-gpus-per-node 8 --colocate \
   ${MODEL_ARGS[@]} ${CKPT_ARGS[@]} ${ROLLOUT_ARGS[@]} ${GRPO_ARGS[@]} ${PERF_ARGS[@]} \
   --sglang-mem-fraction-static 0.7 --attention-backend flash
