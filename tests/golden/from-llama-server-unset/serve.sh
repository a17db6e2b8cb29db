#!/bin/sh
MODEL=${MODEL:-Qwen3-8B-Q4_K_M.gguf}
CTX=16384
exec llama-server -m "$MODEL" -ngl 99 -fa on -c "$CTX" --slot-save-path /tmp/slots \
    ${MMPROJ:+--mmproj "$MMPROJ"} $EXTRA_OPTS
