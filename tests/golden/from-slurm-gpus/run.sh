#!/bin/bash
#SBATCH -N 2 --gpus-per-node=a100:4
srun python train.py --model_name_or_path llama-3-8b --per_device_train_batch_size 4 --bf16
