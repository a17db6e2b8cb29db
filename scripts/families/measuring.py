"""What autograd keeps of an executed model behind its forward pass, and the products that a step runs."""
import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter
from torch.utils.flop_counter import FlopCounterMode

import cuda_kernels


def _own(model):
    """Storages of what exists without a step."""
    return {t.untyped_storage()._cdata for t in (*model.parameters(), *model.buffers())}


class Saved(torch.autograd.graph.saved_tensors_hooks):
    """Bytes of the storages that autograd saves, each once, without the model's own."""

    def __init__(self, model):
        own, self.sizes, self.tensors = _own(model), {}, []

        def pack(tensor):
            storage = tensor.untyped_storage()
            if storage._cdata not in own:
                self.sizes[storage._cdata] = storage.nbytes()
                self.tensors.append(tensor)  # so that no other storage takes its address
            return tensor

        super().__init__(pack, lambda tensor: tensor)

    def total(self):
        return sum(self.sizes.values())


class Alive(TorchDispatchMode):
    """Bytes of the storages that operators made and that are alive: no hook of autograd sees what checkpoints hold."""

    def __init__(self, model):
        super().__init__()
        self.own, self.sizes = _own(model), {}

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        result = function(*arguments, **(keywords or {}))
        for x in tree_iter(result):
            if isinstance(x, torch.Tensor) and x.untyped_storage()._cdata not in self.own:
                self.sizes[StorageWeakRef(x.untyped_storage())] = x.untyped_storage().nbytes()
        return result

    def total(self):
        return sum(size for reference, size in self.sizes.items() if not reference.expired())


def measured(model, batch, checkpointed):
    """Bytes kept behind the forward pass; floating-point operations of products forward, and of both passes."""
    with FlopCounterMode(display=False, custom_mapping=cuda_kernels.FLOPS) as counter:
        kept = Alive(model) if checkpointed else Saved(model)
        with kept:
            logits = model(**batch).logits
            labels = batch.get("decoder_input_ids", batch.get("input_ids"))
            loss = torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), labels.flatten())
        size = kept.total()
        forward = counter.get_total_flops()
        loss.backward()
        return size, forward, counter.get_total_flops()
