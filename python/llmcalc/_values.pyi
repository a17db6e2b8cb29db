# Written by scripts/update-stubs: the values of answers (docs/json.md) and the options of verbs (llmcalc VERB --help).
import os
from typing import Any, Literal, Sequence, TypedDict, Union

from ._answer import Answer, Values

#: A word as it is typed, several of them, a switch, or what says nothing.
Option = Union[str, float, bool, os.PathLike[str], Sequence[Union[str, float]], None]

class Tool(Values):
    name: Literal["llmcalc"]
    version: str

class FitErrorBar(Values):
    """how far from the need runs were measured"""
    share: float
    share_below: float
    source: Union[str, None]
    low_bytes: int
    likely_bytes: int
    high_bytes: int
    reserved_share: float
    reserved_share_below: float
    shown_share: float
    shown_share_below: float

class FitMemory(Values):
    """what a rank holds"""
    ledger: list[LedgerLine]
    phases: list[PhasePeak]
    peak_phase: Literal["forward", "loss", "backward", "optimizer_step", "evaluation", "checkpoint"]
    peak_place: Union[str, None]
    peak_why: Explanation
    timeline: list[TimelinePoint]
    persistent_bytes: int
    peak_allocated_bytes: int
    peak_reserved_bytes: int
    peak_device_bytes: int
    peak_needed_bytes: int
    peak_first_step_bytes: int
    stage: int
    stages: list[StagePeak]
    host_bytes: int
    host_ledger: list[LedgerLine]
    host_needed_bytes: int
    host_capacity_bytes: Union[int, None]
    nvme_bytes: int
    paged_bytes: int

class FitCompute(Values):
    """tokens and FLOP"""
    tokens: float
    tokens_source: Union[str, None]
    flops: list[FlopFigure]
    pflop_days: float

class FitTimeGoodput(Values):
    """useful over wall time, and what it follows from"""
    share: Union[float, None]
    mtbf_seconds: Union[float, None]
    failures: Union[float, None]
    checkpoint_bytes: Union[int, None]
    checkpoint_seconds: Union[float, None]
    checkpoint_interval_seconds: Union[float, None]
    restart_seconds: Union[float, None]
    formula: Union[str, None]
    numbers: Union[str, None]
    source: Union[str, None]

class FitTimeEnergy(Values):
    """drawn from the grid"""
    kilowatt_hours: Union[float, None]
    power_watts: Union[float, None]
    pue: Union[float, None]
    formula: Union[str, None]
    numbers: Union[str, None]
    source: Union[str, None]

class FitTimeCarbon(Values):
    """emitted for it"""
    kilograms_co2e: Union[float, None]
    grams_per_kilowatt_hour: Union[float, None]
    formula: Union[str, None]
    numbers: Union[str, None]
    source: Union[str, None]

class FitTime(Values):
    """null without an accelerator, every key; [time.md](time.md) says how it comes about"""
    mfu: Union[float, None]
    mfu_source: Union[str, None]
    peak_flops_per_second: Union[float, None]
    step_seconds: Union[float, None]
    tokens_per_second_per_gpu: Union[float, None]
    step_error_bar: Union[float, None]
    step_error_bar_above: Union[float, None]
    step_error_bar_source: Union[str, None]
    step_parts: list[StepPart]
    useful_seconds: Union[float, None]
    goodput: FitTimeGoodput
    total_seconds: Union[float, None]
    gpu_hours: Union[float, None]
    cost_usd: Union[float, None]
    price_usd_per_gpu_hour: Union[float, None]
    price_source: Union[str, None]
    energy: FitTimeEnergy
    carbon: FitTimeCarbon

class FitRoom(Values):
    """how much more would fit"""
    largest_micro_batch: Union[int, None]
    longest_seq: Union[int, None]

class Fit(Answer):
    """Whether a run fits, how long it takes and what it costs."""
    schema_version: Literal[1]
    kind: Literal["fit"]
    tool: Tool
    verdict: Literal["fits", "tight", "does_not_fit", "no_accelerator"]
    capacity_bytes: Union[int, None]
    needed_bytes: int
    headroom_bytes: Union[int, None]
    error_bar: FitErrorBar
    broken_limits: list[str]
    question: Values
    model: ModelSize
    memory: FitMemory
    compute: FitCompute
    time: FitTime
    advice: list[Advice]
    cards: list[Card]
    trainers: list[TrainerNeed]
    room: FitRoom
    assumptions: list[str]
    warnings: list[str]
    notes: list[str]

