export CLUSTER=pods
python3 xpk/xpk.py workload create --cluster "${CLUSTER}" --workload llama \
  --base-docker-image=maxtext_base_image --tpu-type=v5p-8 --num-slices=2 \
  --command "export LIBTPU_INIT_ARGS='--xla_tpu_scoped_vmem_limit_kib=98304' && \
    python3 MaxText/train.py MaxText/configs/base.yml model_name=llama2-13b \
    per_device_batch_size=2 remat_policy=full steps=10 dataset_type=synthetic" --zone us-east5-a
