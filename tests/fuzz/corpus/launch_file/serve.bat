@echo off
set M=models\a.Q4_K_M.gguf
if exist b (
  set CTX=1
) else (
  set "CTX=4096"
)
set NGL=9
start "x" /b llama-server.exe -m %M% ^
 --ctx-size %CTX% --n-gpu-layers %NGL%
