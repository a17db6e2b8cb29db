docker run -it --name server --rm --gpus='"device=0"' --ipc=host --ulimit memlock=-1 \
    -v $(pwd):/workspace -p 8000:8000 \
    -e NCCL_P2P_DISABLE=1 \
    vllm/vllm-openai:v0.7.2 \
    --model /workspace/models/mine \
    --tool-call-parser hermes \
    --enable-auto-tool-choice \
    --quantization bitsandbytes \
    --load-format bitsandbytes \
    --gpu-memory-utilization 0.8 \
    --max_model_len 8192
