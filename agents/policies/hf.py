"""A transformers model as a policy: token ids in and out, with its own sampling loop.

It has its own loop because `generate` hides data that training needs: the sampled ids, their
distribution and the random numbers. Each request's uniforms come from its key, and a token is the
first at which the cumulative probability exceeds its uniform; so a request samples the same tokens
in any batch, up to floating-point ties.

The imports are heavy; use `make_policy("hf:PATH")`, or import this file if torch is installed.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import math
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer

from verigym.agents.chat import StepRows, Transcript
from verigym.agents.engines.sampler import Watch
from verigym.agents.onednn_linear import use_onednn
from verigym.agents.policies.chat_tokens import ChatTokens
from verigym.agents.policies.kept_nodes import Memory
from verigym.agents.policies.loading import without_progress_bars
from verigym.agents.policies.thinking import Think
from verigym.agents.policies.tree_sampling import SampleRequest, Show, sample
from verigym.agents.policy import Completion, PolicyRefusal, Request
from verigym.agents.prefix_tree import Ints
from verigym.agents.prompts import read_prompts, write_prompts
from verigym.agents.sampling import uniforms
from verigym.agents.tree_attention import CACHE, unfit
from verigym.errors import MissingError, RequestError

_TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model")
# A bucket takes prompts up to this much longer than its shortest: padding costs arithmetic, one more
# bucket costs a whole pass, which for small models is the dearer of the two.
_BUCKET_RATIO = 1.5
_BUCKET_SLACK = 32
_SHARED_RATIO = 4
_SHARED_SLACK = 256
# A common beginning is read apart if that spares at least so many tokens; it costs one more pass.
_SHARING_PAYS_TOKENS = 256


class HFPolicy(ChatTokens):
    """Samples from a causal language model of transformers.

    `temperature` 0 is greedy, with log-probabilities of temperature 1. `top_p` below 1 cuts the tail,
    and log-probabilities are then of the cut distribution. `think` turns thinking on or off where the chat
    template has a switch for it; `auto` leaves it at the template's own. `chat_template_kwargs` go to the template;
    they and the tokenizer must not change later. `version` is for the trainer to raise. The model is shared, not copied.
    """

    concurrency = 1

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        max_new_tokens: int,
        temperature: float = 1.0,
        top_p: float = 1.0,
        device: str | torch.device | None = None,
        think: Think = "auto",
        chat_template_kwargs: Mapping[str, Any] | None = None,
        max_batch: int = 64,
        stop_ids: Sequence[int] = (),
        name: str = "hf",
    ) -> None:
        for label, value, fits in (
            ("max_new_tokens", max_new_tokens, max_new_tokens >= 1),
            ("temperature", temperature, temperature >= 0),
            ("top_p", top_p, 0 < top_p <= 1),
            ("max_batch", max_batch, max_batch >= 1),
        ):
            if not fits:
                raise RequestError(f"{label} is out of range: {value}")
        super().__init__(
            tokenizer,
            name=name,
            n_embeddings=model.get_input_embeddings().num_embeddings,
            end_ids=frozenset(find_end_ids(model, tokenizer)) | frozenset(stop_ids),
            think=think,
            chat_template_kwargs=chat_template_kwargs,
        )
        self.model = model if device is None else model.to(_usable(device))
        use_onednn(self.model)
        self.max_new_tokens = max_new_tokens
        self.temperature = temperature
        self.top_p = top_p
        self.max_batch = max_batch
        self.version = 0
        self.computed_tokens = 0
        """Number of tokens that the model has computed, padding included."""
        self.prompts: StepRows | Transcript | None = None
        """Prompts that the model was trained on; None if its folder does not say."""
        self.max_context = int(getattr(model.config, "max_position_embeddings", None) or 2**31)
        self.watch: Watch | None = None
        """Gets the rows of a batch that are sampled and the next token of each, after every step."""
        self._pad_id = tokenizer.pad_token_id or 0
        self._memory = Memory()
        self._ended: deque[tuple[int, ...]] = deque()
        self._sampling = threading.Lock()
        # Prefill needs one row of logits, not one a prompt token; older models lack the argument.
        accepted = inspect.signature(model.forward).parameters
        self._last_only = {"logits_to_keep": 1} if "logits_to_keep" in accepted else {}

    @staticmethod
    def load(path: str | Path, *, dtype: str | torch.dtype = "auto", **options: Any) -> HFPolicy:
        """Load a model from a local folder; nothing is downloaded. `options` are the constructor's.

        Raises RequestError if the folder lacks a required file.
        """
        folder = Path(path)
        check_folder(folder)
        trained = read_prompts(folder)
        if trained is not None:
            options = {"think": trained[1], **options}
        try:
            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            with without_progress_bars():
                model = AutoModelForCausalLM.from_pretrained(
                    folder, local_files_only=True, use_safetensors=True, dtype=dtype
                )
        except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
            raise RequestError(f"model folder {folder} cannot be loaded: {error}") from error
        policy = HFPolicy(model, tokenizer, **{"name": f"hf:{folder.name}", **options})
        policy.prompts = None if trained is None else trained[0]
        return policy

    def save(self, folder: Path) -> None:
        """Write model, tokenizer, chat template and `prompts` as a transformers folder; of LoRA the adapter
        alone."""
        with without_progress_bars():
            self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        if self.prompts is not None:
            write_prompts(folder, self.prompts, self.think)

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Sample one response per request.

        Raises PolicyRefusal if a prompt leaves no room, the device is full or the weights are broken: a
        retry would not help.
        """
        started = time.perf_counter()
        prompts = self.prompt_ids(requests, self.max_context)
        draws = uniforms([r.key for r in requests], self.max_new_tokens if self.temperature else 0)
        sampled: list[tuple[list[int], list[float]]] = [([], [])] * len(prompts)
        training = self.model.training
        if training:  # visiting every module costs a small model a tenth of its time
            self.model.eval()
        self._sampling.acquire()
        try:
            shares = self._unshared is None
            if shares:
                self._memory.check(self.model)
            for rows in _buckets([len(p) for p in prompts], self.max_batch, shares=shares):
                show = None if self.watch is None else partial(_show, self.watch, rows)
                if shares:
                    answers = self._sample_shared(
                        [requests[i] for i in rows], [prompts[i] for i in rows], draws[rows], show
                    )
                else:
                    answers = self._sample([prompts[row] for row in rows], draws[rows], show)
                for row, answer in zip(rows, answers, strict=True):
                    sampled[row] = answer
        except torch.OutOfMemoryError as error:
            raise PolicyRefusal(
                f"out of device memory with max_batch={self.max_batch}; lower it: {error}"
            ) from error
        finally:
            self._sampling.release()
            self._drop_ended()
            if training:
                self.model.train()
        share_s = (time.perf_counter() - started) / max(1, len(requests))
        return [
            self.completion(
                prompt,
                ids,
                logprobs,
                stopped=ids[-1] in self.end_ids,
                version=self.version,
                seconds=share_s,
            )
            for prompt, (ids, logprobs) in zip(prompts, sampled, strict=True)
        ]

    @cached_property
    def _unshared(self) -> str | None:
        """Why tokens that prompts share are computed for each; None if they are computed once."""
        return unfit(self.model)

    def forget(self, episode: tuple[int, ...]) -> None:
        """Drop what is kept for the next turn of an episode that has ended, after the batch under way."""
        self._ended.append(episode)
        self._drop_ended()

    def _drop_ended(self) -> None:
        # Called from the loop's thread, while another may be sampling with the memory.
        if self._sampling.acquire(blocking=False):
            try:
                while self._ended:
                    self._memory.forget(self._ended.popleft())
            finally:
                self._sampling.release()

    def _sample_shared(
        self,
        requests: Sequence[Request],
        prompts: Sequence[list[int]],
        draws_BN: np.ndarray[Any, np.dtype[np.float64]],
        show: Show | None,
    ) -> list[tuple[list[int], list[float]]]:
        """Sample one bucket with each distinct token computed once; return ids and log-probabilities."""
        asked = [
            SampleRequest(
                prompt=prompt,
                draws=draws if self.temperature else None,
                room=min(self.max_new_tokens, self.max_context - len(prompt)),
                episode=request.key[:-1] if request.grows else None,
            )
            for request, prompt, draws in zip(requests, prompts, draws_BN, strict=True)
        ]
        answers, n_computed = sample(
            self.model, asked, self._memory, self._pick, self.end_ids, self._pad_id, show
        )
        self.computed_tokens += n_computed
        self._check_finite(logp for _, logprobs in answers for logp in logprobs)
        return answers

    def _check_finite(self, logprobs: Iterable[float]) -> None:
        if not all(map(math.isfinite, logprobs)):
            raise PolicyRefusal(
                f"{self.name} gave logits that are not finite; its weights are broken (version "
                f"{self.version})"
            )

    @torch.inference_mode()
    def _sample(
        self,
        prompts: list[list[int]],
        draws_BN: np.ndarray[Any, np.dtype[np.float64]],
        show: Show | None,
    ) -> list[tuple[list[int], list[float]]]:
        """Sample one bucket; return ids and log-probabilities.

        Equal prompts (members of a group) and the common prefix of all (the task's rules) are processed
        once. After the prefix, prompts are left-padded to one length.
        """
        device = self.model.device
        numbers: dict[tuple[int, ...], int] = {}
        owner = [numbers.setdefault(tuple(prompt), len(numbers)) for prompt in prompts]
        unique = list(numbers)
        lengths = np.array([len(p) for p in unique])
        n_unique, width = len(unique), int(lengths.max())
        shared = _common_prefix(unique)
        if shared * (n_unique - 1) < _SHARING_PAYS_TOKENS:
            shared = 0
        room = np.minimum(self.max_new_tokens, self.max_context - lengths)[owner]
        limit = int(room.max())
        padded = np.full((n_unique, width - shared), self._pad_id)
        for row, prompt in enumerate(unique):
            padded[row, width - len(prompt) :] = prompt[shared:]
        ids_BT = torch.from_numpy(padded).to(device)
        ragged = bool((lengths != width).any())
        place: dict[str, Tensor] = {}
        if ragged:
            gap_B1 = torch.from_numpy(width - lengths).to(device)[:, None]
            spots = torch.arange(width + limit, device=device)
            mask_BT = ((spots < shared) | (spots >= shared + gap_B1)).long()
            at_BT = (spots - gap_B1).clamp_min(0)
            place = {"attention_mask": mask_BT[:, :width], "position_ids": at_BT[:, shared:width]}
        cache = None
        if shared:
            cache = self._forward(torch.tensor([unique[0][:shared]], device=device))[CACHE]
            cache.batch_repeat_interleave(n_unique)
        result = self._forward(ids_BT, cache, **place)
        cache = result[CACHE]
        logits_BV = result.logits[:, -1]
        if n_unique < len(prompts):
            rows = torch.tensor(owner, device=device)
            logits_BV = logits_BV[rows]
            cache.batch_select_indices(rows)
            if ragged:
                mask_BT, at_BT = mask_BT[rows], at_BT[rows]

        draws = torch.from_numpy(draws_BN).to(device)
        room_B = torch.from_numpy(room).to(device)
        ends = torch.tensor(sorted(self.end_ids), device=device)
        live = torch.arange(len(prompts), device=device)
        out_BN = torch.zeros(len(prompts), limit, dtype=torch.long, device=device)
        logp_BN = torch.zeros(len(prompts), limit, device=device)
        size_B = torch.zeros(len(prompts), dtype=torch.long, device=device)
        for step in range(limit):
            draw_B = draws[live, step] if self.temperature else None
            token_B, logp_B = self._pick(logits_BV, draw_B)
            out_BN[live, step] = token_B
            logp_BN[live, step] = logp_B
            size_B[live] = step + 1
            if show is not None:
                show(live.cpu().numpy(), token_B.cpu().numpy())
            alive = ~torch.isin(token_B, ends) & (room_B[live] > step + 1)
            kept = alive.nonzero()[:, 0]
            if len(kept) == 0 or step + 1 == limit:
                break
            if len(kept) < len(live):
                live, token_B = live[kept], token_B[kept]
                cache.batch_select_indices(kept)
                if ragged:
                    mask_BT, at_BT = mask_BT[kept], at_BT[kept]
            if ragged:
                end = width + step + 1
                place = {
                    "attention_mask": mask_BT[:, :end],
                    "position_ids": at_BT[:, end - 1 : end],
                }
            logits_BV = self._forward(token_B[:, None], cache, **place).logits[:, -1]
        self._check_finite(logp_BN.flatten().tolist())
        return [
            (ids[:size], logp[:size])
            for ids, logp, size in zip(
                out_BN.tolist(), logp_BN.tolist(), size_B.tolist(), strict=True
            )
        ]

    def _forward(self, ids_BT: Tensor, cache: Any = None, **place: Tensor) -> Any:
        self.computed_tokens += ids_BT.numel()
        return self.model(
            input_ids=ids_BT, use_cache=True, **{CACHE: cache}, **place, **self._last_only
        )

    def _pick(self, logits_BV: Tensor, draw_B: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return one token per row and its log-probability, float32."""
        logits_BV = logits_BV.float()
        if draw_B is None:
            logp_BV = logits_BV.log_softmax(-1)
            token_B = logp_BV.argmax(-1)
        else:
            logp_BV = (logits_BV / self.temperature).log_softmax(-1)
            p_BV = logp_BV.double().exp()
            if self.top_p < 1:
                p_BV = _nucleus(p_BV, self.top_p)
                logp_BV = p_BV.log().float()
            cdf_BV = p_BV.cumsum(-1)
            # Scaled by the true total, so that rounding in the sum never leaves a gap at the end;
            # `right` skips tokens of probability 0.
            target_B1 = draw_B[:, None] * cdf_BV[:, -1:]
            token_B = torch.searchsorted(cdf_BV, target_B1, right=True)[:, 0]
            token_B = token_B.clamp_max(logits_BV.shape[-1] - 1)
        return token_B, logp_BV.gather(-1, token_B[:, None])[:, 0]


def _show(watch: Watch, rows: Sequence[int], at_B: Ints, id_B: Ints) -> None:
    """Report tokens of a bucket, which holds the `rows` of the batch."""
    watch([rows[at] for at in at_B.tolist()], id_B.tolist())


def _nucleus(p_BV: Tensor, top_p: float) -> Tensor:
    """Return the smallest set of likeliest tokens that reaches `top_p`, renormalised; the rest is 0."""
    sorted_BV, order_BV = p_BV.sort(dim=-1, descending=True, stable=True)
    keep_BV = sorted_BV.cumsum(-1) - sorted_BV < top_p
    kept_BV = torch.zeros_like(p_BV).scatter(-1, order_BV, sorted_BV * keep_BV)
    return kept_BV / kept_BV.sum(-1, keepdim=True)


def _common_prefix(prompts: Sequence[Sequence[int]]) -> int:
    """Return the length of the common prefix of all prompts, leaving at least one token to each."""
    shortest = min(len(p) for p in prompts) - 1
    heads = np.array([p[:shortest] for p in prompts])
    differs = (heads != heads[0]).any(axis=0)
    return int(differs.argmax()) if differs.any() else shortest


def _buckets(
    lengths: Sequence[int], max_batch: int, *, shares: bool = False
) -> Iterator[list[int]]:
    """Group rows by length to run together; depends on the lengths only, so runs repeat exactly.

    With `shares`, padding costs attention alone, and lengths may differ more.
    """
    ratio, slack = (_SHARED_RATIO, _SHARED_SLACK) if shares else (_BUCKET_RATIO, _BUCKET_SLACK)
    order = sorted(range(len(lengths)), key=lambda row: lengths[row])
    bucket: list[int] = []
    for row in order:
        if bucket and (
            len(bucket) == max_batch or lengths[row] > lengths[bucket[0]] * ratio + slack
        ):
            yield bucket
            bucket = []
        bucket.append(row)
    if bucket:
        yield bucket


def find_end_ids(model: Any, tokenizer: Any) -> Iterator[int]:
    """Yield the ids that end an answer, by the tokenizer and by the `generation_config` of `model`."""
    config = getattr(model, "generation_config", None)
    for found in (tokenizer.eos_token_id, getattr(config, "eos_token_id", None)):
        if isinstance(found, int):
            yield found
        elif found is not None:
            yield from found


def _usable(device: str | torch.device) -> torch.device:
    """Return `device`. Raises MissingError if torch cannot use it, RequestError if it is not a device."""
    try:
        found = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise RequestError(f"device must be cpu, cuda or cuda:N, got {device!r}") from error
    if found.type == "cuda":
        count = torch.cuda.device_count()
        if not torch.cuda.is_available() or (found.index or 0) >= count:
            raise MissingError(
                f"device {str(found)!r} is not available: torch {torch.__version__} sees {count} CUDA devices. "
                "Use device = 'cpu', or install a driver and a CUDA build: pip install torch "
                "--index-url https://download.pytorch.org/whl/cu126"
            )
    try:
        torch.empty(0, device=found)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise MissingError(
            f"device {str(found)!r} cannot be used by torch {torch.__version__} here; use device = 'cpu'"
        ) from error
    return found


def check_folder(folder: Path) -> None:
    """Raise RequestError if `folder` is no model that can be loaded, and say what it lacks."""
    if not folder.is_dir():
        raise RequestError(f"model folder {folder} does not exist; give the path of a local folder")
    names = {path.name for path in folder.iterdir()}
    missing = []
    if "adapter_config.json" in names:
        _check_adapter(folder)
    elif "config.json" not in names:
        missing.append("config.json (is it a model folder?)")
    if not any(name.endswith(".safetensors") for name in names):
        missing.append(
            "weights as *.safetensors (save with model.save_pretrained; pickled .bin is refused)"
        )
    if not names.intersection(_TOKENIZER_FILES):
        missing.append("a tokenizer, such as tokenizer.json (save with tokenizer.save_pretrained)")
    if missing:
        raise RequestError(f"model folder {folder} lacks {'; '.join(missing)}")


def _check_adapter(folder: Path) -> None:
    """Raise MissingError without peft, RequestError if the adapter's base model is not here."""
    if importlib.util.find_spec("peft") is None:
        raise MissingError(f"{folder} holds a LoRA adapter; pip install 'verigym[lora]' to load it")
    base = json.loads((folder / "adapter_config.json").read_text()).get("base_model_name_or_path")
    if not base or not Path(base).is_dir():
        raise RequestError(
            f"{folder} holds a LoRA adapter of {base}, which is no folder here; edit "
            "base_model_name_or_path in adapter_config.json"
        )
