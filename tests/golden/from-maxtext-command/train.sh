python3 -m maxtext.trainers.pre_train.train maxtext/configs/base.yml \
    run_name=llama model_name=llama2-7b per_device_batch_size=4 \
    attention=cudnn_flash_te max_target_length=4096 gradient_accumulation_steps=1 \
    opt_type=adamw remat_policy=full steps=30 dataset_type=synthetic
