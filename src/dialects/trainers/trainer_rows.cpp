// The keys of transformers' TrainingArguments (training_args.py) that the trainers around it share.
#include "dialects/trainers/torch_rules.hpp"
#include "dialects/trainers/torch_words.hpp"

namespace llmcalc::dialects {
namespace {

constexpr FormatRow rows[] = {
    {"model_name_or_path", Use::term, "model"},
    {"per_device_train_batch_size", Use::written, "micro_batch"},
    {"per_gpu_train_batch_size", Use::term, "micro_batch"},
    {"gradient_accumulation_steps", Use::written, "grad_accum"},
    {"max_length", Use::written, "seq"},
    {"max_seq_length", Use::term, "seq"},
    {"model_max_length", Use::term, "seq"},
    {"block_size", Use::term, "seq"},
    {"attn_implementation", Use::written, "attention", attention_words},
    {"optim", Use::term, "optimizer", optimizer_words},
    {"optimizer", Use::term, "optimizer", optimizer_words},
    {"torch_compile", Use::written, "compile"},
    {"lora_dropout", Use::term, "lora_dropout"},
    {"bf16", Use::rule},
    {"fp16", Use::rule},
    {"tf32", Use::rule},
    {"dtype", Use::rule},
    {"torch_dtype", Use::rule, "dtype"},
    {"gradient_checkpointing", Use::rule, "recompute"},
    {"activation_checkpointing", Use::rule, "recompute"},
    {"gradient_checkpointing_kwargs*"},
    {"deepspeed", Use::rule},
    {"fsdp", Use::rule},
    {"fsdp_version", Use::rule},
    {"fsdp_config*", Use::rule},
    {"load_in_4bit", Use::rule},
    {"load_in_8bit", Use::rule},
    {"bnb_4bit_*", Use::rule},
    {"use_bnb_nested_quant", Use::rule},
    {"use_liger_kernel", Use::rule},
    {"max_steps", Use::rule, "steps"},
    {"packing", Use::rule},
    {"padding_free", Use::rule},
    {"num_train_epochs", Use::rule, "epochs"},
    {"max_train_samples", Use::rule},
    {"max_samples", Use::rule, "samples"},
    {"dataset", Use::rule},
    {"per_device_eval_batch_size", Use::rule},
    {"per_gpu_eval_batch_size", Use::rule},
    {"eval_batch_size", Use::rule},
    {"eval_strategy", Use::rule},
    {"evaluation_strategy", Use::rule},
    {"do_eval", Use::rule},
    {"eval_accumulation_steps"},
    {"neftune_noise_alpha", Use::unmapped, "the noise of the embeddings is not counted"},
    {"max_prompt_length", Use::rule},
    {"max_completion_length", Use::rule},
    {"auto_find_batch_size", Use::unmapped, "the batch that is said, not the one that is found"},
    {"group_by_length", Use::unmapped, "samples of full length"},
    {"max_grad_norm", Use::unmapped, "the temporary norms of clipping are not counted"},
    {"optim_args*", Use::unmapped, "options of the optimizer are not read"},
    {"optim_target_modules", Use::unmapped, "the optimizer projects every linear layer"},
    {"freeze_*", Use::unmapped, "every layer is trained"},
    {"torchao*", Use::unmapped, "it is not modelled"},
};

constexpr FormatRow quiet_rows[] = {
    {"output_dir logging_* log_* save_* eval_* report_to run_name seed data_seed learning_rate lr lr_* warmup_*"
     " weight_decay adam_* hub_* push_to_hub* dataset* streaming remove_unused_columns dataloader_*"
     " preprocessing_* overwrite_* do_train do_predict ddp_* resume_from_checkpoint trust_remote_code cache_dir"
     " tokenizer* include_* load_best_model_at_end metric_for_best_model greater_is_better wandb* mlflow*"
     " lora_alpha lora_task_type use_rslora use_cpu local_rank disable_tqdm skip_memory_metrics full_determinism"
     " use_fast* model_revision chat_template* val_* strict num_proc label_smoothing_factor label_names"
     " length_column_name past_index prediction_loss_only ignore_data_skip torch_empty_cache_steps"
     " accelerator_config* average_tokens_across_devices bf16_full_eval fp16_full_eval completion_only_loss"
     " assistant_only_loss eos_token pad_token loss_weights token use_auth_token low_cpu_mem_usage device_map"
     " max_eval_samples plot_loss project trackio* comet* swanlab* early_stopping* keep_* prediction_*"
     " torch_compile_backend torch_compile_mode python_seed hf_* use_reentrant*"},
};

}  // namespace

std::span<const FormatRow> trainer_rows() { return rows; }
std::span<const FormatRow> harmless_rows() { return quiet_rows; }

}  // namespace llmcalc::dialects
