#!/bin/bash
MODEL="${MODEL_NAME:-Qwen/Qwen2.5-7B-Instruct-AWQ}"
PORT=8000
docker run --runtime nvidia --gpus '"device=0,1"' \
    -v ~/.cache/huggingface:/root/.cache/huggingface \
    -p $PORT:8000 --ipc=host \
    vllm/vllm-openai:v0.7.2 \
    --model $MODEL --quantization awq_marlin \
    --gpu_memory_utilization 0.8 --max_model_len 16384 --tensor-parallel-size 2
