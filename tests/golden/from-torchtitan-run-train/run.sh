NGPU=8 CONFIG_FILE="./train.toml" ./run_train.sh --training.local_batch_size 2