class Echo(Values):
    """One effective value and where it came from; null where the term does not apply."""
    value: Union[str, None]
    origin: Literal["flag", "row", "file", "preset", "config", "user_preset", "assumed", "default", None]
    where: Union[str, None]

class ModelSize(Values):
    """Counts of parameters."""
    parameters_total: int
    parameters_active: int
    parameters_trainable: int
    parameters_embedding: int

class LedgerLine(Values):
    """What is held, and why so much."""
    id: Literal["weights", "master_weights", "gradients", "optimizer_states", "adapters", "reference_model", "reward_model", "value_model", "activations", "logits", "temporaries", "workspace", "communicators", "engine", "context", "checkpoint", "offloaded", "allocator", "calibration"]
    label: str
    bytes: int
    empirical: bool
    formula: Union[str, None]
    numbers: Union[str, None]
    source: Union[str, None]

class PhasePeak(Values):
    """The highest live bytes of a phase of a steady step."""
    phase: Literal["forward", "loss", "backward", "optimizer_step", "evaluation", "checkpoint"]
    allocated_bytes: int

class Explanation(Values):
    """Where a figure comes from."""
    formula: Union[str, None]
    numbers: Union[str, None]
    source: Union[str, None]

class TimelinePoint(Values):
    """The highest moment of one block on its way through a steady step."""
    phase: Literal["forward", "loss", "backward", "optimizer_step", "evaluation", "checkpoint"]
    place: str
    allocated_bytes: int
    held_bytes: Values
    seconds: Union[float, None]

class StagePeak(Values):
    """A pipeline stage."""
    stage: int
    peak_allocated_bytes: int

class FlopFigure(Values):
    """One FLOP count under a named convention."""
    id: Literal["six_pd", "model", "hardware", "full_square"]
    label: str
    per_token: float
    total: float
    utilization: Union[float, None]
    formula: Union[str, None]
    numbers: Union[str, None]
    source: Union[str, None]

class StepPart(Values):
    """One kind of work or waiting in a step."""
    id: str
    label: str
    seconds: float
    share: float
    formula: Union[str, None]
    numbers: Union[str, None]
    source: Union[str, None]

class Advice(Values):
    """What makes the run fit, up to four changes together, verified by an estimate."""
    flag: str
    change: str
    cost: str
    needed_bytes: int
    verdict: Literal["fits", "tight"]
    speed_ratio: Union[float, None]

class Card(Values):
    """What another accelerator makes of the run as it was asked."""
    gpu: str
    verdict: Literal["fits", "tight", "does_not_fit"]

class TrainerNeed(Values):
    """What a trainer needs for a size alone, which the textbook answers."""
    framework: str
    needed_bytes: int

class Runs(Answer):
    """`--gpu a100,h100`, `--rows runs.csv` and `--sweep seq` ([ci.md](ci.md))."""
    schema_version: Literal[1]
    kind: Literal["runs"]
    tool: Tool
    runs: list[RunLine]

class RunLine(Values):
    """A question of many."""
    name: str
    verdict: Literal["fits", "tight", "does_not_fit", "no_accelerator", "error"]
    needed_bytes: Union[int, None]
    high_bytes: Union[int, None]
    capacity_bytes: Union[int, None]
    step_seconds: Union[float, None]
    error: Union[str, None]
    total_seconds: Union[float, None]
    cost_usd: Union[float, None]
    first_token_seconds: Union[float, None]
    token_seconds: Union[float, None]
    token_cost_usd: Union[float, None]
    at_once: Union[int, None]
    layout: Union[str, None]
    reasons: list[str]
    advice: Union[str, None]

class ServeEngine(Values):
    """its options"""
    name: Literal["vllm", "sglang", "trtllm", "tensorrt-llm", "tensorrt", "llama.cpp", "llama-cpp", "llamacpp", "llama_cpp", "ik_llama.cpp", "lmstudio", "lm-studio", "llama-server", "ollama", "hf", "transformers"]
    version: str
    kv_dtype: str
    memory_fraction: float
    batched_tokens: int
    max_seqs: int
    largest_graph: int
    slots: int
    flash: bool
    host_layers: int
    host_expert_layers: int

