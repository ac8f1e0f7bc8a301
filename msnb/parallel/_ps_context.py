"""Queries of r1.1 about parameter servers. msnb has no parameter servers, so this process has no role in one."""

from msnb._util.placeholders import not_yet


def _is_role_worker():
    return False


def _is_role_pserver():
    return False


def _is_role_sched():
    return False


def _get_ps_mode_rank():
    raise RuntimeError(
        "This program does not train with parameter servers: context.set_ps_context(enable_ps=True) was not called."
    )


def _enable_distributed_mindrt():
    return False


def _set_cache_enable(cache_enable):
    if cache_enable:
        raise not_yet("The embedding cache of parameter servers", "use vocab_cache_size=0")
