#include "dialects/shell/launchers.hpp"

namespace llmcalc::dialects {
namespace {

constexpr std::string_view apptainer_switches = " nv rocm cleanenv containall e C c writable_tmpfs no_home fakeroot ";

constexpr Launcher all[] = {
    {"torchrun", "torchrun", " standalone no_python use_env m module "},
    {"python -m torch.distributed.run", "torchrun", " standalone no_python use_env m module "},
    {"python -m torch.distributed.launch", "torchrun", " standalone no_python use_env m module "},
    {"tune run", "torchrun", " standalone ", true, true},
    {"accelerate launch", "accelerate",
     " multi_gpu use_fsdp use_deepspeed use_megatron_lm m module no_python debug quiet cpu tpu same_network "
     "use_parallelism_config "},
    {"deepspeed", "deepspeed", " module m no_python no_local_rank force_multi save_pid no_ssh_check "},
    {"srun", "srun", " exclusive unbuffered u l label ", false},
    {"mpirun", "mpirun", " allow_run_as_root oversubscribe ", false},
    {"env", "env", " i ", false},
    {"nohup", "nohup", " ", false},
    {"sudo", "sudo", " E H ", false},
    {"exec", "exec", " ", false},
    {"eval", "eval", " ", false},
    {"apptainer exec", "apptainer", apptainer_switches, false, false, Behind::word},
    {"apptainer run", "apptainer", apptainer_switches, false, false, Behind::image},
    {"apptainer instance run", "apptainer", apptainer_switches, false, false, Behind::named},
    {"singularity exec", "apptainer", apptainer_switches, false, false, Behind::word},
    {"singularity run", "apptainer", apptainer_switches, false, false, Behind::image},
    {"singularity instance run", "apptainer", apptainer_switches, false, false, Behind::named},
    {"trtllm-llmapi-launch", "trtllm", " ", false},
    {"timeout", "timeout", " foreground preserve_status v ", false, false, Behind::word},
    {"nice", "nice", " ", false},
    {"stdbuf", "stdbuf", " ", false},
    {"taskset", "taskset", " a ", false},
    {"setsid", "setsid", " f w ", false},
    {"conda run", "conda", " no_capture_output live_stream v ", false},
    {"nsys profile", "nsys", " ", false},
    {"numactl", "numactl", " ", false},
    {"uv run", "uv", " ", false},
    {"uvx", "uv", " ", false},
    {"ray job submit", "ray", " no_wait verbose ", false},
    {"tmux new-session", "tmux", " d ", false},
    {"tmux new", "tmux", " d ", false},
    {"tmux send-keys", "tmux", " l ", false},
    {"poetry run", "poetry", " ", false},
};

}  // namespace

std::span<const Launcher> launchers() { return all; }

}  // namespace llmcalc::dialects