class ServeMemory(Values):
    """of the accelerator with least room"""
    capacity_bytes: int
    limit_bytes: int
    held_bytes: int
    beside_bytes: int
    host_bytes: int
    model_bytes: int
    file_bytes: int
    parts: list[ServerHolding]
    prefill: Union[ServerRank, None]
    ranks: list[ServerRank]

class ServeKv(Values):
    """the cache there"""
    bytes: int
    needed_bytes: int
    bytes_per_token: int
    state_bytes: int
    block: int
    blocks: int
    tokens: int
    groups: list[CacheGroup]

class ServeLoad(Values):
    """what was asked"""
    prompt: int
    output: int
    concurrency: int
    num_prompts: Union[int, None]
    running: int
    queued: int
    rate: Union[float, None]

class ServeLimits(Values):
    """what the load is held to"""
    ttft_s: Union[float, None]
    tpot_s: Union[float, None]
    ttft_p95_s: Union[float, None]
    tpot_p95_s: Union[float, None]
    usd_per_hour: Union[float, None]
    output_with_prompts_usd_per_million: Union[float, None]
    kept: Union[bool, None]

class Serve(Answer):
    """Whether a server starts, what it carries, how fast it is and what tokens cost."""
    schema_version: Literal[1]
    kind: Literal["serve"]
    tool: Tool
    verdict: Literal["fits", "does_not_fit", "no_accelerator"]
    reason: Union[str, None]
    broken_limits: list[str]
    question: Values
    engine: ServeEngine
    parameters: int
    memory: ServeMemory
    kv: ServeKv
    capacity: Capacity
    load: ServeLoad
    limits: ServeLimits
    speed: Union[ServerSpeed, None]
    plans: Union[ServerPlans, None]
    advice: list[ServerChange]
    cards: list[ServerCard]
    found: list[ServerChange]
    table: list[CapacityCell]
    launch: Union[str, None]
    launch_notes: list[str]
    launched_with: Union[str, None]
    servers: int
    prefill_launch: Union[str, None]
    prefill_servers: int
    assumptions: list[str]
    warnings: list[str]
    notes: list[str]

class ServerHolding(Values):
    """What a server holds beside the cache."""
    id: str
    label: str
    bytes: int
    kind: Literal["computed", "measured-constant"]
    formula: str
    source: str

class ServerRank(Values):
    """A pipeline stage or a card."""
    held_bytes: int
    pool_bytes: int
    needed_bytes: int
    parts: list[ServerHolding]

class CacheGroup(Values):
    """Layers that keep alike; a page is a block in one layer, a cell of llama.cpp, or a state."""
    kind: Literal["full", "window", "chunk", "memory", "state"]
    layers: int
    window: int
    elements_per_token: int
    state_elements: int
    blocks_at_context: int
    page_bytes: int

class Capacity(Values):
    """Asked again with these numbers, the answer is that they fit, and one more does not."""
    context: int
    max_context: int
    max_context_at_concurrency: int
    max_concurrency: int
    binding: str

class ServerSpeedErrorBar(Values):
    """how far off such figures were"""
    ttft: Spread
    tpot: Spread

class ServerSpeed(Values):
    """What the server does under the load. What is never steady is null where it is `saturated`."""
    concurrency: Union[float, None]
    running: float
    queued: Union[float, None]
    saturated: bool
    prefill_s: float
    handover_s: float
    decode_step_s: float
    ttft_s: Union[float, None]
    tpot_s: float
    admission_s: Union[float, None]
    request_s: Union[float, None]
    requests_per_s: float
    tokens_per_s: float
    prompt_tokens_per_s: float
    tokens_per_s_per_gpu: float
    tokens_per_s_per_user: float
    tail: Union[ServerTail, None]
    parts: list[SpeedPart]
    error_bar: ServerSpeedErrorBar
    measured_on: Union[str, None]
    cost: TokenCost

class ServerTail(Values):
    """Requests that went one by one through the engine's scheduler; docs/serve-speed.md."""
    ttft: Percentiles
    tpot: Percentiles
    requests: int
    preempted: int

