LLAMA_ARGS="--port 8000 --host 0.0.0.0 -n 8192 -ngl 100 -c 32768 --parallel 4 --embedding"
llama-server $LLAMA_ARGS -m "/app/models/Meta-Llama-3-8B-Instruct-Q5_K_M.gguf"
