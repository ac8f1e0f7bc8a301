"""A thread that writes checkpoints during the training. One checkpoint is written and one waits; submitting a third
blocks."""

import os
import threading

from msnb import log

THREAD_NAME = "asyn_save_ckpt"


class JobThread:
    """Runs jobs one after another in a thread, which ends when there are no jobs.

    A job that fails is logged at once. The next `submit` or `wait` raises its exception.
    """

    def __init__(self):
        self._changed = threading.Condition()
        self._running = self._waiting = self._error = None

    def submit(self, prepare):
        """Queue a job. Blocks while another job waits.

        Args:
            prepare (Callable): Called in this thread once the job can be queued; returns (name of the job, the job).
                Therefore at most two copies of its values exist at a time.

        Raises:
            Exception: An earlier job raised it; `prepare` is not called then.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._waiting is None or self._error is not None)
            self._raise_stored_error()
            job = prepare()
            if self.busy():
                self._waiting = job
                return
            self._running = job
            try:
                threading.Thread(target=self._run_jobs, name=THREAD_NAME).start()
            except BaseException:
                self._running = None
                raise

    def wait(self):
        """Return when all jobs are done.

        Raises:
            Exception: One of the jobs raised it.
        """
        with self._changed:
            self._changed.wait_for(lambda: not self.busy())
            self._raise_stored_error()

    def busy(self):
        """Return whether a job is running."""
        return self._running is not None

    def _raise_stored_error(self):
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _run_jobs(self):
        job = self._running  # A local variable: a thread argument would stay alive as long as the thread.
        while job is not None:
            error = None
            try:
                job[1]()
            except BaseException as problem:  # re-raised by the next `submit` or `wait`
                problem.add_note(f"It happened in the thread that writes {job[0]}.")
                log.error("%s could not be written: %s", job[0], problem)
                error = problem
            with self._changed:
                self._error = self._error or error
                job = self._running = self._waiting
                self._waiting = None
                self._changed.notify_all()


writer = JobThread()
if hasattr(os, "register_at_fork"):  # threads do not survive a fork, and a lock may be held at that moment
    os.register_at_fork(after_in_child=writer.__init__)