class Percentiles(Values):
    """The mean, and what so many of a hundred requests do not exceed."""
    mean_s: float
    p50_s: float
    p95_s: float
    p99_s: float

class SpeedPart(Values):
    """What a decoding step spends its time on."""
    id: str
    label: str
    seconds: float

class Spread(Values):
    """Shares of the figure, below and above it."""
    below: float
    above: float

class TokenCost(Values):
    """Null where no price or no power is known."""
    input_usd_per_million: Union[float, None]
    output_usd_per_million: Union[float, None]
    output_with_prompts_usd_per_million: Union[float, None]
    usd_per_hour: Union[float, None]
    energy_kwh_per_million: Union[float, None]
    co2e_kg_per_million: Union[float, None]
    price_source: Union[str, None]

class ServerPlans(Values):
    """What --find layout found; null otherwise."""
    layouts: int
    starting: int
    estimates: int
    best: list[ServerPlan]

class ServerPlan(Values):
    """A layout and what it does under the most that it carries within the limits."""
    engine: str
    quant: str
    tp: int
    pp: int
    ep: int
    attention_dp: int
    dp: int
    prefill_servers: int
    concurrency: int
    speed: ServerSpeed

class ServerChange(Values):
    """A change, asked again."""
    change: str
    cost: Union[str, None]
    starts: bool
    max_context: int
    max_concurrency: int
    carries_load: bool
    uses_host: bool

class ServerCard(Values):
    """Whether a usual card takes the whole load."""
    gpu: str
    verdict: Literal["fits", "does_not_fit"]

class CapacityCell(Values):
    """A cell of --table."""
    context: int
    concurrency: int
    fits: bool
    cache_share: float

class From(Answer):
    """`llmcalc from`: a question that was read from files and commands."""
    schema_version: Literal[1]
    kind: Literal["from"]
    tool: Tool
    read: str
    command: str
    question: Values
    assumptions: list[str]
    not_read: list[str]

class Plan(Answer):
    """The best layouts of a run."""
    schema_version: Literal[1]
    kind: Literal["plan"]
    tool: Tool
    objective: Literal["step-time", "cost", "energy", "memory", "gpus", "micro-batch"]
    layouts: int
    layouts_that_fit: int
    capacity_bytes: Union[int, None]
    mfu: Union[float, None]
    largest_term: Union[str, None]
    largest_value: Union[str, None]
    best: list[PlannedRun]
    each: list[PlannedRun]
    front: list[PlannedRun]
    sure: Union[PlannedRun, None]
    nearest: Union[PlannedRun, None]
    fit_command: Union[str, None]
    launch: list[Launch]
    assumptions: list[str]
    warnings: list[str]

class PlannedRun(Values):
    """A layout."""
    figures: PlannedFigures
    run: Values

class PlannedFigures(Values):
    """What a layout takes."""
    needed_bytes: int
    step_seconds: float
    total_seconds: float
    cost_usd: Union[float, None]
    energy_kwh: Union[float, None]

class Launch(Values):
    """How a framework starts the best run."""
    framework: str
    command: str
    beyond: list[str]

class PlanTable(Answer):
    """`plan --table`: the best layout for each pair of values."""
    schema_version: Literal[1]
    kind: Literal["plan_table"]
    tool: Tool
    objective: Literal["step-time", "cost", "energy", "memory", "gpus", "micro-batch"]
    row_term: str
    column_term: str
    cells: list[PlanCell]
    warnings: list[str]

class PlanCell(Values):
    """A pair of values."""
    row: str
    column: str
    best: Union[PlannedFigures, None]

class Scale(Answer):
    """[scale.md](scale.md) says what the laws and the sections are."""
    schema_version: Literal[1]
    kind: Literal["scale"]
    tool: Tool
    parameters: Union[float, None]
    tokens: Union[float, None]
    tokens_per_parameter: Union[float, None]
    compute_flops: Union[float, None]
    pflop_days: Union[float, None]
    gpu_hours: Union[float, None]
    total_seconds: Union[float, None]
    lines: list[ScaleLine]
    assumptions: list[str]
    law: Literal["chinchilla", "kaplan", "llama-3", "data-constrained"]
    loss: Union[float, None]
    cost_usd: Union[float, None]
    frontier: list[FrontierPoint]
    warnings: list[str]

