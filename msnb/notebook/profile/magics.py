"""The magics `%ms_profile statement` and `%%ms_profile`: profile a statement or a cell."""

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.display import display

from msnb.insight.profile import Profile, Recorder, machine, profile
from msnb.notebook.kernel import cell_names
from msnb.notebook.kernel.magic_options import parse
from msnb.notebook.kernel.magic_registration import register_magics
from msnb.notebook.profile.view import view

_PROFILE = ("msnb.insight.profile.result", "Profile")


@magics_class
class ProfileMagics(Magics):
    """The magics `%ms_profile` and `%%ms_profile`."""

    @no_var_expand
    @magic_arguments("%ms_profile")
    @argument("-n", "--steps", type=int, default=10, help="How often a statement is run (default 10).")
    @argument(
        "-x",
        "--exact",
        action="store_true",
        help="Replay each group of fused operators on its own, which compiles each of them.",
    )
    @argument("-q", "--quiet", action="store_true", help="Show nothing; the value of the magic is the profile.")
    @argument("statement", nargs="*", help="What to run.")
    @line_cell_magic("ms_profile")
    def ms_profile(self, line: str, cell: str | None = None) -> Any:
        """`%ms_profile step(x, y)` runs a statement several times, `%%ms_profile` runs a cell once. Both show the time
        by operator, by Cell and by line.

            %ms_profile -n 20 train_step(x, y)

        In a cell, each call of a network is a step. The cell should make three or more calls. The profile is the
        result of the cell (`_`), or of an assignment: `profile = %ms_profile -q step(x, y)`.
        """
        options, statement = self._parse_options(line, cell)
        if options.steps < 1:
            raise UsageError(f"%ms_profile: --steps should be at least 1, but got {options.steps}.")
        result = self._profile_statement(statement, options) if cell is None else self._profile_cell(cell)
        if result is None:
            return None
        if options.exact:
            try:
                result.replay()
            except RuntimeError as error:
                result.notes.append(str(error))
        return self._display_unless_quiet(result, options)

    def _parse_options(self, line, cell):
        """Return (options, statement). Dashes and quotes of the statement are not parsed."""
        words, rest = [], line.strip()
        while rest.startswith("-"):
            word, _, rest = rest.partition(" ")
            words.append(word)
            rest = rest.lstrip()
            if word in ("-n", "--steps"):
                value, _, rest = rest.partition(" ")
                words.append(value)
                rest = rest.lstrip()
        options = parse(self.ms_profile, " ".join(words))
        if cell is None and not rest:
            raise UsageError("%ms_profile needs a statement to run, such as: %ms_profile step(x, y)")
        if cell is not None and rest:
            raise UsageError(f"%%ms_profile takes options only, but got {rest!r}; the statements stand below it.")
        return options, rest

    def _profile_statement(self, text, options):
        shell = self.shell
        number, line = cell_names.running_line()
        before = "\n" * (line - 1)  # so that the statement has the line number of the magic
        code = before + shell.transform_cell(text)
        name = shell.compile.cache(code, number, raw_code=text)
        try:
            run = compile(before + code.strip(), name, "eval")
        except SyntaxError:
            try:
                run = compile(code, name, "exec")
            except SyntaxError as error:
                raise UsageError(f"%ms_profile: {error.msg}: {text}") from None

        def step():
            return eval(run, shell.user_ns)

        result = profile(step, steps=options.steps)
        result.name = text if len(text) <= 60 else text[:59] + "…"
        return result

    def _profile_cell(self, text):
        machine()
        number, counter = cell_names.running_line()[0], self.shell.execution_count
        recorder = Recorder().start()
        try:
            self.shell.execution_count = number  # label the nested code with the number of this cell
            result = self.shell.run_cell(text)
        finally:
            self.shell.execution_count = counter
            recording = recorder.stop()
        if not result.success:  # the error is already displayed, and an incomplete recording is useless
            return None
        return Profile(recording)

    @staticmethod
    def _display_unless_quiet(result, options):
        if not options.quiet:
            display(view(result))
            return None
        return result


def _build_mime_bundle(result, include=None, exclude=None):
    return view(result)._repr_mimebundle_(include, exclude)


def install(shell: Any) -> Any:
    """Register the magics and the display of a Profile with a shell. Return the undo function."""
    remove_magics = register_magics(shell, ProfileMagics(shell))
    formatter = shell.display_formatter.mimebundle_formatter
    formatter.for_type_by_name(*_PROFILE, _build_mime_bundle)  # by name, without the import of Profile

    def undo():
        remove_magics()
        formatter.pop(".".join(_PROFILE), None)

    return undo
