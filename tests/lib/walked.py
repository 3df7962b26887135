"""Interpreters that tests record, and whether their frames can be read at all."""
import glob
import os
import re
import shutil

import polyperf


def interpreter(language, version=None):
    """The program of a language, or of a version of Python; a skip where it is not installed."""
    if version:
        found = glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python{version}"))
        path = found[0] if found else None
    else:
        path = shutil.which({"python": "/usr/bin/python3.11"}.get(language, language))
    return path or polyperf.skip(f"{language} {version or ''} is not installed")


def need_walk(done):
    """A skip where `record --interpreters=walk` ended because nobody may walk here."""
    print(done.stderr.strip())
    if done.returncode and re.search("CAP_BPF|built without|Linux 5.17|perf_event_open", done.stderr):
        polyperf.skip("the walk cannot be had")
    assert done.returncode == 0, done.returncode