class ScaleLine(Values):
    """A figure, stated or followed from others."""
    id: str
    label: str
    value: float
    text: str
    origin: Literal["given", "derived", "assumed"]
    formula: Union[str, None]
    numbers: Union[str, None]
    source: Union[str, None]
    section: Literal["run", "optimum", "smaller", "serving", "serving_budget", "batch"]

class FrontierPoint(Values):
    """A model beside the best: another size of its compute, or the best of another compute."""
    parameters: float
    tokens: float
    tokens_per_parameter: float
    compute_flops: float
    loss: Union[float, None]
    best: bool
    same_loss_compute_ratio: Union[float, None]

class Validate(Answer):
    """[validate.md](validate.md) says what the figures mean."""
    schema_version: Literal[1]
    kind: Literal["validate"]
    tool: Tool
    summary: ErrorSummary
    configurations: ErrorSummary
    groups: list[ErrorGroup]
    verdicts: Verdicts
    rows: list[ComparedRow]
    judged: list[JudgedRow]
    skipped: list[SkippedRows]

class ErrorSummary(Values):
    """Percent errors of predictions; null where no row was compared."""
    n: int
    mean_abs_pct: Union[float, None]
    median_abs_pct: Union[float, None]
    p95_abs_pct: Union[float, None]
    max_abs_pct: Union[float, None]
    bias_pct: Union[float, None]
    inside_bar_pct: Union[float, None]

class ErrorGroup(Values):
    """The rows that hold this value in that column."""
    by: str
    value: str
    n: int
    mean_abs_pct: Union[float, None]
    median_abs_pct: Union[float, None]
    p95_abs_pct: Union[float, None]
    max_abs_pct: Union[float, None]
    bias_pct: Union[float, None]
    inside_bar_pct: Union[float, None]

class Verdicts(Values):
    """Of `fits` and `oom` rows."""
    true_fit: int
    false_fit: int
    true_miss: int
    false_miss: int

class ComparedRow(Values):
    """A measurement and what is predicted for it."""
    id: str
    place: str
    quantity: Literal["peak_allocated", "peak_reserved", "nvidia_smi", "persistent", "fits", "oom", "step_time", "tokens_per_gpu", "weights", "host_weights", "activation_peak", "torch_peak", "non_torch", "cuda_graphs", "kv_cache", "kv_bytes_per_token", "recurrent_state", "compute_buffer", "device_total", "file_size", "kv_tokens", "max_context", "max_concurrency", "bits_per_weight", "ttft", "tpot", "decode_tok_s", "prefill_tok_s", "throughput_tok_s"]
    measured: float
    predicted: float
    error_pct: float
    bar_below: float
    bar_above: float
    inside_bar: bool

class JudgedRow(Values):
    """A row of which is only known whether the run fitted."""
    id: str
    place: str
    judgement: Literal["true_fit", "false_fit", "true_miss", "false_miss"]

class SkippedRows(Values):
    """Rows that could not be compared."""
    reason: str
    count: int
    first_place: str

class Model(Answer):
    """`llmcalc model show NAME`."""
    schema_version: Literal[1]
    kind: Literal["model"]
    tool: Tool
    model: ModelEntry

class ModelEntryPublished(Values):
    """what was published of its size"""
    parameters: Union[int, None]
    text: Union[str, None]
    check: Union[str, None]
    source: Union[str, None]

class ModelEntry(Values):
    """A model."""
    id: str
    aliases: list[str]
    hf_id: Union[str, None]
    family: Union[str, None]
    license: Union[str, None]
    parameters_total: int
    parameters_active: int
    parameters_embedding: int
    published: ModelEntryPublished
    training_tokens: Union[float, None]
    training_source: Union[str, None]
    shape: Shape
    notes: Union[str, None]
    file: Union[str, None]

class Shape(Values):
    """A model in the words of the command line; null where it has no such part."""
    stack: Literal["decoder", "encoder", "encoder-decoder"]
    layers: int
    decoder_layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    vocab: int
    max_position: int
    mlp: str
    norm: str
    position: str
    norms_per_layer: int
    qkv_bias: bool
    out_bias: bool
    mlp_bias: bool
    head_bias: bool
    tied: bool
    parallel_residual: bool
    qk_norm: str
    output_gate: bool
    attention_sinks: bool
    window: Union[Window, None]
    latent: Union[Latent, None]
    linear: Union[Linear, None]
    moe: Union[Moe, None]

