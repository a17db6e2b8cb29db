set -x
read -r -d '' training_commands <<EOF
openrlhf.cli.train_dpo \
   --train_batch_size 256 \
   --micro_train_batch_size 1 \
   --pretrain NousResearch/Meta-Llama-3-8B \
   --param_dtype bf16 \
   --max_len 8192 \
   --zero_stage 3 \
   --beta 0.1 \
   --attn_implementation flash_attention_2 \
   --gradient_checkpointing
EOF
if [[ ${1} != "slurm" ]]; then
    torchrun --standalone --nproc-per-node ${NPROC_PER_NODE:-8} -m $training_commands
fi
