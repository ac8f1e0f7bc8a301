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
        raise _refuse_cache()


def _set_cache_size(cache_size):
    if cache_size:
        raise _refuse_cache()


def _insert_hash_table_size(name, cache_vocab_size, embedding_size, vocab_size, param_key=-1):
    raise _refuse_cache()


def _set_sparse_format(sparse_format):
    if sparse_format:
        raise not_yet("The sparse format of parameter servers", "use sparse=False")


def _refuse_cache():
    return not_yet("The embedding cache of parameter servers", "use vocab_cache_size=0")
