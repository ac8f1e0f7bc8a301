"""The thread that writes checkpoints while training goes on: one is written, one waits, a third has to wait itself."""

import os
import threading

from msnb import log

THREAD_NAME = "asyn_save_ckpt"


class Writer:
    """Does jobs one after another in a thread, which lives while there are any.

    A job that fails is logged at once, and its exception is raised by the next `submit` or `wait`: whoever goes on
    hears of it.
    """

    def __init__(self):
        self._changed = threading.Condition()
        self._running = self._waiting = self._error = None

    def submit(self, prepare):
        """Queue a job, as soon as none is waiting.

        Args:
            prepare (Callable): Called then, here; returns (what the job is called, the job). What it copies is thus
                copied no more than twice at any time.

        Raises:
            Exception: What an earlier job raised; `prepare` is not called then.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._waiting is None or self._error is not None)
            self._raise()
            job = prepare()
            if self.busy():
                self._waiting = job
                return
            self._running = job
            try:
                threading.Thread(target=self._work, name=THREAD_NAME).start()
            except BaseException:
                self._running = None
                raise

    def wait(self):
        """Return when all jobs are done.

        Raises:
            Exception: What one of them raised.
        """
        with self._changed:
            self._changed.wait_for(lambda: not self.busy())
            self._raise()

    def busy(self):
        """Whether a job is being done."""
        return self._running is not None

    def _raise(self):
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _work(self):
        job = self._running  # not an argument: the thread would hold that as long as it lives
        while job is not None:
            error = None
            try:
                job[1]()
            except BaseException as problem:  # it belongs to whoever asked for the job
                problem.add_note(f"It happened in the thread that writes {job[0]}.")
                log.error("%s could not be written: %s", job[0], problem)
                error = problem
            with self._changed:
                self._error = self._error or error
                job = self._running = self._waiting
                self._waiting = None
                self._changed.notify_all()


writer = Writer()
if hasattr(os, "register_at_fork"):  # threads do not survive a fork, and a lock may be held at that moment
    os.register_at_fork(after_in_child=writer.__init__)
