"""Settings of TRL's GRPOTrainer that its sides of the benchmarks share: on CPU, in float32, with nothing written."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

os.environ.update(HF_HUB_OFFLINE="1", TRL_EXPERIMENTAL_SILENCE="1", TRANSFORMERS_VERBOSITY="error")
warnings.filterwarnings("ignore")

from trl import GRPOConfig  # noqa: E402


def settings(out: str, **own) -> GRPOConfig:
    """Return the settings of a run into folder `out`, with `own` arguments beside the shared ones."""
    return GRPOConfig(
        output_dir=out,
        beta=0.0,
        bf16=False,
        gradient_checkpointing=False,
        use_cpu=True,
        report_to=[],
        save_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
        model_init_kwargs={"dtype": "float32"},
        **own,
    )


def memory(name: str) -> int:
    """Return a figure of this process, such as VmRSS or VmHWM, in KiB."""
    text = Path("/proc/self/status").read_text()
    return int(text.partition(f"{name}:")[2].split()[0])