class Window(Values):
    """Layers that see the last tokens alone."""
    window: int
    full_every: int

class Latent(Values):
    """Multi-head latent attention."""
    q_rank: int
    kv_rank: int
    qk_nope_dim: int
    qk_rope_dim: int
    v_dim: int
    index_heads: Union[int, None]
    index_dim: Union[int, None]
    index_top_k: Union[int, None]

class Linear(Values):
    """Layers of linear attention."""
    full_every: int
    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    conv_kernel: int

class Moe(Values):
    """Mixture of experts."""
    experts: int
    top_k: int
    expert_ffn: int
    shared_ffn: int
    dense_layers: int
    every: int

class ModelList(Answer):
    """`llmcalc model list`."""
    schema_version: Literal[1]
    kind: Literal["model_list"]
    tool: Tool
    models: list[ModelEntry]

class Gpu(Answer):
    """`llmcalc gpu show NAME`."""
    schema_version: Literal[1]
    kind: Literal["gpu"]
    tool: Tool
    gpu: GpuEntry

class GpuEntry(Values):
    """An accelerator."""
    id: str
    aliases: list[str]
    name: str
    vendor: Union[str, None]
    arch: Union[str, None]
    year: int
    memory_nominal_bytes: int
    memory_usable_bytes: int
    memory_usable_verified: bool
    memory_type: Union[str, None]
    memory_bandwidth_bytes_per_second: float
    peaks_flops_per_second: Peaks
    interconnect: Union[str, None]
    link_bytes_per_second: Union[float, None]
    pcie_bytes_per_second: Union[float, None]
    link_joins: Union[int, None]
    gpus_per_node: int
    host_memory_bytes: Union[int, None]
    network_gigabits_per_second: Union[float, None]
    tdp_watts: Union[float, None]
    units: Union[int, None]
    cache_bytes: Union[int, None]
    rates: Rates
    price_usd_per_hour: Union[float, None]
    price_source: Union[str, None]
    sources: Union[str, None]
    verification: Union[str, None]
    notes: Union[str, None]
    file: Union[str, None]

class Peaks(Values):
    """Dense peaks; null where the part lacks the type."""
    fp64: Union[float, None]
    fp64_matrix: Union[float, None]
    fp32: Union[float, None]
    fp32_matrix: Union[float, None]
    tf32: Union[float, None]
    fp16: Union[float, None]
    bf16: Union[float, None]
    fp8: Union[float, None]
    int8: Union[float, None]
    fp4: Union[float, None]

class Rates(Values):
    """The entry of `presets/rates` that speeds rest on."""
    id: Union[str, None]
    measured: Union[str, None]
    products_share_of_peak: Union[float, None]
    attention_share_of_peak: Union[float, None]
    memory_share_of_bandwidth: Union[float, None]
    operations: Union[str, None]

class GpuList(Answer):
    """`llmcalc gpu list`."""
    schema_version: Literal[1]
    kind: Literal["gpu_list"]
    tool: Tool
    gpus: list[GpuEntry]

class Dtype(Answer):
    """`llmcalc dtype`."""
    schema_version: Literal[1]
    kind: Literal["dtype"]
    tool: Tool
    dtypes: list[DtypeEntry]

class DtypeEntry(Values):
    """A number format."""
    name: str
    bits: int
    average_bits: float
    exponent_bits: int
    fraction_bits: int
    block_scale: Union[BlockScale, None]
    rounded: Union[Rounded, None]
    source: Union[str, None]

class BlockScale(Values):
    """Scales that elements share."""
    block: int
    scale_bytes: int
    nested_block: int
    nested_bytes: int
    zero_bits: int
    tensor_bytes: int

class Rounded(Values):
    """What becomes of the number given with --value; null stands for what is not finite."""
    given: Union[float, None]
    stored: Union[float, None]
    bits: str
    scale: Union[float, None]
    absolute_error: Union[float, None]
    relative_error: Union[float, None]
    remark: Union[str, None]

class Quantization(Answer):
    """`llmcalc dtype --quantize LIST`."""
    schema_version: Literal[1]
    kind: Literal["quantization"]
    tool: Tool
    dtype: str
    scale: float
    zero_point: int
    given: list[float]
    codes: list[int]
    dequantized: list[float]
    max_error: float
    mean_square_error: float
    source: Union[str, None]

