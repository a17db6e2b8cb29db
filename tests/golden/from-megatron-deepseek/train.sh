#!/bin/bash
set -e
# what is asked of the machine is not known without it
GPUS_PER_NODE=`python3 -c "import torch; print(torch.cuda.device_count())"`
NNODES=${NNODES:-1}
MODEL_SIZE=${MODEL_SIZE:-16B}
SEQ_LEN="${SEQ_LEN:-4096}"
EP="${EP:-1}"
TRAIN_ITERS=${TRAIN_ITERS:-10}
LR_DECAY_ITERS=$(( ${TRAIN_ITERS} - 2))

if [ $MODEL_SIZE = 671B ]; then
    HIDDEN_SIZE=7168
    NUM_LAYERS=${NUM_LAYERS:-61}
    FFN=18432
elif [ $MODEL_SIZE = 16B ]; then
    HIDDEN_SIZE=2048
    NUM_LAYERS=${NUM_LAYERS:-27}
    FFN=10944
fi
moe_options=" \
    --num-experts 64 --moe-router-topk 6 --moe-ffn-hidden-size 1408 \
    --expert-model-parallel-size ${EP}"
options=" \
    --micro-batch-size ${MICRO_BATCH_SIZE:-1} --global-batch-size ${GLOBAL_BATCH_SIZE:-128} \
    --num-layers ${NUM_LAYERS} --hidden-size ${HIDDEN_SIZE} --ffn-hidden-size ${FFN} --num-attention-heads 16 \
    --seq-length ${SEQ_LEN} --swiglu --bf16 --train-iters ${TRAIN_ITERS}"
torchrun --nproc_per_node $GPUS_PER_NODE --nnodes $NNODES pretrain_gpt.py ${moe_options} ${options}
