"""What becomes of a program on its way to the machine: the graphs of one compilation, stage by stage."""
from .hlo import read_hlo
from .read import read

STAGES = ("traced", "primitives", "optimised")


def stages_of(program, name, which=STAGES):
    """{stage: FuncGraph} of a traced program of `msnb.core.compile`.

    Args:
        program (Program): as `msnb.core.compile.program_of` returns it.
        name (str): name of the graphs.
        which (tuple[str]): ``"traced"`` is the program in MindSpore's operators, ``"primitives"`` the same in JAX's,
            ``"optimised"`` the kernels that XLA made of it (this compiles). Default: all of them.

    Raises:
        ValueError: If `which` names another stage.
    """
    unknown = [stage for stage in which if stage not in STAGES]
    if unknown:
        raise ValueError(f"For 'ir.stages', a stage should be one of {', '.join(STAGES)}, but got {unknown[0]!r}.")
    made = {}
    for stage in which:
        if stage == "optimised":
            made[stage] = read_hlo(program.compiled().as_text(), name)
        else:
            made[stage] = read(program.jaxpr, name, program.inputs, expand=stage == "primitives")
    return made
