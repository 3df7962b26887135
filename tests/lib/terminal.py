"""A terminal that tests drive: tmux, with a server of its own.

    with Terminal(rows=24, columns=80) as terminal:
        terminal.run('polyperf report -i app.data')
        terminal.wait('Symbol')
        terminal.keys('Down', 'Enter')
        terminal.golden('callers', until='main')

Nothing sleeps to let a program get ready: wait() looks until the screen shows what is expected, and
golden() until it is the saved one. `--accept` on the command line saves what is shown instead.
"""
import difflib
import os
import shutil
import subprocess
import sys
import tempfile
import time

LIMIT_S = 30  # far more than anything takes; a screen that never comes costs this
ACCEPT = '--accept' in sys.argv
GOLDEN = None  # the folder of saved screens; set by the test


class NotShown(AssertionError):
    pass


def skip_without_tmux():
    if not shutil.which('tmux'):
        print('SKIP: tmux is not installed')
        sys.exit(77)


class Terminal:
    def __init__(self, rows=24, columns=80, env=None, command='sh'):
        self.folder = tempfile.mkdtemp(prefix='terminal-')
        inner = {'PATH': os.environ['PATH'], 'HOME': self.folder, 'TMPDIR': self.folder, 'PS1': '$ ',
                 'LC_ALL': 'C.UTF-8', 'TZ': 'UTC', **(env or {})}
        self.outer = {'PATH': os.environ['PATH'], 'HOME': self.folder, 'TMUX_TMPDIR': self.folder,
                      'LC_ALL': 'C.UTF-8', 'TERM': 'xterm-256color'}
        config = os.path.join(self.folder, 'tmux.conf')
        with open(config, 'w', encoding='utf-8') as file:
            file.write('set -g status off\nset -g default-terminal screen-256color\n'
                       'set -sg escape-time 0\nset -g remain-on-exit on\n')
        start = os.path.join(self.folder, 'start')
        with open(start, 'w', encoding='utf-8') as file:
            inner = {'TERM': '$TERM', **inner}
            words = ' '.join(f'{key}="{value}"' for key, value in inner.items())
            file.write(f'exec env -i {words} {command}\n')
        try:
            self.tmux('-f', config, 'new-session', '-d', '-c', self.folder, '-x', str(columns), '-y', str(rows),
                      f'exec sh {start}')
            self.wait('$')
        except BaseException:
            self.__exit__()  # nobody else gets to it
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(['tmux', '-L', 'test', 'kill-server'], env=self.outer, check=False,
                       stderr=subprocess.DEVNULL)
        shutil.rmtree(self.folder, ignore_errors=True)

    def tmux(self, *words):
        return subprocess.run(['tmux', '-u', '-L', 'test', *words], env=self.outer, check=True,
                              stdout=subprocess.PIPE, encoding='utf-8').stdout

    def keys(self, *names):
        """Keys by tmux's names: Down, Enter, C-c, q."""
        self.tmux('send-keys', *names)

    def type(self, text):
        self.tmux('send-keys', '-l', text)

    def run(self, line):
        """A line for the shell, once it asks for one: what is typed earlier is shown where it happens to be."""
        self.wait(lambda screen: screen.rstrip('\n').endswith('$'))
        self.type(line)
        self.keys('Enter')

    def resize(self, rows, columns):
        self.tmux('resize-window', '-x', str(columns), '-y', str(rows))

    def screen(self, styled=False):
        text = self.tmux('capture-pane', '-p', *(['-e'] if styled else []))
        return '\n'.join(line.rstrip() for line in text.split('\n')).rstrip('\n') + '\n'

    def is_alternate(self):
        """Is the second page shown, which programs use that give the first one back?"""
        return self.tmux('display-message', '-p', '#{alternate_on}').strip() == '1'

    def cursor_is_shown(self):
        return self.tmux('display-message', '-p', '#{cursor_flag}').strip() == '1'

    def wait(self, what, styled=False):
        """Until the screen holds a text, or a function of it is true; returns the screen."""
        is_there = what if callable(what) else lambda screen: what in screen
        end = time.monotonic() + LIMIT_S
        while True:
            screen = self.screen(styled)
            if is_there(screen):
                return screen
            if time.monotonic() > end:
                raise NotShown(f'not shown: {what}\n{framed(screen)}')
            time.sleep(0.01)

    def settled(self):
        """For --accept only: the screen that no longer changes."""
        before = None
        while True:
            screen = self.screen()
            if screen == before:
                return screen
            before = screen
            time.sleep(0.3)

    def golden(self, name, until=''):
        """The screen is the saved one NAME.txt, once it shows `until`."""
        path = os.path.join(GOLDEN, name + '.txt')
        if ACCEPT:
            self.wait(until)
            screen = self.settled()
            with open(path, 'w', encoding='utf-8') as file:
                file.write(screen)
            return
        with open(path, encoding='utf-8') as file:
            expected = file.read()
        try:
            self.wait(lambda screen: screen == expected)
        except NotShown:
            got = self.screen()
            lines = difflib.unified_diff(expected.splitlines(), got.splitlines(), name, 'shown',
                                         lineterm='', n=30)
            raise NotShown('\n'.join(lines) + '\nif it is right: --accept') from None


def framed(screen):
    return '\n'.join('| ' + line for line in screen.split('\n'))


def run_cases(cases):
    """Runs all, or those whose name holds a word of the command line; ends the process."""
    words = [word for word in sys.argv[1:] if not word.startswith('-') and '/' not in word]
    failed = 0
    chosen = [case for case in cases if not words or any(w in case.__name__ for w in words)]
    for case in chosen:
        try:
            case()
            print(f'ok {case.__name__}')
        except (AssertionError, subprocess.SubprocessError) as why:
            failed += 1
            print(f'FAILED {case.__name__}: {why}')
    print(f'{len(chosen) - failed} passed, {failed} failed, 0 skipped')
    sys.exit(1 if failed else 0)
