"""`_ExperimentalConfig`: options of a profile of an Ascend."""

from collections.abc import Sequence

from msnb import log
from msnb.profiler.constants import AicoreMetrics, ExportType, HostSystem, ProfilerLevel


class _ExperimentalConfig:
    """Options of a profile that have no effect: everything is measured, and no chip counts.

    Args:
        profiler_level (ProfilerLevel): No effect. Default: ProfilerLevel.Level0.
        aic_metrics (AicoreMetrics): No effect. Default: AicoreMetrics.AiCoreNone.
        l2_cache (bool): No effect. Default: False.
        mstx (bool): No effect. Default: False.
        data_simplification (bool): No effect. Default: True.
        export_type (list): No effect. Default: None.
        mstx_domain_include (list): No effect. Default: None.
        mstx_domain_exclude (list): No effect. Default: None.
        sys_io (bool): No effect. Default: False.
        sys_interconnection (bool): No effect. Default: False.
        host_sys (list): No effect. Default: None.
    """

    def __init__(
        self,
        profiler_level: ProfilerLevel = ProfilerLevel.Level0,  # type: ignore[attr-defined]
        aic_metrics: AicoreMetrics = AicoreMetrics.AiCoreNone,  # type: ignore[attr-defined]
        l2_cache: bool = False,
        mstx: bool = False,
        data_simplification: bool = True,
        export_type: Sequence[ExportType] | None = None,
        mstx_domain_include: Sequence[str] | None = None,
        mstx_domain_exclude: Sequence[str] | None = None,
        sys_io: bool = False,
        sys_interconnection: bool = False,
        host_sys: Sequence[HostSystem] | None = None,
    ) -> None:
        log.unused(
            "_ExperimentalConfig",
            "everything is measured, and no chip counts",
            profiler_level=profiler_level is not ProfilerLevel.Level0,  # type: ignore[attr-defined]
            aic_metrics=aic_metrics is not AicoreMetrics.AiCoreNone,  # type: ignore[attr-defined]
            l2_cache=l2_cache,
            mstx=mstx,
            data_simplification=not data_simplification,
            export_type=export_type is not None,
            mstx_domain_include=mstx_domain_include is not None,
            mstx_domain_exclude=mstx_domain_exclude is not None,
            sys_io=sys_io,
            sys_interconnection=sys_interconnection,
            host_sys=host_sys is not None,
        )
