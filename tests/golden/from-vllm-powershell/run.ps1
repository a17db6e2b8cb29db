# PowerShell goes on behind a backtick
docker run --rm --gpus '"device=0,1"' `
  -v $PWD/cache:/root/.cache/huggingface --ipc=host `
  vllm/vllm-openai:v0.9.1 `
  --model Qwen/Qwen3-8B `
  --tensor-parallel-size 2
