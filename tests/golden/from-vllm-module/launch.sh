# what is commented out is not read
# python -m vllm.entrypoints.openai.api_server \
#   --model models/Qwen3-32B \
#   --max-model-len 4096

python -m vllm.entrypoints.openai.api_server \
  --host 0.0.0.0 \
  --port 6666 \
  --model models/Qwen3-8B \
  --max-model-len 8192 \
  --gpu-memory-utilization 0.85 \
  --max-num-seqs 64 \
  --tensor-parallel-size 1

# vllm serve /models/Qwen3-8B --enable-lora