class Error(Answer):
    """A question that could not be answered."""
    schema_version: Literal[1]
    kind: Literal["error"]
    tool: Tool
    place: str
    problem: str
    hint: Union[str, None]

class FromOptions(TypedDict, total=False):
    from_: Any
    offline: Option
    params: Option
    config: Any
    as_: Option
    image_size: Option
    model: Any
    layers: Option
    hidden: Option
    heads: Option
    kv_heads: Option
    head_dim: Option
    ffn: Option
    vocab: Option
    max_position: Option
    mlp: Option
    norm: Option
    position: Option
    bias: Option
    tied: Option
    dropout: Option
    experts: Option
    top_k: Option
    expert_ffn: Option
    shared_ffn: Option
    dense_layers: Option
    freeze: Option
    text_only: Option
    images: Option
    patches: Option
    moe_every: Option
    norms_per_layer: Option
    qk_norm: Option
    parallel_residual: Option
    window: Option
    full_every: Option
    q_lora_rank: Option
    kv_lora_rank: Option
    qk_nope_head_dim: Option
    qk_rope_head_dim: Option
    v_head_dim: Option
    show_question: Option
    format: Option
    quiet: Option
    color: Option
    presets: Option
    help: Option
    dtype: Option
    framework: Option
    framework_version: Option
    method: Option
    algorithm: Option
    reference: Option
    lora_rank: Option
    lora_targets: Option
    exclude_modules: Option
    target_parameters: Option
    rank_pattern: Option
    layers_to_transform: Option
    lora_bias: Option
    modules_to_save: Option
    trainable_tokens: Option
    lora_dropout: Option
    virtual_tokens: Option
    adapter_width: Option
    weights: Option
    compute: Option
    unquantized: Option
    autocast: Option
    grads: Option
    master_weights: Option
    master_type: Option
    optimizer: Option
    optimizer_impl: Option
    optimizer_in_backward: Option
    optimizer_rank: Option
    optimizer_states: Option
    seq: Option
    document_length: Option
    micro_batch: Option
    grad_accum: Option
    global_batch: Option
    eval_batch: Option
    save_checkpoint: Option
    colocate_fraction: Option
    samples_by_engine: Option
    recompute: Option
    recompute_modules: Option
    recompute_kept: Option
    attention: Option
    compile: Option
    fused_kernels: Option
    launch_blocking: Option
    transformer_impl: Option
    mtp_num_layers: Option
    mtp_use_repeated_layer: Option
    grouped_experts: Option
    cuda_graph: Option
    fp8_scaling: Option
    fp8_attention: Option
    fp8_head: Option
    softmax_fusion: Option
    deterministic: Option
    loss: Option
    offload: Option
    offload_layers: Option
    offload_to: Option
    zero: Option
    inter_node: Option
    gpus: Option
    nodes: Option
    gpus_per_node: Option
    dp: Option
    tp: Option
    sp: Option
    pp: Option
    vpp: Option
    schedule: Option
    first_stage_layers: Option
    last_stage_layers: Option
    cp: Option
    cp_exchange: Option
    ep: Option
    etp: Option
    node_dispatch: Option
    expert_overlap: Option
    sharding: Option
    sharding_group: Option
    reshard: Option
    data_overlap: Option
    inter_node_gbps: Option
    gpu: Option
    tokens: Option
    samples: Option
    epochs: Option
    sample_tokens: Option
    packing: Option
    steps: Option
    mfu: Option
    price: Option
    memory: Option
    host_memory: Option
    context_bytes: Option
    nccl_bytes: Option
    workspace: Option
    reserved_ratio: Option
    moe_imbalance: Option
    activations: Option
    rank: Option
    mtbf: Option
    checkpoint_interval: Option
    checkpoint_bandwidth: Option
    nvme_bandwidth: Option
    restart_time: Option
    power: Option
    pue: Option
    carbon_intensity: Option

class FitOptions(FromOptions, total=False):
    full: Option
    explain: Option
    calibration: Option
    timeline: Option
    unit: Option
    rows: Option
    sweep: Option
    max_memory: Option
    margin: Option
    max_days: Option
    max_cost: Option
    strict: Option
    baseline: Option
    worse_by: Option

