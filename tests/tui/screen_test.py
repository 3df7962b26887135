"""The screen in a real terminal: keys, signals, and that the terminal is given back.

    screen_test.py BUILD [CASE...]
"""
import os
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'lib'))
import terminal  # noqa: E402
from terminal import Terminal  # noqa: E402

BUILD = os.path.abspath(sys.argv[1])
DEMO = os.path.join(BUILD, 'tests/tui/screen_demo')


def started(words='', **options):
    t = Terminal(**options)
    t.run('stty -a > before')
    t.run(f'echo above; {DEMO} {words}')
    t.wait('key 0:')
    return t


def demo_pid(t):
    shell = t.tmux('display-message', '-p', '#{pane_pid}').strip()
    return int(subprocess.run(['pgrep', '-P', shell, 'screen_demo'], check=True, stdout=subprocess.PIPE,
                              encoding='utf-8').stdout)


def check_given_back(t, ending):
    """The first page, its text, the cursor and the modes are what they were."""
    if ending.startswith('status'):
        t.wait(lambda _: not t.is_alternate())
        t.run('echo status $?')
    t.wait(ending)
    t.run('stty -a > after; cmp before after && echo the same')
    t.wait('\nthe same')
    shown = t.screen()
    assert 'above' in shown and 'q:quit' not in shown, terminal.framed(shown)
    assert not t.is_alternate() and t.cursor_is_shown()


def keys_have_names():
    with started() as t:
        for count, (key, code) in enumerate((('x', '78'), ('Up', '200004'), ('Down', '200005'),
                                             ('PageUp', '200008'), ('NPage', '200009'), ('Home', '20000a'),
                                             ('End', '20000b'), ('BTab', '20000c'), ('BSpace', '20000d'),
                                             ('DC', '20000e'), ('Enter', 'a'), ('Tab', '9'), ('Escape', '1b'),
                                             ('F1', '200010'), ('F12', '20001b'), ('é', 'e9'), ('日', '65e5')), 1):
            t.keys(key)
            t.wait(f'key {count}: {code}\n')
        t.keys('q')
        check_given_back(t, 'ended by signal 0')


def names_cannot_drive_it():
    with started() as t:
        lines = t.screen().split('\n')
        assert lines[2] == '日本 e\u0301 \\x1b[2J', lines
        assert lines[23] == ' ' * 79 + '#', lines


def it_follows_the_size():
    with started() as t:
        t.wait('80 x 24')
        for rows, columns in ((10, 40), (50, 132), (2, 7), (24, 80)):
            t.resize(rows, columns)
            t.wait((f'{columns} x {rows}' + ' ' * 99)[:min(columns, 9)].rstrip())
        t.keys('q')
        t.wait('ended by signal 0')


def signals_that_end_it(words='', busy=False):
    for name, number in (('SIGINT', 2), ('SIGTERM', 15), ('SIGHUP', 1)):
        with started(words) as t:
            if busy:
                t.keys('s')
            if number == 2:
                t.keys('C-c')
            else:
                os.kill(demo_pid(t), number)
            check_given_back(t, f'status {128 + number}')


def signals_end_it_also_when_it_is_busy():
    signals_that_end_it(busy=True)


def signals_can_be_kept():
    for number in (signal.SIGTERM, signal.SIGHUP):
        with started('keep') as t:
            os.kill(demo_pid(t), number)
            check_given_back(t, f'ended by signal {int(number)}')
    with started('keep') as t:
        t.keys('C-c')
        check_given_back(t, 'ended by signal 2')


def a_crash_gives_the_terminal_back():
    with started() as t:
        t.keys('a')
        check_given_back(t, 'status 134')


def it_can_be_stopped_and_goes_on():
    with started(command='sh -im') as t:
        for how in ('key', 'signal'):
            if how == 'key':
                t.keys('C-z')
            else:
                os.kill(demo_pid(t), signal.SIGSTOP)
                t.keys('')
            t.wait('topped')
            if how == 'key':
                check_given_back(t, 'topped')
            t.resize(20, 60)
            t.type('fg')
            t.keys('C-j')  # the modes may still be the program's
            t.wait('60 x 20')
            t.resize(24, 80)
            t.wait('80 x 24')
            assert t.is_alternate() and not t.cursor_is_shown()
            t.keys('x')
            t.wait(': 78')
        t.keys('q')
        t.wait('ended by signal 0')


def errors_come_when_it_is_over():
    with started() as t:
        t.keys('e', 'e', 'x')
        shown = t.wait(': 78')
        assert 'said' not in shown
        t.keys('q')
        check_given_back(t, 'said of the libraries\nsaid of the libraries\nended by signal 0')


def colours_are_left_out_where_told():
    with started() as t:
        t.wait('\x1b[31m', styled=True)
    with started('mono') as t:
        shown = t.wait(lambda text: 'key 0' in text and '\x1b[0;1m' in text, styled=True)
        assert '\x1b[31m' not in shown


def ascii_where_the_locale_says_so():
    with started(env={'LC_ALL': 'C'}) as t:
        lines = t.screen().split('\n')
        assert lines[0].startswith('80 x 24 ascii') and lines[2] == '?? e? \\x1b[2J', lines


def no_screen_without_a_terminal_that_can():
    for term in ('dumb', 'nobody-knows'):
        with Terminal(env={'TERM': term}) as t:
            t.run(f'{DEMO}; echo status $?')
            t.wait('no screen: a version or feature this build cannot read\nstatus 3')
    with Terminal() as t:
        t.run(f'{DEMO} | cat; {DEMO} < /dev/null; echo status $?')
        t.wait('no screen: a version or feature this build cannot read\nstatus 3')


def the_end_of_the_terminal_ends_it():
    t = started('keep')
    pid = demo_pid(t)
    with t:
        pass
    # A process that is left would spin: it must be gone.
    for _ in range(3000):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        os.sched_yield()
        terminal.time.sleep(0.01)
    raise AssertionError('still there')


terminal.skip_without_tmux()
terminal.run_cases([keys_have_names, names_cannot_drive_it, it_follows_the_size, signals_that_end_it,
                    signals_end_it_also_when_it_is_busy, signals_can_be_kept, a_crash_gives_the_terminal_back,
                    it_can_be_stopped_and_goes_on, errors_come_when_it_is_over, colours_are_left_out_where_told,
                    ascii_where_the_locale_says_so, no_screen_without_a_terminal_that_can,
                    the_end_of_the_terminal_ends_it])
