#!/bin/bash
GPUS=8
MICRO=2
cat <<EOT > ds_config.json
{
  "train_micro_batch_size_per_gpu": $MICRO,
  "gradient_accumulation_steps": $((16 / MICRO)),
  "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}},
  "bf16": {"enabled": true}
}
EOT
echo "starting on ${GPUS}" > log.txt
deepspeed --num_gpus $GPUS train.py --deepspeed ds_config.json --model_name_or_path llama-3.1-8b --max_length 4096