class ServeOptions(TypedDict, total=False):
    from_: Any
    offline: Option
    params: Option
    config: Any
    as_: Option
    image_size: Option
    model: Any
    layers: Option
    hidden: Option
    heads: Option
    kv_heads: Option
    head_dim: Option
    ffn: Option
    vocab: Option
    max_position: Option
    mlp: Option
    norm: Option
    position: Option
    bias: Option
    tied: Option
    experts: Option
    top_k: Option
    expert_ffn: Option
    shared_ffn: Option
    dense_layers: Option
    text_only: Option
    images: Option
    patches: Option
    moe_every: Option
    norms_per_layer: Option
    qk_norm: Option
    parallel_residual: Option
    window: Option
    full_every: Option
    q_lora_rank: Option
    kv_lora_rank: Option
    qk_nope_head_dim: Option
    qk_rope_head_dim: Option
    v_head_dim: Option
    show_question: Option
    find: Option
    table: Option
    explain: Option
    full: Option
    rows: Option
    sweep: Option
    strict: Option
    baseline: Option
    worse_by: Option
    format: Option
    quiet: Option
    color: Option
    presets: Option
    help: Option
    engine: Option
    engine_version: Option
    quant: Option
    group_size: Option
    imatrix: Option
    kv_dtype: Option
    memory_fraction: Option
    kv_bytes: Option
    batched_tokens: Option
    max_seqs: Option
    block: Option
    graphs: Option
    largest_graph: Option
    ubatch: Option
    slots: Option
    gpu_layers: Option
    cpu_experts: Option
    host_bandwidth: Option
    flash: Option
    prefix_cache: Option
    wait_steps: Option
    stream_interval: Option
    draft: Option
    accept: Option
    max_loras: Option
    role: Option
    context: Option
    prompt: Option
    output: Option
    range_ratio: Option
    natural_text: Option
    concurrency: Option
    num_prompts: Option
    rate: Option
    shared_prefix: Option
    ttft: Option
    tpot: Option
    ttft_p95: Option
    tpot_p95: Option
    max_memory: Option
    margin: Option
    max_cost_per_hour: Option
    max_cost_per_million: Option
    requests: Option
    copies: Option
    attention_dp: Option
    expert_tp: Option
    dcp: Option
    split: Option
    prefill_servers: Option
    prefill_tp: Option
    gpus: Option
    nodes: Option
    gpus_per_node: Option
    tp: Option
    pp: Option
    ep: Option
    inter_node_gbps: Option
    other_usage: Option
    gpu: Option
    lora_rank: Option
    price: Option
    memory: Option
    host_memory: Option
    context_bytes: Option
    nccl_bytes: Option
    power: Option
    pue: Option
    carbon_intensity: Option

class PlanOptions(FromOptions, total=False):
    calibration: Option
    rows: Option
    baseline: Option
    worse_by: Option
    objective: Option
    max_memory: Option
    margin: Option
    max_days: Option
    max_cost: Option
    write: Option
    force: Option
    top: Option
    full: Option
    largest: Option
    table: Option
    strict: Option
    serve: Option

class ScaleOptions(TypedDict, total=False):
    params: Option
    tokens: Option
    compute: Option
    loss: Option
    unique_tokens: Option
    epochs: Option
    cost: Option
    price: Option
    gpu_hours: Option
    gpus: Option
    time: Option
    days: Option
    mfu: Option
    peak: Option
    gpu: Option
    law: Option
    smaller: Option
    inference_tokens: Option
    inference_mfu: Option
    batch: Option
    hyperparameters: Option
    frontier: Option
    bandwidth: Option
    memory: Option
    tokens_per_second: Option
    dtype: Option
    explain: Option
    format: Option
    quiet: Option
    color: Option
    presets: Option
    help: Option

class ModelOptions(TypedDict, total=False):
    format: Option
    quiet: Option
    color: Option
    presets: Option
    help: Option

class GpuOptions(ModelOptions, total=False):
    ...

class ValidateOptions(ModelOptions, total=False):
    where: Option
    by: Option
    calibrate: Option

class DtypeOptions(ModelOptions, total=False):
    value: Option
    quantize: Option
    scheme: Option
